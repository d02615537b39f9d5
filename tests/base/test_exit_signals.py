"""Signals that end a command have other handlers for a while."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from netlab.base.exit_signals import handle_signals, signals_raise_system_exit


def test_signals_go_to_the_handler_and_then_where_they_went_before() -> None:
    before, got = signal.getsignal(signal.SIGHUP), []
    # A system may lack a signal.
    with handle_signals(("SIGHUP", "SIGNONE"), lambda number, _frame: got.append(number)):
        os.kill(os.getpid(), signal.SIGHUP)
        with pytest.raises(SystemExit, match="129"), signals_raise_system_exit():
            os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGHUP)
    assert got == [signal.SIGHUP, signal.SIGHUP]
    assert signal.getsignal(signal.SIGHUP) is before


def test_an_ignored_signal_stays_ignored() -> None:
    before, got = signal.signal(signal.SIGHUP, signal.SIG_IGN), []
    try:
        with handle_signals(("SIGHUP",), lambda number, _frame: got.append(number)):
            os.kill(os.getpid(), signal.SIGHUP)
        assert (signal.getsignal(signal.SIGHUP), got) == (signal.SIG_IGN, [])
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_leaves_the_handlers_alone() -> None:
    before, seen = signal.getsignal(signal.SIGHUP), []

    def work() -> None:
        with handle_signals(("SIGHUP",), lambda _number, _frame: None):
            seen.append(signal.getsignal(signal.SIGHUP))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
