"""The panel runs what its controls say and draws it with theory. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab import theory
from netlab_course.chapters.multiplexing import settings
from netlab_course.chapters.multiplexing.panel import panel as make_panel
from tests.drawn import PATIENCE_S, by_role

CROSSING = list(settings.CROSSING)


def fair_mbps(topology):
    """Return the data in the max-min shares by the topology's own rates and routes, in Mbit/s."""
    routes = topology.routes([tuple(pair.split("-")) for pair in CROSSING])
    shares = theory.max_min_mbps(topology.capacities_mbps(), routes)
    return [shares[pair] * 1448 / 1514 for pair in CROSSING]


@pytest.mark.parametrize("fair_queue", [False, True])
def test_multiplexing_panel_draws_its_runs_with_the_fair_shares(fair_queue):
    calls = []

    def fake(*, topology, traffic, duration_s, seed, progress, cancel):
        calls.append((topology, traffic, seed))
        labels = [item.label for item in traffic]
        return SimpleNamespace(goodput_mbps=lambda after_s: pd.Series(fair_mbps(topology), labels))

    panel = make_panel(run=fake)
    chosen = {"l2_mbps": 12.0, "l3_mbps": 35.0, "queue_share": 0.5, "draw": 7, "fair_queue": fair_queue}
    assert set(panel.controls) == set(chosen)
    for name, value in chosen.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    topology, traffic, seed = calls[-1]
    assert panel.message == ""
    assert topology.problems() == [] and [item.problems("flow") for item in traffic] == [[]] * 6
    assert [f"{item.src}-{item.dst}" for item in traffic] == CROSSING
    row = [link.forward for link in topology.links if link.forward.rate_mbps is not None]
    assert [(way.rate_mbps, way.queue_packets) for way in row] == [(40, 34), (12, 50), (35, 16)]
    assert {way.aqm for way in row} == {"fq_codel" if fair_queue else "fifo"}
    assert seed == 7
    (strip,) = by_role(panel, "residual")
    assert strip.y == pytest.approx((0.0,) * 6, abs=1e-9), "the panel's routes are the network's"


def test_another_draw_is_another_start():
    starts = []

    def fake(*, topology, traffic, duration_s, seed, progress, cancel):
        starts.append([item.start_s for item in traffic])
        return SimpleNamespace(goodput_mbps=lambda after_s: pd.Series(fair_mbps(topology)))

    panel = make_panel(run=fake)
    for draw in (2, 3, 2):
        panel.controls["draw"].value = draw
        panel.refresh()
    assert starts[0] != starts[1]
    assert starts[0] == starts[-1]
    assert all(0 <= start_s <= 0.1 for start_s in starts[0])
