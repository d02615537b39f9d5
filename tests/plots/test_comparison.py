"""A comparison tells measured, theory and published apart, names its units and shows the residuals."""

from __future__ import annotations

import numpy as np
import plotly.io as pio
import pytest
from IPython.core.formatters import IPythonDisplayFormatter

from netlab import plots, theory
from netlab.base.errors import NetlabError
from netlab.plots.comparison import MIN_RESIDUAL_RANGE
from tests.plots.samples import add_udp, role, udp_comparison


def test_kinds_differ_without_colour():
    """Measured is a filled marker, theory a dashed line, published an open diamond."""
    figure = udp_comparison(published=([5], [4.69])).figure
    (measured,), (line,), (published,) = (role(figure, kind) for kind in ("measured", "theory", "published"))
    assert (measured.mode, measured.marker.symbol) == ("markers", "circle")
    assert (line.mode, line.line.dash) == ("lines", "dash")
    assert (published.mode, published.marker.symbol) == ("markers", "diamond-open")


def test_second_series_has_its_own_marker_and_named_theory():
    figure = add_udp(udp_comparison("wire"), "tc", rate_mbps=4).figure
    assert [trace.marker.symbol for trace in role(figure, "measured")] == ["circle", "square-open"]
    assert [trace.name for trace in role(figure, "theory")] == ["theory, wire", "theory, tc"]


def test_axes_have_units_and_the_strip_is_below():
    figure = udp_comparison(title="UDP").figure
    assert figure.layout.yaxis.title.text == "Goodput (Mbit/s)"
    assert figure.layout.xaxis2.title.text == "Offered rate (Mbit/s)"
    assert figure.layout.yaxis2.title.text == "Residual<br>(%)"
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]


def test_residuals_are_per_cent_of_the_formula_itself():
    (strip,) = role(udp_comparison().figure, "residual")
    limit = theory.udp_goodput_limit_mbps(5)
    assert strip.y == pytest.approx([0, (4.75 / limit - 1) * 100, (4.8 / limit - 1) * 100])


def test_tabulated_theory_is_interpolated_in_any_order():
    comparison = plots.Comparison("x", "Goodput (Mbit/s)", residual="absolute")
    figure = comparison.add("measured", [1.5], [2.0], [2, 1], [4, 2]).figure
    assert figure.layout.yaxis2.title.text == "Residual<br>(Mbit/s)"
    (strip,) = role(figure, "residual")
    assert strip.y == pytest.approx([-1.0])


def test_a_residual_without_theory_is_a_gap_not_a_crash():
    figure = plots.Comparison("x", "y").add("measured", [1], [0.1], [0, 2], [0, 0]).figure
    (strip,) = role(figure, "residual")
    assert strip.y == (None,)


def test_tiny_residuals_are_not_blown_up():
    figure = plots.Comparison("x", "y").add("measured", [1], [1.00001], [0, 2], [1, 1]).figure
    assert figure.layout.yaxis2.range[1] >= MIN_RESIDUAL_RANGE


def test_hover_text_describes_a_point():
    figure = udp_comparison(details=["a", "b", "seed 7"]).figure
    text = role(figure, "measured")[0].hovertext[2]
    for part in ("measured", "Offered rate (Mbit/s): 10", "Goodput (Mbit/s): 4.8", "theory: 4.798", "seed 7"):
        assert part in text


@pytest.mark.parametrize("residual", ["absolute", "percent"])
def test_a_points_interval_is_a_bar_through_it_and_through_its_residual(residual):
    halves = np.array([0.1, 0.2, 0.3])
    figure = udp_comparison(half_widths=halves, residual=residual).figure
    [measured], [residuals] = role(figure, "measured"), role(figure, "residual")
    assert [trace for trace in figure.data if trace.error_y.array is not None] == [measured, residuals]
    assert measured.error_y.array == tuple(halves)
    theory_at_x = np.array(measured.y) / (1 + np.array(residuals.y) / 100)
    assert residuals.error_y.array == pytest.approx(halves if residual == "absolute" else 100 * halves / theory_at_x)
    assert figure.layout.yaxis2.range[1] > max(np.abs(residuals.y) + residuals.error_y.array)


