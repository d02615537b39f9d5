"""Make `dist/netlab-VERSION-py3-none-any.whl`: the package, the chapters and the library kernel as WebAssembly.

With the kernel go its licence, the exact version and changes of its source, and the recipe, as with every packed kernel.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from netlab.base.location import PACKAGES  # noqa: E402
from netlab.base.version import VERSION  # noqa: E402 (also of a clone that is not installed)
from netlab.commands import cli  # noqa: E402
from netlab_course.copies import PAGES  # noqa: E402
from netlab_engines.kernels import library_kernel  # noqa: E402
from netlab_kernel import archive  # noqa: E402

NAME = f"netlab-{VERSION}-py3-none-any.whl"


def stage(place: Path, kernel: library_kernel.LibraryKernel) -> None:
    """Lay out what goes into the wheel."""
    ignored = shutil.ignore_patterns("__pycache__", "carried")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, place / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / name)
    carried = place / "netlab" / "carried"
    shutil.copytree(ROOT / "notebooks", carried / "notebooks", ignore=shutil.ignore_patterns(".*"))
    for page in PAGES:
        (carried / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / page, carried / page)
    home = carried / "libraries" / kernel.path.parent.name
    home.mkdir(parents=True)
    for name in archive.WASM.contents:
        shutil.copy(kernel.path.parent / name, home / name)


def make(kernel: library_kernel.LibraryKernel, target: Path) -> Path:
    """Make the wheel with this kernel in the directory `target`; raises CalledProcessError when pip cannot."""
    dated = subprocess.run(
        ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False
    )
    environment = {**os.environ, "SOURCE_DATE_EPOCH": dated.stdout.strip() or "1700000000"}
    with tempfile.TemporaryDirectory(prefix="netlab-wheel-") as folder:
        stage(Path(folder) / "source", kernel)
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "--no-build-isolation",
             "--wheel-dir", str(target), str(Path(folder) / "source")],
            env=environment, check=True,
        )  # fmt: skip
    return target / NAME


def main() -> int:
    """Build the kernel where it is missing, then the wheel."""
    status = cli.main(["kernel", "build", "--wasm"])
    kernel = library_kernel.ready(library_kernel.WASM)
    if status or kernel is None:
        return status or 1
    made = make(kernel, ROOT / "dist")
    print(f"{made}: {made.stat().st_size / 1e6:.1f} MB, with Linux {kernel.release} as WebAssembly")
    print(f"On any system with Python 3.10 or newer: pip install {NAME}, then netlab lab")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
