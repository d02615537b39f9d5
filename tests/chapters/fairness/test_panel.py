"""The panel runs what its controls say and draws it beside the theory for its queue. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab import theory
from netlab_course.chapters.fairness.panel import panel as make_panel
from tests.drawn import PATIENCE_S, by_role

SECONDS = range(61, 121)


def measured_run(part: float, far_ms: float, near_ms: float) -> SimpleNamespace:
    """A run in which h1 has this part of 4 Mbit/s, with constant round-trip times and two cuts of h2."""
    flows = [
        pd.DataFrame({"flow": flow, "t_s": SECONDS, "rtt_ms": rtt_ms, "ssthresh_segments": thresholds})
        for flow, rtt_ms, thresholds in (("h1", far_ms, [20] * 60), ("h2", near_ms, [20] * 20 + [30] * 20 + [40] * 20))
    ]
    return SimpleNamespace(
        intervals=pd.concat(flows), goodput_mbps=lambda after_s: pd.Series([4 * part, 4 * (1 - part)])
    )


@pytest.mark.parametrize(
    ("settings", "exponent", "aqm"),
    [
        ({}, 2, "fifo"),
        ({"queue": "gentle RED", "room_packets": 200}, 1, "red"),
        ({"cubic": True, "queue": "gentle RED"}, 0.25, "red"),
        ({"queue": "one for each flow", "far_ms": 600}, 0, "fq"),
    ],
)
def test_the_panel_draws_a_draw_beside_the_theory_for_its_queue(settings, exponent, aqm):
    asked = []

    def fake(*, topology, progress, cancel):
        asked.append(topology)
        return measured_run(float(theory.rtt_shares_mbps(1.0, [900, 400], exponent)[0]), 900, 400)

    panel = make_panel(run=fake)
    for name, value in {"draw": 3, **settings}.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    scenario = asked[-1]
    assert scenario.problems() == [] and scenario.seed == 3
    hops = {(hop.src, hop.dst): hop.shape for hop in scenario.topology.hops()}
    assert hops["r1", "h3"].aqm == aqm and hops["r1", "h1"].delay_ms == settings.get("far_ms", 800)
    assert {flow.congestion for flow in scenario.traffic} == {"cubic" if settings.get("cubic") else "reno"}
    (strip,) = by_role(panel, "residual")[-1:]
    assert strip.x == pytest.approx((900 / 400,)) and strip.y == pytest.approx((0.0,), abs=1e-6)
    lines = [trace for trace in panel.figure.data if trace.mode == "lines"]
    assert {trace.line.color for trace in lines} == {strip.marker.color}, "theory has the colour of its series"
    assert "cuts: h1 0, h2 2" in strip.hovertext[0] and "waits 100 ms" in panel.figure.layout.title.text


def test_its_red_is_the_chapters_at_the_chapters_room():
    asked = []

    def fake(*, topology, **_):
        asked.append(topology)
        return measured_run(0.3, 900, 400)

    panel = make_panel(run=fake)
    panel.controls["queue"].value = "gentle RED"
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    shape = next(hop.shape for hop in asked[-1].topology.hops() if (hop.src, hop.dst) == ("r1", "h3"))
    assert shape.queue_packets == 300
    assert shape.aqm_options == {"min_packets": 10, "max_packets": 90, "probability": 0.05}
