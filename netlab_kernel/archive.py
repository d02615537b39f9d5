"""Pack built kernels into one file for other machines, and check and unpack such a file."""

import hashlib
import io
import json
import platform
import re
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from netlab.base.errors import KernelError
from netlab.base.files import replacement
from netlab_engines.kernels import cache, library_kernel, pocket_kernel
from netlab_engines.kernels.installation import install, staging_directory
from netlab_engines.kernels.library_kernel import LibraryKernel
from netlab_engines.kernels.pocket_kernel import PocketKernel
from netlab_kernel import apt, library_build


@dataclass(frozen=True)
class Kind:
    """The files of one kind of kernel (pocket, library or WebAssembly) that `pack` writes and `unpack` accepts, as
    names in a build's directory.
    """

    folder: str
    """The folder in the packed file."""
    contents: tuple[str, ...]
    """The files that every build has."""
    programs: tuple[str, ...]
    """The files that are programs."""
    optional_contents: tuple[str, ...] = ()
    """The files that only newer builds have."""

    def names(self) -> list[str]:
        """Return the paths, such as "pocket/linux", that this kind of kernel may have in the packed file, below its top
        folder.
        """
        return [f"{self.folder}/{name}" for name in (*self.contents, *self.optional_contents)]


POCKET = Kind(
    "pocket",
    (
        "linux", "mnexec", "config", "build.json", "COPYING", "SOURCE", "netlab.patch", "tcp_tahoe.c", "mnexec.c",
        "pocket.config",
    ),
    ("linux", "mnexec"),
    # Builds of early versions of netlab do not have them.
    ("host_channel.c", "early_exits.c"),
)  # fmt: skip
LIBRARY = Kind(
    "library",
    (library_kernel.PROGRAM, "config", "build.json", "COPYING", "SOURCE", "netlab.patch", "tcp_tahoe.c", "recipe.tar"),
    (library_kernel.PROGRAM, library_kernel.MNEXEC),
    # Builds of early versions of netlab, without the native engine on ARM, do not have them.
    (library_kernel.MNEXEC, "mnexec.c"),
)
WASM = Kind(
    "wasm",
    (
        library_kernel.WASM_PROGRAM, library_build.SYMBOLS, "config", "build.json", "COPYING", "SOURCE", "netlab.patch", "tcp_tahoe.c",
        "recipe.tar",
    ),
    (),
)  # fmt: skip
KINDS = {kind.folder: kind for kind in (POCKET, LIBRARY, WASM)}
SUMS = "SHA256SUMS"
MAX_BYTES = 64_000_000
# Numbers of processors at offset 18 of an ELF file.
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
_KEY = re.compile(r"[0-9a-f]{12}")
_RELEASE = re.compile(r"\d+\.\d+[0-9A-Za-z.+~-]*")


def kind_of(kernel: PocketKernel | LibraryKernel) -> Kind:
    """Return the kind of a kernel: POCKET for a pocket kernel, WASM for a library kernel as WebAssembly, else LIBRARY."""
    if isinstance(kernel, PocketKernel):
        return POCKET
    return WASM if kernel.machine == library_kernel.WASM else LIBRARY


def read_files(kernel: PocketKernel | LibraryKernel) -> dict[str, bytes]:
    """Return the contents of the files of a built kernel that `pack` copies, by their names in the build's directory;
    optional files that are missing are left out. Raises KernelError if netlab did not build the kernel or another file
    is missing.
    """
    kind, home = kind_of(kernel), kernel.path.parent
    missing = [name for name in kind.contents if not (home / name).is_file()]
    if missing or not kernel.build:
        raise KernelError(
            f"{kernel.path} was not built by netlab and cannot be packed (missing next to it: {', '.join(missing)}). "
            "Unset $NETLAB_LIBRARY, or run 'netlab kernel build' first."
        )
    names = [name for name in (*kind.contents, *kind.optional_contents) if (home / name).is_file()]
    return {name: (home / name).read_bytes() for name in names}


