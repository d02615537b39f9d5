"""Paths of the Python packages and programs that the agent uses."""

import importlib.util
import shutil
import sys
from pathlib import Path

from netlab.base.errors import EngineError, KernelError
from netlab.base.location import IMPORT_ROOT
from netlab.engines import Requirement
from netlab_engines.kernels import library_kernel, pocket_kernel

PACKAGE_DIRECTORIES = ("site-packages", "dist-packages")
"""The names of the directories in which Python's packages are installed."""
SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def python_path() -> list[str]:
    """Return the directories to add to the path of the agent's Python, in order and each once: the ones that contain
    the packages of netlab and of Mininet, and those of this Python's installed packages. Raises EngineError if Mininet
    is not installed for this Python.
    """
    # Find the module without importing it: on Python 3.12 Mininet cannot be imported without a replacement of distutils.
    mininet = importlib.util.find_spec("mininet")
    if mininet is None or mininet.origin is None:
        raise EngineError(
            "Mininet is not installed for this Python. Install netlab with `make lab`, or the package mininet with pip."
        )
    # Mininet may be a package of the system, and what its user installed for this Python be elsewhere.
    installed = [Path(entry).resolve() for entry in sys.path if Path(entry).name in PACKAGE_DIRECTORIES]
    found = [IMPORT_ROOT, Path(mininet.origin).resolve().parent.parent, *filter(Path.is_dir, installed)]
    return list(dict.fromkeys(map(str, found)))


def system_path() -> list[str]:
    """Return the directories in which the agent looks for programs, in order: that of netlab's own `mnexec`, if a
    kernel is built, then the system's.
    """
    own = None
    # On a processor without a pocket kernel, the library kernel's build has mnexec.
    for find in (pocket_kernel.find, library_kernel.find):
        try:
            own = own or find().mnexec_path
        except KernelError:
            continue
    return [*([] if own is None else [str(own.parent)]), *SYSTEM_PATH]


def tool(name: str, remedy: str) -> Requirement:
    """Return the requirement that the program with the name `name` is in a directory of `system_path()`, met or not;
    `remedy` is a sentence for the user if it is not.
    """
    place = shutil.which(name, path=":".join(system_path()))
    return Requirement(name, place is not None, place or "not found", remedy)
