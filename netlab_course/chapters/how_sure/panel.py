"""The panel of the chapter "How sure are you?"."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import theory
from netlab.widgets import PanelParts, Settings, choice, panel_maker, slider
from netlab_course.chapters.how_sure.experiments import miss_mask, strokes_figure
from netlab_course.chapters.how_sure.settings import INTERVALS, RUNS_EACH, TRUE_LOSS_RATE, known_loss

FACTORS = {"Student's": None, "1.96": 1.96, "1 (standard error)": 1.0}


@panel_maker(earlier=0)
def panel() -> PanelParts:
    """Return the parts of a panel that shows twenty intervals of a known loss rate, and how many miss it; each flow of
    the run is a draw. The parts are its controls, and the functions that make its scenario and its figure.
    """

    def scenario(runs: int, datagrams: int, draw: int, factor: str) -> dict[str, Any]:  # noqa: ARG001 (drawn, not run)
        """Return the arguments of `netlab.run`, by name: for each of 20 intervals `runs` flows of this many datagrams
        over a link with random losses, with the seed `draw`; `factor` only changes the figure.
        """
        return {"topology": replace(known_loss(INTERVALS * runs, datagrams=datagrams), seed=draw)}

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the intervals of the loss rates in the run `result` with the true one; the title has the
        number of those that miss it. `settings` has the values of the controls.
        """
        runs, factor = settings["runs"], FACTORS[settings["factor"]]
        values = result.flows["loss_rate"].to_numpy(dtype=float).reshape(INTERVALS, runs)
        factor = theory.student_t(runs) if factor is None else factor
        halves = factor * values.std(axis=1, ddof=1) / np.sqrt(runs)
        found = list(zip(values.mean(axis=1), halves, strict=True))
        missed = miss_mask(found, TRUE_LOSS_RATE).sum()
        figure = strokes_figure(
            found, TRUE_LOSS_RATE, title=f"{missed} of {INTERVALS} intervals miss; each is of {runs} values"
        )
        return figure.update_yaxes(range=[0, 0.25])

    controls = {
        "runs": slider("Values in an interval", RUNS_EACH, 2, 8, 1),
        "datagrams": slider("Datagrams for each value", 200, 50, 400, 50),
        "draw": slider("Draw", 1, 1, 50, 1),
        "factor": choice("Factor", list(FACTORS)),
    }
    return controls, scenario, show
