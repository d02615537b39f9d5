"""The style sheet that an opened chapter brings into its page."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from netlab.plots import page, theme
from netlab_course import page_style


def test_on_a_dark_page_the_figures_own_grey_becomes_the_lighter_one() -> None:
    assert (
        f'text[style*="fill: {page_style.rgb(theme.TEXT)}"] {{ fill: {theme.TEXT_ON_DARK} !important; }}'
        in page_style.SHEET
    )


def test_a_notebook_gets_the_sheet_and_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(
        sys.modules, "IPython.display", SimpleNamespace(display=lambda bundle, raw: shown.append(bundle))
    )
    page_style.show()
    (bundle,) = shown
    assert bundle["text/html"] == f"<style>{page_style.SHEET}</style><script>\n{page.SCRIPT}</script>"
    assert bundle["text/plain"] == ""


def test_a_terminal_gets_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace())
    page_style.show()
    assert capsys.readouterr().out == ""


def test_columns_of_text_are_separated_by_two_spaces() -> None:
    table = pd.DataFrame({"flow": ["h1-h2"], "gets": ["4.78"], "theory": ["4.8"]})
    assert page_style.widen_columns(table).to_string(index=False) == " flow  gets  theory\nh1-h2  4.78     4.8"
    assert page_style.widen_columns(table.set_index("flow")).to_string().split("\n")[0].endswith("gets  theory")


def test_columns_with_wide_values_are_separated_by_two_spaces_too() -> None:
    table = pd.DataFrame({"flow": ["h1-h2"], "gets": ["1.000 ± 0.001"], "loses": ["3.3% ± 0.3%"]})
    assert page_style.widen_columns(table).to_string(index=False).split("\n")[1] == "h1-h2  1.000 ± 0.001  3.3% ± 0.3%"


def test_columns_of_numbers_are_separated_by_two_spaces() -> None:
    table = pd.DataFrame({"flow": ["h1-h2", "h1-h3"], "K": [1, 4127], "±": [0.25, 10.5]})
    lines = page_style.widen_columns(table).to_string(index=False).split("\n")
    assert [line.split("  ")[-2:] for line in lines[2:]] == [["4127", "10.50"]]