def test_faded_runs_grow_fainter_and_have_one_entry_of_the_legend():
    recent, old = plots.faded_traces(udp_comparison().figure, 1), plots.faded_traces(udp_comparison().figure, 4)
    assert len(recent) == 3
    assert all(a.opacity > b.opacity for a, b in zip(recent, old, strict=True))
    assert [trace.name for trace in [*recent, *old] if trace.showlegend] == ["earlier runs"]


def test_cases_have_names_and_theory_is_a_bar_at_each():
    comparison = plots.Comparison("", "y", cases=["one", "two"])
    figure = comparison.add("measured", [0, 1, 1], [1, 2, 3], [0, 1], [1, 2]).figure
    assert figure.layout.xaxis.ticktext == figure.layout.xaxis2.ticktext == ("one", "two")
    (bars,) = role(figure, "theory")
    assert (bars.mode, bars.marker.symbol, bars.marker.color) == ("markers", "line-ew-open", bars.line.color)


def test_only_the_theory_of_a_single_series_needs_no_name():
    comparison = udp_comparison("wire")
    assert [trace.name for trace in role(comparison.figure, "theory")] == ["theory"]
    assert [trace.name for trace in role(add_udp(comparison, "tc", rate_mbps=4).figure, "theory")] == [
        "theory, wire",
        "theory, tc",
    ]


def test_changes_to_the_figure_stay_until_the_next_series():
    comparison = udp_comparison()
    comparison.figure.add_vline(x=3, row=1)
    assert len(comparison.figure.layout.shapes) == 1
    assert len(add_udp(comparison, "again").figure.layout.shapes) == 0


def test_fixed_axes_keep_their_scale():
    comparison = plots.Comparison("x", "y", residual="absolute", log_x=True)
    figure = comparison.add("m", [2], [3], [1, 100], [5, 5]).fix_axes(x=(0.1, 100), y=(0, 8), residual=4)
    assert figure is comparison.figure
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range == (-1, 2), "plotly takes the logarithms"
    assert figure.layout.yaxis.range == (0, 8)
    assert (figure.layout.yaxis2.range, figure.layout.yaxis2.tickvals) == ((-4, 4), (-2, 0, 2))


def test_an_axis_that_is_not_fixed_follows_its_data():
    free, still = udp_comparison().figure, udp_comparison().fix_axes(y=(0, 9))
    assert still.layout.xaxis == free.layout.xaxis and still.layout.yaxis2 == free.layout.yaxis2
    assert still.layout.yaxis.range != free.layout.yaxis.range


def test_a_notebook_shows_the_figure_of_a_comparison(monkeypatch):
    """Equal to what the figure itself would show, so that a cell may end with either."""
    comparison, shown = udp_comparison(), []
    monkeypatch.setattr(pio, "show", lambda figure: shown.append(figure.to_json()))
    monkeypatch.setattr(pio.renderers, "default", "netlab")
    assert IPythonDisplayFormatter()(comparison) is True
    assert shown == [comparison.figure.to_json()]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: udp_comparison(published=([1, 2], [1])),
            "published x and y must have the same length, got 2 and 1",
        ),
        (lambda: udp_comparison(details=["one"]), "a detail for each of the 3 measured points, got 1"),
        (lambda: udp_comparison(half_widths=[1, 2]), "a half width for each of the 3 measured points, got 2"),
        (lambda: udp_comparison(residual="ratio"), "percent or absolute, got 'ratio'"),
        (lambda: plots.Comparison("x", "y").figure, "nothing to compare yet"),
    ],
)
def test_errors_are_full_sentences(call, words):
    with pytest.raises(NetlabError, match=words):
        call()


@pytest.mark.parametrize(
    ("x", "labels"),
    [
        ([64, 1472], ["50", "100", "200", "500", "1000"]),
        ([1, 10, 300, 3000], ["1", "3", "10", "30", "100", "300", "1000", "3000"]),
        ([1e-5, 1], ["10<sup>-5</sup>", "0.0001", "0.001", "0.01", "0.1", "1"]),
    ],
)
def test_ticks_of_a_logarithmic_axis_are_whole_numbers(x: list[float], labels: list[str]) -> None:
    figure = plots.Comparison("x", "y", "t", log_x=True).add("measured", x, x, x, x).figure
    assert list(figure.layout.xaxis.ticktext) == list(figure.layout.xaxis2.ticktext) == labels
    assert figure.layout.xaxis.tickvals[-1] == float(labels[-1])
    assert figure.layout.yaxis.ticktext is None


