"""The directories of built kernels."""

import os
import sys
from pathlib import Path

from netlab.base.cache import root
from netlab.base.errors import KernelError
from netlab.base.location import CARRIED_FOLDER

PREVIOUS = ".previous-"
"""The begin of the name of an earlier build while a new one takes its place."""


def kernels() -> Path:
    """Return the path of the user's directory of pocket kernels, which has a directory `<version>-<key>` with the files
    linux, mnexec, config and build.json for each; it need not exist.
    """
    return root() / "kernels"


def libraries() -> Path:
    """Return the path of the user's directory of library kernels, which has a directory `<version>-<key>` with the
    files netlab-library, config and build.json for each; it need not exist.
    """
    return root() / "libraries"


def shared_directory() -> Path:
    """Return the path of the read-only cache of kernels that an administrator fills for all users: `$NETLAB_SHARED`, or
    else `share/netlab` in Python's prefix. It need not exist.
    """
    named = os.environ.get("NETLAB_SHARED")
    return Path(named).expanduser().absolute() if named else Path(sys.prefix) / "share" / "netlab"


def builds(kind_directory: Path) -> list[Path]:
    """Return the paths of all entries of `kind_directory`, which is `kernels()` or `libraries()`, then of the
    directories of the same name in the shared cache and in netlab's wheel; each place is sorted by name. Raises
    KernelError if this user may not read one of these directories.
    """
    return [
        path
        for place in (kind_directory, shared_directory() / kind_directory.name, CARRIED_FOLDER / kind_directory.name)
        for path in _entries(place)
    ]


def _entries(place: Path) -> list[Path]:
    """Return the paths of all entries of the directory `place`, sorted by name, without earlier builds that others have
    replaced; [] if there is no such directory. Raises KernelError if it cannot be read.
    """
    try:
        entries = sorted(place.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise KernelError(
            f"{place} cannot be read ({error.strerror}). Set NETLAB_CACHE to one of your directories, or NETLAB_KERNEL to "
            "the file linux of a build."
        ) from None
    names = {path.name for path in entries}
    return [
        path for path in entries if not path.name.startswith(PREVIOUS) or path.name.removeprefix(PREVIOUS) not in names
    ]
