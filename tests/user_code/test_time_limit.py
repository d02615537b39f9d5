"""A function that does not come back in time is stopped, wherever it runs."""

from __future__ import annotations

import signal
import sys
import threading

import pytest

from netlab_user_code import time_limit
from netlab_user_code.time_limit import TimeIsUpError, call_often_within, call_within

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


def test_call_in_time_is_returned_and_leaves_no_alarm() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    assert call_within(5, lambda value: value + 1, value=1) == 2
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is handler


@pytest.mark.slow
def test_an_endless_loop_is_stopped_in_the_main_thread() -> None:
    assert stops()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_an_endless_loop_is_stopped_in_another_thread() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(stops()), daemon=True)
    thread.start()
    thread.join(10)
    assert found == [True]


def test_endless_loop_in_another_thread_is_stopped_after_many_finished_calls() -> None:
    """They used to end the tracing of lines in all threads."""
    call_often_within(5, int)
    test_an_endless_loop_is_stopped_in_another_thread()


def test_an_endless_loop_is_stopped_where_there_are_no_alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "setitimer")
    before = sys.gettrace()
    assert stops()
    assert sys.gettrace() is before


def test_alarm_of_other_code_is_left_alone() -> None:
    signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        assert stops()
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 900
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def stops_the_third() -> bool:
    for function in (lambda: None, lambda: sum(range(1000))):
        call_often_within(LIMIT_S, function)
    try:
        call_often_within(LIMIT_S, endless)
    except TimeIsUpError:
        return True
    return False


def test_endless_call_among_many_is_stopped_in_every_thread() -> None:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(stops_the_third()), daemon=True)
    thread.start()
    assert stops_the_third()
    thread.join(10)
    assert found == [True]


@pytest.mark.slow
def test_a_limited_call_may_make_another_and_both_limits_hold() -> None:
    done: list[str] = []
    call_often_within(60, lambda: (call_often_within(60, lambda: done.append("inner")), done.append("outer")))
    assert done == ["inner", "outer"] and not time_limit._calls
    for limits_s in ((60, LIMIT_S), (LIMIT_S, 60)):
        outer_s, inner_s = limits_s
        with pytest.raises(TimeIsUpError):
            call_often_within(outer_s, call_often_within, inner_s, endless)
        assert not time_limit._calls
    # The outer limit holds after the inner call has come back.
    with pytest.raises(TimeIsUpError):
        call_often_within(LIMIT_S, lambda: (call_often_within(60, int), endless()))


@pytest.mark.slow
def test_many_calls_are_watched_line_by_line_where_there_are_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(time_limit, "_watched_processes", set())
    monkeypatch.setattr(threading.Thread, "start", none)
    assert stops_the_third()
