"""The panel runs what its controls say and draws it beside theory. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab_course.chapters.congestion_collapse.panel import panel as make_panel
from tests.drawn import PATIENCE_S, by_role


@pytest.mark.parametrize(
    ("tcp", "fair_queue", "expected_mbps"),
    [(False, False, (1.4395 / 4, 0.4798)), (False, True, (0.7198, 0.4798)), (True, False, (0.9564, 0.4782))],
)
def test_the_collapse_panel_runs_its_settings_and_draws_them_beside_theory(tcp, fair_queue, expected_mbps):
    asked = []

    def fake(*, topology, traffic, duration_s, progress, cancel):
        asked.append((topology, traffic))
        return SimpleNamespace(goodput_mbps=lambda after_s: pd.Series(expected_mbps, ["h1-h4", "h2-h3"]))

    panel = make_panel(run=fake)
    panel.controls["tcp"].value, panel.controls["fair_queue"].value = tcp, fair_queue
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    topology, traffic = asked[-1]
    assert panel.message == ""
    assert topology.problems() == [] and [item.problems("flow") for item in traffic] == [[], []]
    assert {item.kind for item in traffic} == {"tcp" if tcp else "udp"}
    middle = next(way.shape for way in topology.hops() if (way.src, way.dst) == ("r1", "r2"))
    assert middle.aqm == ("fq_codel" if fair_queue else "fifo")
    for strip in by_role(panel, "residual"):
        assert strip.y == pytest.approx((0.0,), abs=0.05), "the fake measures what theory says"
