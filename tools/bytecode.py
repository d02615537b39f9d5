"""Put bytecode into the archives of which a page's Python is made: there, compiling takes most of the time until the first answer.

Bytecode belongs to one version of Python, so the page's own makes it, in Node.js. Only what is imported is compiled: of
Plotly's modules, for one, that is a tenth.
"""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from importlib.util import source_from_cache
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "bytecode.mjs"
LIBRARY = "python_stdlib.zip"
WITH_SOURCE = "netlab-"
"""The prefix of modules whose source students may read, and see in a traceback."""


def compile_ahead(pyodide: Path, program: str) -> None:
    """Replace source by bytecode in a distribution's archives.

    Parameters
    ----------
    pyodide : Path
        The distribution; its lock file lists the packages. Their hashes there are not renewed.
    program : str
        Python source whose imports are compiled.

    Raises
    ------
    subprocess.CalledProcessError
        If the program fails.
    FileNotFoundError
        If there is no Node.js.
    """
    with tempfile.TemporaryDirectory(prefix="netlab-bytecode-") as folder:
        made = Path(folder) / "made"
        (Path(folder) / "program.py").write_text(program, encoding="utf-8")
        subprocess.run(["node", PROGRAM, pyodide, Path(folder) / "program.py", made], check=True)
        packages = _read(made / "packages")
        replace(pyodide / LIBRARY, _read(made / "library"))
        for archive in sorted(pyodide.glob("*.whl")):
            replace(archive, packages)


def _read(folder: Path) -> dict[str, tuple[str, bytes]]:
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.pyc")]
    return {source_from_cache(name): (name, (folder / name).read_bytes()) for name in names}


def replace(archive: Path, compiled: Mapping[str, tuple[str, bytes]]) -> None:
    """Replace an archive's source by bytecode; netlab's source stays, with its bytecode next to it.

    Parameters
    ----------
    archive : Path
    compiled : mapping
        For each module that is compiled its name in `__pycache__`, and its bytecode.
    """
    keep = archive.name.startswith(WITH_SOURCE)
    half = archive.with_suffix(".half")
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for entry in old.infolist():
            cached, code = compiled.get(entry.filename, ("", b""))
            files = {entry.filename: old.read(entry)} if keep or not code else {}
            if code:
                files[cached if keep else f"{entry.filename}c"] = code
            for name, data in files.items():
                new.writestr(zipfile.ZipInfo(name, entry.date_time), data, zipfile.ZIP_DEFLATED)
    half.replace(archive)
