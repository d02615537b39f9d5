"""The panel runs what its controls say and counts the intervals that miss. No kernel is needed."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from netlab_course.chapters import how_sure
from tests.drawn import PATIENCE_S


@pytest.mark.parametrize(("factor", "misses"), [("Student's", 1), ("1 (standard error)", 20)])
def test_the_panel_counts_the_intervals_that_miss(factor, misses):
    calls = []

    def fake(*, topology, progress, cancel):
        calls.append(topology)
        # Two values, 0.01 apart: the standard error is 0.005, Student's half width 12.7 times as much.
        pairs = np.tile([0.101, 0.111], (20, 1))
        pairs[0] += 0.2
        return SimpleNamespace(flows=pd.DataFrame({"loss_rate": pairs.ravel()}))

    panel = how_sure.begin().panel(run=fake)
    for name, value in {"runs": 2, "datagrams": 50, "draw": 7, "factor": factor}.items():
        panel.controls[name].value = value
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    scenario = calls[-1]
    assert scenario.problems() == [] and scenario.seed == 7
    assert [flow.rate_mbps for flow in scenario.traffic] == pytest.approx([0.04] * 40)
    assert f"{misses} of 20 intervals miss; each is of 2 values" in panel.figure.layout.title.text
    shown = {trace.name: trace for trace in panel.figure.data}
    assert len(shown["misses it"].x) == misses
    if misses < 20:
        assert shown["misses it"].marker.symbol != shown["holds the true mean"].marker.symbol
        assert shown["misses it"].marker.color != shown["holds the true mean"].marker.color
