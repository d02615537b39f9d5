"""The source from which kernels are built: download, unpack and edit it."""

import shutil
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from netlab.base import cache as base_cache
from netlab.base.errors import KernelError
from netlab_engines.kernels.versions import Version, parse_version
from netlab_kernel import apt, edits, programs, tree
from netlab_kernel.progress import Meter

# Variables of a calling make, or flags that a user sets for other programs, must not affect the kernel's build.
COMPILER_VARIABLES = (
    "ARCH", "CC", "CFLAGS", "CPPFLAGS", "CROSS_COMPILE", "CXXFLAGS", "HOSTCC", "KBUILD_OUTPUT", "KCFLAGS", "KCONFIG_ALLCONFIG",
    "KCONFIG_CONFIG", "LDFLAGS", "LLVM", "LOCALVERSION", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "O", "V",
)  # fmt: skip


def downloads() -> Path:
    """Return the directory of the cache to which kernel source packages are downloaded; it may not exist yet."""
    return base_cache.root() / "sources"


@dataclass(frozen=True)
class Source:
    """A kernel source as a file or folder at `path`: a Debian package, an archive or an unpacked tree. `name` is that
    of the file or package; `version` is that of the package or the tree's release, "" for an archive.
    """

    kind: str
    """"package", "archive" or "tree"."""
    path: Path
    name: str
    version: str
    identity: str
    """A SHA-256, or a text for a folder."""

    @property
    def facts(self) -> dict[str, str]:
        """The entries of a build's `build.json` about its source: "kind" ("package", "archive" or "tree"), "name",
        "version" and "sha256" (the identity).
        """
        return {"kind": self.kind, "name": self.name, "version": self.version, "sha256": self.identity}


@dataclass(frozen=True)
class Material:
    """A source tree with netlab's edits, ready for a build: its folder, and the release as text, such as "7.3.4", and
    as numbers.
    """

    origin: Source
    folder: Path
    release: str
    version: Version
    variables: dict[str, str | None]
    """Environment variables of the build; None removes a variable."""
    patch: str
    """netlab's edits as a patch."""


def unpack(origin: Source, work: Path, log: Path, meter: Meter) -> Material:
    """Unpack a package or an archive, or copy a tree, to the subfolder `linux` of the folder `work`, without files that
    no build needs, make netlab's edits in it and return the tree as Material. `log` is the file for the programs'
    output; `meter` is told of the phase "unpack". Raises KernelError if the source is unusable.
    """
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
    """Download the newest `linux-source` package of apt to the cache, remove older ones, and return it; if that fails,
    for example without a network, return the newest package that an earlier build downloaded. `meter` gets the
    progress, the file `log` the programs' output. Raises KernelError if there is neither.
    """

    def on_step(share: float, detail: str) -> None:
        """Report to the meter that the fraction `share` of the phase "fetch", in [0, 1], is done, with `detail` as the
        present step.
        """
        meter.at("fetch", share, detail)

    directory = downloads()
    directory.mkdir(parents=True, exist_ok=True)
    try:
        manager, package = apt.find_package(log, base_cache.root() / "apt", on_step)
        detail = f"{package.name} {package.version}, {package.size_bytes / 1e6:.0f} MB"
        path = manager.download(package, directory, lambda share: on_step(0.3 + 0.7 * share, detail))
    except KernelError:
        # Without a network, use a package that an earlier build downloaded and verified.
        earlier = [source_at(path) for path in _downloaded_packages()]
        if not earlier:
            raise
        return max(earlier, key=lambda source: parse_version(source.version))
    finally:
        shutil.rmtree(base_cache.root() / "apt", ignore_errors=True)
    for other in _downloaded_packages():
        if other != path:
            other.unlink()
    return Source("package", path, package.name, package.version, package.sha256)


def _downloaded_packages() -> list[Path]:
    """Return the paths of the .deb source packages that earlier builds downloaded to the cache, in no particular order."""
    return list(downloads().glob("*.deb"))


def source_at(path: Path) -> Source:
    """Return the Source at a path that the user chose: a folder with a kernel tree, a `.deb` package, or any other
    file, which is taken for an archive. Raises KernelError if there is no file or folder, or the folder is not a kernel
    tree with User-Mode Linux; the contents of a file are not checked yet.
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
    """Return the environment variables for builds in the folder `source_tree`, by name; None removes a variable. They
    hide the user's own compiler settings (COMPILER_VARIABLES), set LC_ALL to C, and set the build's date (that of the tree's
    Makefile), user, host and number to fixed texts, so that the same source gives the same binary.
    """
    # The same source must give the same binary, so leave out this build's date, user and host.
    dated = datetime.fromtimestamp((source_tree / "Makefile").stat().st_mtime, timezone.utc)
    return {
        **dict.fromkeys(COMPILER_VARIABLES),
        "LC_ALL": "C",
        "KBUILD_BUILD_TIMESTAMP": dated.strftime("%a %b %e %H:%M:%S UTC %Y"),
        "KBUILD_BUILD_USER": "netlab",
        "KBUILD_BUILD_HOST": "netlab",
        "KBUILD_BUILD_VERSION": "1",
    }


def why_no_source() -> str:
    """Return why a build cannot get a kernel source here, as a sentence for users and as far as that is known without
    the network; "" if it may get one.
    """
    try:
        if not _downloaded_packages():
            apt.check()
    except KernelError as error:
        return str(error)
    return ""
