"""Runs kept on disk, so that rerunning a notebook is instant.

A run is found again by all that decides its numbers: the scenario and the plan made of it, the engine and its clock,
the kernel's own bytes, Python and Mininet, and the sources of whatever runs in the guest or turns counters into numbers.
A change of any of them makes another key, so a stale number cannot come back.

Runs are plain JSON files, one each, written at once or not at all; files that a run left are in a directory beside it. A
database or pickles would save nothing here, and these can be read by eye, by `Run.from_json` and after an update of pandas;
loading one runs no code.
"""

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from netlab.base.errors import NetlabError
from netlab.base.location import PACKAGE
from netlab.base.version import VERSION
from netlab.engines.base import Engine
from netlab.kernel import cache
from netlab.measure.artifacts import SUFFIX
from netlab.measure.results import Run
from netlab.runs.scenario import Scenario

LIMIT_BYTES = 1 << 30
CODE = (
    "agent", "base", "captures", "engines", "measure", "netlink", "network/__init__.py", "network/congestion.py",
    "network/media.py", "network/queue_names.py", "network/queue_spec.py", "network/queues.py", "protocol", "sockets", "traffic",
)  # fmt: skip
"""The code that determines results: all modules that the agent, the engines and `measure` import. Not included: the
kernel's recipe, whose product has its own hash, and the version, which is part of the key."""


class RunCache:
    """The runs in `runs` of netlab's cache ($NETLAB_CACHE, else ~/.cache/netlab); `prune` leaves `limit_bytes` at most."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self.directory = cache.root() / "runs"
        self.limit_bytes = limit_bytes

    def load(self, key: str | None) -> Run | None:
        """The run of that key; None when there is none or its file is damaged."""
        if key is None:
            return None
        path = self._path(key)
        try:
            run = Run.from_json(path)
            # The time of its last use, by which `prune` chooses.
            os.utime(path)
            if run.artifacts.lost:
                return None
            # Its files are the cache's, which may prune them while the run is in use.
            return replace(run, artifacts=run.artifacts.own_copy())
        except (NetlabError, OSError, ValueError):
            return None

    def store(self, key: str | None, run: Run) -> None:
        """Keep a run, unless it has no key.

        Raises NetlabError when it cannot be written.
        """
        if key is None:
            return
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NetlabError(
                f"Runs cannot be kept in {self.directory}: {error.strerror}. Set NETLAB_CACHE to a directory of your own."
            ) from None
        run.to_json(self._path(key))

    def prune(self) -> None:
        """Remove the runs used longest ago until the rest is no larger than the limit."""
        room = self.limit_bytes
        for _, size, paths in sorted(self._runs(), reverse=True):
            room -= size
            if room < 0:
                for path in paths:
                    if path.is_dir():
                        shutil.rmtree(path, ignore_errors=True)
                    else:
                        path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}.json"

    def _runs(self) -> Iterator[tuple[int, int, list[Path]]]:
        """Time of the last use, size and paths of each run: its file, and the directory of what it left."""
        if not self.directory.is_dir():
            return
        # Everything in it, so that what a killed process left half-written goes as well.
        paths_of: dict[str, list[Path]] = {}
        for path in self.directory.iterdir():
            paths_of.setdefault(path.name.removesuffix(SUFFIX).removesuffix(".json"), []).append(path)
        for paths in paths_of.values():
            found = []
            for path in (part for whole in paths for part in (whole, *whole.glob("*"))):
                try:
                    found.append(path.stat())
                except FileNotFoundError:
                    continue
            if found:
                yield max(part.st_mtime_ns for part in found), sum(part.st_size for part in found), paths


def conditions(engine: Engine) -> str:
    """All but the scenario that decides what a run measures in an engine here, as plain text."""
    kernel = getattr(engine, "kernel", None)
    return json.dumps(
        {
            "engine": engine.name,
            "clock": engine.clock,
            "kernel": platform.release() if kernel is None else _digest([kernel.path]),
            "code": code_hash(),
            "netlab": VERSION,
            "python": platform.python_version(),
            "mininet": _mininet_version(),
        }
    )


def _mininet_version() -> str:
    try:
        return importlib.metadata.version("mininet")
    except importlib.metadata.PackageNotFoundError:
        # Mininet exists for Linux only, and the library engine does not need it.
        return ""


def code_hash(package: Path = PACKAGE) -> str:
    """Hash of netlab's own sources that decide a number once the plan is made."""
    return _digest(
        sorted(
            path
            for name in CODE
            for path in ((package / name).rglob("*.py") if (package / name).is_dir() else [package / name])
        )
    )


def key(scenario: Scenario, here: str) -> str | None:
    """The name under which a valid scenario's run is kept, under these `conditions`; None where it calls a class of the user's.

    Nobody can tell whether such a class, and all that it uses, is still the same.
    """
    plan = scenario.plan()
    if any("own" in item for item in plan["traffic"]):
        return None
    text = json.dumps({"scenario": scenario.to_dict(), "plan": plan}, sort_keys=True)
    return hashlib.sha256(f"{here}\0{text}".encode()).hexdigest()[:32]


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        found = path.stat()
        digest.update(path.name.encode() + b"\0" + _contents(path, found.st_mtime_ns, found.st_size))
    return digest.hexdigest()


@functools.lru_cache(maxsize=1024)
def _contents(path: Path, _changed_ns: int, _size: int) -> bytes:
    """Hash of a file, which a sweep asks for before each of its runs."""
    return hashlib.sha256(path.read_bytes()).digest()
