"""A live network that plays in a notebook: curves grow, and sliders change its links meanwhile.

The page sets the pace: a `Play` widget counts in the browser, and its next message waits for the reply to the last.
Each message lets the loop that receives it draw a few pictures at most, because a message costs JupyterLab about as
much as a picture. So messages never queue up before a slow browser or connection, nothing runs while nobody looks, and
closing the tab stops the traffic.
"""

from __future__ import annotations

import asyncio
import functools
import html
import signal
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets

from netlab import plots
from netlab.base.errors import NetlabError, ScenarioError
from netlab.base.units import rate_mbps
from netlab.base.values import is_number, short_repr
from netlab.network.topology import Topology
from netlab.network.wiring import queue_names
from netlab.plan import StreamSample
from netlab.plots import page
from netlab.plots.notebook import notebook_forms
from netlab.runs.scenario import Scenario, network_of
from netlab.traffic import Command, Traffic
from netlab.widgets.controls import control_grid
from netlab_engines import selection
from netlab_engines.lab.link_controls import Controls, Sliders, link_sliders, shapes_from
from netlab_engines.lab.picture_timer import PictureTimer
from netlab_engines.lab.strips import Strips
from netlab_engines.protocol.requests import Tables
from netlab_engines.protocol.session import LabEngine

if TYPE_CHECKING:
    from netlab_engines.lab.live import Lab

QUANTITIES = ("goodput_mbps", "cwnd_segments", "backlog_packets")
PACES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
MAX_S = 3600.0
PICTURE_S, PAGE_TIMER_S = 0.1, 0.3
LATEST_S = 0.3
"""The time in s by which a late picture may catch up."""
PICTURES_PER_MESSAGE = 4
"""Pictures per message of the page: one more than fit between two messages, in case the next is late."""
WORK_S = 0.1
"""The wall-clock time in s for computing a picture's network time; a slower network plays slower than requested."""
PARTS = 10
WALL_LIMIT_S = 20.0
POINTS = 300
MEAN_S = 1.0
"""The time in s over which goodput is averaged: an interval has only a handful of segments of a slow flow."""

_by_cell: dict[object, LivePanel] = {}


def live(
    network: Topology | Scenario | Mapping[str, Any],
    traffic: Sequence[Traffic],
    controls: Controls | None = None,
    *,
    seed: int = 1,
    pace: float = 10.0,
    first_s: float = 10.0,
    window_s: float = 60.0,
    duration_s: float = 600.0,
    engine: str | None = None,
) -> LivePanel:
    """Show a network in a notebook whose traffic runs live, with curves that grow and sliders that change its links
    meanwhile, and return the panel. It waits for *Play* after `first_s` s of network time.

    The curves mark the sliders' changes; goodput is the mean over a
    second. A page without widgets shows the first seconds as a figure.

    Parameters
    ----------
    network : Topology
        Or the dict of a topology file, or a scenario, whose network is used. At least one link has a rate.
    traffic : sequence of Traffic
        The traffic; no commands.
    controls : mapping, optional
        The sliders: fields by link, such as ``{("r1", "h2"): ["rate_mbps", "loss_rate"]}``, or with their ranges,
        ``{("r1", "h2"): {"rate_mbps": (1, 20)}}``. Fields are rate_mbps, delay_ms, jitter_ms, loss_rate, queue_packets
        and queue_bytes. By default, all fields of links with a rate. A slider sets the direction from the first node to
        the second, and the way back if both have the same value.
    seed : int
        Determines everything random.
    pace : float
        Network time in s per second of wall-clock time at the start, from 0.1 to 100.
    first_s, window_s, duration_s : float
        Network time in s: when the panel is first shown, in the window of the curves, and at the end.
    engine : str, optional
        As for `netlab.live`; by default the fastest that supports it.

    Returns
    -------
    LivePanel
        Its `lab` is the live network, its `figure` all measurements so far; `close()` ends it, and running its cell again does too.

    Raises
    ------
    ScenarioError
        If arguments have mistakes; it lists all of them.
    """
    topology = network_of(network)
    scenario = Scenario(topology, traffic, MAX_S, seed)
    sliders, problems = link_sliders(topology, controls)
    problems = scenario.problems() + problems
    limits = {"pace": (pace, PACES[0], PACES[-1]), "first_s": (first_s, 0, MAX_S)}
    limits |= {"window_s": (window_s, 1, MAX_S), "duration_s": (duration_s, 1, MAX_S)}
    problems += [
        f"{name} must be from {low:g} to {high:g}, got {short_repr(value)}"
        for name, (value, low, high) in limits.items()
        if not (is_number(value) and low <= value <= high)
    ]
    if isinstance(traffic, (list, tuple)) and any(isinstance(item, Command) for item in traffic):
        problems.append("a panel runs no commands; open the network with netlab.live and run them in its hosts")
    if problems:
        raise ScenarioError(problems)
    panel = LivePanel(scenario, sliders, selection.decide(engine, [scenario.plan()]), window_s, duration_s)
    panel.pace = min(PACES, key=lambda one: abs(one - pace))
    try:
        panel.advance_by(first_s)
    except BaseException:
        panel.close()
        raise
    return panel


