"""The panel of the chapter on UDP loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import experiment, plots, theory
from netlab.chapters.udp_loss.settings import PAYLOAD_BYTES, QUEUE_PACKETS, RATE_MBPS
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.traffic import Udp
from netlab.widgets import Panel, Settings, slider, toggle


def panel(*, run: Callable[..., Any] = experiment.run, duration_s: float = 10.0) -> Panel:
    """One UDP flow through one bottleneck: which rate gets through, and what does a higher one cost?

    Parameters
    ----------
    run : callable
        What runs a scenario.
    duration_s : float
        Network time of a run in s, above 0.

    Returns
    -------
    Panel
        With the controls offered_mbps, payload_bytes, rate_mbps, queue_packets and ethernet_framing.
    """

    def scenario(
        offered_mbps: float, payload_bytes: int, rate_mbps: float, queue_packets: int, ethernet_framing: bool
    ) -> dict[str, Any]:
        bottleneck = Link(
            "r1",
            "h2",
            rate_mbps=rate_mbps,
            delay_ms=10,
            queue_packets=queue_packets,
            framing="ethernet" if ethernet_framing else "tc",
        )
        return {
            "topology": Topology(hosts=["h1", "h2"], routers=["r1"], links=[Link("h1", "r1"), bottleneck]),
            "traffic": [Udp("h1", "h2", rate_mbps=offered_mbps, payload_bytes=payload_bytes)],
            "duration_s": duration_s,
        }

    def show(result: Any, settings: Settings) -> go.Figure:
        flow = result.flows.iloc[0]
        offered, payload = settings["offered_mbps"], settings["payload_bytes"]
        framing: theory.Framing = "ethernet" if settings["ethernet_framing"] else "tc"
        lost = theory.udp_loss_rate(
            offered,
            settings["rate_mbps"],
            payload,
            framing,
            queue_packets=settings["queue_packets"],
            duration_s=duration_s,
        )
        losses = f"lost {flow['loss_rate']:.2%}, theory {lost:.2%}"
        setting = (
            f"{payload} bytes into {settings['rate_mbps']:g} Mbit/s, "
            f"queue of {settings['queue_packets']} packets, {framing} framing"
        )
        comparison = plots.Comparison(
            x_label="Offered rate (Mbit/s)",
            y_label="Goodput (Mbit/s)",
            title=f"Goodput {flow['goodput_mbps']:.3f} Mbit/s; {losses}",
        ).add(
            "measured",
            [offered],
            [flow["goodput_mbps"]],
            np.linspace(0.0, 20.0, 401),
            lambda rate: theory.udp_goodput_mbps(rate, settings["rate_mbps"], payload, framing),
            details=[f"{setting}<br>{losses}"],
        )
        return comparison.figure.update_xaxes(range=[0, 20.5])

    return Panel(
        {
            "offered_mbps": slider("Offered rate", 6.0, 0.2, 20.0, 0.2, "Mbit/s"),
            "payload_bytes": slider("Payload", PAYLOAD_BYTES, 32, 1472, 4, "bytes"),
            "rate_mbps": slider("Bottleneck", RATE_MBPS, 1.0, 20.0, 0.5, "Mbit/s"),
            "queue_packets": slider("Queue", QUEUE_PACKETS, 1, 1000, 1, "packets"),
            "ethernet_framing": toggle("Ethernet framing"),
        },
        scenario,
        show,
        run=run,
    )
