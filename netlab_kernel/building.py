"""Build kernels: from a source to a directory of the cache for each kind of kernel."""

import functools
import json
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

from netlab.base import cache as base_cache
from netlab.base.errors import KernelError
from netlab.base.exit_signals import signals_raise_system_exit
from netlab.engines import MACHINES
from netlab_engines.kernels import cache, library_kernel, pocket_kernel
from netlab_engines.kernels.installation import install
from netlab_engines.kernels.pocket_kernel import POCKET_MACHINE, PocketKernel
from netlab_kernel import edits, fragment, library_build, prerequisites, programs, recipes, sources, wasm
from netlab_kernel.edit import RECIPE
from netlab_kernel.edits import build_key, recipe_hash
from netlab_kernel.progress import Listener, Meter, usual_phases
from netlab_kernel.sources import Material

T = TypeVar("T")
POCKET, LIBRARY = "pocket", "library"
USUAL_OBJECTS = 1000
LOCK_POLL_S = 0.5
_MNEXEC_SOURCE = "mnexec: from mnexec.c, under the BSD 3-Clause licence.\n"
POCKET_SOURCE = (
    "linux: Linux {release}, User-Mode Linux, under the GNU General Public License version 2 (COPYING).\n{source}\n"
    "Changes: netlab.patch over that source. Configuration: config.\n"
    "On Debian the source comes with 'apt-get download {package}'; the unchanged kernel is at kernel.org.\n"
    + _MNEXEC_SOURCE
)
LIBRARY_SOURCE = (
    "{program}: Linux {release} and netlab's program around it, under the GNU General Public License version 2 (COPYING).\n"
    "{source}\nChanges: netlab.patch over that source, arch of recipe.tar as arch/netlab; the program around it: host, native "
    "and wasm of recipe.tar. Configuration: config.\n" + _MNEXEC_SOURCE
)
# Lines of make's output such as "  CC      net/ipv4/tcp.o".
OBJECT = re.compile(r"  (?:CC|AS) +\S")


@dataclass(frozen=True)
class Kernels:
    """The kernels that `build` made or found for this machine; a kind that was not asked for may be None."""

    pocket: PocketKernel | None
    """None if it was not asked for, as on a processor that has no User-Mode Linux."""
    library: library_kernel.LibraryKernel | None
    """None if it was not asked for or could not be built; `why_no_library` has the error."""
    why_no_library: str = ""


def build(
    source: str | Path | None = None,
    progress: Listener | None = None,
    *,
    newest: bool = False,
    kinds: Sequence[str] | None = None,
) -> Kernels:
    """Build these kinds of kernel, "pocket" and "library" (None: all that run here), from the source at a path (None:
    apt's newest), and return them; kinds that were not asked for may be there too. Without `source` and `newest`,
    builds by this netlab's recipe that are in the cache are returned instead, and so are earlier builds of the same
    source. `progress` is called with the state of the build. This takes minutes; other builds of this user are waited
    for. Raises KernelError, with the log and a remedy, if a step fails, except for a library kernel with a pocket
    kernel (see `Kernels`).

    If the pocket kernel is built too, a failure of the library kernel is not raised but returned in `why_no_library`,
    because the pocket kernel suffices.

    Parameters
    ----------
    source : path, optional
        A `linux-source` package, a kernel archive (`linux-*.tar.{xz,gz,bz2,zst}`) or an unpacked kernel tree,
        which is not changed. Without it, kernels that this netlab's recipe has built already are returned; if one is
        missing, apt downloads the newest source.
    newest : bool
        Ask apt for the newest source even if the kernels are there.
    kinds : sequence of {"pocket", "library"}, optional
        The kinds to build; by default all that run here.

    Returns
    -------
    Kernels
        The kernels, each in its own directory `<version>-<key>` of the cache; the key depends on source and recipe.

    Examples
    --------
    >>> build("linux-7.3.tar.xz").pocket.release      # doctest: +SKIP
    '7.3.0'
    """
    recipes.refresh()
    kinds_to_build = tuple(kinds or kinds_here())

    def ready() -> Kernels | None:
        """Return the kernels in the cache that need no build; None if a kernel is missing, or if the caller gave a source
        or requested the newest one.
        """
        return _kernels_in_cache(kinds_to_build) if source is None and not newest else None

    make = functools.partial(_build, source, kinds_to_build)
    return _find_or_build("netlab kernel build", "gcc", usual_phases(kinds_to_build), progress, ready, make)


