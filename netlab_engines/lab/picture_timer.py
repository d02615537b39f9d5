"""The timer of a live panel's pictures, in the event loop of the thread that received the page's message."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable


class PictureTimer:
    """The time of the last picture, the number of pictures that the page still allows, and the scheduled picture.

    JupyterLab may deliver a page's messages in another thread than the one that runs cells, so all methods may be
    called from any thread.
    """

    def __init__(self, interval_s: float) -> None:
        """Make a timer for a picture every `interval_s` s of wall-clock time; no picture is allowed yet."""
        self._interval_s = interval_s
        self._lock = threading.Lock()
        self._last_s, self._allowed = 0.0, 0
        self._scheduled: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

    @property
    def since_last_s(self) -> float:
        """The wall-clock time in s since the last picture, or since `restart`."""
        with self._lock:
            return time.monotonic() - self._last_s

    def restart(self) -> float:
        """Start the time of a new picture; return the wall-clock time in s since the last one."""
        now_s = time.monotonic()
        with self._lock:
            passed_s, self._last_s = now_s - self._last_s, now_s
        return passed_s

    def allow(self, count: int) -> None:
        """Allow `count` pictures from now on, in place of those that were left."""
        with self._lock:
            self._allowed = count

    def schedule(self, loop: asyncio.AbstractEventLoop, draw: Callable[[], None]) -> None:
        """Schedule a call of `draw` in the event loop `loop`, which runs in this thread, one interval after the last
        picture (at once if that has passed), in place of a picture that is already scheduled; it uses one of the
        allowed pictures, and none is scheduled if no picture is allowed any more.
        """
        with self._lock:
            self._cancel(loop)
            if self._allowed > 0:
                self._allowed -= 1
                wait_s = max(0.0, self._last_s + self._interval_s - time.monotonic())
                self._scheduled = loop, loop.call_later(wait_s, draw)

    def cancel(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel the scheduled picture, if there is one; `loop` is the event loop that runs in this thread."""
        with self._lock:
            self._cancel(loop)

    def _cancel(self, loop: asyncio.AbstractEventLoop) -> None:
        """Do the work of `cancel` for a caller that holds the lock."""
        if self._scheduled is None:
            return
        (scheduled_in, handle), self._scheduled = self._scheduled, None
        if scheduled_in is loop:
            handle.cancel()
        elif not scheduled_in.is_closed():
            # Only its own thread may change an event loop.
            scheduled_in.call_soon_threadsafe(handle.cancel)
