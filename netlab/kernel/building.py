"""Building the pocket kernel: source in, a directory of the cache out."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from netlab.endings import ending_signals_raise
from netlab.errors import KernelError
from netlab.kernel import apt, cache, edits, fragment, installed, library, programs, tree
from netlab.kernel.installed import Kernel
from netlab.kernel.progress import Listener, Meter, usual_phases
from netlab.kernel.recipe_key import build_key, recipe_hash

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


def build(source: str | Path | None = None, progress: Listener | None = None, *, newest: bool = False) -> Kernel:
    """Build the pocket kernel, or return the build that is there already.

    Parameters
    ----------
    source : path, optional
        A `linux-source` package, a kernel archive (`linux-*.tar.{xz,gz,bz2,zst}`) or an unpacked kernel tree,
        which stays as it is. Without it, a kernel already built by this netlab's recipe is taken; where there is
        none, apt fetches the newest source.
    progress : callable, optional
        Called with a `BuildProgress` as the work goes on.
    newest : bool
        Ask apt for the newest source even if a kernel is there.

    Returns
    -------
    Kernel
        In a directory of its own in the cache, `<version>-<key>`; the key follows from source and recipe.

    Raises
    ------
    KernelError
        When programs, disk or source are missing, or a step fails: what, why, the log, and what to do.
        Nothing half-built is left.

    Examples
    --------
    >>> build("linux-7.3.tar.xz").release      # doctest: +SKIP
    '7.3.0'
    """
    if source is None and not newest:
        ready = _ready()
        if ready:
            return ready
    _check_machine()
    cache.root().mkdir(parents=True, exist_ok=True)
    meter = Meter(progress)
    with ending_signals_raise(), _lock(meter):
        if source is None and not newest:
            ready = _ready()
            if ready:
                return ready
        for stale in cache.root().glob("build-*"):
            shutil.rmtree(stale, ignore_errors=True)
        log = cache.root() / "kernel-build.log"
        log.write_text(f"netlab kernel build, {datetime.now(timezone.utc).isoformat(timespec='seconds')}\n")
        work = Path(tempfile.mkdtemp(prefix="build-", dir=cache.root()))
        failed = False
        try:
            return _build(source, meter, work, log)
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


def _ready() -> Kernel | None:
    current = recipe_hash()
    return next((kernel for kernel in installed.builds() if kernel.build.get("recipe") == current), None)


def _build(source: str | Path | None, meter: Meter, work: Path, log: Path) -> Kernel:
    started_s = time.monotonic()
    meter.at("fetch")
    origin = _fetch(meter, log) if source is None else _given(Path(source).expanduser())
    recipe = recipe_hash()
    key = build_key(origin.identity)
    if origin.kind != "tree":
        for kernel in installed.builds():
            if kernel.build.get("key") == key:
                return kernel
    _check_disk()

    source_tree = _unpack(origin, work, log, meter)
    release = tree.release_of(source_tree)

    meter.at("configure", 0, f"Linux {release.name}")
    variables = _variables(source_tree)
    patch = edits.apply(source_tree)
    static = _links_static(work)
    _configure(source_tree, release.version, static, variables, log, meter)

    compile_started_s = time.monotonic()
    objects = _compile(source_tree, variables, log, meter)
    compile_s = time.monotonic() - compile_started_s

    meter.at("install")
    target = work / "kernel"
    target.mkdir()
    programs.run(["strip", "-o", str(target / "linux"), str(source_tree / "linux")], log=log, doing="strip the kernel")
    _compile_mnexec(target / "mnexec", static, log)
    shutil.copy(source_tree / ".config", target / "config")
    (target / "netlab.patch").write_text(patch, encoding="utf-8", errors="surrogateescape")
    for name in ("tcp_tahoe.c", "gate.c", "mnexec.c", "pocket.config"):
        shutil.copy(edits.RECIPE / name, target / name)
    _write_licence(source_tree, target)
    (target / "SOURCE").write_text(_source_text(origin, release.name))
    facts: dict[str, Any] = {
        "release": release.name,
        "key": key,
        "recipe": recipe,
        "machine": platform.machine(),
        "source": {
            "kind": origin.kind,
            "name": origin.name,
            "version": origin.version,
            "sha256": origin.identity,
        },
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
    final = cache.kernels() / f"{release.name}-{key}"
    _put(target, final)
    meter.at("install", 1.0)
    return installed.from_directory(final)


def build_library(
    source: str | Path | None = None, progress: Listener | None = None, *, machine: str | None = None, cross: str = ""
) -> library.LibraryKernel:
    """Build the library kernel alone, or return the one that is there already.

    Parameters
    ----------
    source, progress
        As for `build`.
    machine, cross : str
        Another processor than this machine's and the prefix of its compiler, such as "aarch64-linux-gnu-".

    Raises
    ------
    KernelError
        As `build`.
    """
    other = machine not in (None, platform.machine())
    found = None if source is not None or other else library.ready()
    if found:
        return found
    _check_machine(f"{cross}gcc", library.MACHINES)
    cache.root().mkdir(parents=True, exist_ok=True)
    meter = Meter(progress, usual_phases(library=True))
    with ending_signals_raise(), _lock(meter):
        log = cache.root() / "library-build.log"
        log.write_text(f"netlab library kernel build, {datetime.now(timezone.utc).isoformat(timespec='seconds')}\n")
        work = Path(tempfile.mkdtemp(prefix="build-", dir=cache.root()))
        try:
            meter.at("fetch")
            origin = _fetch(meter, log) if source is None else _given(Path(source).expanduser())
            source_tree = _unpack(origin, work, log, meter)
            release = tree.release_of(source_tree)
            variables = _variables(source_tree)
            patch = edits.apply(source_tree)
            twin = library.twin(source_tree, work / "library-source", log)
            made = _build_library(twin, origin, release, variables, patch, work, log, meter, machine, cross)
        except OSError as error:
            raise KernelError(f"Building the library kernel stopped: {error}. The log is {log}.") from error
        finally:
            shutil.rmtree(work, ignore_errors=True)
        log.unlink(missing_ok=True)
    return made


def _build_library(
    twin: Path,
    origin: Source,
    release: tree.Release,
    variables: dict[str, str | None],
    patch: str,
    work: Path,
    log: Path,
    meter: Meter,
    machine: str | None = None,
    cross: str = "",
) -> library.LibraryKernel:
    started_s = time.monotonic()
    objects = 0

    def count(line: str) -> None:
        nonlocal objects
        if OBJECT.match(line):
            objects += 1
            meter.at("library", min(objects / library.USUAL_OBJECTS, 0.99), line.rpartition(" ")[2].strip())

    meter.at("library", 0, f"the library kernel, Linux {release.name}")
    recipe = library.recipe_hash()
    machine = machine or platform.machine()
    key = hashlib.sha256(f"{origin.identity}\0{recipe}\0{machine}".encode()).hexdigest()[:12]
    target = work / "library"
    target.mkdir()
    library.compile_into(
        twin, target, release.version, variables=variables, log=log, on_object=count, machine=machine, cross=cross
    )
    (target / "netlab.patch").write_text(patch, encoding="utf-8", errors="surrogateescape")
    shutil.copy(edits.RECIPE / "tcp_tahoe.c", target / "tcp_tahoe.c")
    shutil.copytree(library.HOME, target / "recipe")
    _write_licence(twin, target)
    (target / "SOURCE").write_text(_library_source_text(origin, release.name))
    library.write_facts(
        target,
        {
            "release": release.name,
            "key": key,
            "recipe": recipe,
            "machine": machine,
            "source": {"kind": origin.kind, "name": origin.name, "version": origin.version, "sha256": origin.identity},
            "compiler": _first_line([f"{cross}gcc", "--version"]),
            "objects": objects,
            "build_s": round(time.monotonic() - started_s, 1),
        },
    )
    final = cache.libraries() / f"{release.name}-{key}"
    _put(target, final)
    return library.from_directory(final)


def _unpack(origin: Source, work: Path, log: Path, meter: Meter) -> Path:
    meter.at("unpack", 0, origin.name)
    source_tree = work / "linux"
    if origin.kind == "package":
        tree.unpack_deb(origin.path, source_tree, work / "package", log)
        shutil.rmtree(work / "package")
    elif origin.kind == "archive":
        tree.unpack_archive(origin.path, source_tree, log)
    else:
        tree.copy_tree(origin.path, source_tree, log)
    return source_tree


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
        earlier = [_given(path) for path in directory.glob("*.deb")]
        if not earlier:
            raise
        return max(earlier, key=lambda source: fragment.parse_version(source.version))
    finally:
        shutil.rmtree(cache.root() / "apt", ignore_errors=True)
    for other in directory.glob("*.deb"):
        if other != path:
            other.unlink()
    return Source("package", path, package.name, package.version, package.sha256)


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


def _compile_mnexec(target: Path, static: bool, log: Path) -> None:
    command = [
        "gcc",
        "-O2",
        "-s",
        *(["-static"] if static else []),
        "-o",
        str(target),
        str(edits.RECIPE / "mnexec.c"),
    ]
    programs.run(command, log=log, doing="compile mnexec")


def _links_static(work: Path) -> bool:
    """Whether programs can be linked so that they need no C library where they run."""
    probe = work / "probe.c"
    probe.write_text('#include <stdio.h>\nint main(void) { return puts("") < 0; }\n')
    command = ["gcc", "-static", "-o", str(work / "probe"), str(probe)]
    return subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def _check_machine(compiler: str = "gcc", machines: tuple[str, ...] = ("x86_64",)) -> None:
    if platform.machine() not in machines or not sys.platform.startswith("linux"):
        raise KernelError(
            f"The pocket kernel is for x86-64 Linux (WSL2 too), the library kernel for aarch64 Linux as well; this is "
            f"{platform.system()} on {platform.machine()}."
        )
    if not shutil.which(compiler):
        raise KernelError(f"The compiler {compiler} is not installed. {tree.apt_line([compiler])}")
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
        "Changes: netlab.patch over that source, tcp_tahoe.c as net/ipv4/tcp_tahoe.c, gate.c as arch/um/drivers/gate.c. "
        "Configuration: config.\n"
        f"On Debian the source comes with 'apt-get download {origin.name.split('_')[0]}'; "
        "the unchanged kernel is at kernel.org.\n"
        "mnexec: from mnexec.c, under the BSD 3-Clause licence.\n"
    )


def _library_source_text(origin: Source, release: str) -> str:
    return (
        f"{library.PROGRAM}: Linux {release} and netlab's program around it, under the GNU General Public License "
        "version 2 (COPYING).\n"
        f"Source: {origin.name} {origin.version} ({origin.kind}), SHA-256 {origin.identity}.\n"
        "Changes: netlab.patch over that source, tcp_tahoe.c as net/ipv4/tcp_tahoe.c, recipe/arch as arch/netlab; "
        "the program around it: recipe/host. Configuration: config.\n"
    )


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, errors="replace"
        )
    except OSError:
        return ""
    return (done.stdout.splitlines() or [""])[0].strip()
