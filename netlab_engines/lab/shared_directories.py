"""Choose the directories of this machine that a Mininet script writes to directly.

A script may write wherever its user may, so that its files exist at once, however it ends. The system's directories are
private copies in the guest: a script is root there and may change them, which must not change this machine.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

SYSTEM = frozenset(
    f"/{name}"
    for name in [
        "bin",
        "boot",
        "dev",
        "etc",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "lost+found",
        "nix",
        "proc",
        "run",
        "sbin",
        "snap",
        "sys",
        "usr",
        "var",
    ]
)
"""The system's directories, which are not shared."""
GUEST_MOUNTS = ("/dev", "/proc", "/run", "/sys")
"""Mount points at which the guest has its own file systems."""
PUBLIC_DIRECTORIES = ("/tmp", "/var/tmp")
REMOTE_FILE_SYSTEMS = ("autofs", "nfs", "cifs", "smb", "9p", "ceph", "lustre", "afs", "gpfs", "fuse")
"""Prefixes of the types of file systems that are not searched: one that does not respond would block the search."""
MAX_DEPTH = 3
MIN_DEPTH_IN_SYSTEM = 3
"""The depth from which a working directory in one of the system's is shared: /var/www/site is, /usr/bin is not."""
MAX_ENTRIES = 300
MOUNTS = Path("/proc/self/mountinfo")


def shared_directories(working: str | Path, script: str | Path) -> list[str]:
    """Return the directories of this machine that a script may write to directly, as sorted absolute paths of which
    none is inside another: the directory `working` in which the script runs, and, if the user may write to them, the
    directory `script` of its file, the home directory, $TMPDIR, /tmp, /var/tmp, the parents of these, and other
    directories up to three levels below /. The system's directories are left out, and so are paths with a colon.

    They are the `working` directory, the directory `script` of the script, the home directory, $TMPDIR, /tmp, /var/tmp,
    the parents of each as far as the user may write to them, and every other directory up to three levels below / that
    the user may write to. The system's directories are not among them; a directory deep inside them is, if it is the
    working or the home directory.
    """
    home = os.path.realpath(home_directory())
    place = os.path.realpath(working)
    found = set()
    if _can_be_shared(place) and (not _is_below(place, SYSTEM) or place.count("/") >= MIN_DEPTH_IN_SYSTEM):
        found.add(place)
    if _can_be_shared(home) and _may_write(home):
        found.add(home)
    for name in (script, os.environ.get("TMPDIR", "/tmp"), *PUBLIC_DIRECTORIES):
        place = os.path.realpath(name)
        if _can_be_shared(place) and _may_write(place) and (name in PUBLIC_DIRECTORIES or not _is_below(place, SYSTEM)):
            found.add(place)
    found |= {_highest(place) for place in found}
    found |= set(_search("/", _remote_mounts(), 1))
    return _without_nested(place for place in found if ":" not in place)


def home_directory() -> Path:
    """Return the path of the user's home directory, which need not exist; the path "~" if the system knows none."""
    return Path(os.path.expanduser("~"))  # noqa: PTH111 (Path.home raises where there is none)


def _can_be_shared(place: str) -> bool:
    """Return whether the absolute path `place` is a directory that may be shared with a guest: it is not /, not one of
    the system's directories, and not below /dev, /proc, /run or /sys.
    """
    return place != "/" and place not in SYSTEM and not _is_below(place, GUEST_MOUNTS) and Path(place).is_dir()


def _is_below(place: str, directories: Iterable[str]) -> bool:
    """Return whether the absolute path `place` is inside one of these directories; False for a directory itself."""
    return any(place.startswith(f"{directory}/") for directory in directories)


def _may_write(place: str) -> bool:
    """Return whether this user may create files in the directory `place`."""
    return os.access(place, os.W_OK | os.X_OK)


def _highest(place: str) -> str:
    """Return the highest directory above `place` that the user may write to, with all directories between, outside the
    system's directories; `place` itself if the one above is not writable.
    """
    while not _is_below(above := str(Path(place).parent), SYSTEM) and _can_be_shared(above) and _may_write(above):
        place = above
    return place


def _search(directory: str, remote: set[str], depth: int) -> Iterator[str]:
    """Yield the paths of directories below `directory` that the user may write to, down to MAX_DEPTH levels below /;
    `depth` is the level of the entries of `directory`, from 1. Directories below a found one, a mount point in
    `remote`, the system's directories and symbolic links are not searched, nor are more than MAX_ENTRIES entries of a
    directory.
    """
    try:
        entries = sorted(entry.path for entry in os.scandir(directory) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return
    for place in entries[:MAX_ENTRIES]:
        if place in remote or place in SYSTEM:
            continue
        if _may_write(place):
            yield place
        elif depth < MAX_DEPTH:
            yield from _search(place, remote, depth + 1)


def _remote_mounts() -> set[str]:
    """Return the paths at which file systems of the types REMOTE_FILE_SYSTEMS are mounted on this machine; an empty set if that is
    not known.
    """
    found: set[str] = set()
    try:
        lines = MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return found
    for line in lines:
        # mountinfo(5): the fifth word is the mount point, the first word after "-" the type.
        words, _, rest = line.partition(" - ")
        if rest.startswith(REMOTE_FILE_SYSTEMS):
            found.add(words.split()[4])
    return found


def _without_nested(places: Iterable[str]) -> list[str]:
    """Return the absolute paths `places` in sorted order, without those that are inside another of them."""
    outermost: list[str] = []
    for place in sorted(places):
        if not _is_below(place, outermost):
            outermost.append(place)
    return outermost
