"""Build the library kernel: Linux's network stack and a small program around it, linked to one program that runs as a
child.

It is built from the same source as the pocket kernel, with netlab's own architecture (`recipe/library/arch`), the same
network options and the same changes; `recipe/library/host` is the program. It runs on x86-64 and aarch64.
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
from pathlib import Path

from netlab.base.errors import KernelError
from netlab_engines.kernels import cache
from netlab_engines.kernels.library_kernel import FAILURE, PROGRAM, WASM
from netlab_engines.kernels.versions import Version
from netlab_kernel import fragment, programs
from netlab_kernel.edit import RECIPE
from netlab_kernel.edits import additions, edits, wasm_edits
from netlab_kernel.fragment import Option

HOME = RECIPE / "library"
SYMBOLS = "symbols"
"""The file next to the WebAssembly module with the number and the name of each of its functions."""
ARCHITECTURE = "netlab"
USUAL_OBJECTS = 560
NETWORK = "\n# Network\n"
POCKET_ONLY_PATHS = ("arch/", "fs/hostfs/")
"""Directories of the source that are no part of the library kernel, so that their edits do not change it."""
SMOKE_TIMEOUT_S = 60
# The symbols of the kernel that the program around it uses; all others become local.
EXPORTS = (
    "library_boot", "library_horizon_ns", "library_jumps", "library_now_ns", "library_syscall", "library_tap",
    "library_thread", "network_seed",
)  # fmt: skip
# -ffp-contract=off: results must not depend on whether the processor can multiply and add in one step.
HOST_FLAGS = ("-O2", "-Wall", "-Wextra", "-ffp-contract=off", "-fno-pie", "-fno-stack-protector", "-ffile-prefix-map")


def options() -> list[Option]:
    """Return the options of the library kernel's configuration: first its own from the file library.config, then the
    network options of the pocket kernel.
    """
    own = (HOME / "library.config").read_text()
    shared = (RECIPE / "pocket.config").read_text().partition(NETWORK)[2]
    return fragment.parse(own + "\n" + shared)


@functools.cache
def recipe_hash(machine: str = platform.machine()) -> str:
    """Return the SHA-256, in hexadecimal digits, of everything that netlab adds to the source of the library kernel for
    a processor such as "aarch64" (default: this machine's) or "wasm"; a build with another hash must be built anew.
    """
    digest = hashlib.sha256()
    directories = ("arch", "host", "wasm" if machine == WASM else "native")
    for path in sorted(path for directory in directories for path in (HOME / directory).rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(HOME)}\0".encode() + path.read_bytes() + b"\0")
    for option in options():
        digest.update(f"{option}\0".encode())
    for edit in [*edits(), *(wasm_edits() if machine == WASM else [])]:
        if not edit.path.startswith(POCKET_ONLY_PATHS):
            digest.update(f"{edit.path}\0{edit.pattern}\0{edit.replacement}\0".encode())
    for place, source in additions().items():
        if not place.startswith("arch/"):
            digest.update(f"{place}\0".encode() + source.read_bytes() + b"\0")
    return digest.hexdigest()


def build_key(source_id: str, machine: str = platform.machine()) -> str:
    """Return twelve hexadecimal digits that identify the build of a source by the present recipe for a processor such
    as "aarch64" (default: this machine's) or "wasm"; `source_id` is the `identity` of a Source.
    """
    return hashlib.sha256(f"{source_id}\0{recipe_hash(machine)}\0{machine}".encode()).hexdigest()[:12]


def packed_recipe() -> bytes:
    """Return the bytes of a tar file with the sources that netlab adds for the library kernel; the same files give the
    same bytes.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(path for path in HOME.rglob("*") if path.is_file()):
            data = path.read_bytes()
            member = tarfile.TarInfo(str(path.relative_to(HOME)))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def note_failure(why: str) -> None:
    """Write the hash of the present recipe for this machine and the reason `why` it cannot be built here, a text, to a
    file in the cache, so that later set-ups do not try again.
    """
    cache.libraries().mkdir(parents=True, exist_ok=True)
    (cache.libraries() / FAILURE).write_text(f"{recipe_hash()}\n{why}\n")


def linked_copy(source_tree: Path, place: Path, log: Path) -> Path:
    """Make a second tree at the new path `place` of hard links to the files of `source_tree`, add netlab's architecture
    for the library kernel to it, and return `place`; output is appended to the file `log`. Raises KernelError if the
    links cannot be made.

    To be called after the source was edited and before a build in it: a build writes only new files.
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
    """Configure and compile the library kernel in the source tree `tree` of a version, and write the program and its
    `config` to the folder `target`; if `machine` is this machine's processor, also boot it once.

    Parameters
    ----------
    tree : Path
        The source, a `linked_copy`.
    target : Path
        The folder for the program and its configuration.
    version : tuple of int
        The version of the source.
    variables : dict
        Environment variables of the build; None removes a variable.
    log : Path
        The file to which output is appended.
    on_object : callable, optional
        Called with each line of the compilation's output.
    machine : str
        The processor.
    cross : str
        The prefix of another processor's compiler, such as "aarch64-linux-gnu-", or "".
    static : bool
        Link a program that needs no C library.

    Raises
    ------
    KernelError
        If an option has no effect or a step fails.
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
    """Return the name of the target for make in the source tree `tree` that builds vmlinux.a, the archive of all
    objects: "vmlinux_a", or "vmlinux_o" before Linux 7; make would take "vmlinux.a" for a file of a subfolder.
    """
    own = "vmlinux_a"
    # Linux before 7 has no target for it alone; vmlinux_o also links it to an object.
    return own if f"\n{own}:" in (tree / "Makefile").read_text() else "vmlinux_o"


def _link(tree: Path, target: Path, log: Path, cross: str, static: bool) -> None:
    """Link the compiled kernel in `tree` and the program around it to the file PROGRAM in the folder `target`; output
    is appended to the file `log`. `cross` is the prefix of the cross compiler's programs or "", `static` whether the C
    library is linked in. Raises KernelError if a step fails.
    """
    whole, kernel = tree / "library-whole.o", tree / "library-kernel.o"
    doing = "link the library kernel"
    libraries = [str(path) for path in (tree / "lib/lib.a",) if path.exists()]
    script = tree / "arch" / ARCHITECTURE / "kernel/vmlinux.lds"
    programs.run(
        [f"{cross}ld", "-r", "-T", str(script), "-o", str(whole), "--whole-archive", "vmlinux.a", "--no-whole-archive",
         "--start-group", *libraries, "--end-group"],
        cwd=tree, log=log, doing=doing,
    )  # fmt: skip
    exports = [word for name in EXPORTS for word in ("-G", name)]
    programs.run([f"{cross}objcopy", *exports, str(whole), str(kernel)], cwd=tree, log=log, doing=doing)
    headers = write_headers(tree)
    objects = []
    for source in [*sorted((HOME / "host").glob("*.c")), *sorted((HOME / "native").glob("*.c"))]:
        object_file = tree / f"library-{source.stem}.o"
        flags = [f"{flag}={HOME}=." if flag == "-ffile-prefix-map" else flag for flag in HOST_FLAGS]
        # sandbox.c filters this machine's system calls, so it must not use the library kernel's numbers of them.
        include = [] if source.stem == "sandbox" else [f"-I{headers}"]
        programs.run([f"{cross}gcc", *flags, *include, "-c", str(source), "-o", str(object_file)], log=log, doing=doing)
        objects.append(str(object_file))
    program = target / PROGRAM
    programs.run(
        [f"{cross}gcc", *(["-static"] if static else []), "-no-pie", "-Wl,-z,noexecstack", "-o", str(program),
         *objects, str(kernel), "-lm"],
        log=log, doing=doing,
    )  # fmt: skip
    programs.run([f"{cross}strip", str(program)], log=log, doing=doing)


def write_headers(tree: Path) -> Path:
    """Write C headers with the kernel's numbers of system calls and its `struct tcp_info` to the folder library-headers
    in the source tree, whose kernel must be compiled, and return that folder.

    The machine's own headers may be of another version.
    """
    headers = tree / "library-headers"
    headers.mkdir(exist_ok=True)
    numbers = (tree / "arch" / ARCHITECTURE / "include/generated/uapi/asm/unistd_64.h").read_text()
    (headers / "library_unistd.h").write_text(numbers)
    (headers / "library_tcp.h").write_text((tree / "include/uapi/linux/tcp.h").read_text())
    return headers


def smoke_test(program: Path, prefix: tuple[str, ...] = ()) -> str:
    """Boot the library kernel in the file `program` (run by the words `prefix`, such as an interpreter, if it is not a
    program itself), let a millisecond of virtual time pass, and return the release that the kernel reports, such as
    "7.3.4". Raises KernelError if it does not report within SMOKE_TIMEOUT_S.
    """

    def frame(kind: int, payload: bytes = b"") -> bytes:
        """Return the bytes of a message to the library kernel's program: its kind (a number of the wire format) and the
        payload's length, each as 32 bits, then the payload.
        """
        return struct.pack("<II", kind, len(payload)) + payload

    requests = (
        frame(1, struct.pack("<QQQ", 256 << 20, 1, 0)) + frame(2) + frame(9, struct.pack("<QQQQ", 10**6, 10**6, 0, 1))
    )
    try:
        done = subprocess.run(
            [*prefix, str(program), str(os.getpid())],
            input=requests,
            capture_output=True,
            check=False,
            timeout=SMOKE_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KernelError(f"The library kernel was built but does not run: {error}.") from error
    last = done.stdout[-200:]
    # The last frame: DONE, four numbers, the release.
    at = 0
    while at + 8 <= len(done.stdout):
        kind, length = struct.unpack_from("<II", done.stdout, at)
        if kind == 9:
            return done.stdout[at + 8 + 32 : at + 8 + length].decode()
        at += 8 + length
    raise KernelError(
        f"The library kernel was built but does not work: status {done.returncode}, last output {last!r} {done.stderr[-200:]!r}."
    )
