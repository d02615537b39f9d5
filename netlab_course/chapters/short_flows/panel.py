"""The panel of the chapter on short flows."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.base.units import MS_PER_S
from netlab.traffic import Tcp
from netlab.widgets import PanelParts, Settings, log_slider, panel_maker, slider
from netlab_course.chapters.short_flows.settings import LONG_QUEUE_PACKETS, PAGE_BYTES, RTT_MS, path

MAX_DURATION_S = 60
SIZES_BYTES = np.geomspace(500, 2e6, 300)


@panel_maker()
def panel() -> PanelParts:
    """Return the parts of a panel that shows the time of one transfer by its size, the link's rate, the round-trip
    time, the initial window and the queue: its controls, and the functions that make its scenario and its figure.
    """

    def scenario(size_kb: float, rate_mbps: float, rtt_ms: int, window: int, queue_packets: int) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: one TCP transfer of this size with an initial window of
        `window` segments, over a link with this rate, round-trip time and queue.
        """
        page = Tcp("h1", "h2", num_bytes=round(1000 * size_kb), initial_window_segments=window)
        return {"topology": path(rate_mbps, rtt_ms, queue_packets), "traffic": [page], "duration_s": MAX_DURATION_S}

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the completion time of the transfer in the run `result` by size, with theory; `settings`
        has the values of the controls.
        """
        flow = result.flows.iloc[0]
        rate_mbps, rtt_ms, window = settings["rate_mbps"], settings["rtt_ms"], settings["window"]
        taken_ms = MS_PER_S * flow["completion_s"]
        again = int(flow["retransmits"])
        comparison = plots.Comparison(
            x_label="Size (kB)",
            y_label="Completion time (ms)",
            log_x=True,
            log_y=True,
            title=f"{settings['size_kb']:.0f} kB in {taken_ms:.0f} ms: {taken_ms / rtt_ms:.1f} round trips, {again} sent again",
        ).add(
            "measured",
            [settings["size_kb"]],
            [taken_ms],
            SIZES_BYTES / 1000,
            [theory.short_flow_ms(size, rate_mbps, rtt_ms, window) for size in SIZES_BYTES],
            details=[f"{rate_mbps:g} Mbit/s, {rtt_ms} ms, initial window {window}, queue {settings['queue_packets']}"],
        )
        return comparison.fix_axes(x=(0.5, 2000), y=(30, 10_000))

    controls = {
        "size_kb": log_slider("Size", PAGE_BYTES / 1000, 1, 1000, 10, "kB"),
        "rate_mbps": log_slider("Rate of the link", 10, 1, 1000, 10, "Mbit/s"),
        "rtt_ms": slider("Round-trip time", RTT_MS, 10, 300, 10, "ms"),
        "window": slider("Initial window", 10, 1, 45, 1, "segments"),
        "queue_packets": slider("Queue", LONG_QUEUE_PACKETS, 5, LONG_QUEUE_PACKETS, 5, "packets"),
    }
    return controls, scenario, show
