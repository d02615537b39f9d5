"""The cache of runs on disk, by its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab.runs.cache import RunCache


def test_a_run_larger_than_the_cache_does_not_push_the_others_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    cache = RunCache(limit_bytes=1000)
    cache.directory.mkdir()
    for name, size_bytes in (("older", 50), ("old", 50), ("newest", 2000)):
        (cache.directory / f"{name}.json").write_bytes(b"x" * size_bytes)
    cache.prune()
    assert {path.stem for path in cache.directory.iterdir()} == {"older", "old"}
