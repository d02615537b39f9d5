"""Building kernels: source in, a directory of the cache for each kind out."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from netlab.base.endings import ending_signals_raise
from netlab.base.errors import KernelError
from netlab.kernel import apt, cache, edits, fragment, installed, library, programs, tree, wasm
from netlab.kernel.installed import POCKET_MACHINE, Kernel
from netlab.kernel.progress import Listener, Meter, usual_phases
from netlab.kernel.recipe_key import build_key, recipe_hash

POCKET, LIBRARY = "pocket", "library"
NEEDED_BYTES = 900_000_000
NEEDED_PROGRAMS = ("gcc", "ld", "make", "flex", "bison", "bc", "xz", "tar", "bash")
USUAL_OBJECTS = 690
LOCK_POLL_S = 0.5
# Lines of make's output such as "  CC      net/ipv4/tcp.o".
OBJECT = re.compile(r"  (?:CC|AS) +\S")
# A caller's make, or its flags for other programs, must not change the kernel's build.
FOREIGN = (
    "ARCH",
    "CC",
    "CFLAGS",
    "CPPFLAGS",
    "CROSS_COMPILE",
    "CXXFLAGS",
    "HOSTCC",
    "KBUILD_OUTPUT",
    "KCFLAGS",
    "KCONFIG_ALLCONFIG",
    "KCONFIG_CONFIG",
    "LDFLAGS",
    "LLVM",
    "LOCALVERSION",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MAKEOVERRIDES",
    "MFLAGS",
    "O",
    "V",
)


@dataclass(frozen=True)
class Source:
    """Where the kernel's source comes from: `kind` is package, archive or tree."""

    kind: str
    path: Path
    name: str
    version: str
    identity: str


@dataclass(frozen=True)
class Kernels:
    """What a build gives: the kernels for this machine.

    Attributes
    ----------
    pocket : Kernel or None
        None on a processor that has no User-Mode Linux.
    library : LibraryKernel or None
        None where it could not be built; `why_no_library` has the error.
    """

    pocket: Kernel | None
    library: library.LibraryKernel | None
    why_no_library: str = ""


def build(
    source: str | Path | None = None,
    progress: Listener | None = None,
    *,
    newest: bool = False,
    kinds: Sequence[str] | None = None,
) -> Kernels:
    """Build the library kernel, then the pocket kernel, from one source, or return the builds that are there already.

    A library kernel that cannot be built beside a pocket kernel is told, not raised: the pocket kernel serves alone.

    Parameters
    ----------
    source : path, optional
        A `linux-source` package, a kernel archive (`linux-*.tar.{xz,gz,bz2,zst}`) or an unpacked kernel tree,
        which stays as it is. Without it, kernels already built by this netlab's recipe are taken; where one is
        missing, apt fetches the newest source.
    progress : callable, optional
        Called with a `BuildProgress` as the work goes on.
    newest : bool
        Ask apt for the newest source even if the kernels are there.
    kinds : sequence of {"pocket", "library"}, optional
        Which are wanted; all that run here unless given.

    Returns
    -------
    Kernels
        Each in a directory of its own in the cache, `<version>-<key>`; the key follows from source and recipe.

    Raises
    ------
    KernelError
        When programs, disk or source are missing, or a step fails: what, why, the log, and what to do.
        Nothing half-built is left.

    Examples
    --------
    >>> build("linux-7.3.tar.xz").pocket.release      # doctest: +SKIP
    '7.3.0'
    """
    wanted = tuple(kinds or kinds_here())
    if source is None and not newest:
        ready = _ready(wanted)
        if ready:
            return ready
    _check_programs()
    cache.root().mkdir(parents=True, exist_ok=True)
    meter = Meter(progress, usual_phases(wanted))
    with ending_signals_raise(), _lock(meter):
        if source is None and not newest:
            ready = _ready(wanted)
            if ready:
                return ready
        with _workshop("netlab kernel build") as (work, log):
            return _build(source, wanted, meter, work, log)


