"""Find built pocket kernels and read their capabilities."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netlab.base.errors import KernelError
from netlab_engines.kernels import cache, recipes
from netlab_engines.kernels.builds import HAS_BUILDER, INSTALL_WHEEL, read_build, sorted_builds
from netlab_engines.kernels.versions import Version
from netlab_engines.kernels.wheel_copies import executable_build

POCKET_MACHINE = "x86_64"
"""The only processor with User-Mode Linux."""
PROGRAMS = ("linux", "mnexec")
FILES = (*PROGRAMS, "config", "build.json")


@dataclass(frozen=True)
class PocketKernel:
    """A pocket kernel that netlab built: its program in a build's directory, and the contents of its `build.json`."""

    path: Path
    """The program."""
    release: str
    """Its release, such as "7.3.4"."""
    version: Version
    """Its release as numbers for comparisons, such as `(7, 3, 4)`."""
    capabilities: frozenset[str]
    """The names of `parts.PARTS` that are built in, and "seccomp" if that mode exists."""
    build: dict[str, Any] = field(default_factory=dict)
    """The build's `build.json`: source, compiler, built_at, build_s, size_bytes, ..."""

    @property
    def mnexec_path(self) -> Path:
        """The path of netlab's own `mnexec`, a program that enters network namespaces, next to the kernel's program;
        the file is not checked.
        """
        return self.path.with_name("mnexec")


def find() -> PocketKernel:
    """Return the pocket kernel to run: that of `$NETLAB_KERNEL` if it is set, else the best build (this version's
    recipe first, then the highest kernel version) in the user's cache, the shared cache and netlab's wheel. A build
    that cannot be executed in the wheel is copied to the user's cache. Raises KernelError, with a remedy, if there is
    none or `$NETLAB_KERNEL` names a file that netlab did not build.

    A build by this version's recipe is best, then the highest kernel version, then the newest build. A kernel by
    another recipe (`by_another_version`) can run too if it `has_host_channel`.
    """
    named = os.environ.get("NETLAB_KERNEL")
    if named:
        path = Path(named).expanduser().absolute()
        if path.name != "linux":
            raise KernelError(
                f"NETLAB_KERNEL is {path}, which netlab did not build. Set it to the file linux of a build, or unset it."
            )
        return from_directory(path.parent)
    found = builds()
    if not found:
        where = f"There is no pocket kernel in {cache.kernels()} yet"
        if not HAS_BUILDER:
            raise KernelError(f"{where}. {INSTALL_WHEEL}")
        raise KernelError(
            f"{where}. Build one with 'netlab kernel build' "
            "(about 5 minutes), install one from another machine with 'netlab kernel unpack FILE', "
            "or set $NETLAB_KERNEL to the file linux of a build."
        )
    places = {kernel.path.parent: kernel for kernel in found if kernel.path.parent.name == found[0].path.parent.name}
    runnable = executable_build([*places], PROGRAMS, cache.kernels())
    return places.get(runnable) or from_directory(runnable)


def builds() -> list[PocketKernel]:
    """Return all pocket kernels in the user's cache, the shared cache and netlab's wheel, the best first; incomplete
    builds are left out, and [] means that there is none. Raises KernelError if a cache exists and cannot be read, for
    example root's cache.
    """
    return sorted_builds(cache.kernels(), from_directory, recipes.POCKET)


def by_another_version(kernel: PocketKernel) -> bool:
    """Return whether a pocket kernel was built by a version of netlab with another recipe than the present one; False
    if nothing is known about its build.
    """
    return bool(kernel.build) and kernel.build.get("recipe") != recipes.POCKET


def has_host_channel(kernel: PocketKernel) -> bool:
    """Return whether a pocket kernel has the channel by which this version of netlab exchanges messages with guests;
    kernels of early versions, in which it had other names, cannot run.
    """
    return "host_channel" in kernel.capabilities


def from_directory(directory: Path) -> PocketKernel:
    """Return the pocket kernel in the directory of a build, with its release, capabilities and build.json. Raises
    KernelError if a file is missing or `build.json` cannot be read.
    """
    build, version, capabilities = read_build(directory, FILES)
    return PocketKernel(directory / "linux", str(build["release"]), version, capabilities, build)
