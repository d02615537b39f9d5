"""The panel runs what its controls say and draws the last answers beside the ideal time. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab_course.chapters import incast
from netlab_course.chapters.incast import settings
from tests.drawn import PATIENCE_S, by_role


@pytest.mark.parametrize(
    ("chosen", "aqm", "congestion", "min_rto_us"),
    [
        ({}, "fifo", "cubic", 200_000),
        ({"min_rto_ms": 1, "servers": 32, "queue_packets": 128}, "fifo", "cubic", 1000),
        ({"senders": "DCTCP", "threshold": 2, "queue_packets": 16}, "red", "dctcp", 200_000),
        ({"senders": "DCTCP", "threshold": 64, "servers": 2}, "red", "dctcp", 200_000),
    ],
)
def test_the_panel_runs_its_settings_and_draws_each_query(chosen, aqm, congestion, min_rto_us):
    asked = []

    def fake(*, topology, traffic, duration_s, sysctls, progress, cancel):
        asked.append((topology, traffic, sysctls))
        rows = [
            {"flow": item.label, "request": query, "completion_s": 0.2 if query == 3 else 0.01}
            for item in traffic
            for query in range(settings.QUERIES)
        ]
        queues = pd.DataFrame({"link": ["sw to c"], "drops": [7]})
        return SimpleNamespace(requests=pd.DataFrame(rows), queues=queues)

    panel = incast.begin().panel(run=fake)
    for name, value in chosen.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    topology, traffic, sysctls = asked[-1]
    assert topology.problems() == [] and all(item.problems("flow") == [] for item in traffic)
    port = next(hop.shape for hop in topology.hops() if (hop.src, hop.dst) == ("sw", "c"))
    assert (port.aqm, port.queue_packets) == (aqm, chosen.get("queue_packets", settings.QUEUE_PACKETS))
    assert len(traffic) == chosen.get("servers", 16) and {item.congestion for item in traffic} == {congestion}
    assert sysctls == {settings.MIN_RTO: min_rto_us}
    (measured,) = by_role(panel, "measured")
    assert list(measured.y) == pytest.approx([200 if query == 3 else 10 for query in range(settings.QUERIES)])
    assert "1 late queries, 7 drops" in panel.figure.layout.title.text
