"""A flag that wakes the threads which wait for it in `poll`."""

import os


class Stopper:
    """A flag that any thread can set, and a file descriptor `fd` that is readable from then on and wakes a `poll`."""

    def __init__(self) -> None:
        """Start with the flag not set and a new file descriptor, which is closed with the object."""
        self.fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.is_set = False

    def set(self) -> None:
        """Set the flag for ever, and wake all threads that poll `fd`; any thread may call this."""
        self.is_set = True
        os.eventfd_write(self.fd, 1)

    def __del__(self) -> None:
        """Close the file descriptor."""
        os.close(self.fd)
