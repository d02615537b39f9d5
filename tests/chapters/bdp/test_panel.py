"""The panel runs what its controls say, draws it beside theory and says what limits. No kernel is needed."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from netlab import theory
from netlab_course.chapters import bdp
from tests.drawn import PATIENCE_S, by_role


@pytest.mark.parametrize(
    ("window_kb", "queue_packets", "limits"),
    [(50, 500, "window"), (300, 500, "link"), (300, 50, "queue"), (600, 150, "link"), (600, 100, "queue")],
)
def test_bdp_panel_runs_its_settings_and_names_the_limit(window_kb, queue_packets, limits):
    asked = []

    def fake(*, topology, traffic, duration_s, interval_s, progress, cancel):
        asked.append((topology, traffic))
        rtt_ms = theory.segment_rtt_ms(topology.path_hops("h1", "h2"))
        goodput = theory.windowed_goodput_mbps(float(traffic[-1].window_bytes), 100, rtt_ms)
        flows = pd.DataFrame([{"flow": "h1-h2 reno", "kind": "tcp", "rtt_ms": rtt_ms, "retransmits": 0.0}])
        return SimpleNamespace(flows=flows, goodput_mbps=lambda after_s: pd.Series([goodput], ["h1-h2 reno"]))

    panel = bdp.begin().panel(run=fake)
    panel.controls["window_kb"].value, panel.controls["queue_packets"].value = window_kb, queue_packets
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    topology, traffic = asked[-1]
    assert panel.message == ""
    assert topology.problems() == [] and [item.problems("flow") for item in traffic] == [[]]
    assert traffic[0].window_bytes == 1000 * window_kb
    assert f"The {limits} limits" in panel.figure.layout.title.text
    (measured,), (strip,) = by_role(panel, "measured"), by_role(panel, "residual")
    assert measured.x == (window_kb,)
    assert strip.y == pytest.approx((0.0,), abs=1e-6), "the fake measures what theory says"


def test_frames_without_offload_are_a_command_before_the_transfer():
    def fake(*, traffic, **_):
        kinds.append([item.kind for item in traffic])
        flows = pd.DataFrame([{"flow": "h1-h2 reno", "kind": "tcp", "rtt_ms": 16.2, "retransmits": 0.0}])
        return SimpleNamespace(flows=flows, goodput_mbps=lambda after_s: pd.Series([24.0]))

    kinds: list[Any] = []
    panel = bdp.begin().panel(run=fake)
    panel.controls["without_offload"].value = True
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert kinds[-1] == ["command", "tcp"]
    assert panel.message == ""
