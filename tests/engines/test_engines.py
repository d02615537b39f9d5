"""Choosing an engine, and whether it is ready."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from netlab import engines
from netlab.engines.base import Requirement
from netlab.errors import EngineError, KernelError
from tests.stand_ins import Fake


def test_an_engine_object_is_taken_as_it_is() -> None:
    fake = Fake()
    assert engines.choose(fake) is fake


@pytest.mark.parametrize("wanted", ["docker", "Pocket", 5, Fake, object()])
def test_what_is_no_engine_is_a_sentence(wanted: Any) -> None:
    with pytest.raises(EngineError, match="^engine: got .*; allowed: pocket, pocket-real, native"):
        engines.choose(wanted)


def test_the_environment_chooses_when_nobody_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_ENGINE", "native")
    assert engines.choose().name == "native"
    monkeypatch.setenv("NETLAB_ENGINE", "nativ")
    with pytest.raises(EngineError, match="got 'nativ'"):
        engines.choose()


def test_without_a_kernel_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    monkeypatch.setenv("NETLAB_KERNEL", str(tmp_path / "linux"))
    with pytest.raises(KernelError, match="Set .NETLAB_KERNEL to a User-Mode Linux binary"):
        engines.choose()


def test_preflight_is_one_sentence_or_every_remedy() -> None:
    assert engines.preflight(Fake()) == "Ready: experiments run with the fake engine in virtual time."
    missing = (
        Requirement("ip", False, "not found", "Install iproute2."),
        Requirement("Landlock", False, "none", "Never mind.", required=False),
        Requirement("root", False, "no", "Run as root."),
    )
    with pytest.raises(EngineError) as caught:
        engines.preflight(Fake(missing))
    assert str(caught.value) == "ip: not found. Install iproute2.\nroot: no. Run as root."