class LivePanel:
    """A panel of a notebook with a live network, growing curves and sliders; see `live`.

    Attributes
    ----------
    lab : Lab
        The network.
    controls : dict
        The sliders, by link and field.
    message : str
        The message that it shows, empty if there is none.
    """

    def __init__(
        self, scenario: Scenario, controls: Sliders, engine: str | LabEngine, window_s: float, duration_s: float
    ) -> None:
        """Start the network and the traffic of the scenario in an engine, make the panel's widgets, and close the panel
        that an earlier run of the notebook's cell made; nothing plays yet. `controls` has the sliders by link and
        field, `window_s` is the width of the curves and `duration_s` the end of the panel, both in s of network time.
        """
        self.controls, self.pace, self.message = controls, 1.0, ""
        self._scenario, self._engine, self._window_s, self._duration_s = scenario, engine, window_s, duration_s
        self._lock = threading.RLock()
        self._main_loop = _running_loop() if threading.current_thread() is threading.main_thread() else None
        self._pictures = PictureTimer(PICTURE_S)
        self._interval_s = max(0.01, round(window_s / POINTS, 3))
        self._parts = 1
        # Hide the Play widget: its own buttons have no accessible names.
        self.page_timer = ipywidgets.Play(
            interval=round(1000 * PAGE_TIMER_S), max=2**31 - 1, layout={"display": "none"}
        )
        self.page_timer.observe(self._on_page_timer, names="value")
        self.buttons: dict[str, ipywidgets.Button] = {}
        for label, tooltip, do in (
            ("Play", "let network time pass, or stand still", self._switch),
            ("Step", "let a tenth of a second pass, at this speed", self.step),
            ("Slower", "less network time in a second", functools.partial(self._shift, -1)),
            ("Faster", "more network time in a second", functools.partial(self._shift, 1)),
            ("Begin again", "start the network anew, as the sliders stand", self.begin_again),
        ):
            self.buttons[label] = ipywidgets.Button(description=label, tooltip=f"{label}: {tooltip}")
            self.buttons[label].on_click(functools.partial(self._run_action, do))
        for (link, field), control in controls.items():
            control.observe(
                functools.partial(self._run_action, functools.partial(self._change, link, field)), names="value"
            )
        self._picture, self._alert = ipywidgets.HTML(), ipywidgets.HTML(layout={"display": "none"})
        row = ipywidgets.Box([*self.buttons.values(), self.page_timer], layout={"flex_flow": "row wrap"})
        self._sliders = control_grid(list(controls.values()))
        self.box = ipywidgets.VBox([row, self._sliders, self._alert, self._picture])
        self._begin(scenario.topology)
        _close_earlier(self)

    @property
    def figure(self) -> Any:
        """All measurements so far (goodput and congestion window of each flow), as an interactive figure."""
        return plots.time_series(self.lab.run, QUANTITIES[:2])

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Return the panel for a notebook's page, by MIME type: its widgets, the figure so far for pages without
        widgets, and a line of text ("text/plain"); also add the script that it needs to the page, once. `kwargs` are
        those that IPython passes to a widget.
        """
        page.show_once()
        bundle = self.box._repr_mimebundle_(**kwargs) or {}
        return {**bundle, **notebook_forms(self.figure), "text/plain": repr(self)}

    def __repr__(self) -> str:
        """Return a text with the panel's network, for display."""
        return f"LivePanel({self.lab!r})"

    # Actions

    @property
    def playing(self) -> bool:
        """True while network time passes by itself, at the panel's speed."""
        return bool(self.page_timer.playing)

    def play(self) -> None:
        """Let network time pass continuously, at the panel's speed, as long as a page shows the panel; returns at
        once.
        """
        self._pictures.restart()
        # A page that was reloaded sends messages only after this value changes.
        self.page_timer.playing = False
        self.page_timer.playing = True
        self.buttons["Play"].description = "Pause"

    def pause(self) -> None:
        """Stop network time; the network and its curves stay, and `play` continues."""
        self.page_timer.playing = False
        self.buttons["Play"].description = "Play"
        self._tell_main_loop()

    def step(self) -> None:
        """Pause, and let as much network time pass as belongs to 0.1 s of wall-clock time at the panel's speed."""
        self.pause()
        self.advance_by(PICTURE_S * self.pace)

    def begin_again(self) -> None:
        """Close the network and start it and its traffic again with the sliders' settings and empty curves."""
        with self._lock:
            self.lab.close()
            self._begin(self.lab.topology)
            self._draw()

    def close(self) -> None:
        """End the network and remove the panel's widgets from the page; a second call does nothing."""
        self.pause()
        with self._lock:
            self.lab.close()
        for widget in (
            self.page_timer,
            *self.buttons.values(),
            *self.controls.values(),
            *(widget for row in self._sliders.children for widget in (*row.children, row)),
            self._sliders,
            self._alert,
            self._picture,
            self.box,
        ):
            widget.close()

    def advance_by(self, duration_s: float, work_s: float = WALL_LIMIT_S) -> None:
        """Let `duration_s` s of network time pass, and draw; less passes if a part of it takes longer than `work_s` s
        of wall-clock time. At the end of the panel's duration network time stops and the panel is paused.
        """
        with self._lock:
            now_s, began_s = self.lab.session.now_s, time.monotonic()
            part_s = (min(now_s + duration_s, self._duration_s) - now_s) / self._parts
            for part in range(1, self._parts + 1):
                self.lab.session.request().advance(until_s=now_s + part * part_s, progress_s=None)
                if time.monotonic() - began_s > work_s:
                    break
            # Each part is a round trip between processes, which on a busy machine takes longer than the work of a small network.
            self._parts = PARTS if time.monotonic() - began_s > WORK_S / 2 else 1
            if self.lab.session.now_s >= self._duration_s - 1e-6:
                self.pause()
            self._draw()

    def _begin(self, topology: Topology) -> None:
        """Start the live network of this topology with the traffic of the panel's scenario, with empty curves; a
        network that is open must be closed before.
        """
        # This import needs Linux, and the module is imported on every system.
        from netlab_engines.lab.live import Lab

        step_s, seed = self._interval_s, self._scenario.seed
        self.lab: Lab = Lab(topology, seed, step_s, None, WALL_LIMIT_S, self._engine)
        flows = [self.lab.start(item).label for item in self._scenario.traffic]
        self._queue_names = queue_names([(hop.interface, hop.src, hop.dst) for hop in topology.hops()])
        self._strips = Strips(QUANTITIES, self._window_s, round(self._window_s / step_s) + 1, flows)
        self._seen = {"streams": 0, "queues": 0, "changes": 0}
        self._received: dict[tuple[str, int], int] = defaultdict(int)
        self._latest: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=max(1, round(MEAN_S / step_s))))
        self._counted_intervals: dict[str, int] = defaultdict(int)

    def _switch(self) -> None:
        """Play if the network is paused, or if its page seems to have been reloaded, because no picture was drawn for 2
        s; else pause.
        """
        # After a page was reloaded, the panel is still in the playing state, but receives no messages.
        if self.playing and self._pictures.since_last_s < 2:
            self.pause()
        else:
            self.play()

    def _shift(self, by: int) -> None:
        """Select the speed that is `by` places further in PACES (negative: slower), at most to its ends, and draw."""
        self.pace = PACES[min(max(PACES.index(self.pace) + by, 0), len(PACES) - 1)]
        self._draw()

    def _change(self, link: tuple[str, str], field: str) -> None:
        """Set the field with this name of a link, given by its two node names, to the value of its slider, rounded to
        three digits, from the first node to the second, and also on the way back if both had the same value; then draw.
        Raises NetlabError if the link cannot have it.
        """
        value = self.controls[link, field].value
        if isinstance(value, float):
            value = float(f"{value:.3g}")
        forward, backward = shapes_from(self.lab.topology, link)
        if getattr(forward, field) == getattr(backward, field):
            self.lab.link(*link).change(**{field: value})
        else:
            self.lab.link(link[1], link[0]).change(reverse={field: value})
        self._draw()

    def _on_page_timer(self, _change: Any) -> None:
        """Handle a message of the page, which allows PICTURES_PER_MESSAGE more: schedule pictures if this thread has an
        event loop, or else draw one now. `_change`, the widget's event, is ignored.
        """
        self._pictures.allow(PICTURES_PER_MESSAGE)
        self._tell_main_loop()
        # JupyterLab may deliver a page's messages in another thread, which continues while a cell computes.
        if (loop := _running_loop()) is not None:
            self._schedule_picture(loop)
        else:
            self._advance()

    def _tell_main_loop(self) -> None:
        """Let the event loop of the main thread install the handler of interrupts if the network plays, or remove it if
        not; nothing happens without such a loop. May be called from any thread.
        """
        if self._main_loop is not None and not self._main_loop.is_closed() and sys.platform != "emscripten":
            self._main_loop.call_soon_threadsafe(self._update_interrupt_handler)

    def _schedule_picture(self, loop: asyncio.AbstractEventLoop) -> None:
        """Schedule the next picture in the event loop `loop`, PICTURE_S s after the last one, in place of one that is
        already scheduled; schedule none if the network is paused or the pictures that the page's last message allowed
        are used up.
        """
        if self.playing:
            self._pictures.schedule(loop, functools.partial(self._draw_scheduled_picture, loop))
        else:
            self._pictures.cancel(loop)

    def _draw_scheduled_picture(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let network time pass, draw a picture, and schedule the next one in the event loop `loop`."""
        self._advance()
        self._schedule_picture(loop)

    def _advance(self) -> None:
        """Let as much network time pass as belongs to the wall-clock time since the last picture (at most LATEST_S s of
        that) at the panel's speed, and draw; nothing happens if the network is paused.
        """
        passed_s = min(self._pictures.restart(), LATEST_S)
        if self.playing:
            self._run_action(functools.partial(self.advance_by, passed_s * self.pace, WORK_S))

    def _run_action(self, what: Callable[[], None], _event: Any = None) -> None:
        """Call `what`, an action of the user's, while no other action runs, and hide the panel's earlier message; if it
        raises an error of netlab, pause and show the error in the panel, and if it is interrupted, pause. `_event`, the
        widget's event, is ignored.
        """
        with self._lock:
            self._show_message("")
            try:
                what()
            except KeyboardInterrupt:
                self.pause()
            except NetlabError as error:
                self.pause()
                self._show_message(str(error))

    def _show_message(self, sentence: str) -> None:
        """Show `sentence` in the panel as an alert, and keep it in `message`; "" hides the alert."""
        self.message = sentence
        self._alert.value = f'<div role="alert">⚠ {html.escape(sentence)}</div>' if sentence else ""
        self._alert.layout.display = None if sentence else "none"

    def _update_interrupt_handler(self) -> None:
        """Install the panel's handler of SIGINT if the network plays and interrupts are ignored, as between a
        notebook's cells; remove it if the network is paused. To be called in the main thread.
        """
        # ipykernel ignores SIGINT between cells, and after each cell restores the handler that it found before.
        handler = signal.getsignal(signal.SIGINT)
        if self.playing and handler == signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._on_interrupt)
        elif not self.playing and handler == self._on_interrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _on_interrupt(self, _number: int, _frame: Any) -> None:
        """Pause the network and ignore further interrupts; the panel's handler of SIGINT, whose two arguments are not
        used.
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.pause()

    # Display

    def _draw(self) -> None:
        """Ask the network for its samples since the last picture, add them and the changes of links to the curves, and
        draw; a queue has a curve only after it was not empty.
        """
        found = self.lab.session.request().tables(streams=self._seen["streams"], queues=self._seen["queues"])
        self._take_streams(found["streams"])
        self._take_datagrams(found)
        for sample in found["queues"]:
            name = f"queue {self._queue_names[sample['interface']]}"
            if sample["backlog_packets"] or name in self._strips.names:
                self._strips.add("backlog_packets", name, sample["t_s"], sample["backlog_packets"])
        for change in self.lab.changes[self._seen["changes"] :]:
            self._strips.mark(change.at_s, change.words())
        self._seen["streams"] += len(found["streams"])
        self._seen["queues"] += len(found["queues"])
        self._seen["changes"] = len(self.lab.changes)
        speed = "real time" if self.pace == 1 else f"{self.pace:g} times real time"
        self._picture.value = f"<div>{found['now_s']:.1f} s, {speed}</div>{self._strips.svg(found['now_s'])}"

    def _take_streams(self, samples: Sequence[StreamSample]) -> None:
        """Add new samples of TCP connections to the curves of goodput (Mbit/s) and congestion window (segments) of
        their flows; the values of a flow's connections at the same time are summed.
        """
        sums: dict[tuple[str, float], list[float]] = {}
        for row in samples:
            own = (row["flow"], row["stream"])
            both = sums.setdefault((row["flow"], row["t_s"]), [0.0, 0.0])
            received_bytes = row["received_bytes"] or 0
            both[0] += received_bytes - self._received[own]
            both[1] += row["cwnd_segments"] or 0
            self._received[own] = received_bytes
        for (flow, t_s), (fresh_bytes, window) in sums.items():
            self._add_goodput(flow, t_s, fresh_bytes)
            self._strips.add("cwnd_segments", flow, t_s, window)

    def _take_datagrams(self, found: Tables) -> None:
        """Add the goodput of UDP flows in the intervals that ended since the last picture, from the tables `found`, to
        the curves; an interval without datagrams counts as 0.
        """
        intervals = int(found["now_s"] / self._interval_s + 1e-6)
        arrived = {(row["flow"], row["interval"]): row["bytes"] for row in found["datagrams"]}
        for flow in (item["label"] for item in found["items"] if item["kind"] == "udp"):
            for number in range(self._counted_intervals[flow], intervals):
                self._add_goodput(flow, (number + 1) * self._interval_s, arrived.get((flow, number), 0))
            self._counted_intervals[flow] = intervals

    def _add_goodput(self, flow: str, t_s: float, fresh_bytes: float) -> None:
        """Add a point at the network time `t_s` in s to the curve of the goodput of the flow with this label;
        `fresh_bytes` arrived in the interval that ends then, and the point is the mean over the last MEAN_S s, in
        Mbit/s.
        """
        latest = self._latest[flow]
        latest.append(fresh_bytes)
        self._strips.add("goodput_mbps", flow, t_s, rate_mbps(sum(latest), len(latest) * self._interval_s))


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread; None if there is none, as outside a notebook's kernel."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _close_earlier(panel: LivePanel) -> None:
    """Close the panel that an earlier run of the current notebook cell made, if any, and note `panel` as the cell's;
    nothing happens outside a notebook or without an id of the cell.
    """
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = parent.get("metadata", {}).get("cellId")
    if cell in _by_cell:
        _by_cell.pop(cell).close()
    if cell is not None:
        _by_cell[cell] = panel
