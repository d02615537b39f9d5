"""The machine's C library, for system calls that Python's `os` lacks.

Programs that run before netlab's packages can be imported (the launcher, the guest's first program) load it themselves.
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    """Raise OSError with the C library's `errno` if `result`, the return value of a function of `libc`, is not 0;
    `what`, the function's name, is in the error's text.
    """
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
