"""The source that kernels are built from: given, fetched or kept; unpacked, and edited by the recipe."""

import shutil
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from netlab.base.errors import KernelError
from netlab.kernel import apt, cache, edits, fragment, programs, tree
from netlab.kernel.progress import Meter

# A caller's make, or its flags for other programs, must not change the kernel's build.
FOREIGN = (
    "ARCH", "CC", "CFLAGS", "CPPFLAGS", "CROSS_COMPILE", "CXXFLAGS", "HOSTCC", "KBUILD_OUTPUT", "KCFLAGS", "KCONFIG_ALLCONFIG",
    "KCONFIG_CONFIG", "LDFLAGS", "LLVM", "LOCALVERSION", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "O", "V",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Where the kernel's source comes from: `kind` is package, archive or tree."""

    kind: str
    path: Path
    name: str
    version: str
    identity: str

    @property
    def facts(self) -> dict[str, str]:
        """What a build's `build.json` says of it."""
        return {"kind": self.kind, "name": self.name, "version": self.version, "sha256": self.identity}


@dataclass(frozen=True)
class Material:
    """A source tree with netlab's edits, and what a build is told of it."""

    origin: Source
    folder: Path
    release: str
    version: fragment.Version
    variables: dict[str, str | None]
    patch: str


def unpack(origin: Source, work: Path, log: Path, meter: Meter) -> Material:
    """Unpack a source, and edit it."""
    meter.at("unpack", 0, origin.name)
    source_tree = work / "linux"
    if origin.kind == "package":
        tree.unpack_deb(origin.path, source_tree, work / "package", log)
        shutil.rmtree(work / "package")
    elif origin.kind == "archive":
        tree.unpack_archive(origin.path, source_tree, log)
    else:
        tree.copy_tree(origin.path, source_tree, log)
    release, version = tree.release_of(source_tree)
    variables = _variables(source_tree)
    return Material(origin, source_tree, release, version, variables, edits.apply(source_tree, version))


def fetch(meter: Meter, log: Path) -> Source:
    """The newest `linux-source` package that apt has; without a network the one that an earlier build fetched.

    Raises KernelError when there is neither.
    """

    def on_step(share: float, detail: str) -> None:
        meter.at("fetch", share, detail)

    directory = cache.sources()
    directory.mkdir(parents=True, exist_ok=True)
    try:
        manager, package = apt.find_package(log, cache.root() / "apt", on_step)
        detail = f"{package.name} {package.version}, {package.size_bytes / 1e6:.0f} MB"
        path = manager.download(package, directory, lambda share: on_step(0.3 + 0.7 * share, detail))
    except KernelError:
        # Without a network, what an earlier build fetched (and verified) serves.
        earlier = [given(path) for path in _kept()]
        if not earlier:
            raise
        return max(earlier, key=lambda source: fragment.parse_version(source.version))
    finally:
        shutil.rmtree(cache.root() / "apt", ignore_errors=True)
    for other in _kept():
        if other != path:
            other.unlink()
    return Source("package", path, package.name, package.version, package.sha256)


def _kept() -> list[Path]:
    return list(cache.sources().glob("*.deb"))


def given(path: Path) -> Source:
    """The source that a user names.

    Raises KernelError when nothing is there.
    """
    path = path.absolute()
    if path.is_dir():
        release, _version = tree.release_of(path)
        return Source("tree", path, path.name, release, f"tree of {release}")
    if not path.is_file():
        raise KernelError(
            f"There is no kernel source at {path}. Give a linux-*.tar.xz, a linux-source package or a folder."
        )
    identity = apt.sha256_of(path)
    if path.suffix == ".deb":
        version = programs.first_line(["dpkg-deb", "-f", str(path), "Version"])
        return Source("package", path, path.name, version, identity)
    return Source("archive", path, path.name, "", identity)


def _variables(source_tree: Path) -> dict[str, str | None]:
    # The same source gives the same binary: no date, user or host of this build.
    dated = datetime.fromtimestamp((source_tree / "Makefile").stat().st_mtime, timezone.utc)
    return {
        **dict.fromkeys(FOREIGN),
        "LC_ALL": "C",
        "KBUILD_BUILD_TIMESTAMP": dated.strftime("%a %b %e %H:%M:%S UTC %Y"),
        "KBUILD_BUILD_USER": "netlab",
        "KBUILD_BUILD_HOST": "netlab",
        "KBUILD_BUILD_VERSION": "1",
    }


def why_no_source() -> str:
    """Why `build` could not get a source here, as far as is known without the network; empty when it may."""
    try:
        if not _kept():
            apt.check()
    except KernelError as error:
        return str(error)
    return ""
