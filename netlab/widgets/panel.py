"""Panels in which a student moves a slider and the experiment runs again.

A `Panel` knows nothing about networks: it turns the controls' values into a scenario, runs it beside the notebook,
draws the result and keeps the earlier ones faded behind it. A chapter brings controls, scenario and drawing.
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
from netlab.widgets.controls import in_columns

Settings = dict[str, Any]
Scenario = Callable[..., Mapping[str, Any]]
Draw = Callable[[Any, Settings], go.Figure]

EARLIER_RUNS = 5
DEBOUNCE_S = 0.1
MAX_FIGURE_PX = 390


class Panel:
    """Controls above a figure; a moved control runs the experiment again without blocking the notebook.

    A run that the next move overtakes is stopped and dropped. Mistakes appear in the panel as sentences. The first
    run happens when the panel is shown, so that an executed notebook holds its figure.

    Parameters
    ----------
    controls : mapping of name to widget
        Sliders and toggles; their names are the arguments of `scenario`.
    scenario : callable
        The controls' values as keywords to the keywords of `run`.
    draw : callable
        The result and the values to a figure of `netlab.plots`.
    run : callable
        `netlab.run`, or anything that takes the scenario's keywords, `progress` and `cancel`.
    earlier : int
        How many earlier runs stay visible.
    debounce_s : float
        How long a control must rest before a run starts, in s.

    Attributes
    ----------
    figure : plotly Figure
        What the panel shows; None before the first run.
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
        self.controls = dict(controls)
        self.runs: list[Any] = []
        self.figure: go.Figure | None = None
        # A widget with Plotly inside (5 MB of code) gave up silently on busy machines: the browser allows it two seconds.
        self._chart = ipywidgets.Output()
        self._scenario = scenario
        self._draw = draw
        self._run = run
        self._earlier = earlier
        self._debounce_s = debounce_s
        self._drawn: list[go.Figure] = []
        self._cancel = threading.Event()
        self._worker: threading.Thread | None = None
        self._engine = threading.Lock()  # one run at a time: the next waits until the stopped one has gone
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
        self.box = ipywidgets.VBox([in_columns([*others, *boxes]), self._bar, self._message, self._chart])

    @property
    def settings(self) -> Settings:
        """The controls' values now."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def message(self) -> str:
        """The sentence that the panel shows, empty when all is well."""
        return html.unescape(self._message.value.removeprefix("⚠ ").replace("<br>", "\n"))

    def refresh(self) -> None:
        """Run the present settings and wait for the result."""
        self._start(0.0)
        self.wait()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the latest run is drawn or has failed; False when `timeout_s` passed before."""
        worker = self._worker
        if worker is None:
            return True
        worker.join(timeout_s)
        return not worker.is_alive()

    def close(self) -> None:
        """Stop the run that is going on and remove the panel."""
        self._cancel.set()
        self.box.close()

    def _start(self, rest_s: float) -> None:
        self._cancel.set()
        self._cancel = cancel = threading.Event()
        if sys.platform == "emscripten":
            # A browser has no threads: runs take their turn with what the page sends.
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
        if not self._rested(cancel, rest_s):
            return
        with self._engine:
            if cancel.is_set():
                return
            try:
                self._tell(cancel, 0.0)
                result = self._run(
                    **self._scenario(**settings),
                    progress=lambda done_s, whole_s: self._tell(cancel, done_s / whole_s if whole_s else 0.0),
                    cancel=cancel,
                )
                drawn = self._draw(result, settings)
            except RunCancelled:
                return
            except NetlabError as error:
                self._fail(cancel, str(error))
            except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell
                self._fail(cancel, f"This did not work, and the mistake is in netlab, not yours: {error!r}.")
            else:
                self._show(cancel, result, drawn)

    @staticmethod
    def _rested(cancel: threading.Event, rest_s: float) -> bool:
        """Wait; whether no later move came meanwhile."""
        return not cancel.wait(rest_s)

    def _tell(self, cancel: threading.Event, share: float) -> None:
        with self._screen:
            if not cancel.is_set():
                self._bar.layout.visibility = "visible"
                self._bar.value = share

    def _fail(self, cancel: threading.Event, sentences: str) -> None:
        with self._screen:
            if not cancel.is_set():
                self._bar.layout.visibility = "hidden"
                self._say("⚠ " + html.escape(sentences).replace("\n", "<br>"))

    def _say(self, markup: str) -> None:
        self._message.value = markup
        # An empty line would move the figure down.
        self._message.layout.display = None if markup else "none"

    def _show(self, cancel: threading.Event, result: Any, drawn: go.Figure) -> None:
        with self._screen:
            if cancel.is_set():
                return
            behind = [trace for age, figure in enumerate(self._drawn, start=1) for trace in plots.faded(figure, age)]
            self.runs = [*self.runs, result][-self._earlier - 1 :]
            self._drawn = [drawn, *self._drawn][: self._earlier]
            self._say("")
            self._bar.layout.visibility = "hidden"
            self.figure = go.Figure([*behind, *drawn.data], drawn.layout)
            # With its controls it fits into the window of a laptop.
            height_px = self.figure.layout.height or MAX_FIGURE_PX
            self.figure.update_layout(height=min(height_px, MAX_FIGURE_PX))
            data = {"output_type": "display_data", "metadata": {}, "data": notebook_forms(self.figure)}
            self._chart.outputs = (data,)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # From here, because a panel draws in a thread, whose output belongs to no cell.
        page.show_once()
        if not self.runs:
            self.refresh()
        bundle = self.box._repr_mimebundle_(**kwargs) or {}  # with the widget, where a kernel is behind the page
        # Forms for pages that show no widgets: nbviewer, and JupyterLab while it does not trust the notebook.
        forms = {"text/html": f"<p>{self._message.value}</p>"} if self.figure is None else notebook_forms(self.figure)
        return {**bundle, **forms, "text/plain": repr(self)}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"Panel({values})"


PanelParts = tuple[Mapping[str, ipywidgets.ValueWidget], Scenario, Draw]
"""What a panel is made of: its controls, the scenario that they ask for, and how a result is drawn."""


def panel_maker(*, earlier: int = EARLIER_RUNS) -> Callable[[Callable[[], PanelParts]], Callable[..., Panel]]:
    """Turn a function that returns a panel's parts into one that returns the panel, with so many `earlier` runs visible.

    That one takes `run`: what runs a scenario, by default `netlab.run`.
    """

    def decorate(parts: Callable[[], PanelParts]) -> Callable[..., Panel]:
        @functools.wraps(parts)
        def panel(*, run: Callable[..., Any] = experiment.run) -> Panel:
            return Panel(*parts(), run=run, earlier=earlier)

        return panel

    return decorate
