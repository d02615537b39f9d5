"""The panel runs what its controls say and draws it beside theory. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab import theory
from netlab_course.chapters import wifi
from tests.drawn import PATIENCE_S, by_role


def test_the_panel_runs_its_settings_and_draws_goodput_beside_theory():
    asked = []

    def fake(*, topology, traffic, duration_s, progress, cancel):
        asked.append((topology, traffic, duration_s))
        medium = topology.links[0].forward.medium_options
        each = theory.wifi_saturation(len(traffic), traffic[0].payload_bytes, medium).goodput_mbps / len(traffic)
        return SimpleNamespace(flows=pd.DataFrame([{"goodput_mbps": each}] * len(traffic)))

    panel = wifi.begin().panel(run=fake)
    panel.controls["two_senders"].value = True
    panel.controls["rts"].value = True
    panel.controls["rate_mbps"].value = 24
    assert panel.wait(PATIENCE_S)
    topology, traffic, duration_s = asked[-1]
    assert panel.message == ""
    assert topology.problems() == []
    assert [(flow.src, flow.dst) for flow in traffic] == [("h1", "h2"), ("h2", "h1")]
    assert duration_s == 0.5
    assert topology.links[0].forward.medium_options["protection"] == "rts"
    (measured,), (strip,) = by_role(panel, "measured"), by_role(panel, "residual")
    assert measured.x == (1000,)
    assert strip.y == pytest.approx((0.0,), abs=1e-9)
    assert "24 Mbit/s behind RTS/CTS, two senders together" in panel.figure.layout.title.text