def build_for(
    machine: str, source: str | Path | None = None, progress: Listener | None = None
) -> library.LibraryKernel:
    """Build the library kernel for another processor, with its cross compiler, or as WebAssembly, unless that is there.

    Parameters
    ----------
    machine : str
        One of `library.MACHINES`, whose compiler is `<machine>-linux-gnu-gcc`, or `library.WASM` with `wasm.Tools`.
    source, progress
        As for `build`.

    Raises
    ------
    KernelError
        As `build`.
    """
    cross = "" if machine == library.WASM else f"{machine}-linux-gnu-"
    is_taken = source is None and machine == library.WASM
    if is_taken and (ready := library.ready(machine)):
        return ready
    _check_programs(f"{cross}gcc")
    cache.root().mkdir(parents=True, exist_ok=True)
    meter = Meter(progress, usual_phases((LIBRARY,)))
    with ending_signals_raise(), _lock(meter):
        if is_taken and (ready := library.ready(machine)):
            return ready
        with _workshop(f"netlab kernel build for {machine}") as (work, log):
            meter.at("fetch")
            origin = _fetch(meter, log) if source is None else _given(Path(source).expanduser())
            _check_disk()
            material = _unpack(origin, work, log, meter)
            twin = library.twin(material.folder, work / "library-source", log)
            return _build_library(replace(material, folder=twin), work, log, meter, machine, cross)


def kinds_here() -> tuple[str, ...]:
    """The kinds of kernel that this machine's processor can run.

    Raises
    ------
    KernelError
        When it is none of theirs.
    """
    machine = platform.machine()
    if machine not in library.MACHINES or not sys.platform.startswith("linux"):
        raise KernelError(
            "The pocket kernel is for x86-64 Linux (WSL2 too), the library kernel for aarch64 Linux as well; this is "
            f"{platform.system()} on {machine}. docs/places.md has the lines for elsewhere."
        )
    return (POCKET, LIBRARY) if machine == POCKET_MACHINE else (LIBRARY,)


def why_no_source() -> str:
    """Why `build` could not get a source here, as far as is known without the network; empty when it may."""
    try:
        if not _kept():
            apt.check()
    except KernelError as error:
        return str(error)
    return ""


@contextmanager
def _workshop(title: str) -> Iterator[tuple[Path, Path]]:
    """A directory for a build and its log; the log stays where the build fails, the directory never."""
    for stale in cache.root().glob("build-*"):
        shutil.rmtree(stale, ignore_errors=True)
    log = cache.root() / "kernel-build.log"
    log.write_text(f"{title}, {datetime.now(timezone.utc).isoformat(timespec='seconds')}\n")
    work = Path(tempfile.mkdtemp(prefix="build-", dir=cache.root()))
    failed = False
    try:
        yield work, log
    except KernelError:
        failed = True
        raise
    except OSError as error:
        failed = True
        raise KernelError(f"Building the kernel stopped: {error}. The log is {log}.") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if not failed:
            log.unlink(missing_ok=True)


def _ready(wanted: tuple[str, ...]) -> Kernels | None:
    """The kernels by the present recipe; None unless all of them are there."""
    current = recipe_hash()
    pocket = next((kernel for kernel in installed.builds() if kernel.build.get("recipe") == current), None)
    own = library.ready()
    return Kernels(pocket, own) if (own or LIBRARY not in wanted) and (pocket or POCKET not in wanted) else None


@dataclass(frozen=True)
class Material:
    """A source tree with netlab's edits, and what a build is told of it."""

    origin: Source
    folder: Path
    release: tree.Release
    variables: dict[str, str | None]
    patch: str


def _build(source: str | Path | None, wanted: tuple[str, ...], meter: Meter, work: Path, log: Path) -> Kernels:
    meter.at("fetch")
    origin = _fetch(meter, log) if source is None else _given(Path(source).expanduser())
    # A tree may have changed since it was built.
    keep = origin.kind != "tree"
    pocket = next((k for k in installed.builds() if keep and k.build.get("key") == build_key(origin.identity)), None)
    own = next((k for k in library.builds() if keep and k.build.get("key") == library.build_key(origin.identity)), None)
    build_own, build_pocket = LIBRARY in wanted and not own, POCKET in wanted and not pocket
    if not (build_own or build_pocket):
        return Kernels(pocket, own)
    _check_disk()
    material = _unpack(origin, work, log, meter)
    why_not = ""
    if build_own:
        # Before anything is built in the first tree.
        twin = library.twin(material.folder, work / "library-source", log)
        try:
            own = _build_library(replace(material, folder=twin), work, log, meter)
        except KernelError as error:
            if POCKET not in wanted:
                raise
            why_not = str(error)
            library.note_failure(why_not)
        shutil.rmtree(twin)
    if build_pocket:
        pocket = _build_pocket(material, work, log, meter)
    return Kernels(pocket, own, why_not)


