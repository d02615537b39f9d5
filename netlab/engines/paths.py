"""Where the agent finds Python packages and programs."""

from __future__ import annotations

from pathlib import Path

import mininet

from netlab import kernel
from netlab.errors import KernelError

SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
PACKAGE_ROOT = Path(__file__).resolve().parent.parent.parent


def python_path() -> list[str]:
    """Directories in which the agent's Python finds netlab and Mininet."""
    mininet_root = Path(mininet.__file__ or "").resolve().parent.parent
    return list(dict.fromkeys([str(PACKAGE_ROOT), str(mininet_root)]))


def system_path() -> list[str]:
    """Directories of the agent's programs: netlab's own `mnexec` first, then the system's."""
    try:
        own = kernel.find().mnexec_path
    except KernelError:
        own = None
    return [*([] if own is None else [str(own.parent)]), *SYSTEM_PATH]
