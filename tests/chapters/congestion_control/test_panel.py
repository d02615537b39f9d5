"""The panel runs what its controls say and draws the window. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd

from netlab_course.chapters.congestion_control.panel import panel as make_panel
from tests.drawn import PATIENCE_S


def test_the_panel_runs_its_settings_and_draws_the_window():
    calls = []

    def fake(*, topology, traffic, duration_s, interval_s, progress, cancel):
        calls.append((topology, traffic))
        intervals = pd.DataFrame(
            {
                "flow": traffic[0].label,
                "t_s": [1.0, 4.0, 5.0, 6.0],
                "cwnd_segments": [10.0, 40.0, 20.0, 21.0],
                "ssthresh_segments": [float("nan"), float("nan"), 20.0, 20.0],
                "ca_state": ["open", "open", "recovery", "open"],
                "rtt_ms": [40.0, 50.0, 60.0, 70.0],
            }
        )
        return SimpleNamespace(intervals=intervals, goodput_mbps=lambda after_s: pd.Series([5.0]))

    panel = make_panel(run=fake)
    chosen = {"congestion": "cubic", "queue_packets": 70, "delay_ms": 30, "loss_percent": 0.5}
    assert set(panel.controls) == set(chosen)
    for name, value in chosen.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    topology, (flow,) = calls[-1]
    (slow,) = [link.forward for link in topology.links if link.forward.rate_mbps is not None]
    assert (slow.rate_mbps, slow.delay_ms, slow.queue_packets, slow.loss_rate) == (10, 30, 70, 0.005)
    assert (flow.congestion, flow.problems("flow"), topology.problems()) == ("cubic", [], [])
    drawn = {trace.name: list(trace.y) for trace in panel.figure.data}
    assert drawn["slow start"][:2] == [10.0, 40.0]
    assert drawn["fast retransmit"] == [20.0]
    assert drawn["BDP + queue"][0] - drawn["BDP"][0] == 70
    assert "mean RTT 60 ms" in panel.figure.layout.title.text
