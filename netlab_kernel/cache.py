"""The directories of built kernels and downloaded sources."""

from pathlib import Path

from netlab.base.cache import root, shared
from netlab.base.errors import KernelError
from netlab.base.location import CARRIED


def kernels() -> Path:
    """Return the directory of pocket kernels, which has `<version>-<key>/{linux,mnexec,config,build.json,...}` for each."""
    return root() / "kernels"


def libraries() -> Path:
    """Return the directory of library kernels, which has `<version>-<key>/{netlab-library,config,build.json,...}` for each."""
    return root() / "libraries"


def builds(room: Path) -> list[Path]:
    """Return all builds in the directory `kernels()` or `libraries()`, then those in the shared cache and in netlab's wheel.

    Raises KernelError if this user may not read one of these directories.
    """
    return [path for place in (room, shared() / room.name, CARRIED / room.name) for path in _inside(place)]


def _inside(place: Path) -> list[Path]:
    try:
        return sorted(place.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise KernelError(
            f"{place} cannot be read ({error.strerror}). Set NETLAB_CACHE to one of your directories, or NETLAB_KERNEL to "
            "the file linux of a build."
        ) from None


def sources() -> Path:
    """Return the directory of downloaded source packages."""
    return root() / "sources"
