"""Modules by which netlab's packages add to the command line: `command_table` and `doctor_report`."""

import importlib
from collections.abc import Iterator
from types import ModuleType

from netlab.base.location import IMPORT_ROOT
from netlab.base.version import VERSION

ORDER = ("netlab_course", "netlab", "netlab_engines", "netlab_classroom", "netlab_replication", "netlab_kernel")
"""The order of the packages in help and reports: the parts that students use come first."""

CLASSROOM = f"is for instructors: pip install the file netlab_classroom-{VERSION}-py3-none-any.whl, which `make wheel` makes in a clone"
CLONE = "works in a clone of netlab: get one with git and type `make lab` in it"
NOT_IN_THE_WHEEL = {
    **dict.fromkeys(("assign", "grade", "contest"), CLASSROOM),
    **dict.fromkeys(("kernel", "replicate"), CLONE),
}
"""For each command of the packages that students' wheels are without: what it needs, as the rest of a sentence."""


def modules(name: str) -> Iterator[ModuleType]:
    """Import and yield the module `name` of each installed package of netlab that has one, in the order of `ORDER`."""
    for package in ORDER:
        if (IMPORT_ROOT / package / f"{name}.py").is_file():
            yield importlib.import_module(f"{package}.{name}")
