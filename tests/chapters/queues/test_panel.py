"""The panel runs what its controls say and shows waits, use of the link and pages. No kernel is needed."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from netlab_course.chapters.queues.panel import panel as make_panel
from tests.drawn import PATIENCE_S, by_role


def measured_run(rtt_ms: float, ping_ms: float, bytes_per_s: float, page_s: float | None) -> SimpleNamespace:
    """A run with these constant numbers; without pages that came through when `page_s` is None."""
    t_s = [2.0, 4.0, 8.0, 12.0]
    flows = pd.DataFrame(
        {"flow": ["bulk", "page"], "kind": "tcp", "src": ["h1", "h2"], "completion_s": [math.nan, page_s or math.nan]},
    )
    return SimpleNamespace(
        flows=flows,
        intervals=pd.DataFrame({"flow": "bulk", "t_s": t_s, "rtt_ms": rtt_ms}),
        pings=pd.DataFrame({"t_s": t_s, "rtt_ms": ping_ms}),
        queues=pd.DataFrame({"interface": "r1-eth2", "t_s": t_s, "sent_bytes": [int(bytes_per_s * t) for t in t_s]}),
    )


@pytest.mark.parametrize(
    ("settings", "aqm", "room", "options"),
    [
        ({}, "fifo", 165, {}),
        ({"allowed_ms": 1}, "fifo", 2, {}),
        ({"discipline": "CoDel", "allowed_ms": 10}, "codel", 1000, {"target_ms": 10}),
        ({"discipline": "fq_codel", "allowed_ms": 300, "base_rtt_ms": 40}, "fq_codel", 1000, {"target_ms": 300}),
        ({"discipline": "PIE", "allowed_ms": 10}, "pie", 1000, {"target_ms": 10}),
    ],
)
def test_the_panel_runs_its_settings_and_shows_the_waiting_packets(settings, aqm, room, options):
    base_ms = settings.get("base_rtt_ms", 20)
    calls = []

    def fake(*, topology, traffic, duration_s, interval_s, progress, cancel):
        calls.append((topology, traffic))
        return measured_run(base_ms + 8, base_ms + 2, 0.95 * 20e6 / 8, 0.25)

    panel = make_panel(run=fake)
    for name, value in settings.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    topology, traffic = calls[-1]
    assert topology.problems() == [] and all(item.problems("flow") == [] for item in traffic)
    hops = {(hop.src, hop.dst): hop.shape for hop in topology.hops()}
    shape = hops["r1", "h3"]
    assert (shape.aqm, shape.queue_packets, dict(shape.aqm_options)) == (aqm, room, options)
    assert hops["h3", "r1"].delay_ms == base_ms
    download, neighbour = by_role(panel, "measured")[-2:]
    assert download.x == pytest.approx((8,)) and neighbour.x == pytest.approx((2,))
    assert download.y == pytest.approx((95,), abs=0.01)
    assert "95.0 % in use, a page takes 0.25 s" in panel.figure.layout.title.text


def test_queue_that_blocks_every_page_is_reported():
    panel = make_panel(run=lambda **_: measured_run(520, 515, 2.5e6, None))
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == "" and "no page is through" in panel.figure.layout.title.text