def _build_pocket(material: Material, work: Path, log: Path, meter: Meter) -> Kernel:
    started_s = time.monotonic()
    origin, source_tree, release = material.origin, material.folder, material.release
    meter.at("configure", 0, f"Linux {release.name}")
    static = links_static(work)
    _configure(source_tree, release.version, static, material.variables, log, meter)

    compile_started_s = time.monotonic()
    objects = _compile(source_tree, material.variables, log, meter)
    compile_s = time.monotonic() - compile_started_s

    meter.at("install")
    target = work / "kernel"
    target.mkdir()
    programs.run(["strip", "-o", str(target / "linux"), str(source_tree / "linux")], log=log, doing="strip the kernel")
    _compile_mnexec(target / "mnexec", static, log)
    shutil.copy(source_tree / ".config", target / "config")
    (target / "netlab.patch").write_text(material.patch, encoding="utf-8", errors="surrogateescape")
    for name in ("tcp_tahoe.c", "gate.c", "mnexec.c", "pocket.config"):
        shutil.copy(edits.RECIPE / name, target / name)
    _write_licence(source_tree, target)
    (target / "SOURCE").write_text(_source_text(origin, release.name))
    facts: dict[str, Any] = {
        "release": release.name,
        "key": build_key(origin.identity),
        "recipe": recipe_hash(),
        "machine": platform.machine(),
        "source": _source_facts(origin),
        "compiler": _first_line(["gcc", "--version"]),
        "static": static,
        "objects": objects,
        "built_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "build_s": round(time.monotonic() - started_s, 1),
        "compile_s": round(compile_s, 1),
        "size_bytes": (target / "linux").stat().st_size,
    }
    (target / "build.json").write_text(json.dumps(facts, indent=2) + "\n")
    said = _first_line([str(target / "linux"), "--version"])
    if not said.startswith(".".join(map(str, release.version[:2]))):
        raise KernelError(
            f"The kernel was built and does not start: asked for its version it said {said!r}. The log is {log}."
        )
    shutil.copy(log, target / "build.log")
    final = cache.kernels() / f"{release.name}-{facts['key']}"
    _put(target, final)
    meter.at("install", 1.0)
    return installed.from_directory(final)


def _build_library(
    material: Material, work: Path, log: Path, meter: Meter, machine: str = platform.machine(), cross: str = ""
) -> library.LibraryKernel:
    started_s = time.monotonic()
    origin, twin, release = material.origin, material.folder, material.release
    objects = 0

    def count(line: str) -> None:
        nonlocal objects
        if OBJECT.match(line):
            objects += 1
            meter.at("library", min(objects / library.USUAL_OBJECTS, 0.99), line.rpartition(" ")[2].strip())

    meter.at("library", 0, f"the library kernel, Linux {release.name}")
    target = work / "library"
    target.mkdir()
    patch, compiler = material.patch, _first_line([f"{cross}gcc", "--version"])
    shutil.copy(edits.RECIPE / "tcp_tahoe.c", target)
    if machine == library.WASM:
        patch += edits.apply(twin, edits.wasm_edits())
        compiler = wasm.compile_into(
            twin, target, release.version, variables=material.variables, log=log, on_object=count
        )
    else:
        library.compile_into(
            twin, target, release.version,
            variables=material.variables, log=log, on_object=count, machine=machine, cross=cross, static=links_static(work),
        )  # fmt: skip
        # Where there is no pocket kernel, the native engine takes it from here.
        _compile_mnexec(target / library.MNEXEC, links_static(work), log, cross)
        shutil.copy(edits.RECIPE / "mnexec.c", target)
    (target / "netlab.patch").write_text(patch, encoding="utf-8", errors="surrogateescape")
    (target / "recipe.tar").write_bytes(library.packed_recipe())
    _write_licence(twin, target)
    (target / "SOURCE").write_text(_library_source_text(origin, release.name, library.program_of(machine)))
    key = library.build_key(origin.identity, machine)
    facts: dict[str, Any] = {
        "release": release.name,
        "key": key,
        "recipe": library.recipe_hash(machine),
        "machine": machine,
        "source": _source_facts(origin),
        "compiler": compiler,
        "objects": objects,
        "built_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "build_s": round(time.monotonic() - started_s, 1),
        "size_bytes": (target / library.program_of(machine)).stat().st_size,
    }
    (target / "build.json").write_text(json.dumps(facts, indent=2) + "\n")
    final = cache.libraries() / f"{release.name}-{key}"
    _put(target, final)
    if machine == platform.machine():
        library.forget_failure()
    meter.at("library", 1.0)
    return library.from_directory(final)


