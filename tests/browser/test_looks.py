"""The look of figures in a browser, on a white and on a dark page: comparison with pictures that a person has checked.

NETLAB_NEW_LOOKS=1 writes new pictures into tests/data/looks; look at them before you commit them.
"""

from __future__ import annotations

import json
import os
import types
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from PIL import Image
from plotly.offline import get_plotlyjs

from netlab import plots, theory, widgets
from netlab.network import topologies
from netlab.plots import notebook
from tests.browser import chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.PROGRAM is None, reason="needs Debian's chromium: apt install chromium"),
]

LOOKS = Path(__file__).parents[1] / "data" / "looks"
WIDTH, HEIGHT = 900, 2150
CELL = 16  # pixels; fonts differ between machines, layout and colours do not
MAX_MOVED = 0.05
STANDS_OUT = 60  # of 255


def comparison(title: str = "Goodput against the offered rate") -> plots.Comparison:
    offered = np.array([1.0, 3.0, 5.0, 8.0, 10.0])
    figure = plots.Comparison("Offered rate (Mbit/s)", "Goodput (Mbit/s)", title)
    for rate_mbps in (5, 3):
        figure.add(
            f"{rate_mbps} Mbit/s",
            offered,
            np.minimum(offered, rate_mbps * 0.96),
            np.linspace(0.1, 10, 100),
            lambda rate, most=rate_mbps: theory.udp_goodput_mbps(rate, most),
            published=([5.0, 10.0], [4.8 * rate_mbps / 5] * 2),
        )
    return figure


def over_time() -> object:
    t_s = np.arange(0.0, 10.0, 0.1)
    flows = [
        pd.DataFrame(
            {"flow": f"h{n} > h4", "t_s": t_s, "goodput_mbps": 5 / n, "cwnd_segments": 10 + 10 * np.abs((t_s * n) % 4)}
        )
        for n in (1, 2)
    ]
    queues = pd.DataFrame(
        {"interface": "r1-eth1", "t_s": t_s, "backlog_packets": 10 * (t_s % 4), "backlog_bytes": 15140 * (t_s % 4)}
    )
    run = types.SimpleNamespace(
        intervals=pd.concat(flows), queues=queues, flows=pd.DataFrame({"flow": ["h1 > h4", "h2 > h4"]})
    )
    return plots.time_series(run, ("goodput_mbps", "cwnd_segments"), title="Two flows over time")


def panel_figure() -> object:
    def draw(result: float, settings: dict[str, float]) -> object:
        return (
            plots.Comparison("x", "y", f"x is {settings['x']}")
            .add("measured", [settings["x"]], [result], [0, 100], [0, 200])
            .figure
        )

    panel = widgets.Panel(
        {"x": widgets.slider("x", 30, 0, 100, 1)},
        lambda x: {"x": x},
        draw,
        run=lambda *, x, progress, cancel: 2.0 * x,
        debounce_s=0.0,
    )
    panel.refresh()
    panel.controls["x"].value = 60
    assert panel.wait(20)
    return panel.figure


def page(folder: Path, background: str, *, title: str = "Goodput against the offered rate") -> Path:
    network = topologies.dumbbell(pairs=2, rate_mbps=5, delay_ms=10, queue_packets=100)
    figures = [
        comparison(title).figure,
        plots.topology(network, title="Two pairs share a link"),
        over_time(),
        panel_figure(),
    ]
    (folder / "plotly.js").write_text(get_plotlyjs(), encoding="utf-8")
    drawn = "".join(
        f"<div id='f{n}'></div><script>fig = {go.Figure(notebook.prepare(figure.to_dict())).to_json()}; "
        f"Plotly.newPlot('f{n}', fig.data, fig.layout, {{displayModeBar: false}})</script>"
        for n, figure in enumerate(figures)
    )
    path = folder / "page.html"
    path.write_text(
        f"<!doctype html><meta charset='utf-8'><body style='margin:0;background:{background}'><script src='plotly.js'></script>{drawn}",
        encoding="utf-8",
    )
    return path


