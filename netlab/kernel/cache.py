"""Where built kernels and downloaded sources live."""

from __future__ import annotations

import os
import sys
from pathlib import Path


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


def sources() -> Path:
    """Downloaded source packages."""
    return root() / "sources"
