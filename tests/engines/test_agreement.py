"""The native engine agrees with theory and with the pocket kernel: the shorter five of `benchmarks/agreement.py`."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab_engines.native import NativeEngine
from tests.agreement import agrees
from tests.in_guest import json_printed_by
from tests.programs import ROOT, load

agreement = load("benchmarks/agreement.py")
SHORT = {number: case for number, case in enumerate(agreement.cases(), 1) if case.short}
WITHIN_S = 200
PROGRAM = """
import json, sys
sys.path.extend({path!r})
from tests.programs import load

print(json.dumps(load("benchmarks/agreement.py").measure("native", {numbers!r})))
"""

each_short_case = pytest.mark.parametrize("case", SHORT.values(), ids=lambda case: case.name)


def test_there_are_twenty_scenarios_and_five_short_ones() -> None:
    assert len(agreement.cases()) == 20 and len(SHORT) == 5
    assert len({case.name for case in agreement.cases()}) == 20
    assert sum(case.duration_s for case in SHORT.values()) <= 30


def test_the_page_begins_as_it_is_made() -> None:
    assert (ROOT / "docs" / "evidence" / "agreement.md").read_text().startswith(agreement.HEAD)


def compare_with_theory(case: Any, quantities: list[float]) -> None:
    """Hold native's quantities against theory; where there is none, against the pocket kernel."""
    for quantity, measured in zip(case.quantities, quantities, strict=True):
        expected = quantity.theory
        if expected is None:
            expected = quantity.read(nl.run(case.topology, case.traffic, duration_s=case.duration_s, seed=1))
        agrees(f"{case.name}: {quantity.what}", measured, expected, relative=quantity.tolerance)


@pytest.fixture(scope="module")
def in_guest() -> Any:
    """Return the native engine's results as root in the pocket kernel: `tc` lines for a real clock, in virtual time."""
    return json_printed_by(PROGRAM, within_s=(WITHIN_S,), numbers=list(SHORT))


@pytest.mark.pocket
@each_short_case
def test_native_agrees_as_root_of_a_guest_in_virtual_time(case: Any, in_guest: Any) -> None:
    assert in_guest["engine"] == "native" and in_guest["rows"].keys() == {short.name for short in SHORT.values()}
    compare_with_theory(case, in_guest["rows"][case.name])


@pytest.mark.root
@each_short_case
def test_native_agrees_on_this_machines_own_kernel(case: Any) -> None:
    lacking = [requirement for requirement in NativeEngine().requirements() if not requirement.ok]
    if lacking:
        pytest.skip(f"this machine has no native engine: {lacking[0].name}, {lacking[0].finding}")
    run = nl.run(case.topology, case.traffic, duration_s=case.duration_s, seed=1, engine="native")
    compare_with_theory(case, [quantity.read(run) for quantity in case.quantities])
