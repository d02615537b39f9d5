"""The programs that build and mount the image, its processors, and the error of its build and its trial."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

# The names of processors in Debian, Docker and the profiles.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# The processor that qemu-user takes by itself signs pointers, which is most of its time.
EMULATED_CPU = "cortex-a72"
# A directory that every Debian has and no package uses: nothing of the bundle stays, not even a place to mount it on.
BUNDLE_PLACE = "/mnt"


class ImageError(Exception):
    """The image cannot be built or does not do what it must; the text says what was seen."""


def run(*words: str | Path) -> str:
    """Run a program whose output is asked for; a failure is told with its last words."""
    process = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise ImageError(
            f"{words[0]} {words[1]} ended with status {process.returncode}: {process.stderr.strip()[-2000:]}"
        )
    return process.stdout.strip()


def need(*programs: str) -> None:
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        raise ImageError(
            f"These programs are missing: {', '.join(missing)}. On Debian: apt-get install {' '.join(missing)}"
        )
    if os.geteuid() != 0:
        raise ImageError("This mounts file systems: run it as root.")
