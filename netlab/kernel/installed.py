"""Kernels that are there: finding one, and what it can do."""

import contextlib
import functools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from netlab.base.errors import KernelError
from netlab.kernel import cache
from netlab.kernel.edits import recipe_hash
from netlab.kernel.fragment import Version, parse_version, read_config
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.network.queues import DISCIPLINES

POCKET_MACHINE = "x86_64"
"""User-Mode Linux is for no other processor."""
SECCOMP_SINCE = (6, 16)
FILES = ("linux", "mnexec", "config", "build.json")
BUILD_ANEW = (
    "Build this version's with 'netlab kernel build' (about 5 minutes), or take it from another machine with "
    "'netlab kernel unpack FILE'; the old one stays."
)


K = TypeVar("K")


@dataclass(frozen=True)
class Part:
    """A part of the kernel: the symbol that configures it, and the module's name where it is one."""

    symbol: str
    module: str = ""


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
"""What netlab uses of a kernel, by the name of the capability."""


@dataclass(frozen=True)
class Kernel:
    """A pocket kernel that netlab built."""

    path: Path
    """The binary."""
    release: str
    """What `uname -r` says in it, such as "7.3.4"."""
    version: Version
    """The release's numbers, to compare: `(7, 3, 4)`."""
    capabilities: frozenset[str]
    """Names of `PARTS` that are built in, and "seccomp" where that mode exists."""
    build: dict[str, Any] = field(default_factory=dict)
    """`build.json` of the build: source, compiler, built_at, build_s, size_bytes, ..."""

    @property
    def mnexec_path(self) -> Path:
        """Netlab's own `mnexec`, beside it."""
        return self.path.with_name("mnexec")


def capabilities_of(config: str, version: Version) -> frozenset[str]:
    """What a kernel has, from its configuration.

    >>> sorted(capabilities_of("CONFIG_INET=y\\nCONFIG_TCP_CONG_BBR=y\\n", (6, 12)))
    ['bbr', 'ecn', 'reno']
    """
    values = read_config(config)
    found = {name for name, part in PARTS.items() if values.get(part.symbol) == "y"}
    return frozenset(found | ({"seccomp"} if version >= SECCOMP_SINCE else set()))


def find() -> Kernel:
    """The kernel to run: `$NETLAB_KERNEL` if set, else the best build in the cache.

    Best is: built by this netlab's recipe, then the highest version, then the latest build. One by another recipe runs too,
    and `by_another_version` tells of it.

    Raises KernelError when there is none, or `$NETLAB_KERNEL` names something that netlab did not build; names the
    remedy.
    """
    named = os.environ.get("NETLAB_KERNEL")
    if named:
        path = Path(named).expanduser().absolute()
        if path.name != "linux":
            raise KernelError(
                f"NETLAB_KERNEL names {path}, which netlab did not build. Name the file linux of another build, or unset it."
            )
        return from_directory(path.parent)
    found = builds()
    if not found:
        raise KernelError(
            f"There is no pocket kernel in {cache.kernels()} yet. Build one with 'netlab kernel build' "
            "(about 5 minutes), take one from another machine with 'netlab kernel unpack FILE', "
            "or name another one's file linux in $NETLAB_KERNEL."
        )
    return found[0]


def builds() -> list[Kernel]:
    """Every kernel in the user's cache and the shared one, best first; directories that are not whole are passed over.

    Raises KernelError when the cache is there and may not be read: another user's, such as that of the root whom sudo
    makes of us.
    """
    return best_first(cache.kernels(), from_directory, recipe_hash())


def best_first(room: Path, read: Callable[[Path], K], recipe: str) -> list[K]:
    """The whole builds of a room of the caches: those by this recipe, then the highest version, then the latest."""
    found: list[Any] = []
    for directory in cache.builds(room):
        with contextlib.suppress(KernelError):
            found.append(read(directory))
    return sorted(
        found, key=lambda k: (k.build.get("recipe") == recipe, k.version, k.build.get("built_at", "")), reverse=True
    )


def by_another_version(kernel: Kernel) -> bool:
    """Whether another version of netlab built it, by another recipe."""
    return bool(kernel.build) and kernel.build.get("recipe") != recipe_hash()


def read_build(
    directory: Path, files: Sequence[str], facts: Sequence[str] = ("release",)
) -> tuple[dict[str, Any], Version, frozenset[str]]:
    """What `build.json` in a build's directory says, and what follows from it and `config`: its version, what it can do.

    `build.json` must have the `facts`, of which "release" is the first. Raises KernelError when a file is missing or it
    cannot be read.
    """
    missing = [name for name in files if not (directory / name).is_file()]
    if missing:
        raise KernelError(f"{directory} is not a whole build: {', '.join(missing)} missing. Remove it and build again.")
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
    """Read once, for every run looks for its kernel."""
    return capabilities_of(config.read_text(), version)


def from_directory(directory: Path) -> Kernel:
    """A kernel built by netlab, from its directory.

    Raises KernelError when a file is missing or `build.json` cannot be read.
    """
    build, version, capabilities = read_build(directory, FILES)
    return Kernel(directory / "linux", str(build["release"]), version, capabilities, build)
