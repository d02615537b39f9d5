"""Panels in which a student moves a slider and the experiment runs again.

A `Panel` knows nothing about networks: it turns the controls' values into a scenario, runs it in a thread, draws the
result and shows earlier ones faded behind it. A chapter supplies the controls, the scenario and the drawing.
"""

import asyncio
import functools
import html
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets
import plotly.graph_objects as go

from netlab import plots
from netlab.base.errors import NetlabError, RunCancelled
from netlab.plots import page
from netlab.plots.notebook import notebook_forms
from netlab.runs import experiment
from netlab.widgets.controls import control_grid

Settings = dict[str, Any]
Scenario = Callable[..., Mapping[str, Any]]
Draw = Callable[[Any, Settings], go.Figure]

EARLIER_RUNS = 5
DEBOUNCE_S = 0.1
MAX_FIGURE_PX = 390


class Panel:
    """A widget with controls above a figure; a change of a control runs the experiment again in a thread.

    A run that is overtaken by the next change is stopped and discarded. Errors appear in the panel as text. The first
    run starts when the panel is shown, so that an executed notebook contains its figure.

    Parameters
    ----------
    controls : mapping of name to widget
        Sliders and check boxes; their names are the arguments of `scenario`.
    scenario : callable
        Returns the keyword arguments of `run` for the controls' values, which it gets as keywords.
    draw : callable
        Returns a figure of `netlab.plots` for the result and the controls' values.
    run : callable
        `netlab.run`, or a function with the same arguments, `progress` and `cancel` among them.
    earlier : int
        The number of earlier runs that stay visible.
    debounce_s : float
        The time in s for which a control must be unchanged before a run starts.

    Attributes
    ----------
    figure : plotly Figure
        The figure that the panel shows; None before the first run.
    runs : list
        The latest result and the earlier ones that are still visible, oldest first.
    """

    def __init__(
        self,
        controls: Mapping[str, ipywidgets.ValueWidget],
        scenario: Scenario,
        draw: Draw,
        *,
        run: Callable[..., Any] = experiment.run,
        earlier: int = EARLIER_RUNS,
        debounce_s: float = DEBOUNCE_S,
    ) -> None:
        """Arrange the controls above an empty figure; the first run starts when it is shown, others `debounce_s`
        seconds after a change. For the controls' values by name, `scenario` returns arguments of `run`, and `draw` the
        figure of a result and these. The last `earlier` runs stay faint.
        """
        self.controls = dict(controls)
        self.runs: list[Any] = []
        self.figure: go.Figure | None = None
        # Do not use a widget that contains Plotly (5 MB of code): on busy machines it fails silently, because the
        # browser allows it two seconds.
        self._chart = ipywidgets.Output()
        self._scenario = scenario
        self._draw = draw
        self._run = run
        self._max_earlier = earlier
        self._debounce_s = debounce_s
        self._figures: list[go.Figure] = []
        self._cancel = threading.Event()
        self._worker: threading.Thread | None = None
        self._engine = threading.Lock()  # one run at a time: the next waits until the stopped one has ended
        self._screen = threading.Lock()
        self._bar = ipywidgets.FloatProgress(
            min=0,
            max=1,
            tooltip="running",
            layout={"width": "100%", "height": "12px", "visibility": "hidden", "margin": "0"},
        )
        self._message = ipywidgets.HTML(layout={"display": "none"})
        for control in self.controls.values():
            control.observe(lambda _change: self._start(self._debounce_s), names="value")
        boxes = [control for control in self.controls.values() if isinstance(control, ipywidgets.Checkbox)]
        others = [control for control in self.controls.values() if control not in boxes]
        self.box = ipywidgets.VBox([control_grid([*others, *boxes]), self._bar, self._message, self._chart])

    @property
    def settings(self) -> Settings:
        """The current values of the controls, by their names."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def message(self) -> str:
        """The message that the panel shows, empty if there is none."""
        return html.unescape(self._message.value.removeprefix("⚠ ").replace("<br>", "\n"))

    def refresh(self) -> None:
        """Run the current settings, and wait for the result."""
        self._start(0.0)
        self.wait()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the latest run is drawn or has failed; return False after `timeout_s` seconds (None: no limit)."""
        worker = self._worker
        if worker is None:
            return True
        worker.join(timeout_s)
        return not worker.is_alive()

    def close(self) -> None:
        """Stop the current run and remove the panel."""
        self._cancel.set()
        self.box.close()

    def _start(self, rest_s: float) -> None:
        """Cancel the run and start one with the current settings after `rest_s` s, in a thread (not in a browser)."""
        self._cancel.set()
        self._cancel = cancel = threading.Event()
        if sys.platform == "emscripten":
            # A browser has no threads: runs alternate with messages of the page.
            work = functools.partial(self._work, self.settings, cancel, 0.0)
            if rest_s:
                asyncio.get_event_loop().call_later(rest_s, work)
            else:
                work()
            return
        self._worker = threading.Thread(
            target=self._work, args=(self.settings, cancel, rest_s), name="netlab panel", daemon=True
        )
        self._worker.start()

    def _work(self, settings: Settings, cancel: threading.Event, rest_s: float) -> None:
        """Run the settings after `rest_s` seconds and show the result or error, unless `cancel` is set before."""
        if not self._wait_unchanged(cancel, rest_s):
            return
        with self._engine:
            if cancel.is_set():
                return
            try:
                self._show_progress(cancel, 0.0)
                result = self._run(
                    **self._scenario(**settings),
                    progress=lambda done_s, whole_s: self._show_progress(cancel, done_s / whole_s if whole_s else 0.0),
                    cancel=cancel,
                )
                drawn = self._draw(result, settings)
            except RunCancelled:
                return
            except NetlabError as error:
                self._show_error(cancel, str(error))
            except Exception as error:  # noqa: BLE001 - an exception in a thread would be lost
                self._show_error(cancel, f"This did not work, and the mistake is in netlab, not yours: {error!r}.")
            else:
                self._show_result(cancel, result, drawn)

    @staticmethod
    def _wait_unchanged(cancel: threading.Event, rest_s: float) -> bool:
        """Wait for `rest_s` seconds; return False if a later change cancelled the run meanwhile."""
        return not cancel.wait(rest_s)

    def _show_progress(self, cancel: threading.Event, share: float) -> None:
        """Show the finished share of a run, from 0 to 1, unless it was cancelled."""
        with self._screen:
            if not cancel.is_set():
                self._bar.layout.visibility = "visible"
                self._bar.value = share

    def _show_error(self, cancel: threading.Event, sentences: str) -> None:
        """Show an error's text instead of a result, unless the run was cancelled."""
        with self._screen:
            if not cancel.is_set():
                self._bar.layout.visibility = "hidden"
                self._set_message("⚠ " + html.escape(sentences).replace("\n", "<br>"))

    def _set_message(self, markup: str) -> None:
        """Show a message in HTML above the figure; "" removes it."""
        self._message.value = markup
        # An empty line would move the figure down.
        self._message.layout.display = None if markup else "none"

    def _show_result(self, cancel: threading.Event, result: Any, drawn: go.Figure) -> None:
        """Show the figure of a result before the faded earlier ones, and keep both, unless the run was cancelled."""
        with self._screen:
            if cancel.is_set():
                return
            traces = [
                trace for age, figure in enumerate(self._figures, start=1) for trace in plots.faded_traces(figure, age)
            ]
            self.runs = [*self.runs, result][-self._max_earlier - 1 :]
            self._figures = [drawn, *self._figures][: self._max_earlier]
            self._set_message("")
            self._bar.layout.visibility = "hidden"
            self.figure = go.Figure([*traces, *drawn.data], drawn.layout)
            # Together with its controls, the figure fits into a laptop's window.
            height_px = self.figure.layout.height or MAX_FIGURE_PX
            self.figure.update_layout(height=min(height_px, MAX_FIGURE_PX))
            data = {"output_type": "display_data", "metadata": {}, "data": notebook_forms(self.figure)}
            self._chart.outputs = (data,)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Return the forms that a notebook shows, by MIME type; run the first settings if nothing has run."""
        # Add the script here: a panel draws in a thread, whose output belongs to no cell.
        page.show_once()
        if not self.runs:
            self.refresh()
        bundle = self.box._repr_mimebundle_(**kwargs) or {}  # includes the widget if the page has a kernel
        # Formats for pages without widgets: nbviewer, and JupyterLab if it does not trust the notebook.
        forms = {"text/html": f"<p>{self._message.value}</p>"} if self.figure is None else notebook_forms(self.figure)
        return {**bundle, **forms, "text/plain": repr(self)}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"Panel({values})"


PanelParts = tuple[Mapping[str, ipywidgets.ValueWidget], Scenario, Draw]
"""The parts of a panel: its controls, the scenario for their values, and the drawing of a result."""


def panel_maker(*, earlier: int = EARLIER_RUNS) -> Callable[[Callable[[], PanelParts]], Callable[..., Panel]]:
    """Return a decorator for a function that returns a panel's parts: it then takes `run`, the function that runs a
    scenario, by default `netlab.run`, and returns the whole panel, which shows `earlier` earlier runs.
    """

    def decorate(parts: Callable[[], PanelParts]) -> Callable[..., Panel]:
        """Return a function that returns a new panel with the parts that `parts()` returns."""

        @functools.wraps(parts)
        def panel(*, run: Callable[..., Any] = experiment.run) -> Panel:
            """Return a new panel, whose scenarios `run` runs."""
            return Panel(*parts(), run=run, earlier=earlier)

        return panel

    return decorate
