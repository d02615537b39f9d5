"""Where built kernels live."""

from pathlib import Path

import pytest

from netlab.kernel import cache


def test_the_cache_is_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_CACHE", "/a/b")
    assert cache.root() == Path("/a/b")
    monkeypatch.delenv("NETLAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert cache.root() == Path("/c/netlab")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/d")
    assert cache.root() == Path("/d/.cache/netlab")