def pack(kernels: Sequence[PocketKernel | LibraryKernel], directory: Path) -> Path:
    """Pack built kernels with licence, source version, configuration and netlab's changes into one file for other
    machines, and return its path.

    The checksum is written to `<name>.sha256` next to the file, in the format of `sha256sum --check`. The same kernels
    give the same bytes.

    Parameters
    ----------
    kernels : sequence of PocketKernel or LibraryKernel
        The kernels, at least one and at most one of each kind.
    directory : Path
        The directory of the file, which is made if needed.

    Returns
    -------
    Path
        The file, `netlab-kernel-<release>-<keys>-<machine>.tar.xz`.

    Raises
    ------
    KernelError
        If a kernel was not built by netlab, or the file cannot be written.
    """
    files: dict[str, bytes] = {}
    programs: set[str] = set()
    for kernel in kernels:
        kind = kind_of(kernel)
        files |= {f"{kind.folder}/{name}": data for name, data in read_files(kernel).items()}
        programs |= {f"{kind.folder}/{name}" for name in kind.programs}
    keys = "-".join(str(kernel.build["key"]) for kernel in kernels)
    top = f"netlab-kernel-{kernels[0].release}-{keys}-{kernels[0].build['machine']}"
    target = directory / f"{top}.tar.xz"
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    files[SUMS] = sums.encode()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with replacement(target) as new, tarfile.open(new, "w:xz", format=tarfile.PAX_FORMAT) as tar:
            for name in sorted(files):
                member = tarfile.TarInfo(f"{top}/{name}")
                member.size = len(files[name])
                member.mode = 0o755 if name in programs else 0o644
                tar.addfile(member, io.BytesIO(files[name]))
        target.with_name(target.name + ".sha256").write_text(f"{apt.sha256_of(target)}  {target.name}\n")
    except OSError as error:
        raise KernelError(
            f"{target} cannot be written ({error.strerror}). Choose another directory with --output."
        ) from error
    return target


def unpack(file: Path, sha256: str | None = None) -> list[PocketKernel | LibraryKernel]:
    """Check a file that `pack` wrote, install its kernels in this user's cache in place of builds of the same name, and
    return them, the pocket kernel first.

    Parameters
    ----------
    file : Path
        A file that `pack` wrote.
    sha256 : str, optional
        The checksum that the file must have. Without it the checksum in `<file>.sha256` next to it is used, if that exists.

    Raises
    ------
    KernelError
        If a checksum differs, the file has other contents than the expected plain files, or a kernel is for another kind of
        machine (nothing is installed then), or a kernel cannot be written.
    """
    if not file.is_file():
        raise KernelError(f"There is no file {file}. Use a file that 'netlab kernel pack' wrote.")
    checksum_file = file.with_name(file.name + ".sha256")
    if sha256 is None and checksum_file.is_file():
        sha256 = (checksum_file.read_text().split() or [""])[0]
    if sha256 is not None and apt.sha256_of(file) != sha256.strip().lower():
        raise _rejection(file, f"its SHA-256 is {apt.sha256_of(file)} instead of {sha256}")
    files = _read(file)
    kinds = _check_sums(file, files)
    facts = [(kind, _check(file, kind, files)) for kind in kinds]
    return [_install(kind, build, files) for kind, build in facts]


def _install(kind: Kind, build: dict[str, str], files: dict[str, bytes]) -> PocketKernel | LibraryKernel:
    """Write the files of one kind of kernel to its directory `<release>-<key>` in the cache, in place of an earlier
    one, and return the kernel. `build` has its "release" and "key", `files` the contents by path in the packed file,
    such as "pocket/linux". Raises KernelError if a file cannot be written.
    """
    parent = cache.kernels() if kind is POCKET else cache.libraries()
    final = parent / f"{build['release']}-{build['key']}"
    try:
        with staging_directory() as work:
            new = work / final.name
            new.mkdir()
            for path in (path for path in kind.names() if path in files):
                name = path.removeprefix(f"{kind.folder}/")
                (new / name).write_bytes(files[path])
                (new / name).chmod(0o755 if name in kind.programs else 0o644)
            new.chmod(0o755)
            install(new, final)
    except OSError as error:
        raise KernelError(
            f"The kernel cannot be written to {final} ({error.strerror}). Make room there, or set NETLAB_CACHE to another "
            "directory."
        ) from error
    return pocket_kernel.from_directory(final) if kind is POCKET else library_kernel.from_directory(final)


