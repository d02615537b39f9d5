"""The panel runs what its controls say and draws it with slow start. No kernel is needed."""

from types import SimpleNamespace

import pandas as pd
import pytest

from netlab_course.chapters.adaptive_video.panel import panel as make_panel
from tests.drawn import PATIENCE_S, by_role


def test_the_panel_asks_for_chunks_after_pauses_and_draws_the_last_one():
    calls = []

    def fake(*, topology, traffic, duration_s, progress, cancel):
        calls.append((topology, traffic))
        return SimpleNamespace(requests=pd.DataFrame({"completion_s": [0.5, 0.24]}))

    panel = make_panel(run=fake)
    panel.controls["pause_s"].value = 3.0
    panel.refresh()
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""
    topology, traffic = calls[-1]
    assert topology.problems() == [] and traffic[0].problems("flow") == []
    assert (traffic[0].think_s, traffic[0].response_bytes) == (3.0, 300_000)
    (measured,) = by_role(panel, "measured")[-1:]
    assert measured.y == pytest.approx((10.0,))
    assert "10.0 Mbit/s" in panel.figure.layout.title.text
