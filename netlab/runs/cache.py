"""A cache of runs on disk, so that executing a notebook again is instant. The key of a run covers everything that
determines its numbers, so that an outdated result is never returned: the scenario and its plan, the engine and its
clock, the kernel's bytes, Python and Mininet, and the sources of the modules that run in the guest or turn counters
into numbers. A run is a plain JSON file that is written atomically, next to a directory of the files that it wrote: it
can be read by eye, with `Run.from_json` and after an update of pandas, and loading it executes no code.
"""

import hashlib
import json
import os
import platform
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from netlab.base import cache, source_hash
from netlab.base.errors import NetlabError
from netlab.base.location import PACKAGE
from netlab.base.version import VERSION
from netlab.engines import Engine
from netlab.measure.artifacts import SUFFIX
from netlab.measure.results import Run
from netlab.runs.scenario import Scenario

MAX_CACHE_BYTES = 1 << 30
EXCLUDED_SUBPACKAGES = ("commands", "plots", "runs", "theory", "widgets")
"""Subpackages of netlab that decide no number once the plan is made. All others count, and each engine adds its own code."""


class RunCache:
    """The cached runs in the directory `runs` of netlab's cache; `prune` leaves at most `limit_bytes` bytes."""

    def __init__(self, limit_bytes: int = MAX_CACHE_BYTES) -> None:
        """Use the directory `runs` of netlab's cache, of which `prune` keeps at most `limit_bytes` bytes."""
        self.directory = cache.root() / "runs"
        self.limit_bytes = limit_bytes

    def load(self, key: str | None) -> Run | None:
        """Return a key's run, with a copy of its files, and mark it as used; None if it is missing or damaged."""
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
        """Save a run under a key, unless that is None. Raises NetlabError when it cannot be written."""
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
        """Remove runs, those used longest ago first, until the others have at most `limit_bytes` bytes; a run that alone
        has more is removed without the others.
        """
        bytes_left = self.limit_bytes
        for _, size, paths in sorted(self._runs(), reverse=True):
            if size > self.limit_bytes:
                _remove(paths)
                continue
            bytes_left -= size
            if bytes_left < 0:
                _remove(paths)

    def _path(self, key: str) -> Path:
        """Return the path of the file for a key's run."""
        return self.directory / f"{key}.json"

    def _runs(self) -> Iterator[tuple[int, int, list[Path]]]:
        """Yield each cached run's last use in ns, its size in bytes, and its paths: the file and its artifacts."""
        if not self.directory.is_dir():
            return
        # List all files, so that those which a killed process left half-written are removed as well.
        paths_of: dict[str, list[Path]] = {}
        for path in self.directory.iterdir():
            paths_of.setdefault(path.name.removesuffix(SUFFIX).removesuffix(".json"), []).append(path)
        for paths in paths_of.values():
            found = []
            for path in (part for saved in paths for part in _with_contents(saved)):
                try:
                    found.append(path.stat())
                except FileNotFoundError:
                    continue
            if found:
                yield max(part.st_mtime_ns for part in found), sum(part.st_size for part in found), paths


def _remove(paths: Iterable[Path]) -> None:
    """Remove files, and directories with their contents; those that are missing are ignored."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _with_contents(path: Path) -> Iterable[Path]:
    """Return a path, and what is in it if it is a directory."""
    # Most are files: to look into each of thousands would take seconds after every sweep.
    return (path,) if path.suffix == ".json" else (path, *path.glob("*"))


def conditions(engine: Engine) -> str:
    """Return a text with all that determines a run's numbers here except its scenario: engine, code and versions."""
    return json.dumps(
        {
            "engine": engine.name,
            "clock": engine.clock,
            "fingerprint": engine.fingerprint(),
            "code": code_hash(),
            "netlab": VERSION,
            "python": platform.python_version(),
        }
    )


def code_hash(package: Path = PACKAGE) -> str:
    """Return the hash of netlab's sources in the directory `package` that decide a number once the plan is made; the
    engine's are in its fingerprint.
    """
    return source_hash.hash_package(package, EXCLUDED_SUBPACKAGES)


def key(scenario: Scenario, conditions_text: str) -> str | None:
    """Return the cache's key, 32 hexadecimal digits, for a valid scenario's run under `conditions_text`, a text of `conditions`;
    None if it calls a user's class: that cannot be fingerprinted with all that it uses, so the run is not cached.
    """
    plan = scenario.plan()
    if any("own" in item for item in plan["traffic"]):
        return None
    text = json.dumps({"scenario": scenario.to_dict(), "plan": plan}, sort_keys=True)
    return hashlib.sha256(f"{conditions_text}\0{text}".encode()).hexdigest()[:32]
