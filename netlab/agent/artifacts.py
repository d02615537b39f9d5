"""Bring the files that a run leaves to where the engine finds them, as many as there is room for."""

import os
import stat
from pathlib import Path

MOST_BYTES = 64 << 20
"""What all files of a run may have together: they are kept with each run in the cache."""
CHUNK_BYTES = 1 << 20


class ArtifactStore:
    """Copies files into the folder that outlives the run; `unsaved` says by name why one that should have been kept
    was not.

    `most_bytes` is what all files may have together, `work` where commands that leave files have their working
    directories.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES, work: Path = Path("/tmp")) -> None:
        self.unsaved: dict[str, str] = {}
        self.work = work
        self._folder = folder
        self._most_bytes = most_bytes
        self._left_bytes = most_bytes

    def keep(self, path: Path, name: str) -> None:
        """Keep a regular file under a name, or note why not."""
        try:
            # Nothing that a link names: the agent may read more than its user.
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
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            self.unsaved[name] = "it is no ordinary file"
            return
        if found.st_size > self._left_bytes:
            self.unsaved[name] = (
                f"it has {found.st_size} bytes, and the files of a run may have {self._most_bytes} together; save less, "
                "for example the head of each packet only"
            )
            return
        self._left_bytes -= found.st_size
        with (self._folder / name).open("wb") as target:
            left_bytes = found.st_size
            while left_bytes and (chunk := os.read(handle, min(left_bytes, CHUNK_BYTES))):
                left_bytes -= target.write(chunk)
