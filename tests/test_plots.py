"""Figures tell measured, theory and published apart, name their units and are the same each time."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from netlab import plots, theory
from netlab.errors import NetlabError
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology


def role(figure, wanted):
    return [trace for trace in figure.data if (trace.meta or {}).get("role") == wanted]


def udp_figure(**more):
    return plots.measured_against_theory(
        [1, 5, 10],
        [1.0, 4.75, 4.8],
        np.linspace(0.1, 10, 7),
        lambda offered: theory.udp_goodput_mbps(offered, 5),
        x_label="Offered rate (Mbit/s)",
        y_label="Goodput (Mbit/s)",
        **more,
    )


def series_run(flows=("h1-h3 cubic", "h2-h4 udp")):
    t = np.arange(0.5, 5.1, 0.5)
    frames = [
        pd.DataFrame(
            {
                "flow": flow,
                "t_s": t,
                "goodput_mbps": 2.0,
                "cwnd_segments": np.nan if flow.endswith("udp") else 20.0,
                "ssthresh_segments": np.nan,
                "rtt_ms": np.nan,
            }
        )
        for flow in flows
    ]
    queues = pd.concat(
        pd.DataFrame({"t_s": t, "interface": interface, "backlog_packets": backlog})
        for interface, backlog in (("r1-eth2", 30), ("r2-eth0", 0))
    )
    return SimpleNamespace(intervals=pd.concat(frames), queues=queues)


def test_kinds_differ_without_colour():
    """Measured is a filled marker, theory a dashed line, published an open diamond."""
    figure = udp_figure(published=([5], [4.69]))
    (measured,), (line,), (published,) = (role(figure, kind) for kind in ("measured", "theory", "published"))
    assert (measured.mode, measured.marker.symbol) == ("markers", "circle")
    assert (line.mode, line.line.dash) == ("lines", "dash")
    assert (published.mode, published.marker.symbol) == ("markers", "diamond-open")


def test_a_second_series_has_another_marker_and_says_whose_theory_is_whose():
    figure = udp_figure(name="tc", figure=udp_figure(name="wire"))
    assert [trace.marker.symbol for trace in role(figure, "measured")] == ["circle", "square"]
    assert [trace.name for trace in role(figure, "theory")] == ["theory, wire", "theory, tc"]


def test_axes_carry_units_and_the_strip_stands_beneath():
    figure = udp_figure(title="UDP")
    assert figure.layout.yaxis.title.text == "Goodput (Mbit/s)"
    assert figure.layout.xaxis2.title.text == "Offered rate (Mbit/s)"
    assert figure.layout.yaxis2.title.text == "Residual (%)"
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]


def test_residuals_are_per_cent_of_the_formula_itself():
    (strip,) = role(udp_figure(), "residual")
    limit = theory.udp_goodput_limit_mbps(5)
    assert strip.y == pytest.approx([0, (4.75 / limit - 1) * 100, (4.8 / limit - 1) * 100])


def test_tabulated_theory_is_interpolated_in_any_order():
    figure = plots.measured_against_theory(
        [1.5], [2.0], [2, 1], [4, 2], x_label="x", y_label="Goodput (Mbit/s)", residual="absolute"
    )
    assert figure.layout.yaxis2.title.text == "Residual (Mbit/s)"
    (strip,) = role(figure, "residual")
    assert strip.y == pytest.approx([-1.0])


def test_a_residual_without_theory_is_a_gap_not_a_crash():
    figure = plots.measured_against_theory([1], [0.1], [0, 2], [0, 0], x_label="x", y_label="y")
    (strip,) = role(figure, "residual")
    assert strip.y == (None,)


def test_tiny_residuals_are_not_blown_up():
    figure = plots.measured_against_theory([1], [1.00001], [0, 2], [1, 1], x_label="x", y_label="y")
    assert figure.layout.yaxis2.range[1] >= plots.SMALLEST_RESIDUAL_RANGE


def test_hover_says_what_a_point_is():
    figure = udp_figure(details=["a", "b", "seed 7"])
    text = role(figure, "measured")[0].hovertext[2]
    for part in ("measured", "Offered rate (Mbit/s): 10", "Goodput (Mbit/s): 4.8", "theory: 4.798", "seed 7"):
        assert part in text


def test_every_figure_is_transparent_and_of_the_one_template():
    template = plots.pio.templates["netlab"].layout
    assert template.paper_bgcolor == template.plot_bgcolor == "rgba(0,0,0,0)"
    for figure in (udp_figure(), plots.time_series(series_run()), plots.topology(topologies.dumbbell())):
        assert figure.layout.template.layout.font.color == plots.TEXT


def test_greys_and_colours_are_readable_on_white_and_on_the_dark_page():
    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour, least in [(plots.TEXT, 4.0), *((colour, 3.0) for colour in plots.COLOURS)]:
        on_white = 1.05 / (luminance(colour) + 0.05)
        on_dark = (luminance(colour) + 0.05) / (luminance("#111111") + 0.05)
        assert min(on_white, on_dark) >= least, f"{colour}: {on_white:.2f} on white, {on_dark:.2f} on dark"


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


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plots.time_series(series_run(), ["speed"]), "no series 'speed'; it has t_s, goodput_mbps"),
        (
            lambda: plots.time_series(series_run(), interfaces=["r9-eth0"]),
            "no queue at 'r9-eth0'; it has r1-eth2",
        ),
        (lambda: plots.time_series(series_run(), ["rtt_ms"], interfaces=[]), "no series to draw"),
        (lambda: plots.topology(Topology()), "without nodes"),
        (
            lambda: udp_figure(published=([1, 2], [1])),
            "published x and y must have the same length, got 2 and 1",
        ),
        (lambda: udp_figure(residual="ratio"), "percent or absolute, got 'ratio'"),
    ],
)
def test_mistakes_are_sentences(call, words):
    with pytest.raises(NetlabError, match=words):
        call()


def test_a_topology_shows_rate_delay_and_queue_of_each_limited_link():
    figure = plots.topology(topologies.portfolio())
    labels = {annotation.text for annotation in figure.layout.annotations}
    assert labels == {
        "40 Mbit/s<br>10 ms<br>67 packets",
        "30 Mbit/s<br>20 ms<br>100 packets",
        "20 Mbit/s<br>10 ms<br>33 packets",
    }
    shapes = {trace.name: trace.marker.symbol for trace in figure.data if trace.mode == "markers+text"}
    assert shapes == {"host": "circle", "router": "square", "switch": "diamond"}


def test_directions_that_differ_are_both_named():
    figure = plots.topology(topologies.three_pcs())
    assert [a.text for a in figure.layout.annotations] == ["r1→h3: 5 Mbit/s, 100 packets<br>h3→r1: unlimited"]


@pytest.mark.parametrize(
    "network",
    [
        topologies.portfolio(),
        topologies.dumbbell(pairs=5),
        Topology(hosts=["h1"]),
        Topology(hosts=["h1", "h2", "h3"], links=[Link("h1", "h2")]),
        Topology(hosts=["h1", "h2"], links=[Link("h1", "h2"), Link("h1", "h2", rate_mbps=1)]),
    ],
)
def test_a_topology_is_drawn_the_same_each_time_with_every_node_in_its_own_place(network):
    first, second = plots.topology(network), plots.topology(network)
    assert first.to_json() == second.to_json()
    nodes = [
        place for trace in first.data if trace.mode == "markers+text" for place in zip(trace.x, trace.y, strict=True)
    ]
    assert len(set(nodes)) == len(network.nodes)


def test_a_dumbbells_senders_stand_on_the_left():
    nodes = {
        name: x
        for trace in plots.topology(topologies.dumbbell(pairs=2)).data
        if trace.mode == "markers+text"
        for name, x in zip(trace.text, trace.x, strict=True)
    }
    assert nodes["h1"] < nodes["r1"] < nodes["r2"] < nodes["h3"]


def test_faded_runs_grow_fainter_and_leave_the_legend():
    recent, old = plots.faded(udp_figure(), 1), plots.faded(udp_figure(), 4)
    assert len(recent) == 3
    assert all(a.opacity > b.opacity for a, b in zip(recent, old, strict=True))
    assert not any(trace.showlegend for trace in recent)


def test_a_page_without_jupyterlab_gets_the_same_html_each_time() -> None:
    first, second = (
        plots.measured_against_theory([1, 2], [1.0, 2.0], [1, 2], [1, 2], x_label="x", y_label="y") for _ in range(2)
    )
    html = plots.page_html(first)
    assert html == plots.page_html(second)
    assert "cdn.plot.ly" in html
    assert len(html) < 100_000, f"{len(html)} bytes: Plotly itself must not be in every figure"


def test_cases_have_names_and_theory_is_a_bar_at_each():
    figure = plots.measured_against_theory([0, 1, 1], [1, 2, 3], [0, 1], [1, 2], x_label="", y_label="y")
    figure = plots.over_cases(figure, ["one", "two"])
    assert figure.layout.xaxis.ticktext == figure.layout.xaxis2.ticktext == ("one", "two")
    (theory,) = [trace for trace in figure.data if trace.meta["role"] == "theory"]
    assert (theory.mode, theory.marker.symbol, theory.marker.color) == ("markers", "line-ew-open", theory.line.color)
