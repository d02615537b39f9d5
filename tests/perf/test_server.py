"""The server goes on where the system refuses it a datagram, without using a processor all the time."""

from __future__ import annotations

import errno
import time
from typing import Any

import pytest

from netlab_engines.perf import server
from netlab_engines.perf.server import Server


class RefusingSocket:
    """A socket that cannot be read a number of times, until it is closed."""

    def __init__(self, made: Server, times: int) -> None:
        self.server, self.left, self.reads = made, times, 0

    def recvfrom(self, _size: int) -> Any:
        self.reads += 1
        if self.reads > self.left:
            self.server._closing = True
        raise OSError(errno.ENOBUFS, "No buffer space available")


def test_lasting_error_is_reported_once_and_uses_no_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses_s: list[float] = []
    lines: list[str] = []
    created: Any = object.__new__(Server)
    created._closing, created.on_line, created._udp = False, lines.append, RefusingSocket(created, 50)
    monkeypatch.setattr(time, "sleep", pauses_s.append)
    created._read_hellos()
    assert len(lines) == 1 and "No buffer space available" in lines[0]
    assert len(pauses_s) == 50 and pauses_s[:3] == [0.001, 0.002, 0.004] and sum(pauses_s) > 40
    assert max(pauses_s) == server.MAX_PAUSE_S
