"""Make the wheels in `dist`: netlab for any system, netlab for Linux on each processor, and netlab_classroom.

Students' wheels have the packages that students use, the chapters and kernels: the library kernel as WebAssembly for any
system, native ones for Linux. With each kernel go its licence, the exact version and changes of its source, and the
recipe, as with every packed kernel. netlab_classroom has what instructors use: grading, solutions and examiners.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import wheel_file  # noqa: E402

from netlab.base.errors import KernelError  # noqa: E402
from netlab.base.version import VERSION  # noqa: E402 (also of a clone that is not installed)
from netlab.commands import cli  # noqa: E402
from netlab.engines import MACHINES  # noqa: E402
from netlab_course.copies import PAGES  # noqa: E402
from netlab_engines.kernels import library_kernel, pocket_kernel  # noqa: E402
from netlab_engines.kernels.library_kernel import LibraryKernel  # noqa: E402
from netlab_engines.kernels.pocket_kernel import PocketKernel  # noqa: E402
from netlab_kernel import archive  # noqa: E402

STUDENT_PACKAGES = ("netlab", "netlab_user_code", "netlab_engines", "netlab_course")
PROJECT, CLASSROOM = f"netlab-{VERSION}", f"netlab_classroom-{VERSION}"
PLATFORMS = {machine: (f"manylinux_2_17_{machine}", f"musllinux_1_2_{machine}") for machine in MACHINES}
"""The platform tags of each processor. The kernels need no C library, so they run with every one; these are the oldest for which
NumPy 2, which netlab needs, has wheels."""
FOLDERS_IN_WHEEL = {
    "pocket": "netlab/carried/kernels",
    "library": "netlab/carried/libraries",
    "wasm": "netlab/carried/libraries",
}
"""The directory of each kind of kernel in a wheel, as `netlab_engines.kernels.cache` looks for it."""
OF_ONE_BUILD = ("built_at", "build_s", "compile_s")
"""The facts in a kernel's build.json that differ when the same commit is built again."""
PT_INTERP = 3
UNDATED_S = 1_700_000_000
"""The time of files in wheels of a clone without a commit, in s since 1970."""
LICENCE = "License: BSD-3-Clause"
FOR_WASM = re.compile(rb"^Requires-Dist: wasmtime\b.*\n", re.MULTILINE)
"""The line in METADATA that asks for the package (9.6 MB) that runs the WebAssembly kernel."""
CLASSROOM_PROJECT = """\
[build-system]
requires = ["setuptools>=65"]
build-backend = "setuptools.build_meta"

[project]
name = "netlab-classroom"
version = "{version}"
description = "For instructors of netlab: own numbers for each student, grading in a sandbox, solutions and examiners"
readme = "README.md"
requires-python = ">=3.10"
license = {{ text = "BSD-3-Clause" }}
dependencies = ["netlab=={version}"]

[tool.setuptools.packages.find]
include = ["netlab_classroom*"]

[tool.setuptools.package-data]
"netlab_classroom" = ["**/*"]
"""


def student_files() -> dict[str, bytes]:
    """Return the files of the students' wheels that are the same for all systems, by their names there; raises
    CalledProcessError when pip cannot build them.
    """
    with tempfile.TemporaryDirectory(prefix="netlab-wheel-") as folder:
        place = Path(folder)
        _copy_packages(place, STUDENT_PACKAGES)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, place / name)
        carried = place / "netlab" / "carried"
        shutil.copytree(ROOT / "notebooks", carried / "notebooks", ignore=shutil.ignore_patterns(".*"))
        for page in PAGES:
            (carried / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / page, carried / page)
        files = _build_wheel(place)
    # The kernels' licence comes on top of netlab's own.
    about = f"{PROJECT}.dist-info/METADATA"
    files[about] = files[about].replace(LICENCE.encode(), f"{LICENCE} AND GPL-2.0-only".encode(), 1)
    return files


