"""A machine's own kernel agrees with theory and with the pocket kernel: the shorter five of `benchmarks/agreement.py`."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab.engines.native import NativeEngine
from tests.figures import agrees
from tests.programs import load

agreement = load("benchmarks/agreement.py")
SHORT = [case for case in agreement.cases() if case.short]


def test_there_are_twenty_scenarios_and_five_short_ones() -> None:
    assert len(agreement.cases()) == 20 and len(SHORT) == 5
    assert len({case.name for case in agreement.cases()}) == 20
    assert sum(case.duration_s for case in SHORT) <= 30


@pytest.mark.root
@pytest.mark.parametrize("case", SHORT, ids=lambda case: case.name)
def test_native_agrees(case: Any) -> None:
    lacking = [requirement for requirement in NativeEngine().requirements() if not requirement.ok]
    if lacking:
        pytest.skip(f"this machine has no native engine: {lacking[0].name}, {lacking[0].seen}")

    def measured(engine: str | None) -> nl.Run:
        return nl.run(case.topology, case.traffic, duration_s=case.duration_s, seed=1, engine=engine)

    native = measured("native")
    for figure in case.figures:
        expected = figure.theory if figure.theory is not None else figure.read(measured(None))
        agrees(f"{case.name}: {figure.what}", figure.read(native), expected, relative=figure.tolerance)
