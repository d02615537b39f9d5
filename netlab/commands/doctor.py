"""`netlab doctor`: check the requirements of netlab on this machine, and say what to do about missing ones."""

import argparse
import importlib.util
import os
import platform
import shutil
import sys
import textwrap
from collections.abc import Collection
from dataclasses import replace

from netlab import engines, kernel
from netlab.base.errors import KernelError, NetlabError
from netlab.engines.base import Requirement
from netlab.engines.library.engine import kernel_requirement
from netlab.kernel import behind, cache, installed, prerequisites
from netlab.kernel import library as library_kernel
from netlab.kernel.installed import PARTS
from netlab.kernel.library import MACHINES

ENOUGH_FREE_BYTES = 1 << 30
ENOUGH_MEMORY_BYTES = 256 << 20
ENOUGH_OPEN_FILES = 1024
PACKAGES = ("jupyterlab", "ipywidgets", "plotly")
WIDTH = 100
# Host files of the pocket kernel, which the library kernel does not need.
POCKET_ONLY = {"gate", "hostfs", "overlay"}


def machine() -> list[Requirement]:
    """Check the processor, the system, memory and disk."""
    room = cache.root()
    free = shutil.disk_usage(next(path for path in (room, *room.parents) if path.exists())).free
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
            memory >= ENOUGH_MEMORY_BYTES,
            f"{memory / 2**30:.1f} GB",
            f"A run touches 60 to 80 MB, a large one more; have {ENOUGH_MEMORY_BYTES >> 20} MB.",
        ),
        Requirement(
            "disk",
            free >= ENOUGH_FREE_BYTES,
            f"{free / 2**30:.1f} GB free in {cache.root()}",
            f"Building a kernel takes {prerequisites.NEEDED_BYTES / 1e9:.1f} GB for some minutes; make room or set NETLAB_CACHE.",
            required=False,
        ),
        Requirement(
            "open files",
            files == resource.RLIM_INFINITY or files >= ENOUGH_OPEN_FILES,
            "no limit" if files == resource.RLIM_INFINITY else f"up to {files}",
            f"The guest needs {ENOUGH_OPEN_FILES}; raise the hard limit (ulimit -H -n).",
        ),
    ]


def packages() -> list[Requirement]:
    """Check the Python packages that only notebooks need."""
    remedy = "Run `make lab`, or pip install netlab's requirements."
    there = {name: importlib.util.find_spec(name) is not None for name in PACKAGES}
    return [
        Requirement(name, found, "installed" if found else "not installed", remedy, required=False)
        for name, found in there.items()
    ]


def pocket() -> list[Requirement]:
    """Check the requirements of the pocket engine and the features of its kernel; optional on processors that it does not support."""
    if sys.platform != "linux" or platform.machine() != installed.POCKET_MACHINE:
        seen = f"is for {installed.POCKET_MACHINE} Linux, this is {platform.system()} on {platform.machine()}"
        return [
            Requirement("pocket kernel", False, seen, "The library engine serves; it has no commands.", required=False)
        ]
    from netlab.engines.pocket import machine_requirements

    found = machine_requirements()
    try:
        here = kernel.find()
    except KernelError:
        if moment := behind.underway():
            return [*found, Requirement("kernel build", True, engines.being_built(moment))]
        if why := behind.failure():
            found.append(
                Requirement("kernel build", False, why, "`make lab` tries again, `netlab kernel build` now.", False)
            )
            return found
        missing = [program for program in prerequisites.NEEDED_PROGRAMS if not shutil.which(program)]
        found.append(
            Requirement(
                "kernel build",
                not missing,
                f"{', '.join(missing)} not found" if missing else "all programs are there",
                "Needed only to build the kernel here; `make lab` installs them, or take a kernel from another machine "
                "with `netlab kernel unpack FILE`.",
                required=False,
            )
        )
        return found
    if installed.by_another_version(here):
        seen = "another version of netlab built this kernel"
        found.append(Requirement("kernel recipe", False, seen, installed.BUILD_ANEW, required=False))
    hint = "Chapters that need them stop with a sentence; `netlab kernel build` makes a kernel that has all."
    return [*found, _features(set(PARTS) - here.capabilities, hint)]


def library() -> list[Requirement]:
    """Check the requirements of the library engine; optional where the pocket engine works."""
    found = [
        replace(
            kernel_requirement(), required=sys.platform != "linux" or platform.machine() != installed.POCKET_MACHINE
        )
    ]
    try:
        lacking = set(PARTS) - library_kernel.find().capabilities - POCKET_ONLY
    except KernelError:
        return found
    return [*found, _features(lacking, "`netlab kernel build` makes a kernel that has all.")]


def _features(lacking: Collection[str], hint: str) -> Requirement:
    seen = f"lacks {', '.join(sorted(lacking))}" if lacking else "all that netlab uses"
    return Requirement("kernel features", not lacking, seen, hint, required=False)


def native() -> list[Requirement]:
    """Check the requirements of the native engine; always optional."""
    if sys.platform != "linux":
        return [Requirement("Linux", False, f"this is {platform.system()}", required=False)]
    from netlab.engines import host_kernel
    from netlab.engines.native import NativeEngine

    found = NativeEngine().requirements()
    if all(requirement.ok for requirement in found):
        found.append(host_kernel.features())
    return [replace(requirement, required=False) for requirement in found]


def lines(title: str, requirements: list[Requirement], width: int) -> list[str]:
    """Return a section of the table: its title, a row per requirement, and advice below each that is missing."""
    label = max(len(requirement.name) for requirement in requirements) + 2
    found = [title]
    for requirement in requirements:
        state = "ok" if requirement.ok else "MISSING" if requirement.required else "no"
        found.append(f"  {requirement.name:<{label}}{state:<9}{requirement.seen}")
        if not requirement.ok and requirement.remedy:
            indent = " " * (label + 11)
            found += textwrap.wrap(
                requirement.remedy, max(width, len(indent) + 40), initial_indent=indent, subsequent_indent=indent
            )
    return [*found, ""]


def main(_options: argparse.Namespace) -> int:
    """Print the table; return 1 when a requirement is missing without which nothing runs."""
    width = min(shutil.get_terminal_size().columns, WIDTH)
    sections = {
        "This machine": machine(),
        "Pocket engine (experiments in a kernel of our own, without root)": pocket(),
        "Library engine (the network stack as one program, for runs without commands)": library(),
        "Notebooks": packages(),
        "Native engine (optional: experiments on this machine's kernel, as root)": native(),
    }
    for title, requirements in sections.items():
        print("\n".join(lines(title, requirements, width)))
    try:
        print(engines.preflight())
    except NetlabError:
        missing = [
            requirement.name
            for requirements in sections.values()
            for requirement in requirements
            if requirement.required and not requirement.ok
        ]
        print(
            f"Not ready: {', '.join(missing) or 'see above'} missing. Do what stands beside it, then run `netlab doctor` again."
        )
        return 1
    return 0
