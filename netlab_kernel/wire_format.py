"""Generate the format of the messages between Python and the library kernel's program from the structures and numbers
of two C headers, its only source, and the constants of the traffic from a third one.

`python -m netlab_kernel.wire_format` writes the Python module with a layout for each structure, the C header with a hash,
which the program sends and Python compares, and the Python module with the constants. A test checks that all are up to date.
"""

import hashlib
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from netlab.base.location import IMPORT_ROOT
from netlab_kernel.edit import RECIPE

HOST = RECIPE / "library" / "host"
HEADERS = (HOST / "protocol.h", RECIPE / "library" / "arch" / "include" / "asm" / "host.h")
STRUCTURES_OF_HOST = ("library_state", "library_control")
"""The structures of host.h that cross; all of protocol.h's do."""
PYTHON = IMPORT_ROOT / "netlab_engines" / "library" / "wire_format.py"
HASH_HEADER = HOST / "wire_format.h"
TRAFFIC_HEADER = HOST / "traffic.h"
CONSTANTS = IMPORT_ROOT / "netlab_engines" / "sockets" / "constants.py"
CODES = {
    "uint64_t": ("Q", 8), "unsigned long long": ("Q", 8), "int64_t": ("q", 8), "double": ("d", 8),
    "uint32_t": ("I", 4), "unsigned int": ("I", 4), "int": ("i", 4), "uint16_t": ("H", 2), "uint8_t": ("B", 1), "char": ("s", 1),
}  # fmt: skip
"""The code in `struct` and the bytes of each C type."""
ALWAYS_ZERO = ("zero", "padding")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRUCTURE = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.DOTALL | re.MULTILINE)
_ENUM = re.compile(r"^enum (\w+) \{(.*?)\};", re.DOTALL | re.MULTILINE)
_DECLARATION = re.compile(r"(struct \w+|unsigned long long|unsigned int|\w+)\s+([^;]+);")
_DEFINITION = re.compile(r"^#define (\w+) (.+)$", re.MULTILINE)
_NUMBER = re.compile(r"\(?(\d+)(?:ull|u)?(?: << (\d+)\))?")
_NAME = re.compile(r"(\w+)(?:\[(\d+)\])?")


class WireFormatError(Exception):
    """A header has a structure or field that has no layout in the wire format."""


@dataclass(frozen=True)
class Structure:
    """The layout of a C structure: the `struct` codes of its fields in order, the names of those fields that are not
    always zero, and its size in bytes.
    """

    name: str
    codes: tuple[str, ...]
    fields: tuple[str, ...]
    size_bytes: int


def structures(text: str, names: Collection[str] | None = None) -> dict[str, Structure]:
    """Return the layouts of the structures in the text of a C header, by name, in the header's order; with `names`,
    only those structures (None: all). A nested structure is replaced by its fields, and an array of numbers has a field
    for each. Raises WireFormatError for a type without a code in `struct`, and for a structure with a hole between
    fields, which compilers may place differently.
    """
    found: dict[str, Structure] = {}
    for name, body in _STRUCTURE.findall(_COMMENT.sub("", text)):
        if names is not None and name not in names:
            continue
        codes: list[str] = []
        fields: list[str] = []
        at = 0
        for kind, field, count in _fields(body):
            if kind.startswith("struct "):
                inner = found[kind.removeprefix("struct ")]
                codes += inner.codes
                fields += inner.fields
                at += inner.size_bytes
                continue
            if kind not in CODES:
                raise WireFormatError(f"struct {name}: {field} has the type {kind}, which has no code")
            code, size_bytes = CODES[kind]
            if at % size_bytes:
                raise WireFormatError(f"struct {name}: there is a hole before {field}")
            at += size_bytes * (count or 1)
            if field in ALWAYS_ZERO:
                codes.append(f"{size_bytes * (count or 1)}x")
            elif code == "s":
                codes.append(f"{count}s")
                fields.append(field)
            else:
                codes += [code] * (count or 1)
                fields += [field] if count is None else [f"{field}_{number}" for number in range(count)]
        found[name] = Structure(name, tuple(codes), tuple(fields), at)
    return found


def _fields(body: str) -> Iterator[tuple[str, str, int | None]]:
    """Yield the type, the name and the number of elements of each field in the body of a C structure; the number is
    None for a field that is not an array. Raises WireFormatError for another kind of declaration.
    """
    for kind, names in _DECLARATION.findall(body):
        for each in names.split(","):
            match = _NAME.fullmatch(each.strip())
            if match is None:
                raise WireFormatError(f"{kind} {each.strip()} has no layout")
            yield kind, match[1], int(match[2]) if match[2] else None


