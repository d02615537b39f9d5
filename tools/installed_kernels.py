"""Find kernels in netlab's wheels that are installed on this machine, for a clone that would build the same ones.

Standard library only, as the set-up that uses this module.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import platform
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from netlab.base.errors import KernelError
from netlab_engines.kernels import cache, library_kernel, pocket_kernel, recipes, wheel_copies
from netlab_engines.kernels.library_kernel import LibraryKernel
from netlab_engines.kernels.pocket_kernel import PocketKernel
from netlab_kernel import building

USUAL_ENVIRONMENT = "netlab-env"
"""The environment in the home that docs/how-to/install.md makes."""
FIND = "import importlib.util as u; found = u.find_spec('netlab'); print(found and found.origin or '')"
PATIENCE_S = 20


@dataclasses.dataclass(frozen=True)
class KernelKind:
    """A kind of kernel: the names of its programs, the function for the directory of its builds in the user's cache, the reader of
    one build's directory, and the recipe of this clone.
    """

    programs: tuple[str, ...]
    cache: Callable[[], Path]
    read: Callable[[Path], PocketKernel | LibraryKernel]
    recipe: str


KINDS = {
    building.POCKET: KernelKind(pocket_kernel.PROGRAMS, cache.kernels, pocket_kernel.from_directory, recipes.POCKET),
    building.LIBRARY: KernelKind(
        (library_kernel.PROGRAM, library_kernel.MNEXEC), cache.libraries, library_kernel.from_directory, recipes.LIBRARY
    ),
}


def pythons() -> Iterator[Path]:
    """Yield the Pythons in which a user may have installed a wheel: the active environment's, those that have a `netlab` on PATH,
    that of the installation guide, and the usual one.
    """
    folders = [Path(place) for place in os.get_exec_path() if place]
    # Not Path.is_file, which fails at a folder that its user may not read, such as root's on the PATH after `su`.
    programs = [(folder / "netlab").resolve() for folder in folders if os.access(folder / "netlab", os.X_OK)]
    active = os.environ.get("VIRTUAL_ENV")
    environments = [Path(active) / "bin"] if active else []
    environments += [*(program.parent for program in programs), Path.home() / USUAL_ENVIRONMENT / "bin", *folders]
    found: set[Path] = set()
    for python in (folder / "python3" for folder in environments):
        # Environments' Pythons are links to the same program.
        if os.access(python, os.X_OK) and python not in found:
            found.add(python)
            yield python


def carried_directories(clone: Path) -> list[Path]:
    """Return the directories with the kernels of all installed wheels; `clone` is the one that is set up, which has none."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    places = []
    for python in pythons():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(
                [python, "-c", FIND],
                capture_output=True,
                text=True,
                check=True,
                env=environment,
                cwd="/",
                timeout=PATIENCE_S,
            )
            package = Path(done.stdout.strip() or clone / "netlab" / "__init__.py").parent
            if package != clone / "netlab" and (package / "carried").is_dir():
                places.append(package / "carried")
    return list(dict.fromkeys(places))


def copy_kernels(kinds: Sequence[str], clone: Path) -> list[Path]:
    """Copy those of the `kinds` of kernel ("pocket", "library") that an installed wheel has by the recipe of `clone` to the user's
    cache, and return the directories in the wheels.
    """
    copied = []
    places = carried_directories(clone)
    for kind in (KINDS[name] for name in kinds):
        for directory in (build for place in places for build in _builds(place, kind)):
            with contextlib.suppress(OSError):
                wheel_copies.copy_build(directory, kind.cache() / directory.name, kind.programs)
                copied.append(directory)
                break
    return copied


def _builds(place: Path, kind: KernelKind) -> Iterator[Path]:
    """Yield the directories of kernels of a kind in `place` that the present recipe made for this processor."""
    wanted = (kind.recipe, platform.machine())
    for directory in sorted((place / kind.cache().name).glob("*")):
        with contextlib.suppress(KernelError):
            build = kind.read(directory).build
            if (build.get("recipe"), build.get("machine")) == wanted:
                yield directory
