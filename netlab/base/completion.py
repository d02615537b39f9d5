"""Work in other threads or processes, as it finishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def iter_completed(running: Iterable[Future[T]]) -> Iterator[Future[T]]:
    """Yield each future when it has finished or was cancelled, in the order in which they finish.

    `wait` and `as_completed` of the standard library take the locks of all futures at once: Ctrl-C in that moment leaves some of them
    locked, and their workers wait for ever. This function takes one lock at a time.
    """
    several = list(running)
    done: SimpleQueue[Future[T]] = SimpleQueue()
    for future in several:
        future.add_done_callback(done.put)
    for _ in several:
        yield done.get()
