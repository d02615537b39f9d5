"""Choosing an engine, and whether it is ready."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab import engines
from netlab.base.errors import EngineError, KernelError
from netlab.engines import Requirement
from netlab.plan import Plan
from netlab_engines import selection
from netlab_engines.kernels import library_kernel
from netlab_engines.kernels.parts import PARTS
from netlab_engines.library import LibraryEngine
from tests.stand_ins import FakeEngine


def test_an_engine_object_is_taken_as_it_is() -> None:
    fake = FakeEngine()
    assert engines.choose(fake) is fake


@pytest.mark.parametrize("expected", ["docker", "Pocket", 5, FakeEngine, object()])
def test_unknown_engine_is_reported_in_a_sentence(expected: Any) -> None:
    with pytest.raises(EngineError, match="^engine: got .*; allowed: pocket, native, library"):
        engines.choose(expected)


def test_the_environment_variable_chooses_the_engine_if_no_argument_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_ENGINE", "native")
    assert engines.choose().name == "native"
    monkeypatch.setenv("NETLAB_ENGINE", "nativ")
    with pytest.raises(EngineError, match="got 'nativ'"):
        engines.choose()


def test_missing_kernel_is_reported_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    monkeypatch.setenv("NETLAB_KERNEL", str(tmp_path / "linux"))
    with pytest.raises(KernelError, match="linux is missing|missing. Remove it"):
        engines.choose()


def test_a_notebook_folds_the_differences_and_a_terminal_prints_them() -> None:
    ready = selection.Readiness.from_lines("Ready: a < b.", ["Different here: x.", "It goes on."])
    assert str(ready) == repr(ready) == "Ready: a < b.\nDifferent here: x.\nIt goes on."
    assert (
        "Ready: a &lt; b.<details><summary>more</summary>Different here: x.\nIt goes on.</details>"
        in ready._repr_html_()
    )
    assert "<details>" not in selection.Readiness.from_lines("Ready.", [])._repr_html_()


def test_preflight_is_one_sentence_or_every_remedy() -> None:
    assert engines.preflight(FakeEngine()) == "Ready: experiments run with the fake engine in virtual time."
    missing = (
        Requirement("ip", False, "not found", "Install iproute2."),
        Requirement("Landlock", False, "none", "Never mind.", required=False),
        Requirement("root", False, "no", "Run as root."),
    )
    with pytest.raises(EngineError) as caught:
        engines.preflight(FakeEngine(missing))
    assert str(caught.value) == "ip: not found. Install iproute2.\nroot: no. Run as root."


# ---- which one it is when nobody says


def plan(*traffic: nl.traffic.Traffic) -> Plan:
    return nl.Scenario(nl.topologies.dumbbell(pairs=1), traffic or [nl.Tcp("h1", "h2")]).plan()


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """A machine on which both kernels can run; a reason in the dict takes one away."""
    kernel_errors: dict[str, str] = {}

    class Library:
        name, clock = "library", "virtual"
        kernel = library_kernel.LibraryKernel(tmp_path, "7.3.4", (7, 3, 4), "x86_64", frozenset(PARTS))
        refuse = LibraryEngine.refuse

        def __init__(self) -> None:
            if "library" in kernel_errors:
                raise KernelError(kernel_errors["library"])

    monkeypatch.setattr(selection, "LibraryEngine", Library)
    monkeypatch.setattr(selection, "_pocket_refusal", lambda: kernel_errors.get("pocket", ""))
    for variable in ("NETLAB_ENGINE", "NETLAB_KERNEL"):
        monkeypatch.delenv(variable, raising=False)
    return kernel_errors


def test_library_kernel_gets_runs_with_a_plan_and_pocket_kernel_the_others(both: dict[str, str]) -> None:
    assert (engines.decide(None, [plan()]), engines.decide()) == ("library", "pocket")


@pytest.mark.parametrize(
    "words",
    [
        {"traffic": [nl.Command("h1", "true")]},
        {"traffic": [nl.Udp("h1", "h2", rate_mbps=1, send_buffer_bytes=212_992)]},
        {"sysctls": {"net.netfilter.nf_conntrack_tcp_loose": 0}},
    ],
    ids=["command", "sender that waits", "packet filter"],
)
def test_pocket_kernel_gets_runs_the_library_kernel_cannot_do(both: dict[str, str], words: dict[str, Any]) -> None:
    scenario = nl.Scenario(nl.topologies.dumbbell(pairs=1), **{"traffic": [nl.Tcp("h1", "h2")], **words})
    assert engines.decide(None, [scenario.plan()]) == "pocket"
    assert engines.decide(None, [plan(), scenario.plan()]) == "pocket"


@pytest.mark.parametrize(("missing", "serves"), [("pocket", "library"), ("library", "pocket")])
def test_other_kernel_serves_silently_when_one_is_missing(both: dict[str, str], missing: str, serves: str) -> None:
    both[missing] = "none is built"
    assert (engines.decide(None, [plan()]), engines.decide()) == (serves, serves)


def test_pocket_engine_reports_a_command_without_a_pocket_kernel(both: dict[str, str]) -> None:
    both["pocket"] = "none is built"
    assert engines.decide(None, [plan(nl.Command("h1", "true"))]) == "pocket"


def test_named_engine_or_kernel_is_used(both: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_KERNEL", "/usr/bin/linux.uml")
    assert engines.decide(None, [plan()]) == "pocket"
    monkeypatch.setenv("NETLAB_ENGINE", "native")
    assert engines.decide(None, [plan()]) == "native"
    assert engines.decide("library", [plan()]) == "library"


def test_a_library_kernel_without_the_wanted_part_refuses_the_plan(
    both: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = library_kernel.LibraryKernel(Path("/x"), "6.12", (6, 12), "x86_64", frozenset({"fifo", "cubic"}))
    stand_in: Any = vars(selection)["LibraryEngine"]
    monkeypatch.setattr(stand_in, "kernel", few)
    assert engines.decide(None, [plan(nl.Tcp("h1", "h2", congestion="bbr"))]) == "pocket"
    with pytest.raises(EngineError, match=r"needs bbr, which the kernel /x \(Linux 6.12\) does not have"):
        stand_in().refuse(plan(nl.Tcp("h1", "h2", congestion="bbr")))
