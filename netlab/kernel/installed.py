"""Kernels that are there: finding one, and what it can do."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netlab.base.errors import KernelError
from netlab.kernel import cache
from netlab.kernel.fragment import Version, parse_version, read_config
from netlab.kernel.recipe_key import recipe_hash
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.network.queues import DISCIPLINES

ASK_TIMEOUT_S = 10.0
POCKET_MACHINE = "x86_64"
"""User-Mode Linux is for no other processor."""
SECCOMP_SINCE = (6, 16)
FILES = ("linux", "mnexec", "config", "build.json")
BUILD_ANEW = (
    "Build this version's with 'netlab kernel build' (about 5 minutes), or take it from another machine with "
    "'netlab kernel unpack FILE'; the old one stays."
)


@dataclass(frozen=True)
class Part:
    """A part of the kernel: the symbol that configures it, and the module's name where it is one."""

    symbol: str
    module: str = ""


# In the order in which modules are loaded.
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

MODULES = tuple(part.module for part in PARTS.values() if part.module)
"""All that an experiment may ask for: the kernel's own way to load on demand needs modprobe and a place in /lib."""


@dataclass(frozen=True)
class Kernel:
    """A User-Mode Linux binary and what netlab knows about it.

    Attributes
    ----------
    path : Path
        The binary.
    release : str
        What `uname -r` says in it, such as "7.3.4".
    version : tuple of int
        The release's numbers, to compare: `(7, 3, 4)`.
    capabilities : frozenset of str
        Names of `PARTS` that are built in, and "seccomp" where that mode exists.
    modules : frozenset of str
        Capabilities that this kernel has as loadable modules.
    modules_path : Path or None
        Directory of those modules, where there is one: beside Debian's binary, ../lib/uml/modules/<release>.
    mnexec_path : Path or None
        netlab's own `mnexec`; None beside a kernel that netlab did not build.
    build : dict
        `build.json` of the build: source, compiler, built_at, build_s, size_bytes, ...; empty for other binaries.
    """

    path: Path
    release: str
    version: Version
    capabilities: frozenset[str]
    modules: frozenset[str] = frozenset()
    modules_path: Path | None = None
    mnexec_path: Path | None = None
    build: dict[str, Any] = field(default_factory=dict)


def capabilities_of(config: str, version: Version) -> tuple[frozenset[str], frozenset[str]]:
    """Capabilities built in, and those that are modules, from a kernel's configuration.

    >>> sorted(capabilities_of("CONFIG_INET=y\\nCONFIG_TCP_CONG_BBR=m\\n", (6, 12))[1])
    ['bbr']
    """
    values = read_config(config)
    built_in = {name for name, part in PARTS.items() if values.get(part.symbol) == "y"}
    modules = {name for name, part in PARTS.items() if values.get(part.symbol) == "m"}
    if version >= SECCOMP_SINCE:
        built_in.add("seccomp")
    return frozenset(built_in), frozenset(modules)


def find() -> Kernel:
    """The kernel to run: `$NETLAB_KERNEL` if set, else the best build in the cache.

    Best is: built by this netlab's recipe, then the highest version, then the latest build. One by another recipe runs too,
    and `by_another_version` tells of it.

    Raises
    ------
    KernelError
        When there is none, or `$NETLAB_KERNEL` names something that is no User-Mode Linux; names the remedy.
    """
    named = os.environ.get("NETLAB_KERNEL")
    if named:
        return inspect(Path(named).expanduser().absolute())
    found = builds()
    if not found:
        raise KernelError(
            f"There is no pocket kernel in {cache.kernels()} yet. Build one with 'netlab kernel build' "
            "(about 5 minutes), take one from another machine with 'netlab kernel unpack FILE', "
            "or name a User-Mode Linux binary in $NETLAB_KERNEL."
        )
    return found[0]


def builds() -> list[Kernel]:
    """Every kernel in the user's cache and the shared one, best first; directories that are not whole are passed over.

    Raises
    ------
    KernelError
        When the cache is there and may not be read: another user's, such as that of the root whom sudo makes of us.
    """
    current = recipe_hash()
    kernels = []
    for directory in cache.builds(cache.kernels()):
        try:
            kernels.append(from_directory(directory))
        except KernelError:
            continue
    return sorted(
        kernels,
        key=lambda k: (k.build.get("recipe") == current, k.version, k.build.get("built_at", "")),
        reverse=True,
    )


def by_another_version(kernel: Kernel) -> bool:
    """Whether another version of netlab built it, by another recipe."""
    return bool(kernel.build) and kernel.build.get("recipe") != recipe_hash()


@dataclass(frozen=True)
class Build:
    """What a directory says of the kernel that netlab built into it: `build.json`, and from it and `config` what follows."""

    facts: dict[str, Any]
    release: str
    version: Version
    capabilities: frozenset[str]
    modules: frozenset[str]


def read_build(directory: Path, files: Sequence[str], facts: Sequence[str] = ("release",)) -> Build:
    """What is in a build's directory, the pocket kernel's or the library kernel's.

    Parameters
    ----------
    directory : Path
        Where the build is.
    files, facts : sequence of str
        Files that must be there, and words that `build.json` must have, of which "release" is the first.

    Raises
    ------
    KernelError
        When a file is missing or `build.json` cannot be read.
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
    return Build(build, release, version, *_capabilities_in(config, config.stat().st_mtime_ns, version))


@functools.cache
def _capabilities_in(config: Path, _mtime_ns: int, version: Version) -> tuple[frozenset[str], frozenset[str]]:
    """Read once, for every run looks for its kernel."""
    return capabilities_of(config.read_text(), version)


def from_directory(directory: Path) -> Kernel:
    """A kernel built by netlab, from its directory.

    Raises
    ------
    KernelError
        When a file is missing or `build.json` cannot be read.
    """
    made = read_build(directory, FILES)
    release, version = made.release, made.version
    built_in, modules, build = made.capabilities, made.modules, made.facts
    return Kernel(directory / "linux", release, version, built_in, modules, None, directory / "mnexec", build)


def inspect(path: Path) -> Kernel:
    """A User-Mode Linux binary from anywhere, asked for its version and configuration."""
    if path.name == "linux" and all((path.parent / name).is_file() for name in FILES):
        return from_directory(path.parent)
    release = _ask(path, "--version").strip()
    if not release[:1].isdigit():
        raise KernelError(f"{path} does not say a kernel version (got {release[:60]!r}): not a User-Mode Linux binary.")
    version = parse_version(release)
    built_in, modules = capabilities_of(_ask(path, "--showconfig"), version)
    beside = path.resolve().parent.parent / "lib/uml/modules" / release
    return Kernel(path, release, version, built_in, modules, beside if beside.is_dir() else None)


def _ask(path: Path, option: str) -> str:
    remedy = "Set $NETLAB_KERNEL to a User-Mode Linux binary for this machine, or unset it."
    try:
        done = subprocess.run(
            [str(path), option],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ASK_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as error:
        raise KernelError(f"{path} cannot be run as a kernel ({error}). {remedy}") from error
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise KernelError(f"{path} {option} ended with status {done.returncode}: {said}. {remedy}")
    return done.stdout
