"""Mininet scripts where there is no pocket kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab import engines
from netlab.base.errors import EngineError, KernelError
from netlab_engines.kernels import cache
from netlab_engines.lab import script


def test_missing_pocket_kernel_is_reported_without_blaming_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NETLAB_ENGINE", "NETLAB_KERNEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("NETLAB_SHARED", str(tmp_path / "shared"))
    monkeypatch.setattr(cache, "CARRIED_FOLDER", tmp_path / "carried")
    monkeypatch.setattr(engines, "choose", lambda _wanted: object())
    with pytest.raises(KernelError, match=r"There is no pocket kernel in .*\. (Build one|The wheel)") as caught:
        script.run_script(["two_hosts.py"])
    assert "NETLAB_ENGINE" not in str(caught.value)


def test_with_another_engine_by_the_variable_the_error_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_ENGINE", "library")
    monkeypatch.setattr(engines, "choose", lambda _wanted: object())
    with pytest.raises(EngineError, match=r"unset \$NETLAB_ENGINE"):
        script.run_script(["two_hosts.py"])
