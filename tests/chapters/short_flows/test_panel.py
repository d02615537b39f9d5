"""The panel runs what its controls say and draws it beside theory. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab import theory
from netlab_course.chapters import short_flows
from tests.drawn import PATIENCE_S, by_role


def test_the_panel_draws_a_transfer_beside_the_theory_for_its_window():
    asked = []

    def fake(*, topology, traffic, duration_s, progress, cancel):
        asked.append((topology, traffic[0]))
        taken_ms = theory.short_flow_ms(traffic[0].num_bytes, 100, 200, traffic[0].initial_window_segments)
        return SimpleNamespace(flows=pd.DataFrame([{"completion_s": taken_ms / 1000, "retransmits": 3}]))

    panel = short_flows.begin().panel(run=fake)
    for name, value in {"size_kb": 50, "rate_mbps": 100, "rtt_ms": 200, "window": 3, "queue_packets": 20}.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    topology, page = asked[-1]
    assert topology.problems() == [] and page.problems("page") == []
    shape = topology.links[-1].forward
    assert (shape.rate_mbps, shape.delay_ms, shape.queue_packets) == (pytest.approx(100), 100, 20)
    assert (page.num_bytes, page.initial_window_segments) == (50_000, 3)
    (strip,) = by_role(panel, "residual")[-1:]
    assert strip.y == pytest.approx((0.0,), abs=2)
    assert "4.5 round trips, 3 sent again" in panel.figure.layout.title.text
