"""The format between Python and the library kernel's program has one source: the headers."""

from __future__ import annotations

import re
import struct

import pytest

from netlab_engines.library import wire_format
from netlab_engines.library.layout import Layout
from netlab_engines.sockets import constants
from netlab_engines.sockets.datagrams import HEADER as HEADER_OF_DATAGRAMS
from netlab_kernel import wire_format as source
from netlab_kernel.wire_format import WireFormatError, enums, structures

HEADER = """
/* struct comment { void *pointer; }; */
struct inner {
	uint32_t a, b;	/* two numbers */
};

struct outer {
	uint64_t at_ns;
	uint32_t item, zero;
	struct inner inner;
	char name[16];
	uint32_t key[2];
};

enum answer {
	ANSWER_ONE = 1,	/* a comment, with a comma */
	ANSWER_TWO,
	ANSWER_SIX = 6,
};
"""


@pytest.mark.parametrize("path", source.outputs(), ids=lambda path: path.name)
def test_generated_format_matches_the_headers(path) -> None:
    assert path.read_text() == source.outputs()[path], "run: python -m netlab_kernel.wire_format"


def test_the_constants_of_the_traffic_are_those_of_the_header() -> None:
    text = "/* MAX_FRAMES 9 */\n#define NAME_H\n#define MAX_FRAMES (4u << 20)\t/* of a queue */\n#define WAIT_NS 10000ull\n"
    assert source.constants(text) == {"MAX_FRAMES": 4 << 20, "WAIT_NS": 10_000}
    with pytest.raises(WireFormatError, match=r"WAIT_NS is '10 \* NS_PER_MS', which is neither a number"):
        source.constants("#define WAIT_NS 10 * NS_PER_MS")
    assert HEADER_OF_DATAGRAMS.size == constants.MEASUREMENT_HEADER_BYTES


def test_traffic_c_defines_no_number_that_the_header_has() -> None:
    own = re.findall(r"^#define (\w+)", (source.HOST / "traffic.c").read_text(), re.MULTILINE)
    assert len(own) > 10 and not {*own} & {*source.constants(source.TRAFFIC_HEADER.read_text())}


def test_a_structure_has_its_fields_in_order_and_padding_for_zeros() -> None:
    outer = structures(HEADER)["outer"]
    assert "".join(outer.codes) == "QI4xII16sII"
    assert outer.fields == ("at_ns", "item", "a", "b", "name", "key_0", "key_1")
    assert outer.size_bytes == struct.calcsize("<QIIII16sII") == 48
    assert enums(HEADER) == {"answer": {"ANSWER_ONE": 1, "ANSWER_TWO": 2, "ANSWER_SIX": 6}}


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("uint32_t a; uint64_t b;", "there is a hole before b"),
        ("short a;", "has the type short, which has no code"),
        ("uint64_t *a;", "has no layout"),
    ],
)
def test_a_field_without_a_layout_is_named(field: str, message: str) -> None:
    with pytest.raises(WireFormatError, match=message):
        structures(f"struct wrong {{\n\t{field}\n}};")


def test_the_order_of_equal_fields_changes_the_hash(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """Two fields of one type that change places leave all sizes as they are."""
    headers = [tmp_path / header.name for header in source.HEADERS]
    for header, copy in zip(source.HEADERS, headers, strict=True):
        copy.write_text(header.read_text())
    monkeypatch.setattr(source, "HEADERS", headers)
    before = source.wire_hash()
    assert before.encode() == wire_format.HASH
    text = headers[0].read_text()
    assert "uint32_t src, dst;" in text
    headers[0].write_text(text.replace("uint32_t src, dst;", "uint32_t dst, src;"))
    assert source.wire_hash() != before


def test_a_layout_packs_by_name_and_refuses_other_names() -> None:
    layout = Layout("pair", "II4x", ("src", "dst"))
    assert layout.pack(dst=2, src=1) == struct.pack("<III", 1, 2, 0)
    assert layout.unpack(struct.pack("<III", 1, 2, 7)).dst == 2
    assert [row.src for row in layout.iter_unpack(layout.pack(src=3, dst=0) * 2)] == [3, 3]
    for wrong in ({"src": 1}, {"src": 1, "dst": 2, "port": 3}):
        with pytest.raises(TypeError):
            layout.pack(**wrong)
