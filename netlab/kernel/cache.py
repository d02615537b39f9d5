"""Where built kernels and downloaded sources live."""

import os
import sys
from pathlib import Path

from netlab.base.errors import KernelError
from netlab.base.location import CARRIED


def root() -> Path:
    """The cache of netlab: `$NETLAB_CACHE`, else `netlab` in `$XDG_CACHE_HOME`, else `~/.cache/netlab`."""
    named = os.environ.get("NETLAB_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "netlab"


def shared() -> Path:
    """Kernels that an administrator put there for all, which are only read: `$NETLAB_SHARED`, else `share/netlab` beside Python."""
    named = os.environ.get("NETLAB_SHARED")
    return Path(named).expanduser().absolute() if named else Path(sys.prefix) / "share" / "netlab"


def kernels() -> Path:
    """One directory per built kernel: `<version>-<key>/{linux,mnexec,config,build.json,...}`."""
    return root() / "kernels"


def libraries() -> Path:
    """One directory per built library kernel: `<version>-<key>/{netlab-library,config,build.json,...}`."""
    return root() / "libraries"


def builds(room: Path) -> list[Path]:
    """Every directory in `kernels()` or `libraries()`, by name, then those of the shared cache and of netlab's own wheel.

    Raises KernelError when this user may not look into one of the two.
    """
    return [path for place in (room, shared() / room.name, CARRIED / room.name) for path in _inside(place)]


def _inside(place: Path) -> list[Path]:
    try:
        return sorted(place.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise KernelError(
            f"{place} cannot be read ({error.strerror}). Set NETLAB_CACHE to a directory of your own, or NETLAB_KERNEL to "
            "the file linux of a build."
        ) from None


def sources() -> Path:
    """Downloaded source packages."""
    return root() / "sources"