def enums(text: str) -> dict[str, dict[str, int]]:
    """Return the numbers of the enumerations in the text of a C header: by the name of the enumeration, and in it by
    the name of the constant. Constants without a value count on from the one before, the first from 0.
    """
    found: dict[str, dict[str, int]] = {}
    for name, body in _ENUM.findall(_COMMENT.sub("", text)):
        numbers: dict[str, int] = {}
        following = 0
        for entry in filter(None, (each.strip() for each in body.split(","))):
            own, _, value = entry.partition("=")
            following = int(value) if value else following
            numbers[own.strip()] = following
            following += 1
        found[name] = numbers
    return found


def shared_types() -> tuple[list[Structure], dict[str, dict[str, int]]]:
    """Return a pair from the C headers in HEADERS that both Python and the library kernel's program use: a list of the
    layouts of the structures (all of protocol.h, two of host.h), and the numbers of protocol.h's enumerations, by the
    name of the enumeration and then by the constant's name. Raises WireFormatError for a structure without a layout.
    """
    protocol, host = (header.read_text() for header in HEADERS)
    of_host = structures(host, STRUCTURES_OF_HOST)
    return [*structures(protocol).values(), *(of_host[name] for name in STRUCTURES_OF_HOST)], enums(protocol)


def wire_hash() -> str:
    """Return sixteen hexadecimal digits, part of a SHA-256, that change whenever a field's name, type or place, or a
    number of the wire format changes.
    """
    found, numbers = shared_types()
    text = repr([(each.name, each.codes, each.fields) for each in found]) + repr(numbers)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def python_module() -> str:
    """Return the source text of the generated Python module with the layouts and enumerations of the wire format."""
    found, numbers = shared_types()
    lines = [
        '"""The layouts and numbers of protocol.h. Made by `python -m netlab_kernel.wire_format`: change the header instead."""',
        "",
        "from enum import IntEnum",
        "",
        "from netlab_engines.library.layout import Layout",
        "",
        f'HASH = b"{wire_hash()}"',
        '"""The program reports the same hash, unless it was built from other headers."""',
        "",
    ]
    for name, entries in numbers.items():
        prefix = f"{name.partition('_')[0].upper()}_"
        title = "".join(word.capitalize() for word in name.split("_"))
        lines += ["", f"class {title}(IntEnum):", f'    """The numbers of `enum {name}`."""', ""]
        lines += [f"    {own.removeprefix(prefix)} = {value}" for own, value in entries.items()]
        lines.append("")
    lines.append("")
    for each in found:
        lines += [f"{each.name.upper()} = Layout(", f'    "{each.name}",', f'    "{"".join(each.codes)}",']
        if len(each.fields) == 1:
            lines += [f'    ("{each.fields[0]}",),', ")"]
        else:
            lines += ["    (", *(f'        "{field}",' for field in each.fields), "    ),", ")"]
    return "\n".join(lines) + "\n"


def constants(text: str) -> dict[str, int]:
    """Return the numbers that `#define` lines in the text of a C header define, by name, in their order; a number is
    decimal, with or without a shift to the left such as (1 << 20). Raises WireFormatError for a definition of another
    kind.
    """
    found = {}
    for name, value in _DEFINITION.findall(_COMMENT.sub("", text)):
        number = _NUMBER.fullmatch(value.strip())
        if number is None:
            raise WireFormatError(f"{name} is {value.strip()!r}, which is neither a number nor (a number << a number)")
        found[name] = int(number[1]) << int(number[2] or 0)
    return found


def constants_module() -> str:
    """Return the source text of the generated Python module with the constants that traffic.h, a header of the library
    kernel's program, defines. Raises WireFormatError for a constant that is not a number.
    """
    lines = [
        '"""The numbers of traffic.h, which the library kernel\'s program has too. Made by `python -m netlab_kernel.wire_format`."""',
        "",
        *(f"{name} = {value:_}" for name, value in constants(TRAFFIC_HEADER.read_text()).items()),
    ]
    return "\n".join(lines) + "\n"


def hash_header() -> str:
    """Return the text of the generated C header that defines WIRE_FORMAT as the hash of the wire format."""
    return (
        "// SPDX-License-Identifier: GPL-2.0\n"
        "/* Made by `python -m netlab_kernel.wire_format` from protocol.h and host.h. */\n"
        f'#define WIRE_FORMAT "{wire_hash()}"\n'
    )


def outputs() -> dict[Path, str]:
    """Return the text of each file (the Python modules and the C header) that is generated from the C headers, by the
    file's path.
    """
    return {PYTHON: python_module(), HASH_HEADER: hash_header(), CONSTANTS: constants_module()}


def refresh() -> list[Path]:
    """Write each generated file whose text is not the present one, and return their paths. Raises OSError if a file
    cannot be written.
    """
    changed = [path for path, text in outputs().items() if path.read_text() != text]
    for path in changed:
        path.write_text(outputs()[path])
    return changed


def main() -> int:
    """Write the generated files that are not up to date, print their paths, and return the exit status 0."""
    for path in refresh():
        sys.stdout.write(f"{path.relative_to(IMPORT_ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
