"""A session with the library kernel's program, of which here a script plays the part."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import netlab as nl
from netlab.base.errors import NotHereError, RunError
from netlab_engines.base import agent_plan
from netlab_engines.kernels.library_kernel import LibraryKernel
from netlab_engines.library import child
from netlab_engines.library.session import SMALL_MEMORY_MB, LibrarySession
from netlab_engines.library.wire_format import Answer, Request
from tests.engines.test_requests import NETWORK, frames

KERNEL = LibraryKernel(Path("nowhere"), "7.3.4", (7, 3, 4), "x86_64", frozenset())


def answer(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<II", kind, len(data)) + data


class Script:
    """Plays the program: to each request that time passes it says that it has."""

    confined = True

    def __init__(self, pieces: int = 1 << 20) -> None:
        self.asked: list[tuple[int, bytes]] = []
        self.answers = b""
        self.now_ns = 0
        self.pieces, self.closed = pieces, 0
        self.says: Callable[[int, bytes], bytes | None] = lambda _kind, _data: None

    def send(self, requests: bytes) -> None:
        for kind, data in frames(requests):
            self.asked.append((kind, data))
            if (text := self.says(kind, data)) is not None:
                self.answers += text
            elif kind in (Request.BEGIN, Request.ADVANCE, Request.FINISH, Request.STOP, Request.UNTAP, Request.TABLES):
                if kind in (Request.ADVANCE, Request.FINISH):
                    (self.now_ns,) = struct.unpack_from("<Q", data)
                self.answers += answer(Answer.NOW, struct.pack("<QQ", self.now_ns, 5))

    def listen(self, on_answers: Callable[[bytes], bool], _on_wait: object) -> None:
        text, self.answers = self.answers, b""
        for at in range(0, len(text), self.pieces):
            if on_answers(text[at : at + self.pieces]):
                assert at + self.pieces >= len(text)

    def close(self) -> str:
        self.closed += 1
        return "it fell asleep"


def open_session(script: Script, *traffic: Any, **words: Any) -> LibrarySession:
    session = LibrarySession(script, KERNEL, SMALL_MEMORY_MB)
    plan = nl.Scenario(NETWORK, traffic or [nl.Ping("h1", "h2")], **{"duration_s": 10, **words}).plan()
    session.request().build(plan=agent_plan(plan, "virtual"), programs=False)
    return session


def moments(script: Script, kind: int) -> list[int]:
    return [struct.unpack_from("<Q", data)[0] for each, data in script.asked if each == kind]


@pytest.mark.parametrize("pieces", [1, 7, 1 << 20])
def test_answers_are_read_wherever_they_are_cut(pieces: int) -> None:
    script = Script(pieces)
    heard: list[Any] = []
    session = open_session(script)
    session.request(heard.append)
    script.says = lambda kind, data: (
        answer(Answer.PROGRESS, struct.pack("<Q", 20)) + answer(Answer.NOW, data[:8] + bytes(8))
        if kind == Request.ADVANCE
        else None
    )
    assert session.request(heard.append).advance(until_s=2.0, progress_s=0.5) == {"now_s": 2.0}
    assert heard == [{"progress_s": 2.0}]
    assert [data for kind, data in script.asked if kind == Request.ADVANCE] == [
        struct.pack("<QQ", 2 * 10**9, 5 * 10**8)
    ]


def test_time_never_passes_backwards_and_stops_at_each_command_and_change() -> None:
    script = Script()
    changes = [nl.Change(at_s=2, link=("r1", "h2"), rate_mbps=1)]
    traffic = [nl.Ping("h1", "h2"), nl.Command("h1", "sysctl -qw net.ipv4.tcp_sack=0", start_s=1)]
    session = open_session(script, *traffic, changes=changes)
    script.asked.clear()
    session.request().advance(until_s=3, progress_s=None)
    kinds = [kind for kind, _data in script.asked]
    assert moments(script, Request.ADVANCE) == [10**9, 3 * 10**9]
    assert kinds.index(Request.ADVANCE) < kinds.index(Request.SETTING) < kinds.index(Request.AT)
    assert set(moments(script, Request.AT)) == {2 * 10**9}
    script.asked.clear()
    assert session.request().advance(until_s=1, progress_s=None) == {"now_s": 3.0}
    assert moments(script, Request.ADVANCE) == [3 * 10**9]
    session.request().finish(until_s=11)
    assert moments(script, Request.FINISH) == [11 * 10**9]


def test_failure_is_reported_in_a_sentence_and_ends_the_lab() -> None:
    script = Script()
    session = open_session(script)
    script.says = lambda _kind, _data: answer(Answer.FAILED, b"setting 0 net/ipv4/tcp_sack Bad\n")
    with pytest.raises(RunError, match=r"^The setting net.ipv4.tcp_sack was refused in h1: Bad\.$"):
        session.request().advance(until_s=1, progress_s=None)
    assert session.closed and script.closed
    with pytest.raises(RunError, match="This lab is closed"):
        session.request().advance(until_s=1, progress_s=None)


def test_program_that_ends_silently_is_reported() -> None:
    script = Script()
    session = open_session(script)
    script.says = lambda _kind, _data: b""
    with pytest.raises(RunError, match="ended without a result: it fell asleep"):
        session.request().advance(until_s=1, progress_s=None)
    assert session.closed


def test_closing_ends_the_program_once_and_leaves_no_file() -> None:
    script = Script()
    session = open_session(script, captures=[nl.Capture("r1", "h2")])
    script.says = lambda kind, _data: (
        answer(Answer.PACKETS, struct.pack("<II", 0, 1) + b"packet") + answer(Answer.NOW, bytes(16))
        if kind == Request.UNTAP
        else None
    )
    session.request().finish(until_s=10)
    captured = list(session.folder.rglob("*.out"))
    assert len(captured) == 2 and any(each.read_bytes().endswith(b"packet") for each in captured)
    folder = session.folder
    session.close()
    session.close()
    assert script.closed == 1 and session.closed and not folder.exists()


def test_traffic_that_is_started_by_hand_begins_now_on_a_grid_and_can_be_stopped() -> None:
    script = Script()
    session = open_session(script)
    session.request().advance(until_s=1.234, progress_s=None)
    item = nl.Scenario(NETWORK, [nl.Ping("h1", "h2"), nl.Tcp("h1", "h2", start_s=2)], 10).plan()["traffic"][1]
    assert session.request().start(item=item)["start_s"] == pytest.approx(3.24)
    flow = next(data for kind, data in script.asked[::-1] if kind == Request.FLOW)
    assert struct.unpack_from("<II", flow) == (1, 1) and struct.unpack_from("<Q", flow, 32)[0] == 3_240_000_000
    session.request().stop(label=item["label"])
    assert script.asked[-1] == (Request.STOP, struct.pack("<I", 1))
    with pytest.raises(NotHereError, match="its hosts have no commands, terminals and files"):
        session.request().background(node="h1", command="ls")
    text = "net.ipv4.tcp_sack = 0\n"
    heard: list[Any] = []
    session.request(heard.append).run(node="h1", command="sysctl -w net.ipv4.tcp_sack=0")
    assert heard == [{"text": text}]


def test_an_interrupt_lets_no_more_time_pass_and_with_kill_ends_the_lab() -> None:
    script = Script()
    session = LibrarySession(script, KERNEL)
    plan = agent_plan(nl.Scenario(NETWORK, [nl.Ping("h1", "h2")], 10).plan(), "virtual")
    session.request().build(plan=plan, programs=True)
    script.says = lambda kind, _data: session.interrupt() if kind == Request.ADVANCE else None  # type: ignore[func-returns-value]
    # A lab of a person's passes its time in parts, of which the first is short.
    assert session.request().advance(until_s=5, progress_s=None)["now_s"] == 0.01
    assert not session.closed
    session.interrupt(kill=True)
    assert session.closed
    assert session.settings == {"memory_mb": 1024, "seeded": True, "confined": True, "machine": "x86_64"}


@pytest.mark.parametrize(
    ("landlock", "seccomp", "confined"), [(1, 2, True), (1, 0, False), (1, 1, False), (0, 2, False)]
)
def test_a_program_is_confined_with_landlock_and_a_filter_of_system_calls(
    landlock: int, seccomp: int, confined: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "status").write_text(f"Name:\tkernel\nNoNewPrivs:\t1\nSeccomp:\t{seccomp}\nSeccomp_filters:\t1\n")
    monkeypatch.setattr(child, "Path", lambda _place: tmp_path / "status")
    monkeypatch.setattr(child, "landlock_version", lambda: landlock)
    started = SimpleNamespace(_process=SimpleNamespace(pid=1))
    assert child.ChildProgram.confined.fget(started) is confined  # type: ignore[attr-defined]
