"""Copy the files that a run saves to the engine's folder, up to a limit of bytes."""

import os
import stat
from pathlib import Path

MAX_BYTES = 64 << 20
"""The largest total size of a run's files: the cache keeps them with the run."""
CHUNK_BYTES = 1 << 20


class ArtifactStore:
    """Copies of the files that a run saves, in a folder that the engine reads after the run, up to a total size.

    Parameters
    ----------
    folder : Path
        The folder that receives the copies.
    max_bytes : int
        The largest total size of all copies in bytes.
    work : Path
        The folder in which commands that save files have their working directories.

    Attributes
    ----------
    unsaved : dict of str to str
        The reason for each requested file that was not copied, by the file's name.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES, work: Path = Path("/tmp")) -> None:
        """Prepare an empty store whose copies go to `folder` and may have `max_bytes` bytes in total; `work` is the
        folder in which commands that save files get their working directories.
        """
        self.unsaved: dict[str, str] = {}
        self.work = work
        self._folder = folder
        self._max_bytes = max_bytes
        self._left_bytes = max_bytes

    def save(self, path: Path, name: str) -> None:
        """Copy the regular file at `path` to the file `name` in the store's folder, where it takes some of the store's
        bytes. If that fails (no such file, a symbolic link or another kind of file, not readable, or too large for the
        store), nothing is raised and the reason, a clause, is in `unsaved[name]`.
        """
        try:
            # No symbolic links: the agent can read files that its user cannot.
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                self._copy(handle, name)
            finally:
                os.close(handle)
        except FileNotFoundError:
            self.unsaved[name] = "the command did not write it into its working directory"
        except OSError as error:
            self.unsaved[name] = f"it could not be copied ({error.strerror})"

    def _copy(self, handle: int, name: str) -> None:
        """Copy the open file with the descriptor `handle`, with the size that it has now, to the file `name` in the
        store's folder, and subtract its size from the bytes that are left in the store. If it is not a regular file or
        has more bytes than that, put the reason into `unsaved[name]` instead. Raises OSError if it cannot be read or
        written.
        """
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            self.unsaved[name] = "it is not a regular file"
            return
        if found.st_size > self._left_bytes:
            self.unsaved[name] = (
                f"it has {found.st_size} bytes, and the files of one run may have at most {self._max_bytes} bytes in "
                "total; save less, for example only the headers of each packet"
            )
            return
        self._left_bytes -= found.st_size
        with (self._folder / name).open("wb") as target:
            left_bytes = found.st_size
            while left_bytes and (chunk := os.read(handle, min(left_bytes, CHUNK_BYTES))):
                left_bytes -= target.write(chunk)