def _source_facts(origin: Source) -> dict[str, str]:
    return {"kind": origin.kind, "name": origin.name, "version": origin.version, "sha256": origin.identity}


def _unpack(origin: Source, work: Path, log: Path, meter: Meter) -> Material:
    meter.at("unpack", 0, origin.name)
    source_tree = work / "linux"
    if origin.kind == "package":
        tree.unpack_deb(origin.path, source_tree, work / "package", log)
        shutil.rmtree(work / "package")
    elif origin.kind == "archive":
        tree.unpack_archive(origin.path, source_tree, log)
    else:
        tree.copy_tree(origin.path, source_tree, log)
    release = tree.release_of(source_tree)
    variables = _variables(source_tree)
    return Material(origin, source_tree, release, variables, edits.apply(source_tree))


def _put(target: Path, final: Path) -> None:
    final.parent.mkdir(parents=True, exist_ok=True)
    if final.exists():
        shutil.rmtree(final)
    target.rename(final)


def _fetch(meter: Meter, log: Path) -> Source:
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
        earlier = [_given(path) for path in _kept()]
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


def _given(path: Path) -> Source:
    path = path.absolute()
    if path.is_dir():
        release = tree.release_of(path)
        return Source("tree", path, path.name, release.name, f"tree of {release.name}")
    if not path.is_file():
        raise KernelError(
            f"There is no kernel source at {path}. Give a linux-*.tar.xz, a linux-source package or a folder."
        )
    identity = apt.sha256_of(path)
    if path.suffix == ".deb":
        version = _first_line(["dpkg-deb", "-f", str(path), "Version"])
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


def _configure(
    source_tree: Path,
    version: fragment.Version,
    static: bool,
    variables: dict[str, str | None],
    log: Path,
    meter: Meter,
) -> None:
    options = fragment.parse((edits.RECIPE / "pocket.config").read_text())
    if not static:
        options = [option for option in options if option.name != "CONFIG_STATIC_LINK"]
    doing = "configure the kernel"
    programs.run(["make", "ARCH=um", "tinyconfig"], cwd=source_tree, log=log, env=variables, doing=doing)
    meter.at("configure", 0.7)
    config = source_tree / ".config"
    with config.open("a") as file:
        file.write(fragment.render(options, version))
    programs.run(["make", "ARCH=um", "olddefconfig"], cwd=source_tree, log=log, env=variables, doing=doing)
    refused = fragment.not_taken(options, version, config.read_text())
    if refused:
        raise KernelError(
            f"Linux {'.'.join(map(str, version))} does not take {len(refused)} of the options that netlab needs: "
            f"{', '.join(refused)}. Build from linux-source 6.12 or 7.x, or report this version."
        )


def _compile(source_tree: Path, variables: dict[str, str | None], log: Path, meter: Meter) -> int:
    expected = next((k.build["objects"] for k in installed.builds() if k.build.get("objects")), USUAL_OBJECTS)
    objects = 0

    def count(line: str) -> None:
        nonlocal objects
        if OBJECT.match(line):
            objects += 1
            meter.at("compile", min(objects / expected, 0.99), line.rpartition(" ")[2].strip())

    jobs = len(os.sched_getaffinity(0))
    meter.at("compile")
    programs.run(
        ["make", "ARCH=um", f"-j{jobs}", "linux"],
        cwd=source_tree,
        log=log,
        env=variables,
        doing="compile the kernel",
        on_line=count,
    )
    return objects


