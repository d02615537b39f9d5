"""Carrying a built kernel to another machine: one file, checked before it is used."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from netlab.errors import KernelError
from netlab.kernel import apt, cache, installed
from netlab.kernel.installed import Kernel

CONTENTS = (
    "linux",
    "mnexec",
    "config",
    "build.json",
    "COPYING",
    "SOURCE",
    "netlab.patch",
    "tcp_tahoe.c",
    "mnexec.c",
    "pocket.config",
)
LATER = ("gate.c",)
"""What builds before the gate do not have."""

PROGRAMS = ("linux", "mnexec")
SUMS = "SHA256SUMS"
LARGEST_BYTES = 64_000_000
# Offset 18 of an ELF file names the processor: 62 is x86-64.
ELF_MACHINES = {"x86_64": 62}
_KEY = re.compile(r"[0-9a-f]{12}")
_RELEASE = re.compile(r"\d+\.\d+[0-9A-Za-z.+~-]*")


def pack(kernel: Kernel, directory: Path) -> Path:
    """Put a built kernel into one file, with licence, source version, configuration and netlab's changes.

    Parameters
    ----------
    kernel : Kernel
        A kernel built by netlab.
    directory : Path
        Where the file goes. Beside it goes its checksum, `<name>.sha256`, as `sha256sum --check` reads it.

    Returns
    -------
    Path
        `netlab-kernel-<release>-<key>-<machine>.tar.xz`; the same kernel gives the same bytes.

    Raises
    ------
    KernelError
        When the kernel is not netlab's own build.
    """
    home = kernel.path.parent
    missing = [name for name in CONTENTS if not (home / name).is_file()]
    if missing or not kernel.build:
        raise KernelError(
            f"{kernel.path} was not built by netlab and cannot be packed (missing beside it: {', '.join(missing)}). "
            "Unset $NETLAB_KERNEL, or run 'netlab kernel build' first."
        )
    top = f"netlab-kernel-{kernel.release}-{kernel.build['key']}-{kernel.build['machine']}"
    target = directory / f"{top}.tar.xz"
    files = {name: (home / name).read_bytes() for name in (*CONTENTS, *LATER) if (home / name).is_file()}
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    files[SUMS] = sums.encode()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".part")
        with tarfile.open(partial, "w:xz", format=tarfile.PAX_FORMAT) as tar:
            for name in sorted(files):
                member = tarfile.TarInfo(f"{top}/{name}")
                member.size = len(files[name])
                member.mode = 0o755 if name in PROGRAMS else 0o644
                tar.addfile(member, io.BytesIO(files[name]))
        partial.replace(target)
        target.with_name(target.name + ".sha256").write_text(f"{apt.sha256_of(target)}  {target.name}\n")
    except OSError as error:
        raise KernelError(
            f"{target} cannot be written ({error.strerror}). Name another place with --output."
        ) from error
    return target


def unpack(file: Path, sha256: str | None = None) -> Kernel:
    """Check a packed kernel and put it into the cache.

    Parameters
    ----------
    file : Path
        What `pack` wrote.
    sha256 : str, optional
        The checksum that the file must have. Without it, the one in `<file>.sha256` beside it holds, if there is one.

    Raises
    ------
    KernelError
        When a checksum differs, the file holds anything but the expected plain files, or the kernel is for
        another kind of machine. Nothing of the file is kept then.
    """
    if not file.is_file():
        raise KernelError(f"There is no file {file}. 'netlab kernel pack' writes one.")
    beside = file.with_name(file.name + ".sha256")
    if sha256 is None and beside.is_file():
        sha256 = (beside.read_text().split() or [""])[0]
    if sha256 is not None and apt.sha256_of(file) != sha256.strip().lower():
        raise _refused(file, f"its SHA-256 is {apt.sha256_of(file)} and must be {sha256}")
    files = _read(file)
    build = _check(file, files)
    final = cache.kernels() / f"{build['release']}-{build['key']}"
    cache.kernels().mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".unpack-", dir=cache.kernels()))
    try:
        for name in (name for name in (*CONTENTS, *LATER) if name in files):
            (work / name).write_bytes(files[name])
            (work / name).chmod(0o755 if name in PROGRAMS else 0o644)
        work.chmod(0o755)
        if final.exists():
            shutil.rmtree(final)
        work.rename(final)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return installed.from_directory(final)


def _read(file: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(file, "r:*") as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                if not member.isreg() or len(path.parts) != 2 or ".." in path.parts or path.is_absolute():
                    raise _refused(file, f"it holds {member.name!r}, which is not one of its plain files")
                if path.name not in (*CONTENTS, *LATER, SUMS) or path.name in files:
                    raise _refused(file, f"it holds {member.name!r}, which does not belong there")
                if member.size > LARGEST_BYTES:
                    raise _refused(file, f"{member.name!r} has {member.size} bytes; {LARGEST_BYTES} is the limit")
                data = tar.extractfile(member)
                assert data is not None
                files[path.name] = data.read()
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise _refused(file, f"it cannot be read as an archive ({error})") from error
    except Exception as error:
        # lzma.LZMAError and zlib.error have no common base but Exception.
        if isinstance(error, KernelError):
            raise
        raise _refused(file, f"its compressed data is damaged ({error})") from error
    return files


def _check(file: Path, files: dict[str, bytes]) -> dict[str, str]:
    missing = [name for name in (*CONTENTS, SUMS) if name not in files]
    if missing:
        raise _refused(file, f"it lacks {', '.join(missing)}")
    promised = {}
    for line in files[SUMS].decode("ascii", "replace").splitlines():
        digest, _, name = line.partition("  ")
        promised[name] = digest
    for name in (name for name in (*CONTENTS, *LATER) if name in files):
        if promised.get(name) != hashlib.sha256(files[name]).hexdigest():
            raise _refused(file, f"{name} is not what {SUMS} promises")
    try:
        build = json.loads(files["build.json"])
        facts = {name: str(build[name]) for name in ("release", "key", "machine")}
    except (ValueError, KeyError, TypeError) as error:
        raise _refused(file, f"its build.json cannot be read ({error!r})") from error
    if not _KEY.fullmatch(facts["key"]) or not _RELEASE.fullmatch(facts["release"]):
        raise _refused(file, "its build.json does not name a release and a key")
    here = platform.machine()
    for name in PROGRAMS:
        machine = int.from_bytes(files[name][18:20], "little") if files[name][:4] == b"\x7fELF" else -1
        if facts["machine"] != here or machine != ELF_MACHINES.get(here):
            raise _refused(file, f"its {name} is for {facts['machine']} and this machine is {here}")
    return facts


def _refused(file: Path, why: str) -> KernelError:
    return KernelError(f"{file} is refused: {why}. Fetch it again from where 'netlab kernel pack' wrote it.")
