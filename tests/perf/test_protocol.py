"""The control protocol takes bytes in any pieces, and garbage without harm."""

from __future__ import annotations

import io
import json
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import ThroughputError
from netlab_engines.perf.protocol import (
    TestRequest,
    counters_by_index,
    greeting,
    hello_datagram,
    messages,
    read_greeting,
    read_hello,
)
from netlab_engines.sockets.datagrams import HEADER

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)


class Pieces(io.RawIOBase):
    """A byte stream that comes in these pieces."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]
        self.taken_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._pieces:
            return 0
        piece = self._pieces.pop(0)
        count = min(len(buffer), len(piece))
        buffer[:count] = piece[:count]
        if piece[count:]:
            self._pieces.insert(0, piece[count:])
        self.taken_bytes += count
        return count


@given(
    st.lists(st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=20), max_size=4), max_size=8),
    st.lists(st.integers(1, 30), min_size=1, max_size=50),
)
def test_any_split_of_the_byte_stream_gives_the_same_messages(contents: list[dict[str, Any]], cuts: list[int]) -> None:
    sent = [{**content, "type": "BYE"} for content in contents]
    data = b"".join(json.dumps(message).encode() + b"\n" for message in sent)
    pieces, at, i = [], 0, 0
    while at < len(data):
        size = cuts[i % len(cuts)]
        pieces.append(data[at : at + size])
        at += size
        i += 1
    assert list(messages(io.BufferedReader(Pieces(pieces)))) == sent


@given(st.lists(st.binary(max_size=200), max_size=10))
def test_garbage_is_an_error_or_incomplete(pieces: list[bytes]) -> None:
    try:
        for message in messages(io.BufferedReader(Pieces(pieces)), limit_bytes=256):
            assert isinstance(message["type"], str)
    except ThroughputError:
        return
    assert b"\n" not in b"".join(pieces)  # garbage with a whole line is an error


def test_an_endless_line_is_cut_off_and_not_read_to_its_end() -> None:
    endless = Pieces([b"x" * 64] * 1000)
    with pytest.raises(ThroughputError, match="256 bytes"):
        list(messages(io.BufferedReader(endless, 64), limit_bytes=256))
    assert endless.taken_bytes <= 512


@given(st.dictionaries(st.sampled_from([*TestRequest().to_message(), "surprise"]), json_values) | json_values)
def test_any_json_as_a_request_is_a_valid_request_or_a_sentence(message: object) -> None:
    try:
        request = TestRequest.from_message(message)
    except ThroughputError as error:
        assert str(error).endswith(".")
        return
    assert 1 <= request.streams <= 256


@given(json_values)
def test_any_json_as_counters_is_usable_or_a_sentence(counters: object) -> None:
    request = TestRequest(duration_s=1, parallel=2)
    try:
        by_index = counters_by_index({"type": "BYE", "counters": counters}, request)
    except ThroughputError:
        return
    assert set(by_index) == {0, 1}


@given(st.binary(max_size=80))
def test_any_truncation_of_a_greeting_datagram_is_no_greeting_or_a_wrong_token(data: bytes) -> None:
    whole = hello_datagram(7, b"0123456789abcdef")
    for end in range(len(whole)):
        hello = read_hello(whole[:end])
        assert (hello is None) == (end < HEADER.size)
        assert hello is None or hello[1] != b"0123456789abcdef"
    assert read_hello(whole) == (7, b"0123456789abcdef")
    read_hello(data)


@pytest.mark.parametrize("words", [("control",), ("stream", "ab" * 16, 3)], ids=["control", "stream"])
def test_a_greeting_is_read_to_its_end_and_not_a_byte_further(words: tuple[object, ...]) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(greeting(*words) + b"payload")
        assert read_greeting(far) == [str(word) for word in words]
        assert far.recv(100) == b"payload"


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"netlab-perf/1 rm -rf\n",
        b"netlab-perf/2 control\n",
        b"netlab-perf/1 " + b"x" * 500,
        b"netlab-perf/1 stream \xff\xff 1\n",
        b"",
    ],
)
def test_another_protocol_is_turned_away_at_once(line: bytes) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(line)
        near.shutdown(socket.SHUT_WR)
        with pytest.raises(ThroughputError, match="Not the greeting"):
            read_greeting(far, timeout_s=5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"parallel": 0}, "parallel"),
        ({"parallel": 1000}, "parallel"),
        ({"duration_s": float("nan")}, "duration_s must be a number from 0.01 to 1000000, got nan"),
        ({"duration_s": 10**400}, "duration_s"),
        ({"duration_s": None}, "either a duration"),
        ({"num_bytes": 5}, "not both"),
        ({"duration_s": None, "num_bytes": 5, "omit_s": 1}, "omit"),
        ({"protocol": "sctp"}, "protocol: got 'sctp'; allowed: tcp, udp"),
        ({"protocol": "udp", "rate_bps": -1}, "rate_bps must be a whole number from 0"),
        ({"protocol": "udp", "rate_bps": 0, "payload_bytes": 19}, "at least 20 bytes"),
        ({"congestion": "x" * 16}, "congestion"),
        ({"window_bytes": 1.5}, "window_bytes"),
    ],
)
def test_request_out_of_range_is_refused_with_the_allowed_range(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ThroughputError, match=sentence):
        TestRequest.from_message({"duration_s": 1.0, **change})
