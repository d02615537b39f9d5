"""The places in which the agent finds its packages."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from netlab.base.errors import EngineError
from netlab.base.location import IMPORT_ROOT
from netlab_engines.paths import python_path


def test_a_python_with_nothing_else_finds_netlab_and_mininet() -> None:
    program = f"import sys; sys.path.extend({python_path()!r}); import netlab, mininet.node; print('both')"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True)
    # Mininet wants a name that Python dropped in 3.12; the agent brings a stand-in.
    assert done.stdout == "both\n" or (sys.version_info >= (3, 12) and "distutils" in done.stderr), done.stderr


def test_without_mininet_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(EngineError, match="Mininet is not installed.*make lab"):
        python_path()


def test_packages_next_to_mininet_are_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, system = tmp_path / "venv" / "site-packages", tmp_path / "usr" / "dist-packages"
    for directory in (own, system / "mininet"):
        directory.mkdir(parents=True)
    (system / "mininet" / "__init__.py").write_text("")
    monkeypatch.delitem(sys.modules, "mininet", raising=False)
    monkeypatch.setattr(sys, "path", [str(own), str(tmp_path / "none" / "site-packages"), str(system)])
    assert python_path() == [str(IMPORT_ROOT), str(system), str(own)]
