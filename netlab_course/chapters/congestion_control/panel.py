"""The panel of the chapter on congestion control."""

from typing import Any

import plotly.graph_objects as go

from netlab import theory
from netlab.traffic import Tcp
from netlab.widgets import PanelParts, Settings, choice, panel_maker, slider
from netlab_course.chapters.congestion_control import plots
from netlab_course.chapters.congestion_control.settings import CONTROLS, DELAY_MS, QUEUE_PACKETS, RATE_MBPS, path

_SETTLED_S = 3.0
SECONDS = 12.0


@panel_maker(earlier=0)
def panel() -> PanelParts:
    """Return the parts of a panel that shows one flow's window over time, and the cost of a loss by congestion control
    and queue: its controls, and the functions that make its scenario and its figure.

    A run takes 12 s of network time, of which the first 3 s are ignored.
    """

    def scenario(**settings: Any) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: one TCP flow over a link of 10 Mbit/s, with the congestion
        control, the queue in packets, the one-way delay in ms and the loss in % of the controls (`settings`).
        """
        network = path(RATE_MBPS, settings["delay_ms"], settings["queue_packets"], settings["loss_percent"] / 100)
        flow = Tcp("h1", "h3", congestion=settings["congestion"])
        return {"topology": network, "traffic": [flow], "duration_s": SECONDS, "interval_s": 0.04}

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the window of the run `result` over time, with its phases and the capacity of path and
        queue; `settings` has the values of the controls.
        """
        used = result.goodput_mbps(after_s=_SETTLED_S).iloc[0] / theory.tcp_goodput_limit_mbps(RATE_MBPS)
        rtt_ms = result.intervals.query(f"t_s > {_SETTLED_S}")["rtt_ms"].mean()
        figure = plots.window_figure(
            result,
            RATE_MBPS,
            2 * settings["delay_ms"],
            settings["queue_packets"],
            title=f"{settings['congestion']}: {100 * used:.1f} % of the link, mean RTT {rtt_ms:.0f} ms",
        )
        return figure.update_xaxes(range=[0, SECONDS])

    controls = {
        "congestion": choice("Control", CONTROLS, "reno"),
        "queue_packets": slider("Queue", QUEUE_PACKETS, 2, 200, 1, "packets"),
        "delay_ms": slider("Delay, each way", DELAY_MS, 5, 60, 5, "ms"),
        "loss_percent": slider("Random loss", 0.0, 0.0, 5.0, 0.1, "%"),
    }
    return controls, scenario, show
