"""Put a build of a kernel into the cache in such a way that a stop at any step, also a kill, leaves a complete build."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from netlab.base.cache import root
from netlab_engines.kernels.cache import PREVIOUS

STAGING = ".install-"
MAX_STAGING_AGE_S = 86_400


@contextmanager
def staging_directory() -> Iterator[Path]:
    """Yield a new temporary directory for a build, which a search for kernels does not find, in the top directory of the
    user's cache, and remove it at the end of the `with` block. Directories that killed processes left are removed after
    a day.
    """
    root().mkdir(parents=True, exist_ok=True)
    for stale in root().glob(f"{STAGING}*"):
        # Another process may remove it meanwhile.
        with suppress(FileNotFoundError):
            if stale.stat().st_mtime < time.time() - MAX_STAGING_AGE_S:
                shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=STAGING, dir=root()) as directory:
        yield Path(directory)


def install(build: Path, target: Path) -> None:
    """Move the directory `build` to `target`, whose parent directory is created if needed, and then delete the earlier
    build that was there. Raises OSError if that is impossible; the earlier build is then at `target` again.

    The earlier build is renamed before the new one takes its place, so there is a complete build at any time: if this
    process is killed between both steps, a search for kernels finds the renamed one, and the next call repairs the name.
    Installations into one directory take turns.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(target.parent):
        _repair(target.parent)
        try:
            if target.exists():
                target.rename(target.with_name(PREVIOUS + target.name))
            build.rename(target)
        finally:
            _repair(target.parent)


@contextmanager
def _lock(directory: Path) -> Iterator[None]:
    """Return a context manager that holds the lock of `directory` while its block runs, and waits for it if another
    process has it.
    """
    # Systems without kernels of netlab have no such module.
    import fcntl

    # The directory itself is locked, so that no file is left in it.
    handle = os.open(directory, os.O_RDONLY)
    try:
        # Some network file systems have no locks.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _repair(directory: Path) -> None:
    """Give the earlier builds in `directory` that were renamed to make room for others their names again, and delete
    those whose place was taken.
    """
    for previous in directory.glob(f"{PREVIOUS}*"):
        target = directory / previous.name.removeprefix(PREVIOUS)
        if target.exists():
            shutil.rmtree(previous, ignore_errors=True)
        else:
            previous.rename(target)
