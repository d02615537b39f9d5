"""The look-up of modules in netlab's other packages, which this one does not import."""

import importlib
from types import ModuleType

from netlab.base.errors import NetlabError
from netlab.base.version import VERSION

PURPOSES = {
    "netlab_engines": "runs, live networks and Mininet scripts",
    "netlab_course": "the chapters and their checks",
    "netlab_classroom": "grading",
}


class MissingPackageError(NetlabError):
    """One of netlab's packages is not installed."""


def load(module: str) -> ModuleType:
    """Import and return a module of one of netlab's packages by its full name, such as "netlab_engines.selection".
    Raises MissingPackageError when the package is not installed; the text says what to do. Other import errors pass.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingPackageError(
            f"The package {package} is not installed; {PURPOSES.get(package, 'this')} need it. Install the file of netlab's wheel "
            f"for this system (pip install netlab-{VERSION}-...whl), or work in a clone of netlab after `make lab`."
        ) from None
