"""A student's classes answer a run that is made outside: both ends of the channel, in processes without a sandbox."""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from netlab_classroom.grading import callee, remote, runner
from netlab_classroom.grading.callee import CALL, DID, DONE, FAILED, FLOW, HEAD, METHODS, OPEN, MessageStream
from netlab_classroom.grading.guest_calls import CallChannel


class Counted:
    """Its window says how many connections its process has seen."""

    seen = 0

    def on_start(self, flow: Any) -> None:
        Counted.seen += 1
        flow.cwnd_segments = Counted.seen


@contextmanager
def over_a_channel(serve: Callable[[MessageStream], object]) -> Iterator[MessageStream]:
    """The outer end; the inner one's process ends with what it serves."""
    here, there = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        here.close()
        try:
            serve(MessageStream(there.fileno()))
        finally:
            os._exit(0)
    there.close()
    here.settimeout(None)
    try:
        yield MessageStream(here.fileno())
    finally:
        here.close()
        os.waitpid(pid, 0)


def windows(stream: MessageStream) -> list[float]:
    """Open two connections of the first class, and start both."""
    found = []
    for number in (1, 2):
        stream.send_message(HEAD.pack(OPEN["control"], number, 0) + b"h1-h2")
        kind, *methods = stream.receive()
        assert kind == DID
        assert methods == [name == "on_start" for name in METHODS]
    for number in (1, 2):
        stream.send_message(
            HEAD.pack(CALL, number, METHODS.index("on_start")) + FLOW.pack(0.5, 1448, 10, 100, math.nan, False, 0)
        )
        records = stream.receive()
        assert records[0] == DID
        found.append(callee.CONTROL_VALUES.unpack(records[1:])[0])
    return found


@pytest.mark.parametrize(("serve", "seen"), [(callee.serve, [1, 2]), (callee.serve_apart, [1, 1])])
def test_connections_share_a_class_unless_they_are_apart(serve: Callable[..., bytes], seen: list[int]) -> None:
    with over_a_channel(lambda stream: stream.send(callee.READY, serve(stream, [Counted]))) as stream:
        assert windows(stream) == seen
        stream.send(DONE, b"what was said")
        assert stream.receive() == bytes([callee.READY]) + b"what was said"


class Silent:
    """A class that defines on_ack, but not on_start."""

    def on_ack(self, flow: Any, ack: Any) -> None: ...


def test_proxy_has_the_methods_of_its_class_and_on_start() -> None:
    """The methods may later need data of the start (the size of a segment)."""
    for own, heard in ((Counted, ["on_start"]), (Silent, ["on_start", "on_ack"])):
        with (
            over_a_channel(lambda stream, own=own: callee.serve(stream, [own])) as stream,
            socket.socket(fileno=os.dup(stream._descriptor)) as grader_end,
        ):
            line = CallChannel(grader_end, None)
            created = remote.proxy_for(own.__name__, lambda line=line: (line, lambda: None))
            caller = created.caller("h1-h2", "control")
            assert [name for name in METHODS if caller.has(name)] == heard
            line.finish()


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("x = 1 / 0", "ZeroDivisionError: division by zero (line 1 of the answer)"),
        ("class Other: pass", "it has no Own"),
    ],
)
def test_answer_without_a_class_is_reported_with_the_reason(answer: str, sentence: str) -> None:
    exercise = {"serves": True, "given": [], "answer": answer, "name": "Own", "calls": []}

    def work(stream: MessageStream) -> None:
        runner.prepare([exercise])
        runner.work(exercise, -1, stream._descriptor)

    with over_a_channel(work) as stream:
        assert stream.receive() == bytes([FAILED]) + sentence.encode()
