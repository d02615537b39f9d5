"""The script that gives a notebook's figures and sliders their names comes into a page once for each kernel."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import plotly.graph_objects as go
import pytest

from netlab.plots import page
from netlab.plots.notebook import notebook_forms


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """The outputs of a notebook whose kernel has just started."""
    bundles: list[dict[str, str]] = []
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(
        sys.modules, "IPython.display", SimpleNamespace(display=lambda bundle, raw: bundles.append(bundle))
    )
    monkeypatch.setattr(page, "_shells_with_script", [])
    return bundles


def test_the_first_figure_brings_the_script_and_the_next_one_does_not(displayed: list[dict[str, str]]) -> None:
    for _ in range(2):
        notebook_forms(go.Figure(go.Scatter(y=[1, 2])))
    assert [bundle["text/html"] for bundle in displayed] == [f"<script>\n{page.SCRIPT}</script>"]


def test_a_thread_whose_output_belongs_to_no_cell_brings_nothing(displayed: list[dict[str, str]]) -> None:
    worker = threading.Thread(target=page.show_once)
    worker.start()
    worker.join()
    assert not displayed


def test_a_chapters_style_sheet_comes_with_the_script_so_that_its_figures_bring_none(
    displayed: list[dict[str, str]],
) -> None:
    page.show("<style>p {}</style>")
    page.show_once()
    assert [bundle["text/html"].startswith("<style>p {}</style><script>") for bundle in displayed] == [True]


def test_a_terminal_gets_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace())
    page.show_once()
    assert capsys.readouterr().out == ""
