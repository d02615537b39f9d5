"""Work in other threads or processes, as it finishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def as_finished(running: Iterable[Future[T]]) -> Iterator[Future[T]]:
    """Each of these when it has finished or was cancelled, the first first.

    `wait` and `as_completed` of the library take the locks of all that runs: after Ctrl-C in that moment some stay taken, and
    what runs waits for them for ever. This takes one at a time.
    """
    several = list(running)
    done: SimpleQueue[Future[T]] = SimpleQueue()
    for future in several:
        future.add_done_callback(done.put)
    for _ in several:
        yield done.get()
