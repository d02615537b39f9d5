"""Panels run what the controls say, drop what is overtaken, and tell mistakes as sentences. No kernel is needed."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets
import pytest

from netlab import plots, widgets
from netlab.base.errors import NetlabError, RunCancelled
from netlab.plots import notebook
from tests.drawn import PATIENCE_S, by_role


def draw(result, settings):
    name = f"x={settings['x']}"
    return plots.Comparison("x", "y").add(name, [settings["x"]], [result], [0, 100], [0, 200]).figure


def double(*, x, progress, cancel):
    progress(1.0, 2.0)
    return 2.0 * x


def make_panel(run=double, debounce_s=0.0, **more):
    controls = {"x": widgets.slider("x", 3, 0, 100, 1)}
    return widgets.Panel(controls, lambda x: {"x": x}, draw, run=run, debounce_s=debounce_s, **more)


def test_the_first_run_happens_when_the_panel_is_shown():
    panel = make_panel()
    assert panel.runs == []
    bundle = panel._repr_mimebundle_()
    assert panel.runs == [6.0]
    assert bundle["text/plain"] == "Panel(x=3)"
    assert "x=3" in bundle["text/html"], "the static fallback must hold the figure"
    assert bundle["application/vnd.plotly.v1+json"]["data"], "JupyterLab draws this while it trusts no scripts"
    if "application/vnd.jupyter.widget-view+json" in bundle:
        assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == panel.box.model_id


def test_browser_draws_the_latest_figure():
    panel = make_panel()
    panel.refresh()
    panel.controls["x"].value = 10
    assert panel.wait(PATIENCE_S)
    (shown,) = panel.box.children[-1].get_state()["outputs"]
    traces = shown["data"]["application/vnd.plotly.v1+json"]["data"]
    (latest,) = [trace for trace in traces if trace["meta"]["role"] == "measured"]
    assert latest["x"] == [10]


def test_a_long_title_is_shown_in_two_lines_that_fit_and_the_legend_below_them() -> None:
    title = "go-back-N, window 8, 2 % lost: 0.35 Mbit/s, 277 sent for 221 pieces"
    controls = {"x": widgets.slider("x", 3, 0, 100, 1)}
    panel = widgets.Panel(
        controls,
        lambda x: {"x": x},
        lambda result, settings: draw(result, settings).update_layout(title_text=title),
        run=double,
        debounce_s=0.0,
    )
    layout = panel._repr_mimebundle_()["application/vnd.plotly.v1+json"]["layout"]
    (shown,) = panel.box.children[-1].get_state()["outputs"]
    assert shown["data"]["application/vnd.plotly.v1+json"]["layout"]["title"] == layout["title"]
    lines = layout["title"]["text"].split("<br>")
    assert lines == ["go-back-N, window 8, 2 % lost:", "0.35 Mbit/s, 277 sent for 221 pieces"]
    assert max(map(len, lines)) <= notebook.MAX_TITLE_LETTERS
    above = notebook.BELOW_TITLE + notebook.TITLE_LINE
    assert layout["legend"]["y"] == pytest.approx(1 - above / layout["height"])
    assert layout["meta"]["description"].startswith(f"{title}. ")
    assert panel.figure.layout.title.text == title


@pytest.mark.parametrize("title", ["", "Short", "A title of forty-four letters, and no more..", "x" * 100])
def test_a_title_that_fits_or_has_no_space_stays_in_one_line(title: str) -> None:
    assert notebook.break_title(title) == title


def test_the_static_fallback_is_the_same_at_each_execution():
    assert make_panel()._repr_mimebundle_()["text/html"] == make_panel()._repr_mimebundle_()["text/html"]


def test_a_moved_control_runs_again_and_the_earlier_run_fades():
    panel = make_panel()
    panel.refresh()
    panel.controls["x"].value = 10
    assert panel.wait(PATIENCE_S)
    assert panel.runs == [6.0, 20.0]
    (measured,) = by_role(panel, "measured")
    assert (measured.x, measured.y) == ((10.0,), (20.0,))
    faded = by_role(panel, "earlier")
    assert faded and all(trace.opacity < 0.5 for trace in faded)


@pytest.mark.parametrize("earlier", [0, 2])
def test_only_the_last_few_runs_are_kept(earlier):
    panel = make_panel(earlier=earlier)
    for x in range(10, 16):
        panel.controls["x"].value = x
        assert panel.wait(PATIENCE_S)
    assert panel.runs == [26.0, 28.0, 30.0][-earlier - 1 :]
    assert len(by_role(panel, "earlier")) == earlier * len(plots.faded_traces(draw(1, {"x": 1}), 1))


def test_moving_a_control_does_not_wait_for_the_run():
    release = threading.Event()

    def slow(*, x, progress, cancel):
        assert release.wait(PATIENCE_S)
        return x

    panel = make_panel(slow)
    panel.controls["x"].value = 7
    assert not panel.wait(0)
    release.set()
    assert panel.wait(PATIENCE_S)
    assert panel.runs == [7]


def test_an_overtaken_run_is_stopped_and_dropped():
    started, stopped = threading.Event(), threading.Event()

    def obedient(*, x, progress, cancel):
        if x == 1:
            started.set()
            assert cancel.wait(PATIENCE_S)
            stopped.set()
            raise RunCancelled("The run was stopped.")
        return x

    panel = make_panel(obedient)
    panel.controls["x"].value = 1
    assert started.wait(PATIENCE_S)
    panel.controls["x"].value = 2
    assert panel.wait(PATIENCE_S)
    assert stopped.is_set()
    assert panel.runs == [2]
    assert panel.message == ""


def test_a_run_that_ignores_its_cancellation_is_dropped_all_the_same():
    started, release = threading.Event(), threading.Event()
    at_once = []

    def stubborn(*, x, progress, cancel):
        at_once.append(x)
        if x == 1:
            started.set()
            assert release.wait(PATIENCE_S)
        at_once.remove(x)
        assert not at_once, "two runs at a time"
        return x

    panel = make_panel(stubborn)
    panel.controls["x"].value = 1
    assert started.wait(PATIENCE_S)
    panel.controls["x"].value = 2
    release.set()
    assert panel.wait(PATIENCE_S)
    assert panel.runs == [2]


def test_moves_in_quick_succession_start_one_run(monkeypatch):
    seen, resting, released = [], [], threading.Event()

    def note(*, x, progress, cancel):
        seen.append(x)
        return x

    def rested(cancel, rest_s):
        resting.append((threading.current_thread(), rest_s))
        assert released.wait(PATIENCE_S)
        return not cancel.is_set()

    panel = make_panel(note, debounce_s=0.3)
    monkeypatch.setattr(panel, "_wait_unchanged", rested)
    for x in (10, 20, 30, 40):
        panel.controls["x"].value = x
    released.set()
    assert panel.wait(PATIENCE_S)
    for worker, rest_s in resting:
        worker.join(PATIENCE_S)
        assert rest_s == 0.3
    assert seen == [40]


def test_a_control_that_moves_again_ends_the_rest():
    """Without waiting for its end, which would come after hours."""
    panel = make_panel(debounce_s=10_000)
    panel.controls["x"].value = 10
    first = panel._worker
    panel.controls["x"].value = 20
    first.join(PATIENCE_S)
    assert not first.is_alive()
    assert panel.runs == []
    panel.close()
    assert panel.wait(PATIENCE_S)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            NetlabError("The queue is <too> short.\nGive it a packet."),
            "The queue is <too> short.\nGive it a packet.",
        ),
        (ZeroDivisionError("division by zero"), "the mistake is in netlab"),
    ],
)
def test_errors_appear_as_sentences_and_go_with_the_next_good_run(error, words):
    def sometimes(*, x, progress, cancel):
        if x == 1:
            raise error
        return x

    panel = make_panel(sometimes)
    panel.refresh()
    panel.controls["x"].value = 1
    assert panel.wait(PATIENCE_S)
    assert words in panel.message
    assert "<too>" not in panel.box.children[2].value, "text must not become markup"
    assert panel.runs == [3], "the last good run stays"
    panel.controls["x"].value = 2
    assert panel.wait(PATIENCE_S)
    assert panel.message == ""


def test_progress_shows_while_a_run_is_under_way():
    seen: list[Any] = []

    def watched(*, x, progress, cancel):
        progress(3.0, 4.0)
        bar = panel.box.children[1]
        seen.append((bar.value, bar.layout.visibility))
        return x

    panel = make_panel(watched)
    panel.refresh()
    assert seen == [(0.75, "visible")]
    assert panel.box.children[1].layout.visibility == "hidden"


def test_closing_stops_the_run():
    started, stopped = threading.Event(), threading.Event()

    def obedient(*, x, progress, cancel):
        started.set()
        assert cancel.wait(PATIENCE_S)
        stopped.set()
        raise RunCancelled("The run was stopped.")

    panel = make_panel(obedient)
    panel.controls["x"].value = 1
    assert started.wait(PATIENCE_S)
    panel.close()
    assert stopped.wait(PATIENCE_S)


def test_sliders_report_only_where_they_come_to_rest():
    whole, fraction = (
        widgets.slider("Queue", 100, 1, 1000, 1, "packets"),
        widgets.slider("Rate", 1, 0.5, 2, 0.1),
    )
    assert isinstance(whole, ipywidgets.IntSlider)
    assert isinstance(fraction, ipywidgets.FloatSlider)
    assert not whole.continuous_update and not fraction.continuous_update
    assert whole.description == "Queue (packets)"


def test_a_choice_offers_its_options_and_starts_with_the_first():
    control = widgets.choice("Queue", ["drop-tail", "RED"])
    assert control.options == ("drop-tail", "RED") and control.value == "drop-tail"
    assert widgets.choice("Queue", ["drop-tail", "RED"], "RED").value == "RED"


def test_a_log_slider_covers_powers_of_ten():
    control = widgets.log_slider("Queue", 100, 1, 1000, unit="packets")
    assert (control.min, control.max, control.value) == (0, 3, 100)
    assert not control.continuous_update


def test_controls_are_in_columns_with_check_boxes_last_and_aligned() -> None:
    controls = {"a": widgets.toggle("A"), "long": widgets.slider("A long name", 30, 0, 100, 1, "ms")}
    controls |= {"b": widgets.toggle("B"), "kind": widgets.choice("Kind", ["one", "other"])}
    panel = widgets.Panel(controls, dict, lambda result, settings: plots.topology, run=lambda **words: None)
    rows = panel.box.children[0].children
    assert [row.children[0] for row in rows] == [controls[name] for name in ("long", "kind", "a", "b")]
    assert len({row.children[0].style.description_width for row in rows}) == 1, "all begin on one line"
    assert all(row.children[0].indent for row in rows[2:])


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (widgets.slider("x", 3, 0, 100, 1), "0 to 100"),
        (widgets.slider("x", 0.5, 0.0, 10.0, 0.1), "0 to 10"),
        (widgets.log_slider("x", 2, 0.1, 20), "0.1 to 20"),
        (ipywidgets.SelectionSlider(options=[6, 9, 54]), "6 to 54"),
    ],
)
def test_a_sliders_range_is_next_to_it(control, words) -> None:
    (row,) = widgets.control_grid([control]).children
    assert f">{words}</span>" in row.children[1].value
    low, high = words.split(" to ")
    assert f'data-low="{low}" data-high="{high}"' in row.children[1].value, (
        "the page's script judges typed numbers by it"
    )


def test_other_controls_have_no_range() -> None:
    for control in (widgets.choice("x", ["a"]), widgets.toggle("x")):
        (row,) = widgets.control_grid([control]).children
        assert row.children == (control,)


def test_only_a_line_for_progress_is_between_controls_and_figure() -> None:
    panel = make_panel()
    panel.refresh()
    _, bar, message, _ = panel.box.children
    assert bar.layout.height == "12px" and message.layout.display == "none"
    assert panel.figure.layout.height <= 390, "with its controls it fits into a window of 768 pixels"
