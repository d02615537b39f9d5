"""The paths of netlab's packages."""

import os
from pathlib import Path

PACKAGES = (
    "netlab", "netlab_user_code", "netlab_engines", "netlab_course", "netlab_classroom", "netlab_kernel", "netlab_replication",
)  # fmt: skip
"""The import packages of the project; a machine may have only some of them."""
PACKAGE = Path(__file__).resolve().parents[1]
IMPORT_ROOT = PACKAGE.parent
"""The directory from which all of them are imported: a clone, or `site-packages`."""
CARRIED_FOLDER = PACKAGE / "carried"
"""The files that a wheel includes: the chapters and kernels."""
_PREFIXES = tuple(f"{IMPORT_ROOT / name}{os.sep}" for name in PACKAGES)


def package_directories() -> list[Path]:
    """Return the directories of those of netlab's import packages that this machine has, in the order of `PACKAGES`."""
    return [IMPORT_ROOT / name for name in PACKAGES if (IMPORT_ROOT / name).is_dir()]


def is_own_file(filename: str | Path) -> bool:
    """Tell whether a file is part of netlab's packages, so that its lines are not the user's.

    >>> is_own_file(__file__), is_own_file("/home/ann/my_control.py")
    (True, False)
    """
    return str(filename).startswith(_PREFIXES)
