"""The machine's C library, for system calls that Python's `os` lacks.

What runs before netlab's packages can be imported (the launcher, the guest's first program) has a handle of its own.
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise OSError with the C library's reason when a call of it failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