def classroom_files() -> dict[str, bytes]:
    """Return the files of the instructors' wheel by their names there; raises CalledProcessError when pip cannot build
    them.
    """
    with tempfile.TemporaryDirectory(prefix="netlab-wheel-") as folder:
        place = Path(folder)
        _copy_packages(place, ("netlab_classroom",))
        (place / "pyproject.toml").write_text(CLASSROOM_PROJECT.format(version=VERSION))
        shutil.copy(ROOT / "LICENSE", place)
        shutil.copy(ROOT / "netlab_classroom" / "README.md", place)
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / "solutions", place / "netlab_classroom" / "carried" / "solutions", ignore=ignored)
        return _build_wheel(place)


def _copy_packages(place: Path, names: Sequence[str]) -> None:
    """Copy packages of the clone to the directory `place`."""
    for name in names:
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "carried"))


def _build_wheel(source: Path) -> dict[str, bytes]:
    """Build the project in the directory `source` with pip, and return the wheel's files by their names."""
    with tempfile.TemporaryDirectory(prefix="netlab-wheel-") as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "--no-build-isolation",
             "--wheel-dir", folder, str(source)],
            check=True,
        )  # fmt: skip
        (wheel,) = Path(folder).glob("*.whl")
        return wheel_file.read(wheel)


def written_s() -> int:
    """Return the time of the files in wheels, in s since 1970: $SOURCE_DATE_EPOCH, else that of the commit, else the same
    time for all.
    """
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    if not shutil.which("git"):
        return UNDATED_S
    dated = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False
    )
    return int(dated.stdout.strip() or UNDATED_S)


def student_wheel(
    directory: Path,
    files: dict[str, bytes],
    kernels: Sequence[PocketKernel | LibraryKernel],
    platforms: Sequence[str] = ("any",),
) -> Path:
    """Write netlab's wheel for some platforms with these kernels, and return its path.

    Parameters
    ----------
    directory : Path
        The directory of the wheel.
    files : dict
        Files of the course, as `student_files` returns them.
    kernels : sequence of PocketKernel or LibraryKernel
        The kernels, built by the present recipe.
    platforms : sequence of str
        The platform tags.

    Raises
    ------
    KernelError
        If netlab did not build a kernel, or a program needs a C library of the machine.
    ValueError
        If the files' METADATA do not ask for the package that runs the WebAssembly kernel in one line.
    """
    whole, programs = dict(files), []
    for kernel in kernels:
        kind = archive.kind_of(kernel)
        home = f"{FOLDERS_IN_WHEEL[kind.folder]}/{kernel.path.parent.name}"
        for name, data in archive.read_files(kernel).items():
            whole[f"{home}/{name}"] = _without_build_facts(data) if name == "build.json" else data
            if name in kind.programs:
                programs.append(f"{home}/{name}")
                if not is_static(data):
                    raise KernelError(
                        f"{kernel.path.parent / name} needs the C library of the machine that built it, so it cannot be in a "
                        "wheel. Install a static C library (Debian's libc6-dev has it) and build again: netlab kernel build."
                    )
    if library_kernel.WASM not in {getattr(kernel, "machine", "") for kernel in kernels}:
        about = f"{PROJECT}.dist-info/METADATA"
        whole[about], found = FOR_WASM.subn(b"", whole[about])
        if found != 1:
            raise ValueError(
                f"{about} must ask for wasmtime in one line, but does so in {found}; change FOR_WASM with it."
            )
    return wheel_file.write(directory, PROJECT, platforms, whole, programs=programs, written_s=written_s())


def _without_build_facts(facts: bytes) -> bytes:
    """Return the contents of a build.json without the facts of OF_ONE_BUILD."""
    kept = {name: value for name, value in json.loads(facts).items() if name not in OF_ONE_BUILD}
    return (json.dumps(kept, indent=2) + "\n").encode()


def is_static(program: bytes) -> bool:
    """Return whether a 64-bit ELF program of this byte order needs no dynamic linker."""
    first, size, count = (int.from_bytes(program[at : at + n], "little") for at, n in ((32, 8), (54, 2), (56, 2)))
    kinds = [program[first + number * size :][:4] for number in range(count)]
    return program[:4] == b"\x7fELF" and PT_INTERP.to_bytes(4, "little") not in kinds


