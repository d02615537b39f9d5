"""The places of netlab's cache."""

import os
import sys
from pathlib import Path


def root() -> Path:
    """Return the directory of the user's cache: `$NETLAB_CACHE`, else `netlab` in `$XDG_CACHE_HOME`, else
    `~/.cache/netlab`. It need not exist.
    """
    named = os.environ.get("NETLAB_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "netlab"


def shared() -> Path:
    """Return the directory of the read-only cache that an administrator fills for all users: `$NETLAB_SHARED`, or else
    `share/netlab` in Python's prefix. It need not exist.
    """
    named = os.environ.get("NETLAB_SHARED")
    return Path(named).expanduser().absolute() if named else Path(sys.prefix) / "share" / "netlab"
