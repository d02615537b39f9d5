"""What building a kernel takes: programs, headers, room on disk."""

import shutil
import subprocess
from pathlib import Path

from netlab.base.errors import KernelError
from netlab.kernel import cache, tree

NEEDED_BYTES = 900_000_000
NEEDED_PROGRAMS = ("gcc", "ld", "make", "flex", "bison", "bc", "xz", "tar", "bash")


def links_static(work: Path) -> bool:
    """Whether programs can be linked so that they need no C library where they run."""
    probe = work / "probe.c"
    probe.write_text('#include <stdio.h>\nint main(void) { return puts("") < 0; }\n')
    command = ["gcc", "-static", "-o", str(work / "probe"), str(probe)]
    return subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


def check_programs(compiler: str = "gcc") -> None:
    """Look for the compiler and the rest.

    Raises KernelError with all that is missing, and the line that installs it.
    """
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


def check_disk() -> None:
    """Look whether there is room where the build happens.

    Raises KernelError when there is too little.
    """
    free = shutil.disk_usage(cache.root()).free
    if free < NEEDED_BYTES:
        raise KernelError(
            f"Building the kernel takes {NEEDED_BYTES / 1e6:.0f} MB of disk for a few minutes and {cache.root()} has "
            f"{free / 1e6:.0f} MB left. Make room, or name another place in $NETLAB_CACHE."
        )
