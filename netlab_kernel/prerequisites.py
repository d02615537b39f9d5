"""Check that a machine can build a kernel: programs, headers and disk space."""

import shutil
import subprocess
from pathlib import Path

from netlab.base import cache as base_cache
from netlab.base.errors import KernelError
from netlab_kernel import tree

NEEDED_BYTES = 900_000_000
NEEDED_PROGRAMS = ("gcc", "ld", "make", "flex", "bison", "bc", "xz", "tar", "bash")


def links_static(work: Path) -> bool:
    """Return whether this machine can link static programs, which run without a C library; the probe's files are
    written to the folder `work`.
    """
    probe = work / "probe.c"
    probe.write_text('#include <stdio.h>\nint main(void) { return puts("") < 0; }\n')
    command = ["gcc", "-static", "-o", str(work / "probe"), str(probe)]
    return subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def check_programs(compiler: str = "gcc") -> None:
    """Raise KernelError, with the command that installs what is missing, if the compiler (such as "gcc" or
    "aarch64-linux-gnu-gcc"), another of NEEDED_PROGRAMS or the headers of the C library for gcc are missing; else do
    nothing.
    """
    if not shutil.which(compiler):
        # The package of aarch64-linux-gnu-gcc is gcc-aarch64-linux-gnu.
        package = "gcc" if compiler == "gcc" else "gcc-" + compiler.removesuffix("-gcc").replace("_", "-")
        raise KernelError(f"The compiler {compiler} is not installed. {tree.apt_line([package])}")
    missing = [program for program in NEEDED_PROGRAMS if not shutil.which(program)]
    headers = not missing and not _compiles()
    if missing or headers:
        what = ", ".join(missing) if missing else "the C library's headers"
        needed = [*missing, "libc6-dev"] if headers or "gcc" in missing else missing
        raise KernelError(
            f"Before a kernel can be built, {what} must be installed. {tree.apt_line(needed)}\n"
            "Or install a kernel that was built on another machine: 'netlab kernel unpack FILE'."
        )


def _compiles() -> bool:
    """Return whether gcc can compile a program that includes headers of the C library and of Linux; nothing is written."""
    command = ["gcc", "-x", "c", "-fsyntax-only", "-"]
    text = "#include <stdio.h>\n#include <elf.h>\n#include <linux/types.h>\nint main(void) { return 0; }\n"
    return subprocess.run(command, input=text, text=True, check=False, capture_output=True).returncode == 0


def check_disk() -> None:
    """Raise KernelError if the disk with the cache has fewer than NEEDED_BYTES of free space."""
    free = shutil.disk_usage(base_cache.root()).free
    if free < NEEDED_BYTES:
        raise KernelError(
            f"A build of the kernel takes {NEEDED_BYTES / 1e6:.0f} MB of disk space for a few minutes, and {base_cache.root()} has "
            f"{free / 1e6:.0f} MB left. Free some space, or set $NETLAB_CACHE to another directory."
        )
