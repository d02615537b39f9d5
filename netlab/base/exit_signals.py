"""Handlers of the signals that end a command."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def signals_raise_system_exit() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit(128 + number) in a `with` block; do nothing outside the main thread."""

    def leave(number: int, _frame: FrameType | None) -> None:
        """Raise SystemExit with the exit status of a process that the signal `number` ended, 128 + `number`."""
        raise SystemExit(128 + number)

    with handle_signals(("SIGTERM", "SIGHUP"), leave):
        yield


@contextmanager
def handle_signals(names: tuple[str, ...], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Let `handler(number, frame)` handle the signals of these names, such as "SIGTERM", inside a `with` block, and
    restore the earlier handlers at its end; leave out signals that the system lacks or that are ignored, as SIGHUP is
    after `nohup`. Only in the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    numbers = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    old_handlers = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old_handler in old_handlers.items():
            signal.signal(number, old_handler)