def portable_kernel() -> LibraryKernel | None:
    """Build the WebAssembly kernel if it is missing; return it, or None if that fails."""
    return None if cli.main(["kernel", "build", "--wasm"]) else library_kernel.ready(library_kernel.WASM)


def why_no_kernels(machine: str) -> str:
    """Return a sentence that says why the kernels for Linux on a processor cannot be built here, with the remedy; "" if nothing
    speaks against it.
    """
    if machine == platform.machine():
        return ""
    if machine == pocket_kernel.POCKET_MACHINE:
        return f"its pocket kernel can be built on {machine} only: run make wheel there too."
    if library_kernel.ready(machine) or shutil.which(f"{machine}-linux-gnu-gcc"):
        return ""
    return f"there is no {machine}-linux-gnu-gcc. On Debian: apt install gcc-{machine}-linux-gnu libc6-dev-arm64-cross, then again."


def native_kernels(machine: str) -> list[PocketKernel | LibraryKernel]:
    """Build the missing kernels for Linux on a processor and return all of them; [] if that is not possible
    here, which a printed sentence explains.
    """
    here = machine == platform.machine()
    if reason := why_no_kernels(machine):
        print(f"No wheel for {machine}: {reason}")
        return []
    wanted = ["kernel", "build"] if here else ["kernel", "build", "--cross", machine]
    if (here or not library_kernel.ready(machine)) and cli.main(wanted):
        return []
    return ready_kernels(machine)


def ready_kernels(machine: str) -> list[PocketKernel | LibraryKernel]:
    """Return the kernels for Linux on a processor that are built by the present recipes, the pocket kernel first."""
    found: list[PocketKernel | LibraryKernel] = []
    if machine == pocket_kernel.POCKET_MACHINE:
        found += [kernel for kernel in pocket_kernel.builds() if not pocket_kernel.by_another_version(kernel)][:1]
    found += [kernel for kernel in [library_kernel.ready(machine)] if kernel]
    return found


def make_portable(directory: Path = ROOT / "dist") -> Path | None:
    """Make the wheel for any system; return it, or None if its kernel cannot be built."""
    kernel = portable_kernel()
    return student_wheel(directory, student_files(), [kernel]) if kernel else None


def make_classroom(directory: Path = ROOT / "dist") -> Path:
    """Make the instructors' wheel, and return it."""
    return wheel_file.write(directory, CLASSROOM, ("any",), classroom_files(), written_s=written_s())


def make_native(machine: str, files: dict[str, bytes], directory: Path = ROOT / "dist") -> Path | None:
    """Make the wheel for Linux on a processor from the students' files; return it, or None if a kernel cannot be built."""
    kernels = native_kernels(machine)
    if len(kernels) < (2 if machine == pocket_kernel.POCKET_MACHINE else 1):
        return None
    return student_wheel(directory, files, kernels, PLATFORMS[machine])


def main(arguments: Sequence[str] | None = None) -> int:
    """Make all wheels that can be made here, or with --native one; return the exit status, 1 if one of those for this
    machine is missing.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--native", action="store_true", help="make only the wheel for Linux on this processor")
    here = platform.machine()
    if parser.parse_args(arguments).native:
        made_here = make_native(here, student_files()) if here in PLATFORMS else None
        print(made_here or f"There is no wheel for {platform.system()} on {here}.")
        return 0 if made_here else 1
    kernel = portable_kernel()
    if kernel is None:
        return 1
    directory, files = ROOT / "dist", student_files()
    native = {machine: make_native(machine, files, directory) for machine in PLATFORMS}
    made = [student_wheel(directory, files, [kernel]), *native.values(), make_classroom(directory)]
    for path in filter(None, made):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    print("With Python 3.10 or newer: pip install the file for your system, then netlab lab")
    for machine in (machine for machine, path in native.items() if path is None):
        # Many lines may have followed the first time that this was said.
        reason = why_no_kernels(machine) or "its kernel could not be built; the messages above say why."
        print(f"NOT MADE: the wheel for Linux on {machine}: {reason}")
    return 0 if native.get(here, True) else 1


if __name__ == "__main__":
    raise SystemExit(main())
