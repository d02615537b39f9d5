"""The place of netlab's cache."""

import os
from pathlib import Path


def root() -> Path:
    """Return the user's cache directory: $NETLAB_CACHE, $XDG_CACHE_HOME/netlab or ~/.cache/netlab; it may not exist."""
    named = os.environ.get("NETLAB_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "netlab"
