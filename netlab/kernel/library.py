"""The library kernel: Linux's network stack and a small program around it, linked into one file that is run as a child.

It is built from the same source as the pocket kernel, with an architecture of netlab's own (`recipe/library/arch`), the
same network options and the same changes; `recipe/library/host` is the program. It runs on x86-64 and aarch64.
"""

import functools
import hashlib
import io
import os
import platform
import shutil
import struct
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netlab.base.errors import KernelError
from netlab.kernel import cache, fragment, installed, programs
from netlab.kernel.edits import RECIPE, additions, edits, wasm_edits
from netlab.kernel.fragment import Option, Version

HOME = RECIPE / "library"
WASM = "wasm"
"""The machine of a kernel as WebAssembly, which runs on every processor."""
PROGRAM, WASM_PROGRAM = "netlab-library", "netlab-library.wasm"
SYMBOLS = "symbols"
"""Beside the module: the number and the name of each of its functions."""
MNEXEC = "mnexec"
FAILURE = "failure"
MACHINES = ("x86_64", "aarch64")
ARCHITECTURE = "netlab"
USUAL_OBJECTS = 560
NETWORK = "\n# Network\n"
SMOKE_TIMEOUT_S = 60
# What stays visible of the kernel for the program around it; all other names are the kernel's own.
EXPORTS = (
    "library_boot", "library_horizon_ns", "library_jumps", "library_now_ns", "library_syscall", "library_tap",
    "library_thread", "network_seed",
)  # fmt: skip
# -ffp-contract=off: what is computed must not depend on whether the processor multiplies and adds in one step.
HOST_FLAGS = ("-O2", "-Wall", "-Wextra", "-ffp-contract=off", "-fno-pie", "-fno-stack-protector", "-ffile-prefix-map")


@dataclass(frozen=True)
class LibraryKernel:
    """A library kernel's program and what netlab knows about it."""

    path: Path
    """The program."""
    release: str
    version: Version
    """What it says of itself, such as "7.3.4", and the numbers of it, to compare."""
    machine: str
    """The processor it is for: x86_64 or aarch64; "wasm" for all."""
    capabilities: frozenset[str]
    """Names of `installed.PARTS` that are built in."""
    build: dict[str, Any] = field(default_factory=dict)
    """`build.json` of the build; empty for a program named by $NETLAB_LIBRARY that stands alone."""

    @property
    def mnexec_path(self) -> Path | None:
        """Netlab's own `mnexec`, for the native engine; None beside a program that netlab did not build, or built earlier."""
        beside = self.path.parent / MNEXEC
        return beside if self.build and beside.is_file() else None


def options() -> list[Option]:
    """Its configuration: its own lines, and the network's lines of the pocket kernel."""
    own = (HOME / "library.config").read_text()
    shared = (RECIPE / "pocket.config").read_text().partition(NETWORK)[2]
    return fragment.parse(own + "\n" + shared)


def program_of(machine: str) -> str:
    """The name of the program's file, for a processor or "wasm"."""
    return WASM_PROGRAM if machine == WASM else PROGRAM


@functools.cache
def recipe_hash(machine: str = platform.machine()) -> str:
    """Hash of everything netlab adds to the source: a change of any makes a new library kernel."""
    digest = hashlib.sha256()
    rooms = ("arch", "host", "wasm" if machine == WASM else "native")
    for path in sorted(path for room in rooms for path in (HOME / room).rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(HOME)}\0".encode() + path.read_bytes() + b"\0")
    for option in options():
        digest.update(f"{option}\0".encode())
    for edit in [*edits(), *(wasm_edits() if machine == WASM else [])]:
        if not edit.path.startswith("arch/"):
            digest.update(f"{edit.path}\0{edit.pattern}\0{edit.replacement}\0".encode())
    for place, source in additions().items():
        if not place.startswith("arch/"):
            digest.update(f"{place}\0".encode() + source.read_bytes() + b"\0")
    return digest.hexdigest()


def build_key(source_id: str, machine: str = platform.machine()) -> str:
    """Twelve digits that name the build of one source by this recipe for one processor."""
    return hashlib.sha256(f"{source_id}\0{recipe_hash(machine)}\0{machine}".encode()).hexdigest()[:12]


