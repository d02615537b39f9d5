"""The panel runs what its controls say and draws it beside Little's law. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab_course.chapters.own_control import experiments
from netlab_course.chapters.own_control.panel import panel as make_panel
from tests.drawn import PATIENCE_S, by_role


def test_the_panel_runs_a_window_and_draws_its_rtt_beside_littles_law():
    asked = []

    def fake(*, topology, traffic, duration_s, progress, cancel):
        asked.append((topology, traffic))
        rtt_ms = experiments.rtt_ms(traffic[0].congestion.segments)
        return SimpleNamespace(
            intervals=pd.DataFrame({"t_s": [0.5, 2.0], "goodput_mbps": [1.0, 5.0], "rtt_ms": [0, rtt_ms]})
        )

    panel = make_panel(run=fake)
    panel.controls["window"].value = 100
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    topology, traffic = asked[-1]
    assert topology.problems() == [] and traffic[0].problems("flow") == []
    (measured,), (strip,) = by_role(panel, "measured")[-1:], by_role(panel, "residual")[-1:]
    assert measured.x == (100,) and measured.y == pytest.approx((121.12,))
    assert strip.y == pytest.approx((0.0,), abs=1e-6)
    assert "5.00 Mbit/s, 121 ms" in panel.figure.layout.title.text
