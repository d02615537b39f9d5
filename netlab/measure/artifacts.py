"""The files that a run leaves: captures, traces, raw output of tools."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from netlab.base import scratch
from netlab.base.errors import NetlabError

SUFFIX = ".artifacts"


class NoArtifactError(NetlabError, KeyError):
    """A run did not leave a file of that name; the text says why, and which there are."""

    def __str__(self) -> str:
        return str(self.args[0])


class Artifacts(Mapping[str, Path]):
    """The files of a run by name.

    A mapping of each name to the file's path. Files of a run that has just been made, or came from the cache, live in a
    directory of their own that goes when the run is no longer used: `copy_to` keeps them. Files of a run that was read from
    a result stay beside it. Where this process is killed, the next run clears what is left.

    Parameters
    ----------
    directory : Path, optional
        Where they are.
    names : list of str, optional
        Which of the files there; None is all of them. Those that are gone are `lost`.
    unsaved : mapping of str to str
        Names that a run should have left, and why it did not.
    owned : bool
        Whether the directory is removed when this object is no longer used.

    Attributes
    ----------
    unsaved : dict
        By name, why a file that the run should have left is not here.
    lost : list of str
        Those among them that were once saved.

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
                self.unsaved[name] = f"it is not in {directory}, beside the run's file"
        if owned:
            self._remove = weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)

    def __getitem__(self, name: str) -> Path:
        if name in self._paths:
            return self._paths[name]
        reason = f": {self.unsaved[name]}" if name in self.unsaved else ""
        there = f"it has {', '.join(self)}" if self else "it has none"
        raise NoArtifactError(f"This run has no artifact {name!r}{reason}; {there}.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __repr__(self) -> str:
        return f"Artifacts({', '.join(self)})"

    def read_text(self, name: str) -> str:
        """The text of a file."""
        return self[name].read_text(encoding="utf-8", errors="replace")

    def read_bytes(self, name: str) -> bytes:
        """The bytes of a file."""
        return self[name].read_bytes()

    def copy_to(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Copy all files into a directory, which is made if need be; each replaces one of its name at once or not at all.

        Raises NetlabError when they cannot be written.
        """
        target = Path(directory)
        try:
            target.mkdir(parents=True, exist_ok=True)
            for name, path in self.items():
                if path.parent.resolve() == target.resolve():
                    continue
                with tempfile.TemporaryDirectory(dir=target, prefix=".copying-") as half:
                    shutil.copyfile(path, Path(half) / name).replace(target / name)
        except OSError as error:
            raise NetlabError(
                f"The run's files cannot be written to {target}: {error.strerror}. Choose another place."
            ) from None
        return [target / name for name in self]

    def own_copy(self) -> Artifacts:
        """The same files in a directory that goes with the new object."""
        if not self:
            return Artifacts(unsaved=self.unsaved)
        directory = scratch.kept_directory()
        self.copy_to(directory)
        return Artifacts(directory, unsaved=self.unsaved, owned=True)

    def to_dict(self) -> dict[str, Any]:
        """Names and reasons, without the files."""
        unsaved = {name: reason for name, reason in self.unsaved.items() if name not in self.lost}
        return {"names": [*self, *self.lost], "unsaved": unsaved}

    def __reduce__(self) -> tuple[Any, ...]:
        # Another machine of a cluster gets the files themselves.
        return _unpacked, ({name: self.read_bytes(name) for name in self}, self.unsaved)


def beside(result: Path) -> Path:
    """Return the directory of the artifacts of a run whose result is written to a file: ``result.artifacts`` beside ``result.json``."""
    return result.with_suffix(SUFFIX)


def _unpacked(contents: Mapping[str, bytes], unsaved: Mapping[str, str]) -> Artifacts:
    if not contents:
        return Artifacts(unsaved=unsaved)
    directory = scratch.kept_directory()
    for name, data in contents.items():
        (directory / name).write_bytes(data)
    return Artifacts(directory, unsaved=unsaved, owned=True)
