"""The panel of the chapter on UDP loss."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.traffic import Udp
from netlab.widgets import PanelParts, Settings, panel_maker, slider, toggle
from netlab_course.chapters.udp_loss.settings import PAYLOAD_BYTES, QUEUE_PACKETS, RATE_MBPS

_MAX_RATE_MBPS = 10.0
SECONDS = 10.0


@panel_maker()
def panel() -> PanelParts:
    """Return the parts of a panel that shows the goodput, loss and delay of one UDP flow of some rate into 5 Mbit/s:
    its controls, and the functions that make its scenario and its figure.
    """

    def scenario(offered_mbps: float, payload_bytes: int, queue_packets: int, ethernet_framing: bool) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: one UDP flow with this rate and payload over a link of 5
        Mbit/s with this queue, which counts the bytes of Ethernet's framing or those that tc counts.
        """
        framing = "ethernet" if ethernet_framing else "tc"
        slow = Link("r1", "h2", rate_mbps=RATE_MBPS, queue_packets=queue_packets, framing=framing)
        return {
            "topology": Topology(hosts=["h1", "h2"], routers=["r1"], links=[Link("h1", "r1"), slow]),
            "traffic": [Udp("h1", "h2", rate_mbps=offered_mbps, payload_bytes=payload_bytes)],
            "duration_s": SECONDS,
        }

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the goodput of the run `result` by offered rate, with theory; `settings` has the values
        of the controls.
        """
        flow = result.flows.iloc[0]
        offered, payload, room = settings["offered_mbps"], settings["payload_bytes"], settings["queue_packets"]
        framing: theory.Framing = "ethernet" if settings["ethernet_framing"] else "tc"
        lost = theory.udp_loss_rate(offered, RATE_MBPS, payload, framing, queue_packets=room, duration_s=SECONDS)
        full_ms = theory.queueing_delay_ms(room * theory.udp_wire_bytes(payload, framing), RATE_MBPS)
        costs = f"lost {flow['loss_rate']:.2%} (theory {lost:.2%})"
        setting = f"{payload} bytes, queue of {room} packets ({full_ms:.0f} ms when full), {framing} framing"
        comparison = plots.Comparison(
            x_label="Offered rate (Mbit/s)",
            y_label="Goodput (Mbit/s)",
            title=f"Goodput {flow['goodput_mbps']:.3f} Mbit/s; {costs}; mean delay {flow['delay_ms']:.0f} ms",
        ).add(
            "measured",
            [offered],
            [flow["goodput_mbps"]],
            np.linspace(0.0, _MAX_RATE_MBPS, 401),
            lambda rate: theory.udp_goodput_mbps(rate, RATE_MBPS, payload, framing),
            details=[f"{setting}<br>{costs}, mean delay {flow['delay_ms']:.1f} ms"],
        )
        return comparison.fix_axes(x=(0, 1.02 * _MAX_RATE_MBPS), y=(0, 1.1 * RATE_MBPS))

    controls = {
        "offered_mbps": slider("Offered rate", 4.0, 0.2, _MAX_RATE_MBPS, 0.1, "Mbit/s"),
        "payload_bytes": slider("Payload", PAYLOAD_BYTES, 32, 1472, 4, "bytes"),
        "queue_packets": slider("Queue", QUEUE_PACKETS, 5, 500, 5, "packets"),
        "ethernet_framing": toggle("Ethernet framing"),
    }
    return controls, scenario, show
