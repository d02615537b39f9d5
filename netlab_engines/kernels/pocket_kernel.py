"""Find built pocket kernels and read their capabilities."""

import contextlib
import functools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from netlab.base.errors import KernelError
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.network.queues import DISCIPLINES
from netlab_engines.kernels import cache, recipes
from netlab_engines.kernels.versions import Version, parse_version, read_config

POCKET_MACHINE = "x86_64"
"""The only processor with User-Mode Linux."""
SECCOMP_SINCE = (6, 16)
FILES = ("linux", "mnexec", "config", "build.json")
BUILD_ANEW = (
    "Build this version's kernel with 'netlab kernel build' (about 5 minutes), or install one from another machine with "
    "'netlab kernel unpack FILE'; the old kernel stays."
)


K = TypeVar("K")


@dataclass(frozen=True)
class Part:
    """A part of the kernel, such as a qdisc, that netlab uses if it is built in."""

    symbol: str
    """Its configuration symbol."""
    module: str = ""
    """The name of its module, if it can be a module."""


PARTS = {
    "virtual_time": Part("CONFIG_UML_TIME_TRAVEL_SUPPORT"),
    "seeded_random": Part("CONFIG_NETLAB_SEED"),
    "gate": Part("CONFIG_NETLAB_GATE"),
    "hostfs": Part("CONFIG_HOSTFS"),
    "ecn": Part("CONFIG_INET"),
    "overlay": Part("CONFIG_OVERLAY_FS", "overlay"),
    "veth": Part("CONFIG_VETH", "veth"),
    "ifb": Part("CONFIG_IFB", "ifb"),
    "bridge": Part("CONFIG_BRIDGE", "bridge"),
    "ingress": Part("CONFIG_NET_SCH_INGRESS", "sch_ingress"),
    "matchall": Part("CONFIG_NET_CLS_MATCHALL", "cls_matchall"),
    "mirred": Part("CONFIG_NET_ACT_MIRRED", "act_mirred"),
    "tbf": Part("CONFIG_NET_SCH_TBF", "sch_tbf"),
    "netem": Part("CONFIG_NET_SCH_NETEM", "sch_netem"),
    **{row.name: Part(row.symbol, row.module) for row in DISCIPLINES.values()},
    **{row.name: Part(row.symbol, row.module) for row in CONGESTION_CONTROLS.values()},
}
"""The parts of a kernel that netlab uses, by the name of the capability."""


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
    """The names of `PARTS` that are built in, and "seccomp" if that mode exists."""
    build: dict[str, Any] = field(default_factory=dict)
    """The build's `build.json`: source, compiler, built_at, build_s, size_bytes, ..."""

    @property
    def mnexec_path(self) -> Path:
        """The path of netlab's own `mnexec`, next to the kernel."""
        return self.path.with_name("mnexec")


def capabilities_of(config: str, version: Version) -> frozenset[str]:
    """Return the names of those PARTS that a kernel's configuration, the text of its `.config`, has built in; also
    "seccomp" if the version is at least SECCOMP_SINCE.

    >>> sorted(capabilities_of("CONFIG_INET=y\\nCONFIG_TCP_CONG_BBR=y\\n", (6, 12)))
    ['bbr', 'ecn', 'reno']
    """
    values = read_config(config)
    found = {name for name, part in PARTS.items() if values.get(part.symbol) == "y"}
    return frozenset(found | ({"seccomp"} if version >= SECCOMP_SINCE else set()))


def find() -> PocketKernel:
    """Return the pocket kernel to run: that of `$NETLAB_KERNEL` if it is set, else the best build in the caches.

    A build by this version's recipe is best, then the highest kernel version, then the newest build. A kernel by
    another recipe can run too; `by_another_version` detects it.

    Raises KernelError, with a remedy, if there is none or `$NETLAB_KERNEL` names a file that netlab did not build.
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
        raise KernelError(
            f"There is no pocket kernel in {cache.kernels()} yet. Build one with 'netlab kernel build' "
            "(about 5 minutes), install one from another machine with 'netlab kernel unpack FILE', "
            "or set $NETLAB_KERNEL to the file linux of a build."
        )
    return found[0]


def builds() -> list[PocketKernel]:
    """Return all pocket kernels in the user's cache, the shared cache and netlab's wheel, the best first; incomplete
    builds are left out, and [] means that there is none.

    Raises KernelError if a cache exists and cannot be read, for example root's cache.
    """
    return best_first(cache.kernels(), from_directory, recipes.POCKET)


def best_first(room: Path, read: Callable[[Path], K], recipe: str) -> list[K]:
    """Return the complete builds of a kind of kernel, the best first: those by the recipe with the hash `recipe`, then
    by higher kernel version, then by later time of the build. `room` is the kind's directory in the cache, and `read`
    reads a build from its directory or raises KernelError.

    Parameters
    ----------
    room : Path
        The directory of the kind of kernel in the user's cache.
    read : callable
        Reads a build from its directory, or raises KernelError.
    recipe : str
        The hash of the preferred recipe.
    """
    found: list[Any] = []
    for directory in cache.builds(room):
        with contextlib.suppress(KernelError):
            found.append(read(directory))
    return sorted(
        found, key=lambda k: (k.build.get("recipe") == recipe, k.version, k.build.get("built_at", "")), reverse=True
    )


def by_another_version(kernel: PocketKernel) -> bool:
    """Return whether a pocket kernel was built by a version of netlab with another recipe than the present one; False
    if nothing is known about its build.
    """
    return bool(kernel.build) and kernel.build.get("recipe") != recipes.POCKET


def read_build(
    directory: Path, files: Sequence[str], facts: Sequence[str] = ("release",)
) -> tuple[dict[str, Any], Version, frozenset[str]]:
    """Read the directory of a build, which must have `files`, and the keys `facts` in its `build.json`; return the
    contents of `build.json`, the kernel's version as numbers, and its capabilities.

    Parameters
    ----------
    directory : Path
        The build's directory.
    files : sequence of str
        The files that it must have.
    facts : sequence of str
        The keys that its `build.json` must have, of which "release" is the first.

    Returns
    -------
    tuple
        The contents of `build.json`, the kernel's version, and its capabilities according to the file `config`.

    Raises
    ------
    KernelError
        If a file is missing or `build.json` cannot be read.
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
    """Return the capabilities of a kernel of this version with the configuration file `config`. The result is cached
    until the file's time of modification changes, because every run looks for its kernel.
    """
    return capabilities_of(config.read_text(), version)


def from_directory(directory: Path) -> PocketKernel:
    """Return the pocket kernel in the directory of a build.

    Raises KernelError if a file is missing or `build.json` cannot be read.
    """
    build, version, capabilities = read_build(directory, FILES)
    return PocketKernel(directory / "linux", str(build["release"]), version, capabilities, build)
