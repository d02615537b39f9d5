"""A figure that grows while network time passes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go

from netlab import plots
from netlab.base.errors import NetlabError, ScenarioError, one_of
from netlab.measure.results import INTERVAL_COLUMNS, Run
from netlab.plots.chart import Chart, notebook_forms
from netlab.plots.series import LABELS

DEFAULT = ("goodput_mbps", "cwnd_segments")
QUANTITIES = tuple(column for column in INTERVAL_COLUMNS if column in LABELS and column != "t_s")
EVERY_S = 1.0
"""A browser on a busy machine needs some tenths of a second for a figure; given more of them it stops answering."""


def check(quantities: Sequence[str], interfaces: Sequence[str] | None, known: Sequence[str]) -> None:
    """Look whether there can be such a figure of a network whose queues are at the `known` interfaces.

    Raises ScenarioError with every mistake.
    """
    problems = []
    for name, given, allowed in (("quantities", quantities, QUANTITIES), ("interfaces", interfaces or (), known)):
        if isinstance(given, str):
            problems.append(f"{name} must be a tuple, got {given!r}; write ({given!r},)")
        elif not allowed and given:
            problems.append(
                f"{name}: got {', '.join(given)}, but no link has a rate_mbps, so there is no queue to show"
            )
        else:
            problems += [f"{name}: {one_of(word, allowed)}" for word in given if word not in allowed]
    if problems:
        raise ScenarioError(problems)


class Growing:
    """A figure in a notebook that is drawn again with all that was measured so far.

    It has a strip for each of `quantities`, columns of `run.intervals`, and `interfaces` as `netlab.plots.time_series`
    takes them.
    """

    def __init__(self, quantities: tuple[str, ...], interfaces: tuple[str, ...] | None) -> None:
        self._quantities = quantities
        self._interfaces = interfaces
        self._drawn_s = 0.0
        self._output: Any = None
        self._figure: go.Figure | None = None
        self.chart = Chart()

    def show(self) -> None:
        """Show it in the output of the present cell."""
        from IPython.display import display

        self._output = display(self.chart, display_id=True)  # type: ignore[no-untyped-call]

    def finish(self, run: Run) -> None:
        """Draw all and leave a figure of the ordinary kind in the output, which is saved with the notebook."""
        self.draw(run)
        if self._figure is not None and self._output is not None:
            self._output.update(notebook_forms(self._figure), raw=True)

    def draw_now_and_then(self, run: Callable[[], Run]) -> None:
        """Draw once a second of wall-clock time, however often this is called."""
        if time.monotonic() - self._drawn_s >= EVERY_S:
            self.draw(run())
            self._drawn_s = time.monotonic()

    def draw(self, run: Run) -> None:
        """Draw what there is; before the first interval that is nothing.

        Raises NetlabError when a quantity is not known.
        """
        since_s = 0.0 if run.flows.empty else float(run.flows.start_s.min())
        run = replace(
            run, intervals=run.intervals[run.intervals.t_s >= since_s], queues=run.queues[run.queues.t_s >= since_s]
        )
        if run.intervals.empty and run.queues.empty:
            return
        try:
            self._figure = plots.time_series(run, self._quantities, interfaces=self._sampled(run))
        except NetlabError as error:
            if "no series to draw" in str(error):
                return
            raise
        self.chart.show(self._figure)

    def _sampled(self, run: Run) -> list[str] | None:
        """The wanted interfaces that have a sample already: a link that was just given a rate has none."""
        if self._interfaces is None:
            return None
        sampled = set(run.queues.interface)
        return [interface for interface in self._interfaces if interface in sampled]
