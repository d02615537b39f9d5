"""Figures are readable on a white and on a dark page, and the same each time."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio

from netlab import plots
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.plots import notebook, rounding, theme, words
from netlab.plots.notebook import notebook_forms
from tests.plots.samples import series_run, udp_comparison


def test_every_figure_is_transparent_and_of_the_one_template():
    template = pio.templates["netlab"].layout
    assert template.paper_bgcolor == template.plot_bgcolor == "rgba(0,0,0,0)"
    for figure in (udp_comparison().figure, plots.time_series(series_run()), plots.topology(topologies.dumbbell())):
        assert figure.layout.template.layout.font.color == theme.TEXT


WHITE, DARK = "#ffffff", "#111111"


def contrast(one: str, other: str) -> float:
    """Return the contrast by WCAG 2.1: the ratio of relative luminances."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_text_has_a_contrast_of_four_and_a_half_on_white_and_on_the_dark_page() -> None:
    assert contrast(theme.TEXT, WHITE) >= 4.5
    assert contrast(theme.TEXT_ON_DARK, DARK) >= 4.5


def test_colours_of_series_stand_out_on_white_and_on_the_dark_page() -> None:
    for colour in theme.COLOURS:
        assert min(contrast(colour, WHITE), contrast(colour, DARK)) >= 3.0, colour


def test_a_nodes_name_has_a_contrast_of_four_and_a_half_on_its_node() -> None:
    names = [trace for trace in plots.topology(topologies.portfolio()).data if trace.text]
    assert {trace.name for trace in names} == {"host", "router", "switch"}
    for trace in names:
        assert contrast(trace.textfont.color, trace.marker.color) >= 4.5, trace.name


def test_a_students_line_and_area_are_seen_on_white_and_on_the_dark_page() -> None:
    """The exercises ask for `figure.add_hline(y=...)` and `figure.add_hrect(y0=..., y1=..., opacity=0.2)`."""
    shapes = pio.templates["netlab"].layout.shapedefaults
    assert min(contrast(shapes.line.color, page) for page in (WHITE, DARK)) >= 3.0
    assert shapes.fillcolor in theme.COLOURS


def test_a_page_without_jupyterlab_gets_the_same_html_each_time() -> None:
    first, second = (udp_comparison().figure for _ in range(2))
    html = plots.page_html(first)
    assert html == plots.page_html(second)
    assert "cdn.plot.ly" in html
    assert len(html) < 100_000, f"{len(html)} bytes: Plotly itself must not be in every figure"


def test_drawn_network_is_described_by_its_nodes_and_links() -> None:
    network = Topology(
        hosts=["h1", "h2"],
        routers=["r1"],
        links=[Link("h1", "r1"), Link("r1", "h2", rate_mbps=5, delay_ms=10, queue_packets=100)],
    )
    assert words.in_words(plots.topology(network, title="A path")) == (
        "Figure: A path. host: h1, h2. router: r1. Links: h1-r1; r1-h2 (5 Mbit/s, 10 ms, 100 packets)."
    )


def own_network(names: object, **nodes: object) -> go.Figure:
    """Return a drawing of two nodes and a link as a student may write it."""
    drawn = {"x": [0.0, 1.0], "y": [0.0, 0.0], "mode": "markers+text", "text": names, **nodes}
    return go.Figure([go.Scatter(drawn), go.Scatter(x=[0, 1], y=[0, 0], mode="lines")]).update_xaxes(visible=False)


def test_students_drawing_is_described_as_a_network_or_a_figure() -> None:
    figure = own_network(["a", 2], x=np.array([0.0, 1.0]), y=np.array([0.0, 0.0]))
    figure.add_annotation(x=0.5, y=0.0, text="5 Mbit/s").add_annotation(x="2026-11-26", y=0, text="no place")
    figure.add_annotation(x=0.5, y=0.0)
    for given in (figure, figure.to_dict()):
        assert words.in_words(given) == "Figure: without a title. nodes: a, 2. Links: a-2 (5 Mbit/s)."
    # Names of other forms, and places that are no numbers.
    for other in (own_network(None), own_network("both"), own_network(["a"]), own_network(["a", "b"], x=["l", "r"])):
        assert words.description(other) == "Figure of series."


def test_a_residual_in_words_has_no_digits_of_rounding_errors() -> None:
    relative = plots.Comparison("x", "y", "t").add("measured", [1, 2], [5.0, 5.0000001], [1, 2], [5, 5])
    absolute = plots.Comparison("x", "y", "t", residual="absolute").add(
        "measured", [1, 2], [0.5, 0.90002], [1, 2], [0.5, 0.9]
    )
    assert "measured - theory: 2 points, at 0." in words.in_words(relative.figure)
    assert "measured - theory: 2 points, at 0." in words.in_words(absolute.figure)


def test_base64_series_of_a_notebook_are_described_as_well() -> None:
    figure = go.Figure(go.Scatter(x=[1, 2, 3], y=np.array([3.0, 4.5, 6.0]), name="goodput"))
    assert "goodput: 3 points, from 3 to 6" in words.in_words(figure.to_dict())


def test_a_legend_hangs_below_the_title_however_high_the_figure_is() -> None:
    figure = go.Figure(go.Scatter(y=[1, 2], name="measured"), layout={"template": "netlab", "height": 400})
    untitled = notebook.place_legend(figure.to_dict())["layout"]["legend"]
    titled = notebook.place_legend(figure.update_layout(title_text="Goodput").to_dict())["layout"]["legend"]
    assert titled == {"yref": "container", "y": 1 - notebook.BELOW_TITLE / 400, "yanchor": "top"}
    assert untitled["y"] > titled["y"]
    assert notebook_forms(figure)["application/vnd.plotly.v1+json"]["layout"]["legend"] == titled