def _compile_mnexec(target: Path, static: bool, log: Path, cross: str = "") -> None:
    command = [
        f"{cross}gcc",
        "-O2",
        "-s",
        *(["-static"] if static else []),
        "-o",
        str(target),
        str(edits.RECIPE / "mnexec.c"),
    ]
    programs.run(command, log=log, doing="compile mnexec")


def links_static(work: Path) -> bool:
    """Whether programs can be linked so that they need no C library where they run."""
    probe = work / "probe.c"
    probe.write_text('#include <stdio.h>\nint main(void) { return puts("") < 0; }\n')
    command = ["gcc", "-static", "-o", str(work / "probe"), str(probe)]
    return subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def _check_programs(compiler: str = "gcc") -> None:
    if not shutil.which(compiler):
        # The package of aarch64-linux-gnu-gcc is gcc-aarch64-linux-gnu.
        package = "gcc" if compiler == "gcc" else "gcc-" + compiler.removesuffix("-gcc").replace("_", "-")
        raise KernelError(f"The compiler {compiler} is not installed. {tree.apt_line([package])}")
    missing = [program for program in NEEDED_PROGRAMS if not shutil.which(program)]
    headers = not missing and not _compiles()
    if missing or headers:
        what = ", ".join(missing) if missing else "the C library's headers"
        wanted = [*missing, "libc6-dev"] if headers or "gcc" in missing else missing
        raise KernelError(
            f"To build the kernel, {what} must be installed first. {tree.apt_line(wanted)}\n"
            "A kernel built on another machine needs none of this: 'netlab kernel unpack FILE'."
        )


def _compiles() -> bool:
    command = ["gcc", "-x", "c", "-fsyntax-only", "-"]
    text = "#include <stdio.h>\n#include <elf.h>\n#include <linux/types.h>\nint main(void) { return 0; }\n"
    return subprocess.run(command, input=text, text=True, check=False, capture_output=True).returncode == 0


def _check_disk() -> None:
    free = shutil.disk_usage(cache.root()).free
    if free < NEEDED_BYTES:
        raise KernelError(
            f"Building the kernel takes {NEEDED_BYTES / 1e6:.0f} MB of disk for a few minutes and {cache.root()} has "
            f"{free / 1e6:.0f} MB left. Make room, or name another place in $NETLAB_CACHE."
        )


@contextmanager
def _lock(meter: Meter) -> Iterator[None]:
    """Only one build at a time per cache; the others wait and then find it done."""
    import fcntl

    with (cache.root() / "kernel-build.lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                meter.at("fetch", 0.0, "waiting for another build to end")
                time.sleep(LOCK_POLL_S)
        yield


def _write_licence(source_tree: Path, target: Path) -> None:
    parts = [source_tree / "COPYING", source_tree / "LICENSES/preferred/GPL-2.0"]
    (target / "COPYING").write_text("\n".join(part.read_text() for part in parts))


def _source_text(origin: Source, release: str) -> str:
    return (
        f"linux: Linux {release}, User-Mode Linux, under the GNU General Public License version 2 (COPYING).\n"
        f"Source: {origin.name} {origin.version} ({origin.kind}), SHA-256 {origin.identity}.\n"
        "Changes: netlab.patch over that source. Configuration: config.\n"
        f"On Debian the source comes with 'apt-get download {origin.name.split('_')[0]}'; "
        "the unchanged kernel is at kernel.org.\n"
        "mnexec: from mnexec.c, under the BSD 3-Clause licence.\n"
    )


def _library_source_text(origin: Source, release: str, program: str) -> str:
    return (
        f"{program}: Linux {release} and netlab's program around it, under the GNU General Public License "
        "version 2 (COPYING).\n"
        f"Source: {origin.name} {origin.version} ({origin.kind}), SHA-256 {origin.identity}.\n"
        "Changes: netlab.patch over that source, arch of recipe.tar as arch/netlab; "
        "the program around it: host, native and wasm of recipe.tar. Configuration: config.\n"
        "mnexec: from mnexec.c, under the BSD 3-Clause licence.\n"
    )


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, errors="replace"
        )
    except OSError:
        return ""
    return (done.stdout.splitlines() or [""])[0].strip()
