"""The script of a notebook's page in a browser: names of figures and sliders, and the answer to a typed number."""

from __future__ import annotations

import json
from pathlib import Path

import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from netlab import plots, widgets
from netlab.plots import page
from netlab.plots.notebook import notebook_forms
from tests.browser import chromium
from tests.plots.samples import udp_comparison

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.PROGRAM is None, reason="needs Debian's chromium: apt install chromium"),
]

# The elements of ipywidgets 8.1: nothing names the handle or the number.
SLIDER = """
<div class="jupyter-widgets widget-inline-hbox widget-slider widget-hslider">
  <label class="widget-label">{label}</label>
  <div class="slider-container"><div class="noUi-handle" role="slider" tabindex="0" aria-valuemin="0" aria-valuemax="9"></div></div>
  <div class="widget-readout" contenteditable="true">{value}</div>
</div>"""
TYPE = """(async () => {
  const wait = ms => new Promise(done => setTimeout(done, ms));
  await wait(1000);
  const found = {};
  const plot = document.querySelector('.js-plotly-plot');
  found.figure = [plot.getAttribute('role'), plot.getAttribute('aria-label')];
  const handle = document.querySelector('[role=slider]'), readout = document.querySelector('.widget-readout');
  found.handle = document.getElementById(handle.getAttribute('aria-labelledby')).textContent;
  found.readout = document.getElementById(readout.getAttribute('aria-labelledby')).textContent;
  const range = document.querySelector('.netlab-range');
  found.words = {};
  for (const typed of TYPED) {
    handle.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    found.words['before ' + typed] = range.textContent;
    readout.focus();
    readout.textContent = typed;
    readout.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    found.words[typed] = range.textContent;
  }
  document.body.innerHTML = '<pre id="found"></pre>';
  document.getElementById('found').textContent = JSON.stringify(found);
})()"""
TYPED = ("7", "99999", "-3", "seven", "2,5")


def test_figures_and_sliders_have_names_and_wrong_numbers_a_message(tmp_path: Path) -> None:
    form = notebook_forms(udp_comparison(title="A slow link").figure)["application/vnd.plotly.v1+json"]
    (row,) = widgets.control_grid([widgets.slider("Rate", 10, 5, 20, 1, "Mbit/s")]).children
    control, words = row.children
    slider = SLIDER.format(label=control.description, value=control.value)
    (tmp_path / "plotly.js").write_text(get_plotlyjs(), encoding="utf-8")
    shown = tmp_path / "page.html"
    shown.write_text(
        f"<!doctype html><meta charset='utf-8'><body><script>{page.SCRIPT}</script><script src='plotly.js'></script>"
        f"<div id='figure'></div><div class='netlab-control'>{slider}{words.value}</div>"
        f"<script>const form = {go.Figure(form['data'], form['layout']).to_json()};"
        f"Plotly.newPlot('figure', form.data, form.layout)</script>"
        f"<script>{TYPE.replace('TYPED', json.dumps(TYPED))}</script>",
        encoding="utf-8",
    )
    found = json.loads(chromium.words(shown, "found"))
    assert found["figure"] == ["img", form["layout"]["meta"]["description"]]
    assert found["handle"] == found["readout"] == "Rate (Mbit/s)"
    result = found["words"]
    assert all(result[f"before {typed}"] == result["7"] == "5 to 20" for typed in TYPED), (
        "the next touch brings the range back"
    )
    assert result["99999"] == "99999 is too large; allowed: 5 to 20"
    assert result["-3"] == "-3 is too small; allowed: 5 to 20"
    assert result["seven"] == "seven is not a number; allowed: 5 to 20"
    assert result["2,5"] == "2,5 was read as 2: write a point, not a comma"


def test_a_figure_of_a_page_without_jupyterlab_has_one_name(tmp_path: Path) -> None:
    shown = tmp_path / "page.html"
    body = plots.page_html(udp_comparison(title="A slow link").figure)
    (tmp_path / "plotly.js").write_text(get_plotlyjs(), encoding="utf-8")
    ask = """setTimeout(() => {
      const found = [...document.querySelectorAll('[role=img]')].map(each => each.getAttribute('aria-label'));
      document.body.innerHTML = '<pre id="found">' + JSON.stringify(found) + '</pre>';
    }, 1000)"""
    shown.write_text(
        f"<!doctype html><meta charset='utf-8'><body><script src='plotly.js'></script>{body}"
        f"<script>{page.SCRIPT}</script><script>{ask}</script>",
        encoding="utf-8",
    )
    (name,) = json.loads(chromium.words(shown, "found"))
    assert name.startswith("A slow link. Figure of Goodput")