def test_a_series_and_its_theory_share_their_colour_and_a_group_of_the_legend():
    figure = add_udp(udp_comparison("wire"), "tc", rate_mbps=4).figure
    for measured, line in zip(role(figure, "measured"), role(figure, "theory"), strict=True):
        assert measured.marker.color == line.line.color
        assert measured.legendgroup == line.legendgroup


def test_legend_has_a_single_line_if_it_fits_or_theory_below_each_series():
    assert udp_comparison(published=([5], [4.7])).figure.layout.legend.traceorder == "normal"
    many = udp_comparison("a queue for each flow")
    for name in ("one queue for all flows", "random early detection"):
        add_udp(many, name, rate_mbps=4)
    assert many.figure.layout.legend.traceorder == "grouped"


def test_a_residual_names_its_theory_and_its_title_is_no_longer_than_its_axis():
    comparison = plots.Comparison("x", "y (Mbit/s)").add(
        "measured", [1], [2], [1, 2], [3, 3], theory_name="square root"
    )
    axis = comparison.figure.layout.yaxis2
    assert axis.title.text == "Residual to<br>square root<br>(%)"
    assert [trace.name for trace in comparison.figure.data] == ["measured", "square root", "measured - square root"]
    axis_px = (axis.domain[1] - axis.domain[0]) * (
        comparison.figure.layout.height - comparison.figure.layout.margin.t - 60
    )
    longest = max(map(len, axis.title.text.split("<br>")))
    assert 0.58 * axis.title.font.size * longest <= axis_px


@pytest.mark.parametrize(("measured", "below", "above"), [([1, 5], 80, 0), ([10, 25], 0, 150), ([5, 15], 50, 50)])
def test_the_strip_reaches_as_far_as_its_residuals(measured, below, above):
    comparison = plots.Comparison("x", "y").add("measured", [1, 2], measured, [1, 2], [10, 10])
    low, high = comparison.figure.layout.yaxis2.range
    assert -1.3 * below - 40 < low < -below and above < high < 1.3 * above + 40
    if not above:
        assert high < 0.3 * -low, "nothing is above"


def test_rounding_errors_give_a_residual_of_zero():
    comparison = plots.Comparison("x", "y").add("measured", [1, 2], [0.1 + 0.2, 0.3], [1, 2], [0.3, 0.1 + 0.2])
    (strip,) = role(comparison.figure, "residual")
    assert strip.y == (0.0, 0.0) and "residual: +0 %" in strip.hovertext[0] and "residual: +0 %" in strip.hovertext[1]


def test_a_theory_that_series_share_is_drawn_once_so_that_none_hides_another():
    figure = add_udp(add_udp(udp_comparison("RED"), "drop-tail"), "fair", rate_mbps=4).figure
    assert [trace.name for trace in role(figure, "theory")] == ["theory, RED and drop-tail", "theory, fair"]


def test_a_panels_logarithmic_axis_has_labels_as_far_as_it_reaches() -> None:
    comparison = plots.Comparison("x", "y", log_y=True).add("measured", [1.0, 2.0], [100.0, 200.0], [1, 2], [100, 200])
    shown = comparison.fix_axes(y=(30, 10_000)).layout.yaxis.tickvals
    assert min(shown) <= 30 and max(shown) >= 10_000


def test_published_values_come_last_in_the_legend() -> None:
    comparison = plots.Comparison("x", "y")
    for name in ("h1", "h2"):
        comparison.add(name, [1.0], [2.0], [1.0], [2.0], published=([1.0], [2.0]))
    ranks = {trace.name: trace.legendrank or 1000 for trace in comparison.figure.data}
    assert ranks["published"] > max(rank for name, rank in ranks.items() if name != "published")
