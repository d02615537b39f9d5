"""Read the builds of both kinds of kernel from their directories, and sort them by quality."""

import contextlib
import functools
import json
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from netlab.base.errors import KernelError
from netlab.base.location import IMPORT_ROOT
from netlab.base.version import VERSION
from netlab_engines.kernels import cache
from netlab_engines.kernels.parts import capabilities_of
from netlab_engines.kernels.versions import Version, parse_version

K = TypeVar("K")
HAS_BUILDER = (IMPORT_ROOT / "netlab_kernel").is_dir()
"""True if the package that builds and unpacks kernels is installed; students' wheels are without it."""
INSTALL_WHEEL = (
    f"The wheel of this version for Linux on this processor (netlab-{VERSION}-...-manylinux_..._{platform.machine()}.whl) has "
    "the kernels: install it with pip."
)
REBUILD_HINT = (
    "Build this version's kernel with 'netlab kernel build' (about 5 minutes), or install one from another machine with "
    "'netlab kernel unpack FILE'; the old kernel stays."
    if HAS_BUILDER
    else INSTALL_WHEEL
)
"""The remedy for a kernel of another version, as a sentence."""
FEATURES_HINT = "`netlab kernel build` builds a kernel with all features." if HAS_BUILDER else INSTALL_WHEEL
"""The remedy for a kernel that lacks features, as a sentence."""


def sorted_builds(kind_directory: Path, read: Callable[[Path], K], recipe: str) -> list[K]:
    """Return the complete builds of one kind of kernel, the best first: those by the recipe with the hash `recipe`,
    then by higher kernel version, then by later time of the build. `kind_directory` is `cache.kernels()` or
    `cache.libraries()`; `read` returns the kernel in the directory of a build, or raises KernelError to leave it out.
    """
    found: list[Any] = []
    for directory in cache.builds(kind_directory):
        with contextlib.suppress(KernelError):
            found.append(read(directory))
    return sorted(
        found, key=lambda k: (k.build.get("recipe") == recipe, k.version, k.build.get("built_at", "")), reverse=True
    )


def read_build(
    directory: Path, files: Sequence[str], facts: Sequence[str] = ("release",)
) -> tuple[dict[str, Any], Version, frozenset[str]]:
    """Read the directory of a build, which must have the files `files`; its build.json must have the keys `facts`, the
    first of which is the kernel's release. Return a tuple of the contents of build.json, the release as numbers, and
    the names of the capabilities that its file `config` has. Raises KernelError if a file is missing or build.json
    cannot be read.
    """
    missing = [name for name in files if not (directory / name).is_file()]
    if missing:
        raise KernelError(f"{directory} is incomplete: {', '.join(missing)} missing. Remove it and build again.")
    try:
        build = json.loads((directory / "build.json").read_text())
        release, *_others = (str(build[name]) for name in facts)
    except (ValueError, KeyError, TypeError) as error:
        raise KernelError(f"{directory / 'build.json'} cannot be read ({error}). Remove {directory}.") from error
    version = parse_version(release)
    config = directory / "config"
    return build, version, _capabilities_in(config, config.stat().st_mtime_ns, version)


@functools.cache
def _capabilities_in(config: Path, _mtime_ns: int, version: Version) -> frozenset[str]:
    """Return the names of the capabilities of a kernel with this version and the configuration file `config`. The
    result is cached for the file's modification time `_mtime_ns` in ns, because every run looks for its kernel.
    """
    return capabilities_of(config.read_text(), version)
