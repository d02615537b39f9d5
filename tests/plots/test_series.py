"""A run over time: a strip per quantity, a line per flow."""

from __future__ import annotations

import pandas as pd
import pytest

from netlab import plots
from netlab.base.errors import NetlabError
from tests.plots.samples import role, series_run


def test_time_series_has_a_strip_per_quantity_and_leaves_empty_ones_out():
    figure = plots.time_series(series_run(), theory={"goodput_mbps": 2.39})
    titles = [axis.title.text for axis in figure.select_yaxes()]
    assert titles == ["Goodput<br>(Mbit/s)", "Window<br>(segments)", "Queue<br>(packets)"]
    names = {trace.name for trace in figure.data}
    assert names == {"h1-h3 cubic", "h2-h4 udp", "queue r1-eth2", "theory"}, "the empty queue stays out"
    assert [trace.name for trace in figure.data if trace.showlegend].count("h1-h3 cubic") == 1


def test_flows_of_a_time_series_differ_by_dash_and_none_looks_like_theory():
    flows = [f"h{i} cubic" for i in range(5)]
    figure = plots.time_series(series_run(flows), ["goodput_mbps"], interfaces=[], theory={"goodput_mbps": 2})
    dashes = [trace.line.dash for trace in role(figure, "measured")]
    assert len(set(dashes)) == 5
    assert "dash" not in dashes


def test_pings_are_points_in_the_strip_of_round_trip_times_and_one_quantity_may_be_a_word():
    run = series_run()
    run.pings = pd.DataFrame({"flow": ["h1-h3 ping"] * 2, "t_s": [0.1, 0.2], "seq": [1, 2], "rtt_ms": [20.0, 25.0]})
    figure = plots.time_series(run, "rtt_ms", interfaces=[])
    assert [(trace.name, trace.mode, list(trace.y)) for trace in figure.data] == [
        ("h1-h3 ping", "markers", [20.0, 25.0])
    ]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plots.time_series(series_run(), ["speed"]), "no series 'speed'; it has t_s, goodput_mbps"),
        (
            lambda: plots.time_series(series_run(), interfaces=["r9-eth0"]),
            "no queue at 'r9-eth0'; it has r1-eth2",
        ),
        (lambda: plots.time_series(series_run(), ["rtt_ms"], interfaces=[]), "no series to draw"),
    ],
)
def test_mistakes_are_sentences(call, words):
    with pytest.raises(NetlabError, match=words):
        call()