def build_for(
    machine: str, source: str | Path | None = None, progress: Listener | None = None
) -> library_kernel.LibraryKernel:
    """Build the library kernel for a processor `machine` (one of MACHINES, such as "aarch64") with its cross compiler,
    or as WebAssembly ("wasm"), from the source at a path (None: apt's newest), store it in the cache and return it;
    `progress` is called with the state of the build. Waits while another build runs. Without `source`, a WebAssembly
    kernel by the present recipe in the cache is returned without a build; a processor's is always built anew. Raises
    KernelError if a program is missing or a step fails.

    The cross compiler is `<machine>-linux-gnu-gcc`; WebAssembly is made with `wasm.Tools`.
    """
    recipes.refresh()
    cross = "" if machine == library_kernel.WASM else f"{machine}-linux-gnu-"

    def ready() -> library_kernel.LibraryKernel | None:
        """Return the WebAssembly kernel by the present recipe from the cache; None if there is none, a source was
        given, or the kernel is for a processor.
        """
        return library_kernel.ready(machine) if source is None and machine == library_kernel.WASM else None

    def make(meter: Meter, work: Path, log: Path) -> library_kernel.LibraryKernel:
        """Unpack the source in the directory `work`, build the kernel from a linked copy of its tree, and return it;
        `meter` gets the progress, the file `log` the programs' output. Raises KernelError if a step fails.
        """
        origin = _get_source(source, meter, log)
        prerequisites.check_disk()
        material = sources.unpack(origin, work, log, meter)
        linked_copy = library_build.linked_copy(material.folder, work / "library-source", log)
        return _build_library(replace(material, folder=linked_copy), work, log, meter, machine, cross)

    return _find_or_build(
        f"netlab kernel build for {machine}", f"{cross}gcc", usual_phases((LIBRARY,)), progress, ready, make
    )


def _find_or_build(
    title: str,
    compiler: str,
    phases: dict[str, float],
    progress: Listener | None,
    ready: Callable[[], T | None],
    make: Callable[[Meter, Path, Path], T],
) -> T:
    """Return the result of `ready()` if it is not None, before or after waiting for other builds, and else the one of
    `make(meter, work, log)`, which builds under the lock of builds in the temporary directory `work`, with a Meter and
    the path of a log. `compiler` is the program that must be installed, `phases` the usual duration of each phase in s,
    `progress` is called with the progress (None: not), `title` is the log's first line. SIGTERM raises SystemExit
    meanwhile. Raises KernelError if a program is missing or the build fails.
    """
    if found := ready():
        return found
    prerequisites.check_programs(compiler)
    base_cache.root().mkdir(parents=True, exist_ok=True)
    meter = Meter(progress, phases)
    with signals_raise_system_exit(), _lock(meter):
        if found := ready():
            return found
        with _build_directory(title) as (work, log):
            return make(meter, work, log)


def _get_source(source: str | Path | None, meter: Meter, log: Path) -> sources.Source:
    """Return the source for a build: the one at the path `source`, or without it (None) the newest one of apt, which is
    downloaded. `meter` is told that the phase "fetch" has begun, `log` is the file for apt's output. Raises KernelError
    if there is no source.
    """
    meter.at("fetch")
    return sources.fetch(meter, log) if source is None else sources.source_at(Path(source).expanduser())


