"""A run over time: a strip per quantity, a line per flow."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

from netlab import plots
from netlab.base.errors import NetlabError
from netlab.plots import series
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


def test_pings_are_points_and_a_single_quantity_may_be_a_word():
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
def test_errors_are_full_sentences(call, words):
    with pytest.raises(NetlabError, match=words):
        call()


def test_a_queue_can_be_selected_by_its_link():
    run = series_run()
    run.queues["link"] = run.queues["interface"].map({"r1-eth2": "home to isp", "r2-eth0": "isp to home"})
    for expected in (None, ["home to isp"], "r1-eth2"):
        names = {trace.name for trace in plots.time_series(run, ["goodput_mbps"], interfaces=expected).data}
        assert "queue home to isp" in names and not any("eth" in name for name in names)
    with pytest.raises(NetlabError, match="no queue at 'r9'; it has home to isp, isp to home"):
        plots.time_series(run, interfaces=["r9"])


def test_flows_pings_and_queues_have_a_colour_each():
    run = series_run()
    run.pings = pd.DataFrame({"flow": ["h1-h3 ping"], "t_s": [0.1], "seq": [1], "rtt_ms": [20.0]})
    colours = {trace.name: trace.line.color or trace.marker.color for trace in plots.time_series(run).data}
    assert set(colours) == {"h1-h3 cubic", "h2-h4 udp", "h1-h3 ping", "queue r1-eth2"}
    assert len(set(colours.values())) == 4


def test_a_run_over_time_has_a_title():
    assert plots.time_series(series_run()).layout.title.text == "Goodput, window and queue over time"
    assert plots.time_series(series_run(), title="Mine").layout.title.text == "Mine"


def changed_run(*moments_s):
    run = series_run()
    changes = [{"at_s": at_s, "link": ["r1", "h2"], "rate_mbps": 2} for at_s in moments_s]
    run.settings = {"scenario": {"changes": changes}}
    return run


def test_link_changes_are_shown_above_all_curves():
    figure = plots.time_series(changed_run(2.0), ["goodput_mbps"])
    (label,), (thin,) = figure.layout.annotations, figure.layout.shapes
    assert (label.text, label.x, label.textangle) == ("r1-h2: 2 Mbit/s", 2.0, None)
    assert thin.x0 == thin.x1 == 2.0
    tops = [axis.domain[1] for axis in figure.select_yaxes()]
    assert label.yref == thin.yref == "paper" and max(tops) < label.y <= 1 and thin.y1 == label.y


def test_more_changes_than_have_room_are_thin_lines_only():
    few = plots.time_series(changed_run(*range(7)), ["goodput_mbps"])
    assert len(few.layout.shapes) == len(few.layout.annotations) == 6, "the run ends at 5 s"
    many = plots.time_series(changed_run(*(0.5 * n for n in range(9))), ["goodput_mbps"])
    assert len(many.layout.shapes) == 9 and not many.layout.annotations


@pytest.mark.parametrize("moments_s", [(1, 2, 3), (1, 1.1, 4.9), (0, 4.8, 5), (0, 1, 2, 3, 4, 5)])
def test_labels_of_changes_do_not_overlap(moments_s):
    places = series._label_places(dict.fromkeys(moments_s, "r1-h2: 2 Mbit/s"), (0, 5))
    assert [place.at_s for place in places] == list(moments_s)

    def box(place):
        begin, width = place.at_s * series.NARROW_PLOT_PX / 5, 0.5 * series.LABEL_FONT_PX * len(place.words)
        return (begin, begin + width) if place.anchor == "left" else (begin - width, begin)

    for one, other in itertools.combinations(places, 2):
        (a, b), (c, d) = box(one), box(other)
        assert one.line != other.line or b < c or d < a
    for place in places:
        a, b = box(place)
        assert a >= 0 and b <= series.NARROW_PLOT_PX
