"""The timer of a live panel's pictures, with event loops that note their calls, and from several threads at once."""

from __future__ import annotations

import threading

import pytest

from netlab_engines.lab.picture_timer import PictureTimer

INTERVAL_S = 0.1


class NotedHandle:
    """A scheduled call; it notes the thread that cancelled it."""

    def __init__(self, wait_s):
        self.wait_s, self.cancelled_in = wait_s, None

    def cancel(self):
        self.cancelled_in = threading.current_thread()


class NotedLoop:
    """An event loop that keeps its scheduled calls and the calls that other threads ask for, and runs none of them."""

    def __init__(self):
        self.handles, self.asked, self.closed = [], [], False

    def call_later(self, wait_s, _draw):
        self.handles.append(NotedHandle(wait_s))
        return self.handles[-1]

    def call_soon_threadsafe(self, function):
        self.asked.append(function)

    def is_closed(self):
        return self.closed


@pytest.fixture
def timer(clock):
    created = PictureTimer(INTERVAL_S)
    created.restart()
    return created


def draw():
    pass


def test_no_picture_is_scheduled_that_the_page_did_not_allow(timer):
    loop = NotedLoop()
    timer.schedule(loop, draw)
    assert loop.handles == []
    timer.allow(2)
    for _ in range(3):
        timer.schedule(loop, draw)
    assert len(loop.handles) == 2


def test_a_picture_is_due_one_interval_after_the_last_and_at_once_if_late(timer, clock):
    loop = NotedLoop()
    timer.allow(2)
    clock.s += 0.03
    timer.schedule(loop, draw)
    clock.s += 5
    timer.schedule(loop, draw)
    assert [handle.wait_s for handle in loop.handles] == pytest.approx([INTERVAL_S - 0.03, 0])


def test_restart_returns_the_time_since_the_last_picture(timer, clock):
    clock.s += 0.25
    assert timer.since_last_s == pytest.approx(0.25)
    assert timer.restart() == pytest.approx(0.25)
    assert timer.since_last_s == 0


def test_a_new_picture_replaces_the_scheduled_one_of_the_same_loop(timer):
    loop = NotedLoop()
    timer.allow(2)
    timer.schedule(loop, draw)
    timer.schedule(loop, draw)
    first, second = loop.handles
    assert (first.cancelled_in, second.cancelled_in) == (threading.current_thread(), None)


def test_a_picture_of_another_loop_is_cancelled_by_that_loop(timer):
    own, other = NotedLoop(), NotedLoop()
    timer.allow(2)
    timer.schedule(other, draw)
    timer.schedule(own, draw)
    assert other.handles[0].cancelled_in is None
    assert other.asked == [other.handles[0].cancel]


def test_a_closed_loop_is_not_asked(timer):
    own, closed = NotedLoop(), NotedLoop()
    timer.allow(1)
    timer.schedule(closed, draw)
    closed.closed = True
    timer.cancel(own)
    assert closed.asked == []


def test_a_picture_of_one_thread_waits_until_the_picture_of_another_is_scheduled(timer):
    """Otherwise both pictures stay scheduled, because neither thread sees the other's."""
    entered, released = threading.Event(), threading.Event()

    class WaitingLoop(NotedLoop):
        def call_later(self, wait_s, call):
            entered.set()
            released.wait()
            return super().call_later(wait_s, call)

    waiting, other = WaitingLoop(), NotedLoop()
    timer.allow(2)
    first = threading.Thread(target=timer.schedule, args=(waiting, draw))
    second = threading.Thread(target=timer.schedule, args=(other, draw))
    first.start()
    entered.wait()
    second.start()
    second.join(0.2)
    released.set()
    first.join()
    second.join()
    assert waiting.asked == [waiting.handles[0].cancel]
    assert len(other.handles) == 1
