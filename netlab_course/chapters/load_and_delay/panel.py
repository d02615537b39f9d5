"""The panel of the chapter on load and delay."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots
from netlab.widgets import PanelParts, Settings, choice, panel_maker, slider
from netlab_course.chapters.load_and_delay.experiments import KINDS, mean_delay_ms, theory_ms

MIN_LOAD, MAX_LOAD = 0.1, 0.98
MAX_DURATION_S = 60


@panel_maker(earlier=12)
def panel() -> PanelParts:
    """Return the parts of a panel that shows the mean delay of datagrams at random moments over one link by load, each
    point one run: its controls, and the functions that make its scenario and its figure.
    """

    def scenario(load: float, duration_s: int, draw: int, sizes: str) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: a scenario with this load (share of the time in which the link
        is busy, 0 to 1), this duration and the seed `draw`; `sizes` is a key of `KINDS`.
        """
        return {"topology": replace(KINDS[sizes][0](load, duration_s), seed=draw)}

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the mean delay in the run `result` by load, with theory; `settings` has the values of
        the controls.
        """
        load, sizes = settings["load"], settings["sizes"]
        delay_ms, expected_ms = mean_delay_ms(result.flows), theory_ms(sizes, load)
        comparison = plots.Comparison(
            x_label="Load (share of the time in which the link is busy)",
            y_label="Mean delay (ms)",
            title=f"{sizes}, {100 * load:.0f} % for {settings['duration_s']} s: {delay_ms:.1f} ms (theory {expected_ms:.1f} ms)",
            log_y=True,
        ).add(
            "measured",
            [load],
            [delay_ms],
            np.linspace(0.02, MAX_LOAD + 0.005, 120),
            np.vectorize(lambda at: theory_ms(sizes, at)),
            details=[f"{settings['duration_s']} s, draw {settings['draw']}"],
        )
        return comparison.fix_axes(x=(0, 1), y=(1, 200), residual=60)

    controls = {
        "load": slider("Load", 0.5, MIN_LOAD, MAX_LOAD, 0.01),
        "duration_s": slider("Length of the run", 10, 2, MAX_DURATION_S, 2, "s"),
        "draw": slider("Draw", 1, 1, 50, 1),
        "sizes": choice("Datagrams of", list(KINDS)),
    }
    return controls, scenario, show