def kinds_here() -> tuple[str, ...]:
    """Return the kinds of kernel that this machine can run: POCKET and LIBRARY on x86-64 Linux, LIBRARY alone on
    aarch64 Linux. Raises KernelError on any other machine.
    """
    machine = platform.machine()
    if machine not in MACHINES or not sys.platform.startswith("linux"):
        raise KernelError(
            "The pocket kernel is for x86-64 Linux (WSL2 too), the library kernel for aarch64 Linux as well; this is "
            f"{platform.system()} on {machine}. docs/how-to/install.md has the lines for other systems."
        )
    return (POCKET, LIBRARY) if machine == POCKET_MACHINE else (LIBRARY,)


@contextmanager
def _build_directory(title: str) -> Iterator[tuple[Path, Path]]:
    """Return a context manager that yields a new temporary directory for a build and the path of the build's log, whose
    first line is `title`. At the end, the directory is removed, and so is the log unless an error (KernelError or
    OSError) ended the block; an OSError becomes a KernelError. Directories of earlier builds that crashed are removed.
    """
    for stale in base_cache.root().glob("build-*"):
        shutil.rmtree(stale, ignore_errors=True)
    log = base_cache.root() / "kernel-build.log"
    log.write_text(f"{title}, {datetime.now(timezone.utc).isoformat(timespec='seconds')}\n")
    work = Path(tempfile.mkdtemp(prefix="build-", dir=base_cache.root()))
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


def _kernels_in_cache(kinds_to_build: tuple[str, ...]) -> Kernels | None:
    """Return the kernels in the cache that are built by the present recipe (also kinds not in `kinds_to_build`), or
    None unless all kinds ("pocket", "library") in `kinds_to_build` are among them.
    """
    current = recipe_hash()
    pocket = next((kernel for kernel in pocket_kernel.builds() if kernel.build.get("recipe") == current), None)
    own = library_kernel.ready()
    return (
        Kernels(pocket, own)
        if (own or LIBRARY not in kinds_to_build) and (pocket or POCKET not in kinds_to_build)
        else None
    )


def _build(source: str | Path | None, kinds_to_build: tuple[str, ...], meter: Meter, work: Path, log: Path) -> Kernels:
    """Build those of the kinds ("pocket", "library") in `kinds_to_build` that the cache does not have for the source at
    a path (None: apt's newest; a tree is always built), the library kernel first, and return all kernels. `work` is a
    directory for temporary files, `log` the file for the programs' output, and `meter` gets the progress. Raises
    KernelError if a step fails; but if the library kernel fails and the pocket kernel is wanted too, the failure is
    recorded in the result and in the cache instead.
    """
    origin = _get_source(source, meter, log)
    # A tree may have changed since it was built.
    keep = origin.kind != "tree"
    pocket = next(
        (k for k in pocket_kernel.builds() if keep and k.build.get("key") == build_key(origin.identity)), None
    )
    own = next(
        (k for k in library_kernel.builds() if keep and k.build.get("key") == library_build.build_key(origin.identity)),
        None,
    )
    build_own, build_pocket = LIBRARY in kinds_to_build and not own, POCKET in kinds_to_build and not pocket
    if not (build_own or build_pocket):
        return Kernels(pocket, own)
    prerequisites.check_disk()
    material = sources.unpack(origin, work, log, meter)
    why_not = ""
    if build_own:
        # Before anything is built in the first tree.
        linked_copy = library_build.linked_copy(material.folder, work / "library-source", log)
        try:
            own = _build_library(replace(material, folder=linked_copy), work, log, meter)
        except KernelError as error:
            if POCKET not in kinds_to_build:
                raise
            why_not = str(error)
            library_build.note_failure(why_not)
        shutil.rmtree(linked_copy)
    if build_pocket:
        pocket = _build_pocket(material, work, log, meter)
    return Kernels(pocket, own, why_not)


