"""Locks between processes, on files."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

RETRY_S = 0.005


@contextmanager
def locked(path: Path, patience_s: float) -> Iterator[None]:
    """Hold an exclusive lock between processes on the file `path` inside a `with` block; the file is created if needed
    and not removed. If the lock is still taken after `patience_s` seconds, or the system has none (some network file
    systems, a browser), go on without it. Raises OSError when the file cannot be created.
    """
    end_s = time.monotonic() + patience_s
    with path.open("ab") as file:
        try:
            while not _try_lock(file) and time.monotonic() < end_s:
                time.sleep(RETRY_S)
        except OSError:
            # A network file system may have no locks.
            pass
        # Closing the file unlocks it.
        yield


def _try_lock(file: IO[bytes]) -> bool:
    """Lock an open file without waiting and return True; return False if another process has the lock. Where the system
    has no locks (in a browser), return True without one.
    """
    if sys.platform == "win32":
        import msvcrt

        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
    elif sys.platform != "emscripten":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
