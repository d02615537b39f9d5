"""Futures in the order of their completion."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent import futures

import pytest

from netlab.base.completion import iter_completed


class Lock:
    """A lock; Ctrl-C comes just before one is taken for the given time."""

    def __init__(self, taken: Iterator[int], ctrl_c_before: int) -> None:
        self.inner = threading.RLock()
        self._taken = taken
        self._ctrl_c_before = ctrl_c_before

    def acquire(self) -> bool:
        if next(self._taken) == self._ctrl_c_before:
            raise KeyboardInterrupt
        return self.inner.acquire()

    def release(self, *_raised: object) -> None:
        self.inner.release()

    __enter__ = acquire
    __exit__ = release


@pytest.mark.parametrize("ctrl_c_before", range(3))
def test_ctrl_c_leaves_no_lock_taken(ctrl_c_before: int) -> None:
    """The workers need their locks to finish."""
    answers = itertools.count()
    locks = [Lock(answers, ctrl_c_before) for _ in range(3)]
    running: list[futures.Future[None]] = [futures.Future() for _ in locks]
    for future, lock in zip(running, locks, strict=True):
        future.set_result(None)
        future._condition = threading.Condition(lock)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        list(iter_completed(running))
    with futures.ThreadPoolExecutor(1) as other:
        assert all(other.submit(lock.inner.acquire, blocking=False).result() for lock in locks)


def test_each_comes_when_it_has_finished() -> None:
    first, second, cancelled = futures.Future[int](), futures.Future[int](), futures.Future[int]()
    second.set_result(2)
    finished = iter_completed([first, second, cancelled])
    assert next(finished) is second
    cancelled.cancel()
    assert next(finished) is cancelled
    first.set_exception(ZeroDivisionError())
    assert list(finished) == [first]
