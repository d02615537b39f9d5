"""Queue statistics: what is read from the kernel's bytes is what `tc` reads from them."""

from __future__ import annotations

import json
import pathlib
import socket
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab_engines.agent.sampling import QueueReader, parse_qdisc
from netlab_engines.netlink import wire

DUMPS: dict[str, Any] = json.loads((pathlib.Path(__file__).parent.parent / "data" / "qdiscs.json").read_text())
NAMES = [name for name in DUMPS if name != "about"]
HEADER_BYTES = 16
DONE = struct.pack("=IHHIIi", 20, wire.NLMSG_DONE, 2, 1, 0, 0)


def handle_word(handle: int) -> str:
    """`tc` writes it so: 0x20000 is 2:."""
    return f"{handle >> 16:x}:" + (f"{handle & 0xFFFF:x}" if handle & 0xFFFF else "")


def marks(words: dict[str, Any]) -> int:
    """ECN marks in `tc`'s words, which differ between disciplines."""
    if words["kind"] == "red":
        return int(words["marked"])
    return int(words.get("ecn_mark", sum(tin["ecn_mark"] for tin in words.get("tins", []))))


@pytest.mark.parametrize("name", NAMES)
def test_every_message_is_read_as_tc_reads_it(name: str) -> None:
    dump = DUMPS[name]
    assert len(dump["messages"]) == len(dump["tc"])
    for message, words in zip(dump["messages"], dump["tc"], strict=True):
        qdisc = parse_qdisc(bytes.fromhex(message)[HEADER_BYTES:])
        assert qdisc.kind == words["kind"]
        assert dump["names"][str(qdisc.interface_index)] == words["dev"]
        assert handle_word(qdisc.handle) == words["handle"]
        assert (qdisc.sent_bytes, qdisc.sent_packets) == (words["bytes"], words["packets"])
        assert (qdisc.backlog_bytes, qdisc.backlog_packets) == (words["backlog"], words["qlen"])
        assert (qdisc.drops, qdisc.marks) == (words["drops"], marks(words))


def test_dumps_hold_the_messages_to_test() -> None:
    """A backlog and drops everywhere, marks where ECN was on and none where it was off."""
    inner = {name: next(q for q in DUMPS[name]["tc"] if q["handle"] == "2:") for name in NAMES}
    assert all(words["backlog"] > 0 and words["drops"] > 0 for words in inner.values())
    assert {name for name in NAMES if marks(inner[name]) > 0} == {"red", "codel", "fq_codel", "pie", "cake"}


class Kernel:
    """A netlink socket that answers with a captured dump, in pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces
        self.asked = b""

    def bind(self, address: Any) -> None:
        pass

    def send(self, request: bytes) -> None:
        self.asked = request
        self.left = list(self.pieces)

    def recv(self, size: int) -> bytes:
        return self.left.pop(0)


def reader(monkeypatch: pytest.MonkeyPatch, pieces: list[bytes], interfaces: dict[str, int]) -> QueueReader:
    monkeypatch.setattr(socket, "if_nametoindex", interfaces.__getitem__)
    monkeypatch.setattr(socket, "socket", lambda *_: Kernel(pieces))
    return QueueReader(list(interfaces))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("first", [0, 1, 4, 6])
def test_a_reading_joins_the_queue_and_its_rate_limit(monkeypatch: pytest.MonkeyPatch, name: str, first: int) -> None:
    """Backlog, drops and marks of the student's queue; sent by the `tbf`: what has really left. However the dump is cut."""
    messages = [bytes.fromhex(message) for message in DUMPS[name]["messages"]]
    pieces = [b"".join(messages[:first])] * (first > 0) + [b"".join(messages[first:]) + DONE]
    queues = reader(monkeypatch, pieces, {"r1-eth1": 3}).read()
    tbf = next(q for q in DUMPS[name]["tc"] if q["kind"] == "tbf")
    inner = next(q for q in DUMPS[name]["tc"] if q["handle"] == "2:")
    assert list(queues) == ["r1-eth1"]
    queue = queues["r1-eth1"]
    assert (queue.kind, queue.drops, queue.marks) == (inner["kind"], inner["drops"], marks(inner))
    assert (queue.backlog_bytes, queue.backlog_packets) == (inner["backlog"], inner["qlen"])
    assert (queue.sent_bytes, queue.sent_packets) == (tbf["bytes"], tbf["packets"])


def test_only_the_requested_interfaces_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = b"".join(bytes.fromhex(message) for message in DUMPS["red"]["messages"]) + DONE
    assert reader(monkeypatch, [whole], {"r1-eth0": 2}).read() == {}


def test_a_refusal_is_no_empty_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = struct.pack("=IHHIIi16x", 36, wire.NLMSG_ERROR, 0, 1, 0, -1)
    with pytest.raises(OSError, match="refused"):
        reader(monkeypatch, [refusal], {}).read()


@given(name=st.sampled_from(NAMES), data=st.data())
def test_a_message_that_was_cut_does_not_hang(name: str, data: st.DataObject) -> None:
    """A kernel whose statistics are shorter gives less, not another number and no endless loop."""
    message = bytes.fromhex(data.draw(st.sampled_from(DUMPS[name]["messages"])))[HEADER_BYTES:]
    length = data.draw(st.integers(20, len(message)))
    try:
        qdisc = parse_qdisc(message[:length])
    except struct.error:
        return
    whole = parse_qdisc(message)
    assert qdisc.sent_bytes in (0, whole.sent_bytes)
    assert qdisc.marks <= whole.marks
