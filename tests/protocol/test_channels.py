"""Long messages between a host and its guest: the time grows with their length, not with its square."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from netlab_classroom.grading import callee
from netlab_engines.agent.host_channel import HostChannel
from netlab_engines.guests import AgentProcess
from netlab_engines.protocol.messages import encode

SHORT_BYTES, LONG_BYTES = 1 << 20, 1 << 24
PART_BYTES = 1 << 14
MAX_RATIO = 4 * LONG_BYTES // SHORT_BYTES
"""A quadratic copy takes 256 times as long for the longer message, a linear one 16 times."""


class PartialWrites:
    """Takes a little of what is written, as a full device does; keeps nothing."""

    def write(self, _device: int, data: Any) -> int:
        return min(len(data), PART_BYTES)


def cpu_s(action: Callable[[], object]) -> float:
    began_s = time.thread_time()
    action()
    return time.thread_time() - began_s


def sent(near: socket.socket, data: bytes) -> threading.Thread:
    thread = threading.Thread(target=near.sendall, args=(data,))
    thread.start()
    return thread


def host() -> tuple[Any, socket.socket]:
    near, far = socket.socketpair()
    created = object.__new__(AgentProcess)
    created.channel = far
    return created, near


def channel(device: int) -> HostChannel:
    created = object.__new__(HostChannel)
    created._device, created._buffer = device, bytearray()
    return created


def read_by_the_host(size: int) -> float:
    created, near = host()
    with near, created.channel:
        thread = sent(near, encode({"text": "x" * size}))
        took_s = cpu_s(lambda: created.receive(60))
        thread.join()
    return took_s


def read_by(make: Callable[[int], Any], read: str, size: int) -> float:
    near, far = socket.socketpair()
    with near, far:
        thread = sent(near, encode({"text": "x" * size}))
        took_s = cpu_s(getattr(make(far.fileno()), read))
        thread.join()
    return took_s


def written_by(write: Callable[[str], object], size: int, patch: pytest.MonkeyPatch) -> float:
    with patch.context() as inner:
        inner.setattr(os, "write", PartialWrites().write)
        return cpu_s(lambda: write("x" * size))


@pytest.mark.parametrize("end", ["host reads", "agent reads", "agent writes", "student reads", "student writes"])
def test_the_time_for_a_message_grows_with_its_length(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: dict[str, Callable[[int], float]] = {
        "host reads": read_by_the_host,
        "agent reads": lambda size: read_by(channel, "get", size),
        "agent writes": lambda size: written_by(lambda text: channel(-1).put(text=text), size, monkeypatch),
        "student reads": lambda size: read_by(callee.MessageStream, "receive", size),
        "student writes": lambda size: written_by(
            lambda text: callee.MessageStream(-1).send_message(text.encode()), size, monkeypatch
        ),
    }
    short_s = max(0.001, min(measured[end](SHORT_BYTES) for _ in range(5)))
    assert measured[end](LONG_BYTES) < MAX_RATIO * short_s


def test_a_message_in_parts_arrives_whole_and_the_next_one_too() -> None:
    created, near = host()
    messages = [{"text": "a" * 100_000}, {"text": ""}, {"progress_s": 1.5}]
    with near, created.channel:
        thread = sent(near, b"".join(map(encode, messages)))
        assert [created.receive(60) for _ in messages] == messages
        thread.join()
