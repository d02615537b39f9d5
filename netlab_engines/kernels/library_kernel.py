"""Find built library kernels and read their capabilities."""

import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netlab.base.errors import KernelError
from netlab_engines.kernels import cache, recipes
from netlab_engines.kernels.builds import HAS_BUILDER, INSTALL_WHEEL, REBUILD_HINT, read_build, sorted_builds
from netlab_engines.kernels.versions import Version
from netlab_engines.kernels.wheel_copies import executable_build

WASM = "wasm"
"""The name in place of a processor for a kernel as WebAssembly, which runs on every processor."""
PROGRAM, WASM_PROGRAM = "netlab-library", "netlab-library.wasm"
MNEXEC = "mnexec"
FAILURE = "failure"


@dataclass(frozen=True)
class LibraryKernel:
    """A library kernel, which is a program with Linux's network stack, that netlab built or that
    $NETLAB_LIBRARY names.
    """

    path: Path
    """The program."""
    release: str
    """Its release, such as "7.3.4"."""
    version: Version
    """Its release as numbers for comparisons."""
    machine: str
    """The processor: "x86_64" or "aarch64", or "wasm" for all."""
    capabilities: frozenset[str]
    """The names of `parts.PARTS` that are built in."""
    build: dict[str, Any] = field(default_factory=dict)
    """The build's `build.json`; empty for a program in $NETLAB_LIBRARY without that file."""

    @property
    def mnexec_path(self) -> Path | None:
        """The path of netlab's own `mnexec`, a program that enters network namespaces, in the directory of the kernel's
        build; None if the build has none (old builds, WebAssembly) or netlab did not build the kernel.
        """
        mnexec = self.path.parent / MNEXEC
        return mnexec if self.build and mnexec.is_file() else None


def program_of(machine: str) -> str:
    """Return the name of the kernel's program file in a build for `machine`, a processor such as "x86_64", or
    "wasm".
    """
    return WASM_PROGRAM if machine == WASM else PROGRAM


def recipe_hash(machine: str = platform.machine()) -> str:
    """Return the SHA-256, in hexadecimal digits, of everything that netlab adds to the source of the library kernel for
    `machine`, a processor or "wasm" (by default this one's); a build with another hash must be built anew.
    """
    return recipes.WASM if machine == WASM else recipes.LIBRARY


def failure() -> str:
    """Return the text that says why this version's library kernel for this machine could not be built, from the file in
    the cache where the builder recorded it; "" if it was built, no build was tried, or another version of netlab
    recorded the failure.
    """
    try:
        recipe, _, reason = (cache.libraries() / FAILURE).read_text().partition("\n")
    except OSError:
        return ""
    return reason.strip() if recipe == recipe_hash() else ""


def builds(machine: str = platform.machine()) -> list[LibraryKernel]:
    """Return all library kernels for `machine`, a processor or "wasm" (by default this one's), in the user's cache, the
    shared cache and netlab's wheel, the best first; incomplete builds are left out.
    """
    found = sorted_builds(cache.libraries(), from_directory, recipe_hash(machine))
    return [kernel for kernel in found if kernel.machine == machine]


def ready(machine: str = platform.machine()) -> LibraryKernel | None:
    """Return the best library kernel for `machine`, a processor or "wasm" (by default this one's), that this version of
    netlab's recipe built; None if there is none.
    """
    return next(iter(_current_builds(machine)), None)


def _current_builds(machine: str) -> list[LibraryKernel]:
    """Return the library kernels for `machine`, a processor or "wasm", that this version of netlab's recipe built, the
    best first.
    """
    current = recipe_hash(machine)
    return [kernel for kernel in builds(machine) if kernel.build.get("recipe") == current]


def find() -> LibraryKernel:
    """Return the library kernel to run: that of `$NETLAB_LIBRARY` if it is set, else the best build, by this version's
    recipe, in the user's cache, the shared cache and netlab's wheel, for this processor or else as WebAssembly. A build
    that cannot be executed in the wheel is copied to the user's cache. Raises KernelError, with a remedy, if there is
    none.

    A kernel for this processor is better than one as WebAssembly, which takes twice as long. A kernel by another recipe
    may have other requests and other results, so it is not used.
    """
    named = os.environ.get("NETLAB_LIBRARY")
    if named:
        path = Path(named).expanduser().absolute()
        machine = WASM if path.suffix == ".wasm" else platform.machine()
        if not os.access(path, os.R_OK if machine == WASM else os.X_OK):
            raise KernelError(f"NETLAB_LIBRARY is {path}, which is not a program. Set it to a program, or unset it.")
        if (path.parent / "build.json").is_file():
            return from_directory(path.parent, path)
        return LibraryKernel(path, "unknown", (0,), machine, frozenset())
    found = _current_builds(platform.machine()) or _current_builds(WASM)
    if not found:
        older, reason = builds(), failure()
        where = f"There is no library kernel in {cache.libraries()}"
        if reason:
            raise KernelError(f"{where}: it could not be built on this machine. {reason}")
        if older:
            raise KernelError(
                f"The library kernel {older[0].path.parent} was built by another version of netlab and may not work with "
                f"this one. {REBUILD_HINT}"
            )
        if not HAS_BUILDER:
            raise KernelError(f"{where} yet. {INSTALL_WHEEL}")
        raise KernelError(
            f"{where} yet. Build it with 'netlab kernel build' (about "
            "5 minutes for both kernels), or install one from another machine with 'netlab kernel unpack FILE'."
        )
    best = found[0]
    if best.machine == WASM:
        return best
    places = {kernel.path.parent: kernel for kernel in found if kernel.path.parent.name == best.path.parent.name}
    programs = (PROGRAM, MNEXEC) if best.mnexec_path else (PROGRAM,)
    runnable = executable_build([*places], programs, cache.libraries())
    return places.get(runnable) or from_directory(runnable)


def from_directory(directory: Path, program: Path | None = None) -> LibraryKernel:
    """Return the library kernel in the directory of a build; `program` is the path of its program (None: the usual file
    in the directory). Its capabilities are those of its configuration, virtual time and seeded draws, without
    "seccomp". Raises KernelError if a file is missing or `build.json` cannot be read.
    """
    build, version, has = read_build(directory, ("config", "build.json"), ("release", "machine"))
    machine = str(build["machine"])
    path = program or directory / program_of(machine)
    if not path.is_file():
        raise KernelError(f"{directory} is incomplete: {path.name} missing. Remove it and build again.")
    capabilities = frozenset({*has, "virtual_time", "seeded_random"} - {"seccomp"})
    return LibraryKernel(path, str(build["release"]), version, machine, capabilities, build)
