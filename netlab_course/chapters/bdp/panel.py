"""The panel of the chapter on the bandwidth-delay product."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.traffic import Tcp
from netlab.widgets import PanelParts, Settings, panel_maker, slider, toggle
from netlab_course.chapters.bdp.settings import DELAY_MS, RATE_MBPS, WITHOUT_OFFLOAD

_MAX_WINDOW_KB = 600
_MAX_RATE_MBPS = 200
SECONDS = 6.0


@panel_maker()
def panel() -> PanelParts:
    """Show one TCP transfer over one cable in a panel, by window, rate, delay and queue, and tell which of window, link
    and queue limits it.

    A run takes 6 s of network time, of which the first 2 s are ignored.
    """

    def cable(settings: Settings) -> Topology:
        """Return the network for the settings of the controls."""
        # The queue is in a router: Linux keeps almost no queue in the sender's own interface.
        return topologies.chain([None, settings["rate_mbps"]], [0, settings["delay_ms"]], settings["queue_packets"])

    def scenario(**settings: Any) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name, for the settings of the panel's controls (units are in the
        names).
        """
        flow = Tcp("h1", "h2", congestion="reno", window_bytes=1000 * settings["window_kb"], start_s=0.5)
        return {
            "topology": cable(settings),
            "traffic": [WITHOUT_OFFLOAD, flow] if settings["without_offload"] else [flow],
            "duration_s": SECONDS,
            "interval_s": 0.5,
        }

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the goodput of a run by window, with the limits in theory."""
        window_kb, rate_mbps = settings["window_kb"], settings["rate_mbps"]
        path = cable(settings).path_hops("h1", "h2")
        rtt_ms = theory.segment_rtt_ms(path)
        pipe_kb = theory.bdp_bytes(rate_mbps, rtt_ms) / 1000
        wire = theory.tcp_wire_bytes() / theory.MSS_BYTES
        room_kb = pipe_kb + settings["queue_packets"] * theory.tcp_wire_bytes() / 1000
        # Reno halves the window after filling path and queue: if the queue holds another BDP, the link never idles.
        short = window_kb * wire > room_kb and room_kb < 2 * pipe_kb
        limits = "queue" if short else "link" if window_kb * wire > pipe_kb else "window"
        flow = result.flows[result.flows["kind"] == "tcp"].iloc[0]
        goodput = result.goodput_mbps(after_s=2).dropna().iloc[0]
        detail = (
            f"{rate_mbps:g} Mbit/s, {settings['delay_ms']:g} ms each way: BDP {pipe_kb:.0f} kB<br>"
            f"queue of {settings['queue_packets']} packets: with the BDP {room_kb:.0f} kB<br>"
            f"RTT {flow['rtt_ms']:.1f} ms, {flow['retransmits']:.0f} segments sent again"
        )
        comparison = plots.Comparison(
            x_label="Window (kB)",
            y_label="Goodput (Mbit/s)",
            title=(
                f"The {limits} limits: {goodput:.2f} Mbit/s, RTT {flow['rtt_ms']:.1f} ms, "
                f"{flow['retransmits']:.0f} sent again; BDP {pipe_kb:.0f} kB"
            ),
        ).add(
            "measured",
            [window_kb],
            [goodput],
            np.linspace(4, _MAX_WINDOW_KB, 300),
            lambda kb: theory.windowed_goodput_mbps(np.asarray(kb) * 1000.0, rate_mbps, rtt_ms),
            details=[detail],
        )
        return comparison.fix_axes(x=(0, _MAX_WINDOW_KB * 1.02), y=(0, _MAX_RATE_MBPS))

    controls = {
        "window_kb": slider("Window", 50, 4, _MAX_WINDOW_KB, 2, "kB"),
        "rate_mbps": slider("Link", RATE_MBPS, 10, _MAX_RATE_MBPS, 10, "Mbit/s"),
        "delay_ms": slider("Delay, each way", DELAY_MS, 1, 40, 1, "ms"),
        "queue_packets": slider("Queue", 500, 5, 1000, 5, "packets"),
        "without_offload": toggle("Frames one by one"),
    }
    return controls, scenario, show
