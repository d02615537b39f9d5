"""The directories of built kernels."""

import sys
from pathlib import Path

import pytest

from netlab.base import cache as base_cache
from netlab_engines.kernels import cache


def test_the_cache_is_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_CACHE", "/a/b")
    assert base_cache.root() == Path("/a/b")
    monkeypatch.delenv("NETLAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert base_cache.root() == Path("/c/netlab")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/d")
    assert base_cache.root() == Path("/d/.cache/netlab")


def test_the_shared_cache_is_in_the_named_directory_or_next_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_SHARED", "/srv/netlab")
    assert cache.shared_directory() == Path("/srv/netlab")
    monkeypatch.delenv("NETLAB_SHARED")
    assert cache.shared_directory() == Path(sys.prefix) / "share" / "netlab"
