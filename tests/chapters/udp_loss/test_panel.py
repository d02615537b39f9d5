"""The panel runs what its controls say and draws it with theory. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab import theory
from netlab_course.chapters import udp_loss
from tests.drawn import PATIENCE_S, by_role


def test_the_udp_panel_runs_its_settings_and_draws_goodput_with_theory():
    calls = []

    def fake(*, topology, traffic, duration_s, progress, cancel):
        calls.append((topology, traffic, duration_s))
        link, flow = topology.links[-1].forward, traffic[0]
        goodput = theory.udp_goodput_mbps(flow.rate_mbps, link.rate_mbps, flow.payload_bytes, link.framing)
        loss = 1 - goodput / flow.rate_mbps
        return SimpleNamespace(flows=pd.DataFrame([{"goodput_mbps": goodput, "loss_rate": loss, "delay_ms": 170.6}]))

    panel = udp_loss.begin().panel(run=fake)
    panel.controls["ethernet_framing"].value = True
    panel.controls["offered_mbps"].value = 6.0
    assert panel.wait(PATIENCE_S)
    topology, traffic, duration_s = calls[-1]
    assert panel.message == ""
    assert topology.problems() == [] and traffic[0].problems("flow") == []
    assert duration_s == 10
    assert topology.links[-1].forward.framing == "ethernet"
    (measured,), (strip,) = by_role(panel, "measured"), by_role(panel, "residual")
    assert measured.x == (6.0,)
    assert measured.y == pytest.approx((4.690,), abs=1e-3)
    assert strip.y == pytest.approx((0.0,), abs=1e-9)
    assert "mean delay 171 ms" in panel.figure.layout.title.text
