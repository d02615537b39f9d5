"""The panel of the chapter "Incast"."""

from typing import Any

import plotly.graph_objects as go

from netlab import plots
from netlab.widgets import PanelParts, Settings, choice, log_slider, panel_maker, slider
from netlab_course.chapters.incast.experiments import LATE_MS, drops, last_answers_ms
from netlab_course.chapters.incast.settings import (
    DURATION_S,
    MIN_RTO,
    QUERIES,
    QUEUE_PACKETS,
    US_PER_MS,
    ideal_ms,
    queries,
    rack,
    step,
)

MAX_SERVERS = 32


@panel_maker()
def panel() -> PanelParts:
    """Return the parts of a panel that shows the last answer of each of twenty queries, by servers, queue, threshold of
    marks, and minimum of the timer: its controls, and the functions that make its scenario and its figure.
    """

    def scenario(servers: int, queue_packets: int, min_rto_ms: float, senders: str, threshold: int) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: a client asks this many servers, whose `senders` are "CUBIC"
        or "DCTCP", through a queue of `queue_packets` that marks above `threshold` packets for DCTCP; the timer is at
        least `min_rto_ms`.
        """
        port = step(threshold) if senders == "DCTCP" else {}
        return {
            "topology": rack(servers, queue_packets, **port),
            "traffic": queries(servers, senders.lower()),
            "duration_s": DURATION_S,
            "sysctls": {MIN_RTO: round(US_PER_MS * min_rto_ms)},
        }

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the times of the queries in the run `result` by the number of the query, with the ideal time;
        `settings` has the values of the controls.
        """
        times_ms = last_answers_ms(result)
        ideal = ideal_ms(settings["servers"])
        late = int((times_ms > LATE_MS).sum())
        comparison = plots.Comparison(
            x_label="Query",
            y_label="Last answer (ms)",
            log_y=True,
            residual="absolute",
            title=f"{settings['servers']} servers, {settings['senders']}: {late} late queries, {drops(result)} drops",
        ).add(
            "measured",
            times_ms.index.to_numpy(),
            times_ms.to_numpy(),
            [1, QUERIES],
            lambda query: [ideal] * len(query),
            theory_name="ideal",
        )
        return comparison.fix_axes(x=(0, QUERIES + 1), y=(0.5, 1000), residual=250)

    controls = {
        "servers": slider("Servers", 16, 2, MAX_SERVERS, 1),
        "queue_packets": slider("Queue", QUEUE_PACKETS, 16, 128, 4, "packets"),
        "min_rto_ms": log_slider("Smallest timeout", 200, 1, 200, 12, "ms"),
        "senders": choice("Servers' TCP", ["CUBIC", "DCTCP"]),
        "threshold": slider("Threshold (DCTCP)", 20, 2, 64, 1, "packets"),
    }
    return controls, scenario, show
