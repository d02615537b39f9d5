"""A notebook as one page: figures, formulas and pictures are in it, and nothing is asked of the network."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat
import plotly.graph_objects as go

from netlab import plots
from netlab_course import paper


def write_notebook(path: Path, *cells: nbformat.NotebookNode) -> Path:
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), path)
    return path


def test_a_page_holds_plotly_once_and_loads_nothing(tmp_path: Path) -> None:
    figures = [go.Figure(go.Bar(x=["a"], y=[height])) for height in (4, 5)]
    outputs = [nbformat.v4.new_output("display_data", {"text/html": plots.page_html(figure)}) for figure in figures]
    cells = [nbformat.v4.new_code_cell("", outputs=[output]) for output in outputs]
    text = paper.page(write_notebook(tmp_path / "mine.ipynb", *cells))
    assert text.count('aria-label="Figure') == 2
    assert not re.search(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', text)
    assert text.count("* plotly.js v") == 1


def test_formulas_are_mathml_and_code_with_dollars_stays_code(tmp_path: Path) -> None:
    source = "The limit $C \\frac{P}{P+46}$, and\n\n$$W = R \\cdot T$$\n\nin `$HOME`."
    text = paper.page(write_notebook(tmp_path / "mine.ipynb", nbformat.v4.new_markdown_cell(source)))
    assert len(re.findall(r'<math[^>]*display="inline"[^>]*>.*?<mfrac>', text)) == 1
    assert len(re.findall(r'<math[^>]*display="block"', text)) == 1
    assert "<code>$HOME</code>" in text and r"\frac" not in text


def test_a_slip_in_a_formula_stays_as_it_was_typed(tmp_path: Path) -> None:
    text = paper.page(write_notebook(tmp_path / "mine.ipynb", nbformat.v4.new_markdown_cell(r"My note: $x^2^3 < 5$.")))
    assert "<code>x^2^3 &lt; 5</code>" in text


def test_a_picture_that_was_dropped_into_a_note_is_in_the_page(tmp_path: Path) -> None:
    picture = base64.b64encode(b"GIF89a").decode()
    cell = nbformat.v4.new_markdown_cell(
        "![mine](attachment:mine.gif)", attachments={"mine.gif": {"image/gif": picture}}
    )
    assert f"data:image/gif;base64,{picture}" in paper.page(write_notebook(tmp_path / "mine.ipynb", cell))