def _read(file: Path) -> dict[str, bytes]:
    """Return the contents of all files in the packed file at a path, as bytes by their path below its top folder, such
    as "pocket/linux". Raises KernelError if the file is damaged, or has a member that is unexpected, repeated or larger
    than MAX_BYTES.
    """
    files: dict[str, bytes] = {}
    expected_names = {name for kind in KINDS.values() for name in kind.names()} | {SUMS}
    try:
        with tarfile.open(file, "r:*") as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                if not member.isreg() or len(path.parts) not in (2, 3) or ".." in path.parts or path.is_absolute():
                    raise _rejection(file, f"it contains {member.name!r}, which is not an expected plain file")
                name = "/".join(path.parts[1:])
                if name not in expected_names or name in files:
                    raise _rejection(file, f"it contains {member.name!r}, which does not belong there")
                if member.size > MAX_BYTES:
                    raise _rejection(
                        file, f"{member.name!r} has {member.size} bytes, more than the limit of {MAX_BYTES}"
                    )
                data = tar.extractfile(member)
                assert data is not None
                files[name] = data.read()
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise _rejection(file, f"it cannot be read as an archive ({error})") from error
    except Exception as error:
        # Exception is the only common base of lzma.LZMAError and zlib.error.
        if isinstance(error, KernelError):
            raise
        raise _rejection(file, f"its compressed data is damaged ({error})") from error
    return files


def _check_sums(file: Path, files: dict[str, bytes]) -> list[Kind]:
    """Return the kinds of kernel in a packed file, in the order of KINDS; `files` has its contents by path, and `file`
    is its own path, for errors. Raises KernelError if it has none, a needed file is missing, or a checksum differs from
    the one in SHA256SUMS.
    """
    kinds = [kind for kind in KINDS.values() if any(name.startswith(f"{kind.folder}/") for name in files)]
    required = [f"{kind.folder}/{name}" for kind in kinds for name in kind.contents]
    missing = [name for name in (*required, SUMS) if name not in files]
    if missing or not kinds:
        raise _rejection(file, f"it lacks {', '.join(missing or ['a kernel'])}")
    promised = {}
    for line in files[SUMS].decode("ascii", "replace").splitlines():
        digest, _, name = line.partition("  ")
        promised[name] = digest
    for name in (name for name in files if name != SUMS):
        if promised.get(name) != hashlib.sha256(files[name]).hexdigest():
            raise _rejection(file, f"the checksum of {name} is not the one in {SUMS}")
    return kinds


def _check(file: Path, kind: Kind, files: dict[str, bytes]) -> dict[str, str]:
    """Return the "release", "key" and "machine" in the build.json of a kind of kernel in a packed file, as texts;
    `files` has its contents by path, and `file` is its own path, for errors. Raises KernelError if they cannot be read
    or have another form, or a program is not for this machine (WebAssembly is for all).
    """
    about = f"{kind.folder}/build.json"
    try:
        build = json.loads(files[about])
        facts = {name: str(build[name]) for name in ("release", "key", "machine")}
    except (ValueError, KeyError, TypeError) as error:
        raise _rejection(file, f"its {about} cannot be read ({error!r})") from error
    if not _KEY.fullmatch(facts["key"]) or not _RELEASE.fullmatch(facts["release"]):
        raise _rejection(file, f"its {about} does not name a release and a key")
    here = platform.machine()
    if kind is WASM and (
        facts["machine"] != library_kernel.WASM or files[f"{kind.folder}/{library_kernel.WASM_PROGRAM}"][:4] != b"\0asm"
    ):
        raise _rejection(file, f"its {library_kernel.WASM_PROGRAM} is not WebAssembly")
    for name in (name for name in kind.programs if f"{kind.folder}/{name}" in files):
        data = files[f"{kind.folder}/{name}"]
        machine = int.from_bytes(data[18:20], "little") if data[:4] == b"\x7fELF" else -1
        if facts["machine"] != here or machine != ELF_MACHINES.get(here):
            raise _rejection(file, f"its {name} is for {facts['machine']} and this machine is {here}")
    return facts


def _rejection(file: Path, why: str) -> KernelError:
    """Return (not raise) the KernelError that says why the packed file at a path was rejected (`why`, a clause) and
    what to do.
    """
    return KernelError(
        f"{file} was rejected: {why}. Copy it again from the machine on which 'netlab kernel pack' wrote it."
    )