def _build_pocket(material: Material, work: Path, log: Path, meter: Meter) -> PocketKernel:
    """Configure and compile the pocket kernel in the edited tree of `material` (statically linked if this machine can),
    check that the program starts, move it with `mnexec`, its sources and facts to the cache, and return it. `work` is a
    directory for temporary files, `log` the file for the programs' output, and `meter` gets the progress. Raises
    KernelError if a step fails.
    """
    started_s = time.monotonic()
    tree, version, variables = material.folder, material.version, material.variables
    meter.at("configure", 0, f"Linux {material.release}")
    static = prerequisites.links_static(work)
    options = fragment.parse((RECIPE / "pocket.config").read_text())
    if not static:
        options = [option for option in options if option.name != "CONFIG_STATIC_LINK"]
    make = programs.make("um")
    fragment.configure(tree, options, version, make, variables, log)

    compile_started_s = time.monotonic()
    expected = next((k.build["objects"] for k in pocket_kernel.builds() if k.build.get("objects")), USUAL_OBJECTS)
    count = CompileCounter(meter, "compile", expected)
    programs.run([*make, "linux"], cwd=tree, log=log, env=variables, doing="compile the kernel", on_line=count)
    compile_s = time.monotonic() - compile_started_s

    meter.at("install")
    target = work / "kernel"
    target.mkdir()
    programs.run(["strip", "-o", str(target / "linux"), str(tree / "linux")], log=log, doing="strip the kernel")
    _compile_mnexec(target / "mnexec", static, log)
    shutil.copy(tree / ".config", target / "config")
    for name in ("tcp_tahoe.c", "host_channel.c", "early_exits.c", "mnexec.c", "pocket.config"):
        shutil.copy(RECIPE / name, target / name)
    version_line = programs.first_line([str(target / "linux"), "--version"])
    if not version_line.startswith(".".join(map(str, version[:2]))):
        raise KernelError(
            f"The kernel was built but does not start: it reported the version as {version_line!r}. The log is {log}."
        )
    shutil.copy(log, target / "build.log")
    facts = {
        "key": build_key(material.origin.identity),
        "recipe": recipe_hash(),
        "machine": platform.machine(),
        "compiler": programs.first_line(["gcc", "--version"]),
        "static": static,
        "objects": count.objects,
        "build_s": round(time.monotonic() - started_s, 1),
        "compile_s": round(compile_s, 1),
        "size_bytes": (target / "linux").stat().st_size,
    }
    final = _finish(material, target, cache.kernels(), facts, material.patch, POCKET_SOURCE)
    meter.at("install", 1.0)
    return pocket_kernel.from_directory(final)


def _build_library(
    material: Material, work: Path, log: Path, meter: Meter, machine: str = platform.machine(), cross: str = ""
) -> library_kernel.LibraryKernel:
    """Compile the library kernel in the edited tree of `material`, move it with its facts (and, unless it is
    WebAssembly, `mnexec`) to the cache, remove a failure that was recorded for this machine, and return it. `work` is a
    directory for temporary files, `log` the file for the programs' output, `meter` gets the progress, `machine` is the
    processor or "wasm", and `cross` the prefix of a cross compiler, such as "aarch64-linux-gnu-", or "". Raises
    KernelError if a step fails.
    """
    started_s = time.monotonic()
    tree, version, variables = material.folder, material.version, material.variables
    meter.at("library", 0, f"the library kernel, Linux {material.release}")
    count = CompileCounter(meter, "library", library_build.USUAL_OBJECTS)
    target = work / "library"
    target.mkdir()
    patch, compiler = material.patch, programs.first_line([f"{cross}gcc", "--version"])
    shutil.copy(RECIPE / "tcp_tahoe.c", target)
    if machine == library_kernel.WASM:
        patch += edits.apply(tree, version, edits.wasm_edits())
        compiler = wasm.compile_into(tree, target, version, variables=variables, log=log, on_object=count)
    else:
        static = prerequisites.links_static(work)
        library_build.compile_into(
            tree, target, version,
            variables=variables, log=log, on_object=count, machine=machine, cross=cross, static=static,
        )  # fmt: skip
        # Where there is no pocket kernel, the native engine takes it from here.
        _compile_mnexec(target / library_kernel.MNEXEC, static, log, cross)
        shutil.copy(RECIPE / "mnexec.c", target)
    (target / "recipe.tar").write_bytes(library_build.packed_recipe())
    program = library_kernel.program_of(machine)
    facts = {
        "key": library_build.build_key(material.origin.identity, machine),
        "recipe": library_build.recipe_hash(machine),
        "machine": machine,
        "compiler": compiler,
        "objects": count.objects,
        "build_s": round(time.monotonic() - started_s, 1),
        "size_bytes": (target / program).stat().st_size,
    }
    final = _finish(material, target, cache.libraries(), facts, patch, LIBRARY_SOURCE.replace("{program}", program))
    if machine == platform.machine():
        (cache.libraries() / library_kernel.FAILURE).unlink(missing_ok=True)
    meter.at("library", 1.0)
    return library_kernel.from_directory(final)


