"""Packs of files for the page: a plain server sends files as they are, so what is large goes packed, and a script unpacks it there.

Packs are compressed with Zstandard, which makes them a fifth smaller than gzip does; an archive of many small files, which ZIP
compresses one by one, becomes less than half.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path

import bytecode
import zstandard

LIB = "/lib/python3.12"
SITE = f"{LIB}/site-packages"
"""The folders in which Pyodide 0.27 looks for Python's own library and for packages."""
LATE_FILES = re.compile(r".*\.dist-info/(RECORD|licenses/.*|LICEN[CS]E.*)")
"""Files that must be there although nothing in a page reads them: the licences."""
LEVEL = 19
"""Higher levels of Zstandard take twice as long for 1 %."""
ENGINE = ("pyodide.asm.wasm", "pyodide.asm.js")


def hashed(folder: Path, name: str, data: bytes) -> str:
    """Write a file that has a hash of its content in its name; returns the name."""
    path = folder / f"{name}.{hashlib.sha256(data).hexdigest()[:16]}.bin"
    path.write_bytes(data)
    return path.name


def compress(data: bytes) -> bytes:
    """Compress bytes with Zstandard into one frame that tells their number; the same bytes give the same frame."""
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True).compress(data)


def kind(name: str) -> tuple[str, str]:
    """Return the key by which the names of files of equal kinds are neighbours: the suffix, and the name."""
    return name.rpartition(".")[2], name


def compress_files(files: dict[str, bytes]) -> bytes:
    """Pack files: a line of JSON with names and sizes, then their bytes, all as one frame. Equal kinds lie together."""
    names = sorted(files, key=kind)
    head = json.dumps([[name, len(files[name])] for name in names], separators=(",", ":"))
    return compress(b"".join([head.encode(), b"\n", *(files[name] for name in names)]))


def zip_archive(files: dict[str, bytes]) -> bytes:
    """A ZIP archive of files as they are, from which Python can import. Equal kinds lie together."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(files, key=kind):
            archive.writestr(zipfile.ZipInfo(name), files[name])
    return target.getvalue()


def contents(archive: Path) -> dict[str, bytes]:
    """The files of an archive."""
    with zipfile.ZipFile(archive) as opened:
        return {entry.filename: opened.read(entry) for entry in opened.infolist() if not entry.is_dir()}


def put(pyodide: Path, finder: str) -> dict[str, str]:
    """Replace a distribution's archives by packs; source that is not compiled (`bytecode.compile_ahead`) goes into an archive of
    its own.

    Parameters
    ----------
    pyodide : Path
        The distribution.
    finder : str
        The module that finds what is in the archive that a page fetches last.

    Returns
    -------
    dict
        By what they are for: the files that were written.
    """
    python: dict[str, bytes] = {}
    netlab: dict[str, bytes] = {}
    others: dict[str, bytes] = {}
    for path in (pyodide / bytecode.LIBRARY, *sorted(pyodide.glob("*.whl"))):
        place = LIB if path.name == bytecode.LIBRARY else SITE
        own = path.name.startswith(bytecode.WITH_SOURCE)
        for name, data in contents(path).items():
            if LATE_FILES.fullmatch(name) or (name.endswith(".py") and not own):
                others[name] = data
            else:
                (netlab if own else python)[f"{place}/{name}"] = data
        path.unlink()
    modules = [
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in others if name.endswith(".py")
    ]
    python[f"{SITE}/_others.py"] = finder.encode()
    python[f"{SITE}/_others.txt"] = "\n".join(sorted(modules)).encode()
    (pyodide / bytecode.LIBRARY).write_bytes(zip_archive({}))  # Pyodide asks for it
    written = {}
    for name in ENGINE:
        written[name] = hashed(pyodide, name, compress((pyodide / name).read_bytes()))
        (pyodide / name).unlink()
    written["python"] = hashed(pyodide, "python", compress_files(python))
    written["netlab"] = hashed(pyodide, "netlab", compress_files(netlab))
    written["others"] = hashed(pyodide, "others", compress(zip_archive(others)))
    return written
