"""The steps in which a script is ended, with a guest that only notes what it gets."""

from __future__ import annotations

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from netlab.base.errors import RunError
from netlab_engines.files import ENDING_FILE
from netlab_engines.lab.stopping import FINISH_S, GRACE_S, KILL_EVERY_S, MAX_KILLS, Stopping


class Guest:
    """A guest whose script does not end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.got: list[str] = []

    def interrupt(self, kill: bool = False) -> None:
        self.got.append("kill" if kill else "interrupt")

    def close(self) -> None:
        self.got.append("close")


@pytest.fixture
def guest(tmp_path: Path) -> Any:
    return Guest(tmp_path)


def test_a_script_is_interrupted_once_and_killed_after_its_grace(guest: Any, clock: SimpleNamespace) -> None:
    ending = Stopping(guest, 1e9)
    ending.ask(signal.SIGTERM)
    ending.ask(signal.SIGTERM)
    assert guest.got == ["interrupt"] and (guest.folder / ENDING_FILE).read_text() == "SIGTERM"
    clock.s += GRACE_S - 0.1
    ending.check()
    assert guest.got == ["interrupt"] and ending.report() is None
    clock.s += 0.2
    ending.check()
    assert guest.got == ["interrupt", "kill"]
    assert ending.report() == "the script was killed 10 s after SIGTERM; its files are kept."
    assert ending.status(-signal.SIGKILL) == 128 + signal.SIGTERM


def test_second_ctrl_c_kills_a_script_however_often_it_is_pressed(guest: Any, clock: SimpleNamespace) -> None:
    ending = Stopping(guest, 1e9)
    for _ in range(4):
        ending.ask(signal.SIGINT)
        clock.s += 1
    assert guest.got == ["interrupt", "kill", "kill", "kill"]
    assert ending.report() == "the script was killed at the second Ctrl-C; its files are kept."


def test_a_killed_script_stays_killed_if_the_clean_up_takes_long(guest: Any, clock: SimpleNamespace) -> None:
    ending = Stopping(guest, 5.0)
    clock.s += 5
    ending.check()
    clock.s += GRACE_S
    ending.check()
    assert guest.got == ["interrupt", "kill"] and ending.reason == "limit"
    text = ending.report()
    assert text is not None and "10 s after its time limit" in text
    ending.finish()
    clock.s += FINISH_S
    ending.check()
    assert guest.got[-1] == "kill" and ending.report() == text


def test_a_script_that_ended_by_itself_was_not_killed_by_the_clean_up(guest: Any, clock: SimpleNamespace) -> None:
    ending = Stopping(guest, 1e9)
    ending.ask(signal.SIGINT)
    ending.finish()
    clock.s += FINISH_S
    ending.check()
    assert guest.got == ["interrupt", "kill"] and ending.report() is None


def test_a_guest_that_does_not_answer_is_closed(guest: Any, clock: SimpleNamespace) -> None:
    ending = Stopping(guest, 1e9)
    ending.ask(signal.SIGINT)
    clock.s += GRACE_S
    for _ in range(MAX_KILLS):
        ending.check()
        clock.s += KILL_EVERY_S
    assert guest.got == ["interrupt", *["kill"] * MAX_KILLS]
    with pytest.raises(RunError, match="did not respond and was closed"):
        ending.check()
    assert guest.got[-1] == "close"
