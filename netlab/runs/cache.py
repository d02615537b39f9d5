"""A cache of runs on disk, so that executing a notebook again is instant.

The key of a run covers everything that determines its numbers: the scenario and its plan, the engine and its clock, the
kernel's bytes, Python and Mininet, and the sources of the modules that run in the guest or turn counters into numbers.
A change of any of them gives another key, so an outdated result is never returned.

A run is a plain JSON file that is written atomically, with a directory next to it for the files that the run wrote. A
database or pickles would save nothing here, and these files can be read by eye, with `Run.from_json` and after an
update of pandas; loading one executes no code.
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
    """The cached runs in `runs` of netlab's cache ($NETLAB_CACHE, else ~/.cache/netlab); `prune` leaves at most `limit_bytes`."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self.directory = cache.root() / "runs"
        self.limit_bytes = limit_bytes

    def load(self, key: str | None) -> Run | None:
        """Return the run of a key; None when there is none or its file is damaged."""
        if key is None:
            return None
        path = self._path(key)
        try:
            run = Run.from_json(path)
            # `prune` removes the runs that were used longest ago, by this time stamp.
            os.utime(path)
            if run.artifacts.lost:
                return None
            # Copy its files: the cache may prune them while the run is in use.
            return replace(run, artifacts=run.artifacts.own_copy())
        except (NetlabError, OSError, ValueError):
            return None

    def store(self, key: str | None, run: Run) -> None:
        """Keep a run, unless its key is None.

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
        """Remove the runs that were used longest ago until the total size is within the limit."""
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
        """Yield the time of the last use, the size and the paths of each run: its file, and the directory of its artifacts."""
        if not self.directory.is_dir():
            return
        # List all files, so that those which a killed process left half-written are removed as well.
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
    """Return everything except the scenario that determines a run's numbers in an engine on this machine, as text."""
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
        # Mininet exists on Linux only, and the library engine does not need it.
        return ""


def code_hash(package: Path = PACKAGE) -> str:
    """Return a hash of netlab's sources that determine the numbers of a given plan."""
    return _digest(
        sorted(
            path
            for name in CODE
            for path in ((package / name).rglob("*.py") if (package / name).is_dir() else [package / name])
        )
    )


def key(scenario: Scenario, here: str) -> str | None:
    """Return the key of a valid scenario's run under these `conditions`; None if it calls a user's class.

    A user's class, with everything that it uses, cannot be fingerprinted, so its runs are not cached.
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
    """Return the hash of a file; cached, because a sweep needs it before each of its runs."""
    return hashlib.sha256(path.read_bytes()).digest()
