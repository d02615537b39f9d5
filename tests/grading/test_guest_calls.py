"""Budgets of a guest that is called, without a guest."""

from __future__ import annotations

import math
import socket
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from netlab.base.errors import NetlabError
from netlab_classroom.grading import callee, guest_calls, sandbox
from netlab_classroom.grading.guest_calls import BudgetError, CallChannel, SandboxMonitor


def test_the_limit_of_calls_is_exact() -> None:
    ours, other = socket.socketpair()
    with ours, other:
        channel = CallChannel(ours, None, max_calls=2)
        for _ in range(2):
            other.sendall(callee.LENGTH.pack(3) + b"\x07ok")
            assert channel.ask(b"?") == (7, b"ok")
        with pytest.raises(BudgetError, match="called more than 2 times"):
            channel.ask(b"?")


def test_a_busy_guest_reads_a_long_reply_in_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A partial message would block both sides, and cost the student the answer."""
    monkeypatch.setattr(guest_calls, "CHECK_INTERVAL_S", 0.01)
    ours, other = socket.socketpair()
    read = bytearray()

    def drain() -> None:
        while part := other.recv(1 << 20):
            read.extend(part)

    reader = threading.Thread(target=drain)

    class Watched:
        def check(self) -> bool:
            # Nobody reads before the first check, so the socket was full for longer than it waits.
            if not reader.is_alive():
                reader.start()
            return False

    with ours, other:
        stub: Any = Watched()
        text = b"x" * (8 << 20)
        CallChannel(ours, stub).finish(text)
        ours.shutdown(socket.SHUT_WR)
        reader.join()
    assert len(read) == callee.LENGTH.size + 1 + len(text)


def test_an_answer_asks_the_grader_as_often_as_it_may_and_not_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A question that makes no sense is refused, and counts."""
    monkeypatch.setattr(sandbox, "MAX_REQUESTS", 3)
    ours, other = socket.socketpair()
    booted: Any = SimpleNamespace(channel=ours.dup())
    with ours, other:
        watch = sandbox.Watch(booted, 1.0, lambda request, _channel: [request["x"]])

        def ask(question: bytes) -> bytes:
            other.sendall(callee.LENGTH.pack(len(question) + 1) + bytes([callee.ASKED]) + question)
            watch._answer_request()
            return other.recv(1000)[callee.LENGTH.size + 1 :]

        assert ask(b'{"x": 7}') == ask(b'{"x": 7}') == b'{"value": [7]}'
        assert ask(b"[]") == b'{"refused": "A question has a kind."}'
        with pytest.raises(BudgetError, match="asked the grader more than 3 times"):
            ask(b'{"x": 7}')


@pytest.mark.parametrize("stops", [False, True])
def test_a_guest_that_ctrl_c_ended_is_no_fault_of_the_students(monkeypatch: pytest.MonkeyPatch, stops: bool) -> None:
    """A contest once kept "its process ended" for a class that was racing when it was stopped."""
    ours, other = socket.socketpair()
    other.close()
    if stops:
        stopping = threading.Event()
        stopping.set()
        monkeypatch.setattr(guest_calls, "stop_requested", stopping)
    with ours, pytest.raises(KeyboardInterrupt if stops else guest_calls.StudentCodeError):
        CallChannel(ours, None).receive()


def test_a_sandbox_may_use_its_processor_time_to_the_end_and_not_more() -> None:
    state = (7.0, True)
    booted: Any = SimpleNamespace(cpu_state=lambda: state)
    monitor = SandboxMonitor(booted, cpu_s=5.0)
    monitor._base_s = 2.0
    for asleep in (True, False):
        state = (7.0, asleep)
        assert monitor.check() is asleep
    state = (7.01, False)
    with pytest.raises(BudgetError, match="more than 5 s of processor time"):
        monitor.check()


def test_error_in_a_students_class_is_reported_with_its_time() -> None:
    class Own:
        def on_start(self, flow: Any) -> None:
            if flow.now_s > 1:
                raise ValueError("too late")
            flow.cwnd_segments = 3

    control = callee.ControlCalls(None, Own, "h1-h2", 0)  # type: ignore[arg-type]

    def started(now_s: float) -> bytes:
        return control.call("on_start", callee.FLOW.pack(now_s, 1448, 10, 100, math.nan, False, 0))

    assert callee.CONTROL_VALUES.unpack(started(0.5))[:2] == (3, 100)
    with pytest.raises(NetlabError, match=r"too late.*2\.5 s|2\.5 s.*too late"):
        started(2.5)
