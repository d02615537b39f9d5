"""The panel runs what its controls say and draws it beside theory. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab_course.chapters.parallel_streams.panel import panel as make_panel
from tests.drawn import PATIENCE_S, by_role

LIMIT_MBPS = 50 * 1448 / 1514
MATHIS_MBPS = 7.587


@pytest.mark.parametrize(
    ("settings", "expected_mbps"),
    [
        ({"streams": 3, "neighbours": 2}, [3 * MATHIS_MBPS, 2 * MATHIS_MBPS]),
        ({"streams": 6, "neighbours": 2}, [0.99 * LIMIT_MBPS * 6 / 8, 0.99 * LIMIT_MBPS * 2 / 8]),
        ({"streams": 5, "neighbours": 0, "lost_per_thousand": 0, "window_bytes": 20_000}, [5 * 13 * 1448 * 8 / 20_000]),
        ({"streams": 30, "neighbours": 2, "lost_per_thousand": 0, "queue_per_host": True}, [LIMIT_MBPS / 2] * 2),
        ({"streams": 8, "neighbours": 0, "queue_per_host": True}, [0.99 * LIMIT_MBPS]),
    ],
)
def test_the_streams_panel_runs_its_settings_and_draws_them_beside_theory(settings, expected_mbps):
    asked = []

    def fake(*, topology, traffic, duration_s, progress, cancel):
        asked.append((topology, traffic))
        return SimpleNamespace(
            goodput_mbps=lambda after_s: pd.Series(expected_mbps),
            flows=pd.DataFrame({"rtt_ms": [21.0] * len(expected_mbps)}),
        )

    panel = make_panel(run=fake)
    for name, value in settings.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    topology, traffic = asked[-1]
    assert panel.message == ""
    assert topology.problems() == [] and all(item.problems("flow") == [] for item in traffic)
    assert [item.streams for item in traffic] == [settings["streams"], settings["neighbours"]][: len(expected_mbps)]
    there, back = (
        next(way.shape for way in topology.hops() if (way.src, way.dst) == ends)
        for ends in (("r1", "r2"), ("r2", "r1"))
    )
    assert there.aqm == ("cake" if settings.get("queue_per_host") else "fifo")
    assert there.loss_rate == settings.get("lost_per_thousand", 10) / 1000 and back.loss_rate == 0
    strips = by_role(panel, "residual")
    assert len(strips) >= len(expected_mbps)
    for strip in strips[-len(expected_mbps) :]:
        assert strip.y == pytest.approx((0.0,), abs=0.05), "the fake measures what theory says"
