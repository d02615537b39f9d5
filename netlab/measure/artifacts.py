"""The files that a run writes: captures, traces, raw output of tools."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from netlab.base import scratch
from netlab.base.errors import NetlabError
from netlab.base.files import replacement

SUFFIX = ".artifacts"


class NoArtifactError(NetlabError, KeyError):
    """A run has no file of that name; the text says why, and which files it has."""

    def __str__(self) -> str:
        """Return the message, without the quotes that KeyError adds."""
        return str(self.args[0])


class Artifacts(Mapping[str, Path]):
    """The files that a run wrote: a mapping from each file's name to its path.

    Files of a new run, or of a run from the cache, are in a temporary
    directory that is removed when the run object is garbage-collected: `copy_to` keeps them. Files of a run that was
    read from a result stay in its directory. If this process is killed, the next run removes the temporary files.

    Parameters
    ----------
    directory : Path, optional
        The directory of the files.
    names : list of str, optional
        The names of the files in it; None means all. Names without a file become `lost`.
    unsaved : mapping of str to str
        Names of files that the run should have written, each with the reason why it did not.
    owned : bool
        True if the directory is removed with this object.

    Attributes
    ----------
    unsaved : dict
        The reason why a file is missing, by its name.
    lost : list of str
        The names of missing files that were once saved.

    Examples
    --------
    >>> run = nl.run(topology, [nl.Command("h1", "ss -tin > sockets.txt", saves="sockets.txt")])  # doctest: +SKIP
    >>> run.artifacts.read_text("sockets.txt")  # doctest: +SKIP
    """

    def __init__(
        self,
        directory: Path | None = None,
        names: list[str] | None = None,
        unsaved: Mapping[str, str] | None = None,
        *,
        owned: bool = False,
    ) -> None:
        """Take the files `names` (None: all) of `directory` (None: no files), which is removed with this object if
        `owned`; missing ones are in `lost`. `unsaved` has, by name, why the run did not write a file.
        """
        self.unsaved = dict(unsaved or {})
        self.lost: list[str] = []
        self._paths: dict[str, Path] = {}
        self._remove = None
        if directory is None:
            return
        for name in sorted(path.name for path in directory.iterdir()) if names is None else names:
            if (directory / name).is_file():
                self._paths[name] = directory / name
            else:
                self.lost.append(name)
                self.unsaved[name] = f"it is not in {directory}, the run's directory of artifacts"
        if owned:
            self._remove = weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)

    def __getitem__(self, name: str) -> Path:
        """Return the path of the file `name`; raise NoArtifactError with the reason if the run does not have it."""
        if name in self._paths:
            return self._paths[name]
        reason = f": {self.unsaved[name]}" if name in self.unsaved else ""
        available = f"it has {', '.join(self)}" if self else "it has none"
        raise NoArtifactError(f"This run has no artifact {name!r}{reason}; {available}.")

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over the names of the files."""
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"Artifacts({', '.join(self)})"

    def read_text(self, name: str) -> str:
        """Return the text of the file `name`, with U+FFFD for bytes not in UTF-8; NoArtifactError if there is none."""
        return self[name].read_text(encoding="utf-8", errors="replace")

    def read_bytes(self, name: str) -> bytes:
        """Return the bytes of the file `name`; raise NoArtifactError if the run does not have it."""
        return self[name].read_bytes()

    def copy_to(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Copy all files into a directory, which is created if needed, and return their new paths; each file is
        replaced atomically. Raises NetlabError when they cannot be written.
        """
        target = Path(directory)
        try:
            target.mkdir(parents=True, exist_ok=True)
            for name, path in self.items():
                if path.parent.resolve() == target.resolve():
                    continue
                with replacement(target / name) as new:
                    shutil.copyfile(path, new)
        except OSError as error:
            raise NetlabError(
                f"The run's files cannot be written to {target}: {error.strerror}. Choose another place."
            ) from None
        return [target / name for name in self]

    def own_copy(self) -> Artifacts:
        """Return a copy of the files in a temporary directory, removed with the copy; NetlabError if that fails."""
        if not self:
            return Artifacts(unsaved=self.unsaved)
        directory = scratch.kept_directory()
        self.copy_to(directory)
        return Artifacts(directory, unsaved=self.unsaved, owned=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the files' names (also lost ones) under `names` and the reasons for unsaved ones, for JSON."""
        unsaved = {name: reason for name, reason in self.unsaved.items() if name not in self.lost}
        return {"names": [*self, *self.lost], "unsaved": unsaved}

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the files' contents for pickle, which makes temporary files of them elsewhere."""
        # Another machine of a cluster needs the contents, not the paths.
        return _unpack, ({name: self.read_bytes(name) for name in self}, self.unsaved)


def artifacts_directory(result: Path) -> Path:
    """Return the directory of the artifacts of the result in a file: `result.artifacts` next to `result.json`."""
    return result.with_suffix(SUFFIX)


def _unpack(contents: Mapping[str, bytes], unsaved: Mapping[str, str]) -> Artifacts:
    """Return artifacts with these contents and reasons by name, in a temporary directory removed with the object."""
    if not contents:
        return Artifacts(unsaved=unsaved)
    directory = scratch.kept_directory()
    for name, data in contents.items():
        (directory / name).write_bytes(data)
    return Artifacts(directory, unsaved=unsaved, owned=True)
