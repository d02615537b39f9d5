"""A function that does not come back in time is stopped, wherever it runs."""

from __future__ import annotations

import signal
import sys
import threading

import pytest

from netlab.course.time_limit import TimeIsUpError, call_within

LIMIT_S = 0.05


def endless() -> None:
    while True:
        try:
            int("no number")
        except Exception:  # noqa: BLE001, S110 (as a student may write it)
            pass


def stops() -> bool:
    try:
        call_within(LIMIT_S, endless)
    except TimeIsUpError:
        return True
    return False


def test_what_comes_back_in_time_is_returned_and_leaves_no_alarm() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    assert call_within(5, lambda value: value + 1, value=1) == 2
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is handler


def test_an_endless_loop_is_stopped_in_the_main_thread() -> None:
    assert stops()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_endless_loop_is_stopped_in_another_thread() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(stops()), daemon=True)
    thread.start()
    thread.join(10)
    assert found == [True]


def test_an_endless_loop_is_stopped_where_there_are_no_alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "setitimer")
    before = sys.gettrace()
    assert stops()
    assert sys.gettrace() is before


def test_an_alarm_that_somebody_else_has_set_is_left_alone() -> None:
    signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        assert stops()
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 900
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
