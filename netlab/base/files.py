"""Atomic replacement of files."""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """Yield the path of a new empty file in the directory of `path`. At the end of the `with` block the new file takes
    the place of `path` atomically, with the mode of the earlier file if there is one; after any exception, also an
    interrupt, the new file is removed and `path` stays as it was. Raises OSError if a file cannot be written.
    """
    new = path.with_name(f".new-{secrets.token_hex(8)}")
    try:
        new.touch(exist_ok=False)
        yield new
        if path.exists():
            shutil.copymode(path, new)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
