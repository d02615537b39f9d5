"""Temporary directories, removed also after a crash: one for each run, and those for the files that a run leaves."""

import atexit
import mmap
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from netlab.base.errors import EngineError

try:
    import fcntl

    # A browser's `fcntl` has no flock.
    HAS_LOCKS = hasattr(fcntl, "flock")
except ImportError:
    # Windows has no `fcntl`; only run_directory() and kept_directory() are called there.
    HAS_LOCKS = False

LOCK = "lock"
RUN = "run-"
MIN_FREE_BYTES = 512 << 20

_directory_lock = threading.Lock()
_directory_of_process: dict[int, Path] = {}


def usability_problem(directory: Path, free_bytes: int = MIN_FREE_BYTES, *, for_guests: bool = True) -> str | None:
    """Return None if `directory` has `free_bytes` free and can hold a guest's memory file (or, unless `for_guests`, any
    files), else a phrase with the reason why not.
    """
    if for_guests and any(letter.isspace() or letter in ':"' for letter in str(directory)):
        return "its path has a space, a colon or a quote, which a kernel's command line cannot carry"
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            if for_guests:
                file.truncate(mmap.PAGESIZE)
                access = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
                mmap.mmap(file.fileno(), mmap.PAGESIZE, mmap.MAP_SHARED, access).close()
    except OSError as error:
        return f"it is not writable or forbids programs ({error.strerror})"
    if shutil.disk_usage(directory).free < free_bytes:
        return f"less than {free_bytes >> 20} MB are free there"
    return None


def base(free_bytes: int = MIN_FREE_BYTES, *, for_guests: bool = True) -> Path:
    """Return the first of $TMPDIR, /tmp, /var/tmp and ~/.cache/netlab, made absolute, that has `free_bytes` free and,
    if `for_guests`, can hold a guest's memory file. Raises EngineError, with a reason for each, if none does.
    """
    candidates = [os.environ.get("TMPDIR"), "/tmp", "/var/tmp", os.path.expanduser("~/.cache/netlab")]  # noqa: PTH111 (Path raises where there is no home)
    reasons = []
    for name in dict.fromkeys(candidate for candidate in candidates if candidate):
        reason = usability_problem(Path(name).absolute(), free_bytes, for_guests=for_guests)
        if reason is None:
            return Path(name).absolute()
        reasons.append(f"{name}: {reason}")
    raise EngineError(
        "A run found no suitable directory on disk:\n  "
        + "\n  ".join(reasons)
        + f"\nSet TMPDIR to a writable directory that allows programs and has {free_bytes >> 20} MB free."
    )


def own_directory(free_bytes: int = MIN_FREE_BYTES, *, for_guests: bool = True) -> Path:
    """Return this user's directory `netlab-UID` in the place that `base` returns for the same arguments; create it if
    needed. It is the parent of the directories of runs. Raises EngineError when it cannot be made, belongs to another
    user or is not a directory: anybody may create names in a shared /tmp.
    """
    parent = base(free_bytes, for_guests=for_guests) / f"netlab-{os.getuid()}"
    try:
        parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise EngineError(
            f"{parent} cannot be made ({error.strerror}); remove it or set TMPDIR to another directory."
        ) from None
    found = parent.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
        raise EngineError(f"{parent} belongs to another user; set TMPDIR to a directory of your own.")
    return parent


@contextmanager
def run_directory(free_bytes: int = MIN_FREE_BYTES, *, for_guests: bool = True) -> Iterator[Path]:
    """Yield a new directory for a run, in a place with `free_bytes` free that is fit for guests if `for_guests`; before
    (on systems with file locks), remove those of killed runs; at the end of the `with` block, this one. Raises
    EngineError without such a place.
    """
    if not HAS_LOCKS:
        with tempfile.TemporaryDirectory(prefix="netlab-", ignore_cleanup_errors=True) as name:
            yield Path(name)
        return
    directory, lock = _create_locked(own_directory(free_bytes, for_guests=for_guests))
    with lock:
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)


def kept_directory() -> Path:
    """Create and return a temporary directory for files that outlive their run; raise EngineError as `base` does. The
    caller removes it; otherwise it goes when this process ends or, after a kill, when the next run starts.
    """
    with _directory_lock:
        own = _directory_of_process.get(os.getpid())
        if own is None or not own.is_dir():
            if HAS_LOCKS:
                own, lock = _create_locked(own_directory(0, for_guests=False))
            else:
                own = Path(tempfile.mkdtemp(prefix="netlab-"))
                lock = (own / LOCK).open("w")
            _directory_of_process[os.getpid()] = own
            atexit.register(_remove_at_exit, own, lock, os.getpid())
        return Path(tempfile.mkdtemp(prefix="kept-", dir=own))


def _remove_at_exit(own: Path, lock: IO[str], pid: int) -> None:
    """Remove the directory `own` if this process is `pid`, which created it, and no fork of it; close its lock file."""
    # A forked process also runs this at its exit, but the files belong to its parent.
    if os.getpid() == pid:
        shutil.rmtree(own, ignore_errors=True)
    lock.close()


def _create_locked(parent: Path) -> tuple[Path, IO[str]]:
    """Remove abandoned directories in `parent`, create a run's; return it and its open lock file, which protects it."""
    with (parent / LOCK).open("w") as parent_lock:
        # Create one directory at a time: a new directory has no lock yet and would look abandoned.
        fcntl.flock(parent_lock, fcntl.LOCK_EX)
        _clear_abandoned(parent)
        directory = Path(tempfile.mkdtemp(prefix=RUN, dir=parent))
        lock = (directory / LOCK).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Unlock explicitly: a process forked meanwhile also has the file open.
        fcntl.flock(parent_lock, fcntl.LOCK_UN)
    return directory, lock


def _clear_abandoned(parent: Path) -> None:
    """Remove the run directories in `parent` that no process has locked, because their processes were killed."""
    for directory in parent.glob(f"{RUN}*"):
        try:
            with (directory / LOCK).open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(directory, ignore_errors=True)
        except (OSError, ValueError):
            # The lock is held: the directory is in use.
            continue
