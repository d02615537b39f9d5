"""`netlab doctor`: check the requirements of netlab on this machine, and say what to do about missing ones."""

import argparse
import importlib.util
import os
import platform
import shutil
import sys
import textwrap

from netlab import engines
from netlab.base import cache
from netlab.base.errors import NetlabError
from netlab.commands import contributions
from netlab.engines import MACHINES, Requirement

MIN_FREE_BYTES = 1 << 30
MIN_MEMORY_BYTES = 256 << 20
MIN_OPEN_FILES = 1024
PACKAGES = ("jupyterlab", "ipywidgets", "plotly")
WIDTH = 100


def machine() -> list[Requirement]:
    """Return the requirements on system, Python and, on Linux, memory, disk and open files, with their state here."""
    directory = cache.root()
    free = shutil.disk_usage(next(path for path in (directory, *directory.parents) if path.exists())).free
    linux = platform.system() == "Linux" and platform.machine() in MACHINES
    found = [
        Requirement(
            "system",
            linux,
            f"{platform.system()} on {platform.machine()}",
            "The library kernel runs here as WebAssembly. Commands in hosts need Linux on x86-64: WSL2 or a virtual machine.",
            required=False,
        ),
        Requirement("Python", True, f"{platform.python_version()} at {sys.executable}"),
    ]
    if sys.platform != "linux":
        return found
    import resource

    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return [
        *found,
        Requirement(
            "memory",
            memory >= MIN_MEMORY_BYTES,
            f"{memory / 2**30:.1f} GB",
            f"A run touches 60 to 80 MB, a large one more; have {MIN_MEMORY_BYTES >> 20} MB.",
        ),
        Requirement(
            "disk",
            free >= MIN_FREE_BYTES,
            f"{free / 2**30:.1f} GB free in {cache.root()}",
            "Results of runs are kept there, and building a kernel takes 0.9 GB for some minutes; make room or set NETLAB_CACHE.",
            required=False,
        ),
        Requirement(
            "open files",
            files == resource.RLIM_INFINITY or files >= MIN_OPEN_FILES,
            "no limit" if files == resource.RLIM_INFINITY else f"up to {files}",
            f"The guest needs {MIN_OPEN_FILES}; raise the hard limit (ulimit -H -n).",
        ),
    ]


def packages() -> list[Requirement]:
    """Return a requirement for each Python package that only notebooks need; it is met if the package is installed."""
    remedy = "Run `make lab`, or pip install netlab's requirements."
    is_installed = {name: importlib.util.find_spec(name) is not None for name in PACKAGES}
    return [
        Requirement(name, found, "installed" if found else "not installed", remedy, required=False)
        for name, found in is_installed.items()
    ]


def section_lines(title: str, requirements: list[Requirement], width: int) -> list[str]:
    """Return the lines of a section: its title, a row per requirement, and unmet ones' remedies, wrapped at `width`."""
    label = max(len(requirement.name) for requirement in requirements) + 2
    found = [title]
    for requirement in requirements:
        state = "ok" if requirement.ok else "MISSING" if requirement.required else "no"
        found.append(f"  {requirement.name:<{label}}{state:<9}{requirement.finding}")
        if not requirement.ok and requirement.remedy:
            indent = " " * (label + 11)
            found += textwrap.wrap(
                requirement.remedy, max(width, len(indent) + 40), initial_indent=indent, subsequent_indent=indent
            )
    return [*found, ""]


def main(_options: argparse.Namespace) -> int:
    """Print the report of `netlab doctor`; return 1 if no engine can run experiments on this machine, else 0."""
    width = min(shutil.get_terminal_size().columns, WIDTH)
    sections = {"This machine": machine(), "Notebooks": packages()}
    for module in contributions.modules("doctor_report"):
        sections |= module.sections()
    for title, requirements in sections.items():
        print("\n".join(section_lines(title, requirements, width)))
    missing = ", ".join(
        requirement.name
        for requirements in sections.values()
        for requirement in requirements
        if requirement.required and not requirement.ok
    )
    try:
        print(engines.preflight())
    except NetlabError:
        print(f"Not ready: {missing or 'no engine'}. Follow the advice above, then run `netlab doctor` again.")
        return 1
    if missing:
        print(f"Missing: {missing}. Features that need it do not work; the advice is above.")
    return 0
