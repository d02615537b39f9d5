"""Name the programs that only `make release` needs, and those of them that a machine lacks.

Standard library only, as the set-up that uses this module.
"""

from __future__ import annotations

import os
import shutil
import subprocess

CROSS_COMPILER, CROSS_HEADERS = "aarch64-linux-gnu-gcc", "the ARM C library's headers"
PAGE_AND_WHEELS = {
    "node": "nodejs",
    "npm": "npm",
    CROSS_COMPILER: "gcc-aarch64-linux-gnu",
    CROSS_HEADERS: "libc6-dev-arm64-cross",
}
"""The Debian package of each program: the page is made with Node.js, and the wheel for ARM with a compiler for it."""
IMAGE = {
    "mmdebstrap": "mmdebstrap",
    "mcopy": "mtools",
    "mkfs.vfat": "dosfstools",
    "mke2fs": "e2fsprogs",
    "sfdisk": "fdisk",
    "qemu-img": "qemu-utils",
    "syslinux": "syslinux syslinux-common",
    "newuidmap": "uidmap",
}
"""The Debian packages of the programs that vm/build.sh needs."""
PACKAGES = PAGE_AND_WHEELS | IMAGE


def missing_programs(*, image: bool = False) -> list[str]:
    """Return those names of PACKAGES that are not there; those of IMAGE only if `image` is true."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    programs = [*PAGE_AND_WHEELS, *IMAGE] if image else [*PAGE_AND_WHEELS]
    absent = [name for name in programs if name != CROSS_HEADERS and not shutil.which(name, path=path)]
    return absent + [CROSS_HEADERS] * (CROSS_COMPILER in absent or not _has_headers())


def _has_headers() -> bool:
    """Return whether the compiler for ARM finds the headers of a C library and of Linux."""
    text = "#include <stdio.h>\n#include <linux/types.h>\n"
    command = [CROSS_COMPILER, "-E", "-x", "c", "-", "-o", os.devnull]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False).returncode == 0
