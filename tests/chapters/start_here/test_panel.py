"""The panel runs what its controls say and draws it with theory. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab_course.chapters import start_here
from tests.drawn import PATIENCE_S, by_role


@pytest.mark.parametrize(("beside_mbps", "kinds"), [(0, ["ping"]), (12, ["ping", "udp"])])
def test_the_panel_draws_pings_with_the_empty_path(beside_mbps, kinds):
    calls = []

    def fake(*, topology, traffic, duration_s, progress, cancel):
        calls.append((topology, traffic))
        return SimpleNamespace(pings=pd.DataFrame({"t_s": [0.0, 0.2, 0.4], "rtt_ms": [40.1, 45.0, None]}))

    panel = start_here.begin().panel(run=fake)
    panel.controls["beside_mbps"].value = beside_mbps
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    topology, traffic = calls[-1]
    assert panel.message == ""
    assert topology.problems() == [] and all(item.problems("flow") == [] for item in traffic)
    assert [item.kind for item in traffic] == kinds
    (measured,) = by_role(panel, "measured")
    assert measured.y == pytest.approx((40.1, 45.0))
    assert "3 pings, 1 lost; theory is the empty path, 40.2 ms" in panel.figure.layout.title.text


def test_the_slowest_ping_that_the_sliders_allow_is_inside_the_figure():
    """The longest way and a full queue of 100 datagrams at the lowest rate: 2 * 80 + 168 ms."""

    def fake(**_):
        return SimpleNamespace(pings=pd.DataFrame({"t_s": [0.0], "rtt_ms": [slowest_ms]}))

    panel = start_here.begin().panel(run=fake)
    slow, far = panel.controls["rate_mbps"], panel.controls["delay_ms"]
    slowest_ms = 2 * far.max + 101 * 1042 * 8 / (slow.min * 1000)
    slow.value, far.value = slow.min, far.max
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.figure.layout.yaxis.range[1] > slowest_ms