def test_ten_thousand_is_written_out() -> None:
    layout = go.Figure(layout={"template": "netlab"}).layout.template.layout
    assert layout.separators == ".\u202f"
    assert layout.xaxis.minexponent == layout.yaxis.minexponent == 6


def test_long_title_is_shown_in_two_lines_and_kept_unchanged() -> None:
    title = "Two UDP flows share 5 Mbit/s; h1 always offers 1 Mbit/s"
    for figure in (go.Figure(layout={"title": title}), plots.topology(topologies.dumbbell(), title)):
        layout = notebook_forms(figure)["application/vnd.plotly.v1+json"]["layout"]
        assert layout["title"]["text"] == "Two UDP flows share 5 Mbit/s;<br>h1 always offers 1 Mbit/s"
        assert r"\u003cbr\u003eh1 always" in notebook.page_html(figure)
        assert layout["meta"]["description"].startswith(f"{title}. ")
        assert figure.layout.title.text == title


def test_an_axis_title_longer_than_its_axis_is_shown_in_two_lines() -> None:
    text = "Throughput of a chunk (Mbit/s)"
    for height, domain, title, broken in (
        (600, [0, 1], {}, False),
        (350, [0, 1], {}, True),
        (600, [0, 0.5], {}, True),
        (600, [0, 0.5], {"font": {"size": 8}}, False),
    ):
        layout = {"height": height, "yaxis2": {"domain": domain, "title": {**title, "text": text}}}
        shown = notebook.break_titles(layout)["yaxis2"]["title"]
        assert shown == {**title, "text": "Throughput of a<br>chunk (Mbit/s)" if broken else text}


def test_a_figure_of_a_page_is_as_high_as_in_jupyterlab() -> None:
    assert f'"height":{notebook.LAB_HEIGHT}' in notebook.page_html(go.Figure())
    assert '"height":500' in notebook.page_html(go.Figure(layout={"height": 500}))


def test_a_title_with_line_breaks_of_its_own_keeps_them() -> None:
    title = "Two UDP flows<br>share 5 Mbit/s; h1 always offers 1 Mbit/s, h2 more and more"
    figure = go.Figure(layout={"title": title})
    assert notebook_forms(figure)["application/vnd.plotly.v1+json"]["layout"]["title"]["text"] == title


def test_a_legend_that_a_student_placed_stays_there() -> None:
    figure = go.Figure(layout={"template": "netlab", "legend": {"x": 0.8, "y": 0.2}})
    assert notebook.place_legend(figure.to_dict()) == figure.to_dict()


def test_equal_figures_have_equal_forms_whatever_the_last_bits_of_their_numbers_are() -> None:
    def figure(noise: float) -> go.Figure:
        return go.Figure(
            go.Scatter(
                x=np.array([0.1, 75.20596766239444]) * (1 + noise), y=[-0.0 if noise else 0.0, 3e-16 * noise, 4.5]
            ),
            layout={"template": "netlab", "xaxis_range": [-0.0, 80 * (1 + noise)]},
        )

    assert notebook_forms(figure(0.0)) == notebook_forms(figure(2e-16))
    assert notebook_forms(figure(0.0)) != notebook_forms(figure(1e-6))


def test_small_values_of_a_logarithmic_axis_keep_their_digits() -> None:
    assert rounding.round_numbers([1e-6, 1.2345678901e-4, 1000.0]) == [1e-6, 1.23457e-4, 1000.0]


def test_accessible_name_of_a_figure_has_its_axes_and_no_value() -> None:
    figure = udp_comparison(published=([5], [4.69]), title="A slow link").figure
    text = words.description(figure)
    assert text == (
        "A slow link. Figure of Goodput (Mbit/s) against Offered rate (Mbit/s), with measured, theory and published; "
        "below, Residual (%)."
    )
    forms = notebook_forms(figure)
    assert forms["application/vnd.plotly.v1+json"]["layout"]["meta"] == {"description": text}
    assert f'<div role="img" aria-label="{text}">' in forms["text/html"]
    assert "4.8" not in text and "from 1 to 4.8" in forms["text/plain"]


def test_figures_of_other_kinds_and_a_students_own_have_an_accessible_name_too() -> None:
    assert words.description(go.Figure(go.Pie(labels=["a"], values=[1]))) == "Figure of pie."
    assert words.description(go.Figure()) == "Figure of series."
    cases = plots.Comparison("", "y", cases=["h1-h9<br>L1", "h2"]).add("measured", [0, 1], [1, 2], [0, 1], [1, 2])
    assert words.description(cases.figure) == (
        "Figure of y against h1-h9 L1 and h2, with measured and theory; below, Residual (%)."
    )
    bare = go.Figure(
        [go.Scatter(x=[1], y=[2], mode="markers+text", text=["a"]), go.Scatter(x=[1, 2, 3], y=[1, 2, 3], mode="lines")]
    )
    assert words.description(bare.update_xaxes(visible=False)) == "Figure of series.", "not a network, without an axis"
    space = go.Figure(go.Scatter3d(x=[1], y=[2], z=[3], name="points"))
    assert words.in_words(space) == "Figure: without a title."
    own = go.Figure(go.Scatter(y=[1], name="mine"), layout={"meta": ["a"], "title_text": "%{meta[0]}"})
    assert notebook_forms(own)["application/vnd.plotly.v1+json"]["layout"]["meta"] == ["a"], "their texts may use it"


def test_markers_at_nothing_are_whole() -> None:
    figure = go.Figure([go.Scatter(x=[0], y=[0], mode="markers"), go.Bar(x=[1], y=[1])])
    scatter, bar = notebook_forms(figure)["application/vnd.plotly.v1+json"]["data"]
    assert scatter["cliponaxis"] is False and "cliponaxis" not in bar