class CompileCounter:
    """A callable for lines of make's output that counts the compiled objects in `objects` and reports the done fraction
    of a phase to a meter; `expected` is the usual number of objects.
    """

    def __init__(self, meter: Meter, phase: str, expected: int) -> None:
        """Prepare to count the compiled objects of the build's phase of this name, of which `expected` are usual;
        `meter` gets the progress.
        """
        self._meter, self._phase, self._expected = meter, phase, expected
        self.objects = 0

    def __call__(self, line: str) -> None:
        """Count a line of make's output if it names a compiled object, such as " CC net/ipv4/tcp.o", and report the
        done fraction of the phase; other lines are ignored.
        """
        if OBJECT.match(line):
            self.objects += 1
            self._meter.at(self._phase, min(self.objects / self._expected, 0.99), line.rpartition(" ")[2].strip())


def _finish(
    material: Material, target: Path, parent: Path, facts: dict[str, Any], patch: str, source_text: str
) -> Path:
    """Write the licence's texts, the patch (a diff) and the build's `facts`, which become build.json with the release,
    the source and the time of the build, next to the program in the folder `target`, move `target` to
    `parent`/<release>-<key>, in place of an earlier build of that name, and return the new path. `source_text` is the
    template of the file SOURCE, with {release}, {source} and {package}.
    """
    origin, release = material.origin, material.release
    (target / "netlab.patch").write_text(patch, encoding="utf-8", errors="surrogateescape")
    licences = [material.folder / "COPYING", material.folder / "LICENSES/preferred/GPL-2.0"]
    (target / "COPYING").write_text("\n".join(part.read_text() for part in licences))
    made_from = f"Source: {origin.name} {origin.version} ({origin.kind}), SHA-256 {origin.identity}."
    package = origin.name.split("_")[0]
    (target / "SOURCE").write_text(source_text.format(release=release, source=made_from, package=package))
    built_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    facts = {"release": release, "source": origin.facts, "built_at": built_at, **facts}
    (target / "build.json").write_text(json.dumps(facts, indent=2) + "\n")
    final = parent / f"{release}-{facts['key']}"
    install(target, final)
    return final


def _compile_mnexec(target: Path, static: bool, log: Path, cross: str = "") -> None:
    """Compile netlab's program `mnexec` to the file `target`, linked statically if `static`; output is appended to the
    file `log`, and `cross` is the prefix of a cross compiler or "". Raises KernelError if that fails.
    """
    linked = ["-static"] if static else []
    command = [f"{cross}gcc", "-O2", "-s", *linked, "-o", str(target), str(RECIPE / "mnexec.c")]
    programs.run(command, log=log, doing="compile mnexec")


@contextmanager
def _lock(meter: Meter) -> Iterator[None]:
    """Return a context manager that holds the lock of builds of this cache while its block runs, so that builds take
    turns; it waits while another process has the lock, and reports that to `meter`.
    """
    import fcntl

    with (base_cache.root() / "kernel-build.lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                meter.at("fetch", 0.0, "waiting for another build to end")
                time.sleep(LOCK_POLL_S)
        yield
