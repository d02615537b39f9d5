"""Budgets of a guest that is called, without a guest."""

from __future__ import annotations

import socket
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from netlab.grading import callee, line
from netlab.grading.line import BudgetError, Line, Warden


def test_a_line_is_asked_as_often_as_it_may_be_and_not_once_more() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        asked = Line(ours, None, most_calls=2)
        for _ in range(2):
            theirs.sendall(callee.LENGTH.pack(3) + b"\x07ok")
            assert asked.ask(b"?") == (7, b"ok")
        with pytest.raises(BudgetError, match="called more than 2 times"):
            asked.ask(b"?")


def test_a_busy_guest_reads_a_long_reply_in_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent in part would leave both waiting, and cost the student the answer."""
    monkeypatch.setattr(line, "LOOK_S", 0.01)
    ours, theirs = socket.socketpair()
    read = bytearray()

    def drain() -> None:
        while part := theirs.recv(1 << 20):
            read.extend(part)

    reader = threading.Thread(target=drain)

    class Watched:
        def look(self) -> bool:
            # Nobody reads before the first look, so the socket was full for longer than it waits.
            if not reader.is_alive():
                reader.start()
            return False

    with ours, theirs:
        stub: Any = Watched()
        said = b"x" * (8 << 20)
        Line(ours, stub).done(said)
        ours.shutdown(socket.SHUT_WR)
        reader.join()
    assert len(read) == callee.LENGTH.size + 1 + len(said)


@pytest.mark.parametrize("stops", [False, True])
def test_a_guest_that_ctrl_c_ended_is_no_fault_of_the_students(monkeypatch: pytest.MonkeyPatch, stops: bool) -> None:
    """A contest once kept "its process ended" for a class that was racing when it was stopped."""
    ours, theirs = socket.socketpair()
    theirs.close()
    if stops:
        stopping = threading.Event()
        stopping.set()
        monkeypatch.setattr(line, "stopping", stopping)
    with ours, pytest.raises(KeyboardInterrupt if stops else line.StudentCodeError):
        Line(ours, None).hear()


def test_a_guest_may_use_its_processor_time_to_the_end_and_not_more(monkeypatch: pytest.MonkeyPatch) -> None:
    guest: Any = SimpleNamespace(process=SimpleNamespace(pid=1))
    warden = Warden(guest, cpu_s=5.0)
    warden._base_s = 2.0
    for asleep in (True, False):
        monkeypatch.setattr(line, "seen", lambda _group, asleep=asleep: (7.0, asleep))
        assert warden.look() is asleep
    monkeypatch.setattr(line, "seen", lambda _group: (7.01, False))
    with pytest.raises(BudgetError, match="more than 5 s of processor time"):
        warden.look()
