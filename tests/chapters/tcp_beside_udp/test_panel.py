"""The panel runs what its controls say and draws both senders beside the theory for its queue."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from netlab_course.chapters import tcp_beside_udp
from netlab_course.chapters.tcp_beside_udp.panel import MAX_UDP_MBPS, MIN_UDP_MBPS, shares_mbps
from netlab_course.chapters.tcp_beside_udp.panel import panel as make_panel
from tests.agreement import agrees
from tests.drawn import PATIENCE_S, by_role

FAIR = "one for each flow"


def panel_after(run: Any, **settings: Any) -> Any:
    """The panel after its controls were moved and the run has been drawn."""
    panel = make_panel(run=run)
    for name, value in settings.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    return panel


@pytest.mark.parametrize(
    ("settings", "aqm", "tcp_mbps", "udp_mbps"),
    [
        ({}, "fifo", (5 - 2 * 1.042) * 1448 / 1514, 2),
        ({"udp_mbps": 10.0, "room_packets": 500.0}, "fifo", 0, 5000 / 1042),
        ({"udp_mbps": 1.0, "queue": FAIR}, "fq_codel", (5 - 1.042) * 1448 / 1514, 1),
        ({"udp_mbps": 20.0, "queue": FAIR, "draw": 7}, "fq_codel", 2.5 * 1448 / 1514, 2.5 / 1.042),
    ],
)
def test_the_panel_runs_its_settings_and_draws_both_beside_theory(settings, aqm, tcp_mbps, udp_mbps):
    calls = []

    def fake(*, topology, traffic, duration_s, interval_s, seed, progress, cancel):
        calls.append((topology, traffic, seed))
        flows = pd.DataFrame({"flow": ["udp", "tcp"], "loss_rate": [0.0, 0.25], "timeouts": [0, 3]})
        return SimpleNamespace(flows=flows, goodput_mbps=lambda after_s: pd.Series({"udp": udp_mbps, "tcp": tcp_mbps}))

    panel = panel_after(fake, **settings)
    topology, (udp, tcp), seed = calls[-1]
    assert topology.problems() == [] and udp.problems("flow") == tcp.problems("flow") == []
    (slow,) = [hop.shape for hop in topology.hops() if hop.shape.rate_mbps is not None]
    assert (slow.rate_mbps, slow.aqm, slow.queue_packets) == (5, aqm, settings.get("room_packets", 100))
    assert (udp.src, udp.rate_mbps, tcp.src) == ("h1", settings.get("udp_mbps", 2), "h2")
    assert seed == settings.get("draw", 1)
    for strip in by_role(panel, "residual"):
        assert strip.y == pytest.approx((0.0,), abs=1e-9), "the fake measures what theory says"
        assert "25.0% lost, 3 timeouts" in strip.hovertext[0]
    assert f"TCP gets {tcp_mbps:.2f}" in panel.figure.layout.title.text


def test_a_connection_that_never_opened_is_drawn_at_nothing():
    def fake(**_):
        flows = pd.DataFrame({"flow": ["udp", "tcp"], "loss_rate": [0.7, np.nan], "timeouts": [0, np.nan]})
        return SimpleNamespace(flows=flows, goodput_mbps=lambda after_s: pd.Series({"udp": 4.8}))

    assert "TCP gets 0.00, UDP 4.80" in panel_after(fake, udp_mbps=20.0).figure.layout.title.text


@pytest.mark.library
def test_another_draw_is_another_run():
    panel = tcp_beside_udp.begin().panel()
    seen = set()
    for draw in (1, 2, 3):
        panel.controls["draw"].value = draw
        panel.refresh()
        assert panel.wait(PATIENCE_S)
        assert panel.message == ""
        seen.add(panel.runs[-1].flows["received_bytes"].iloc[1])
    assert len(seen) == 3


def test_no_slider_moves_the_axes():
    def fake(**_):
        flows = pd.DataFrame({"flow": ["udp", "tcp"], "loss_rate": [0.0, 0.0], "timeouts": [0, 0]})
        return SimpleNamespace(flows=flows, goodput_mbps=lambda after_s: pd.Series({"udp": 0.1, "tcp": 4.6}))

    def axes(panel):
        layout = panel.figure.layout
        return [(axis.range, axis.tickvals) for axis in (layout.xaxis, layout.yaxis, layout.yaxis2)]

    assert axes(panel_after(fake)) == axes(panel_after(fake, udp_mbps=20.0, queue=FAIR, room_packets=5.0))


@pytest.mark.parametrize("udp_mbps", [MIN_UDP_MBPS, 2.399, MAX_UDP_MBPS])
def test_the_shares_never_exceed_the_link_and_a_fair_queue_never_gives_tcp_less(udp_mbps):
    for queue in ("drop-tail", FAIR):
        tcp, udp = shares_mbps(udp_mbps, queue)
        assert tcp * 1514 / 1448 + udp * 1.042 == pytest.approx(5)
    assert shares_mbps(udp_mbps, FAIR)[0] >= shares_mbps(udp_mbps, "drop-tail")[0] - 1e-12


@pytest.mark.library
@pytest.mark.parametrize(
    ("settings", "tcp_mbps"),
    [
        ({"udp_mbps": 1.0}, (5 - 1.042) * 1448 / 1514),
        ({"udp_mbps": 10.0}, 0),
        ({"udp_mbps": 10.0, "queue": FAIR}, 2.5 * 1448 / 1514),
    ],
)
def test_measurements_of_the_panel_are_near_theory(settings, tcp_mbps):
    panel = tcp_beside_udp.begin().panel()
    for name, value in settings.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.message == ""
    agrees("TCP (Mbit/s)", panel.runs[-1].goodput_mbps(10).iloc[1], tcp_mbps, absolute=0.05)
