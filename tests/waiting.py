"""Waiting for what another process or thread does."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

STEP_S = 0.05
STEPS = 1200


def wait_for(condition: Callable[[], object]) -> bool:
    """Return whether a condition becomes true within a minute of sleep, because on a busy machine everything takes longer."""
    for _ in range(STEPS):
        if condition():
            return True
        time.sleep(STEP_S)
    return False


def free_port() -> int:
    """A port of the loopback interface that nobody uses at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port: int = unused.getsockname()[1]
    return port
