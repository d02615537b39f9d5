"""Become a program for which the kernel has no Landlock: `without_landlock.py PROGRAM [ARGUMENT...]`.

A filter of system calls answers Landlock's three as a kernel does that was built without it (ENOSYS); whatever the program
starts inherits it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
FIRST, LAST = 444, 446
LOAD, AT_LEAST, MORE_THAN, RETURN = 0x20, 0x35, 0x25, 0x06
REFUSED, ALLOWED = 0x50000 | errno.ENOSYS, 0x7FFF0000
# The system call's number; below the first or above the last of Landlock's, the last line.
LINES = [
    (LOAD, 0, 0, 0),
    (AT_LEAST, 0, 2, FIRST),
    (MORE_THAN, 1, 0, LAST),
    (RETURN, 0, 0, REFUSED),
    (RETURN, 0, 0, ALLOWED),
]


def main() -> None:
    """Take the filter, then become the program."""
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in LINES))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(LINES), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606 (what it is for)


if __name__ == "__main__":
    main()
