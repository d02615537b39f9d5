"""The place of netlab's cache."""

import os
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
