"""How another thread ends one that waits for a socket."""

from __future__ import annotations

import os


class Stopper:
    """A flag that other threads set and that wakes a `poll`."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.is_set = False

    def set(self) -> None:
        """Set it, for good."""
        self.is_set = True
        os.eventfd_write(self.fd, 1)

    def __del__(self) -> None:
        os.close(self.fd)