def moved_share(one: Path, other: Path) -> float:
    """The share of a picture's inked cells that have no ink of that kind nearby in the other picture, the larger of both ways."""
    maps = [ink(path) for path in (one, other)]
    return max(float((a & ~near(b)).sum() / max(a.sum(), 1)) for a, b in (maps, maps[::-1]))


def ink(path: Path) -> np.ndarray:
    """For each cell and each colour channel, whether something on it stands out from the page."""
    with Image.open(path) as opened:
        pixels = np.asarray(opened.convert("RGB"), dtype=float)[: HEIGHT // CELL * CELL, : WIDTH // CELL * CELL]
    apart = np.abs(pixels - pixels[-1, -1]).reshape(HEIGHT // CELL, CELL, WIDTH // CELL, CELL, 3)
    return apart.max(axis=(1, 3)) > STANDS_OUT


def near(cells: np.ndarray) -> np.ndarray:
    """Cells with ink on them or next to them."""
    padded = np.pad(cells, ((1, 1), (1, 1), (0, 0)))
    rows, columns = cells.shape[:2]
    return np.logical_or.reduce([padded[y : y + rows, x : x + columns] for y in range(3) for x in range(3)])


@pytest.mark.parametrize(("name", "background"), [("light", "#ffffff"), ("dark", "#111111")])
def test_figures_look_as_they_did_when_a_person_looked_at_them(tmp_path: Path, name: str, background: str) -> None:
    seen = chromium.picture(page(tmp_path, background), tmp_path / f"{name}.png", WIDTH, HEIGHT)
    kept = LOOKS / f"{name}.png"
    if os.environ.get("NETLAB_NEW_LOOKS"):
        LOOKS.mkdir(exist_ok=True)
        with Image.open(seen) as opened:
            opened.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(kept, optimize=True)
    share = moved_share(seen, kept)
    assert share <= MAX_MOVED, f"expected {kept}, measured {share:.1%} of the ink elsewhere, tolerance {MAX_MOVED:.0%}"


def test_a_figure_that_lost_its_axes_and_legend_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = comparison()
    lost.figure.update_xaxes(visible=False).update_yaxes(visible=False).update_layout(showlegend=False)
    monkeypatch.setattr("tests.browser.test_looks.comparison", lambda title: lost)
    seen = chromium.picture(page(tmp_path, "#ffffff"), tmp_path / "seen.png", WIDTH, HEIGHT)
    share = moved_share(seen, LOOKS / "light.png")
    assert share > MAX_MOVED, f"expected more than {MAX_MOVED:.0%} of the ink elsewhere, measured {share:.1%}"


WIDTHS = (480, 720, 1300, 480)
"""From one to the next as JupyterLab does it: draw, then take the new width."""
MEASURE = """(async () => {
  const found = [];
  for (const width of WIDTHS) {
    for (const figure of document.querySelectorAll('.js-plotly-plot')) {
      figure.style.width = width + 'px';
      await Plotly.redraw(figure);
      await Plotly.Plots.resize(figure);
      const [legend, title, plot] = ['.legend', '.gtitle', '.nsewdrag'].map(
        name => figure.querySelector(name)?.getBoundingClientRect());
      found.push([width, title ? title.bottom : 0, legend.top, legend.bottom, plot.top]);
    }
  }
  document.body.innerHTML = '<pre id="found">' + JSON.stringify(found) + '</pre>';
})()"""


@pytest.mark.parametrize("title", ["Goodput against the offered rate", "Goodput<br>against the offered rate"])
def test_legend_never_covers_title_or_plot_at_any_page_size(tmp_path: Path, title: str) -> None:
    shown = page(tmp_path, "#ffffff", title=title)
    with shown.open("a", encoding="utf-8") as opened:
        opened.write(f"<script>{MEASURE.replace('WIDTHS', json.dumps(WIDTHS))}</script>")
    found = json.loads(chromium.words(shown, "found"))
    assert len(found) == 4 * len(WIDTHS)
    for width, title_bottom, legend_top, legend_bottom, plot_top in found:
        assert title_bottom < legend_top + 2 and legend_bottom < plot_top + 2, f"at {width} pixels"
