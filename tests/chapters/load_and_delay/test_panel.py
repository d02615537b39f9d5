"""The panel runs what its controls say and draws it with theory. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab_course.chapters import load_and_delay
from netlab_course.chapters.load_and_delay import experiments
from tests.drawn import PATIENCE_S, by_role


@pytest.mark.parametrize(("sizes", "flows"), [("one size", 1), ("mixed sizes", 7)])
def test_the_panel_draws_a_run_with_the_formula_for_its_sizes(sizes: str, flows: int) -> None:
    calls = []

    def fake(*, topology, progress, cancel):
        calls.append(topology)
        delay_ms = experiments.theory_ms(sizes, 0.9)
        return SimpleNamespace(flows=pd.DataFrame({"delay_ms": [delay_ms] * flows, "received_datagrams": [10] * flows}))

    panel = load_and_delay.begin().panel(run=fake)
    for name, value in {"load": 0.9, "duration_s": 30, "draw": 3, "sizes": sizes}.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    scenario = calls[-1]
    assert scenario.problems() == [] and len(scenario.traffic) == flows
    assert (scenario.duration_s, scenario.seed) == (30, 3)
    (strip,) = by_role(panel, "residual")[-1:]
    assert strip.y == pytest.approx((0.0,), abs=1e-9), "the fake measures what theory says"