def packed_recipe() -> bytes:
    """The sources that netlab adds, as one tar file: the same bytes for the same files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(path for path in HOME.rglob("*") if path.is_file()):
            data = path.read_bytes()
            member = tarfile.TarInfo(str(path.relative_to(HOME)))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def note_failure(why: str) -> None:
    """Remember that the present recipe cannot be built here, so that no set-up tries it again each time."""
    cache.libraries().mkdir(parents=True, exist_ok=True)
    (cache.libraries() / FAILURE).write_text(f"{recipe_hash()}\n{why}\n")


def failure() -> str:
    """Why the present recipe could not be built here; empty when it was not tried or there is one."""
    try:
        recipe, _, why = (cache.libraries() / FAILURE).read_text().partition("\n")
    except OSError:
        return ""
    return why.strip() if recipe == recipe_hash() else ""


def builds(machine: str = platform.machine()) -> list[LibraryKernel]:
    """Every library kernel, the user's and the shared ones, for one processor (this machine's where none is named), best first."""
    found = installed.best_first(cache.libraries(), from_directory, recipe_hash(machine))
    return [kernel for kernel in found if kernel.machine == machine]


def ready(machine: str = platform.machine()) -> LibraryKernel | None:
    """The library kernel by the present recipe, for a processor or "wasm", if it is there."""
    current = recipe_hash(machine)
    return next((kernel for kernel in builds(machine) if kernel.build.get("recipe") == current), None)


def find() -> LibraryKernel:
    """The library kernel to run: `$NETLAB_LIBRARY` if set, else the best one in the cache that this recipe made.

    That is one for this processor, else WebAssembly, which computes for twice as long. One by another recipe may take other
    requests and give other numbers, so it is not taken.

    Raises KernelError when there is none, or none by this recipe; names the remedy.
    """
    named = os.environ.get("NETLAB_LIBRARY")
    if named:
        path = Path(named).expanduser().absolute()
        machine = WASM if path.suffix == ".wasm" else platform.machine()
        if not os.access(path, os.R_OK if machine == WASM else os.X_OK):
            raise KernelError(f"NETLAB_LIBRARY names {path}, which is no program. Name another one, or unset it.")
        if (path.parent / "build.json").is_file():
            return from_directory(path.parent, path)
        return LibraryKernel(path, "unknown", (0,), machine, frozenset())
    found = ready() or ready(WASM)
    if found is None:
        older, why = builds(), failure()
        where = f"There is no library kernel in {cache.libraries()}"
        if why:
            raise KernelError(f"{where}: it could not be built here. {why}")
        if older:
            raise KernelError(
                f"The library kernel {older[0].path.parent} was built by another version of netlab, with which this one "
                f"may not agree. {installed.BUILD_ANEW}"
            )
        raise KernelError(
            f"{where} yet. Build it with 'netlab kernel build' (about "
            "5 minutes for both kernels), or take one from another machine with 'netlab kernel unpack FILE'."
        )
    return found


def from_directory(directory: Path, program: Path | None = None) -> LibraryKernel:
    """A library kernel from its directory.

    Raises KernelError when a file is missing or `build.json` cannot be read.
    """
    build, version, has = installed.read_build(directory, ("config", "build.json"), ("release", "machine"))
    machine = str(build["machine"])
    path = program or directory / program_of(machine)
    if not path.is_file():
        raise KernelError(f"{directory} is not a whole build: {path.name} missing. Remove it and build again.")
    capabilities = frozenset({*has, "virtual_time", "seeded_random"} - {"seccomp"})
    return LibraryKernel(path, str(build["release"]), version, machine, capabilities, build)


def twin(source_tree: Path, place: Path, log: Path) -> Path:
    """A second tree of the same source, to be configured for the library: links, so that it costs no time and no disk.

    To be made after the edits of the source and before anything is built in it: a build writes new files only.
    """
    command = ["cp", "-al", str(source_tree), str(place)]
    programs.run(command, log=log, doing="link the source for the library kernel")
    shutil.copytree(HOME / "arch", place / "arch" / ARCHITECTURE)
    return place


def compile_into(
    tree: Path,
    target: Path,
    version: Version,
    *,
    variables: dict[str, str | None],
    log: Path,
    on_object: programs.OnLine | None = None,
    machine: str = platform.machine(),
    cross: str = "",
    static: bool = True,
) -> None:
    """Configure and compile the kernel in `tree` (a `twin`), link the program, and leave it in `target`.

    `variables` are the build's environment; `cross` is the prefix of another processor's compiler, such as
    "aarch64-linux-gnu-"; a `static` program needs no C library where it runs. Raises KernelError when an option does
    not take or a step fails.
    """
    make = [*programs.make(ARCHITECTURE), *([f"CROSS_COMPILE={cross}"] if cross else [])]
    if not cross:
        headers = tree / "library-precompiled"
        shutil.copytree(HOME / "headers", headers)
        make.append(f"CC=sh {headers}/cc")
    fragment.configure(tree, options(), version, make, variables, log)
    programs.run(
        [*make, _target(tree)],
        cwd=tree, log=log, env=variables, doing="compile the library kernel", on_line=on_object,
    )  # fmt: skip
    _link(tree, target, log, cross, static)
    shutil.copy(tree / ".config", target / "config")
    if machine == platform.machine():
        smoke_test(target / PROGRAM)


def _target(tree: Path) -> str:
    """What makes vmlinux.a, the archive of all objects; asked for by its name, make takes it for a part of a folder."""
    own = "vmlinux_a"
    # Before 7 nothing makes it alone; this makes an object of it too.
    return own if f"\n{own}:" in (tree / "Makefile").read_text() else "vmlinux_o"


def _link(tree: Path, target: Path, log: Path, cross: str, static: bool) -> None:
    whole, kernel = tree / "library-whole.o", tree / "library-kernel.o"
    doing = "link the library kernel"
    libraries = [str(path) for path in (tree / "lib/lib.a",) if path.exists()]
    script = tree / "arch" / ARCHITECTURE / "kernel/vmlinux.lds"
    programs.run(
        [f"{cross}ld", "-r", "-T", str(script), "-o", str(whole), "--whole-archive", "vmlinux.a", "--no-whole-archive",
         "--start-group", *libraries, "--end-group"],
        cwd=tree, log=log, doing=doing,
    )  # fmt: skip
    kept = [word for name in EXPORTS for word in ("-G", name)]
    programs.run([f"{cross}objcopy", *kept, str(whole), str(kernel)], cwd=tree, log=log, doing=doing)
    headers = write_headers(tree)
    objects = []
    for source in [*sorted((HOME / "host").glob("*.c")), *sorted((HOME / "native").glob("*.c"))]:
        made = tree / f"library-{source.stem}.o"
        flags = [f"{flag}={HOME}=." if flag == "-ffile-prefix-map" else flag for flag in HOST_FLAGS]
        # The cage filters the machine's own system calls and must not see the kernel's numbers.
        include = [] if source.stem == "cage" else [f"-I{headers}"]
        programs.run([f"{cross}gcc", *flags, *include, "-c", str(source), "-o", str(made)], log=log, doing=doing)
        objects.append(str(made))
    program = target / PROGRAM
    programs.run(
        [f"{cross}gcc", *(["-static"] if static else []), "-no-pie", "-Wl,-z,noexecstack", "-o", str(program),
         *objects, str(kernel), "-lm"],
        log=log, doing=doing,
    )  # fmt: skip
    programs.run([f"{cross}strip", str(program)], log=log, doing=doing)


def write_headers(tree: Path) -> Path:
    """A folder with the kernel's own numbers of its system calls and its `struct tcp_info`: the machine's may be others."""
    headers = tree / "library-headers"
    headers.mkdir(exist_ok=True)
    numbers = (tree / "arch" / ARCHITECTURE / "include/generated/uapi/asm/unistd_64.h").read_text()
    (headers / "library_unistd.h").write_text(numbers)
    (headers / "library_tcp.h").write_text((tree / "include/uapi/linux/tcp.h").read_text())
    return headers


def smoke_test(program: Path, prefix: tuple[str, ...] = ()) -> str:
    """Boot it, make one node, let one millisecond pass; returns the release it tells.

    Raises KernelError when it does not come back with its release.
    """

    def frame(kind: int, payload: bytes = b"") -> bytes:
        return struct.pack("<II", kind, len(payload)) + payload

    said = (
        frame(1, struct.pack("<QQQ", 256 << 20, 1, 0)) + frame(2) + frame(9, struct.pack("<QQQQ", 10**6, 10**6, 0, 1))
    )
    try:
        done = subprocess.run(
            [*prefix, str(program), str(os.getpid())],
            input=said,
            capture_output=True,
            check=False,
            timeout=SMOKE_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KernelError(f"The library kernel was built and does not run: {error}.") from error
    last = done.stdout[-200:]
    # The last frame: DONE, four numbers, the release.
    at = 0
    while at + 8 <= len(done.stdout):
        kind, length = struct.unpack_from("<II", done.stdout, at)
        if kind == 9:
            return done.stdout[at + 8 + 32 : at + 8 + length].decode()
        at += 8 + length
    raise KernelError(
        f"The library kernel was built and does not work: status {done.returncode}, last words {last!r} {done.stderr[-200:]!r}."
    )
