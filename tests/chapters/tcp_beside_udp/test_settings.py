"""The contents of the chapter's figures, without a kernel."""

from __future__ import annotations

import pandas as pd

from netlab_course.chapters.tcp_beside_udp import settings


def test_formulas_of_the_loss_figure_have_different_colours() -> None:
    table = pd.DataFrame({"measured": [3600.0, 880.0, 17.0]}, index=[0.005, 0.05, 0.5])
    figure = settings.loss_figure(table, "One connection")
    (measured,) = (trace for trace in figure.data if trace.name == "measured")
    lines = {trace.name: trace.line for trace in figure.data if trace.mode == "lines"}
    assert set(lines) == {"square root", "PFTK", "waiting"}
    assert lines["square root"].color == measured.marker.color
    assert len({line.color for line in lines.values()}) == 3
    assert len({line.dash for line in lines.values()}) == 3
