"""Hashes of source files, by which results are kept for as long as the code that makes them stays the same."""

import functools
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path


def of_package(directory: Path, without: Iterable[str] = ()) -> str:
    """Return the SHA-256, in hexadecimal digits, over all Python files in a package's directory except in its
    subpackages `without`. Raises FileNotFoundError when one of these directories does not exist.
    """
    left_out = [directory / name for name in without]
    for path in (directory, *left_out):
        if not path.is_dir():
            raise FileNotFoundError(f"{path} is no directory of a package")
    return of_files(_sources(directory, left_out))


def _sources(directory: Path, left_out: Collection[Path]) -> Iterator[Path]:
    """Yield the Python files below a directory in a fixed order, without those in the directories `left_out`."""
    # Every run needs these paths; `Path.rglob` takes five times as long.
    for place, directories, names in os.walk(directory):
        directories[:] = sorted(name for name in directories if Path(place, name) not in left_out)
        yield from (Path(place, name) for name in sorted(names) if name.endswith(".py"))


def of_files(paths: Iterable[Path]) -> str:
    """Return the SHA-256 over the names and contents of files, in this order, in hexadecimal digits."""
    digest = hashlib.sha256()
    for path in paths:
        found = path.stat()
        digest.update(path.name.encode() + b"\0" + _contents(path, found.st_mtime_ns, found.st_size))
    return digest.hexdigest()


@functools.lru_cache(maxsize=1024)
def _contents(path: Path, _changed_ns: int, _size: int) -> bytes:
    """Return the SHA-256 digest of a file, cached by its time of change and size, as it is needed before every run."""
    return hashlib.sha256(path.read_bytes()).digest()
