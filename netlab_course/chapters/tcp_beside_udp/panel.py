"""The panel of the chapter on TCP beside UDP."""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.network import topologies
from netlab.traffic import Tcp, Udp
from netlab.widgets import PanelParts, Settings, choice, log_slider, panel_maker, slider
from netlab_course.chapters.tcp_beside_udp.settings import PAYLOAD_BYTES, QUEUE_PACKETS, RATE_MBPS, SETTLED_S, left_mbps

DISCIPLINES = {"drop-tail": "fifo", "one for each flow": "fq_codel"}
MIN_UDP_MBPS, MAX_UDP_MBPS = 0.1, 20.0
SECONDS = 20
MAX_EARLIER_RUNS = 12

_UDP_SHARE = PAYLOAD_BYTES / theory.udp_wire_bytes(PAYLOAD_BYTES)
_TCP_SHARE = theory.MSS_BYTES / theory.tcp_wire_bytes()


def shares_mbps(udp_mbps: float, queue: str) -> tuple[float, float]:
    """Return the theoretical goodputs of TCP and of UDP in Mbit/s if UDP offers `udp_mbps` of data on 5 Mbit/s: with
    the queue "drop-tail" TCP gets the rest, with "one for each flow" its max-min share.
    """
    if queue == "drop-tail":
        return left_mbps(udp_mbps, RATE_MBPS, PAYLOAD_BYTES), min(udp_mbps, RATE_MBPS * _UDP_SHARE)
    demands = {"TCP": float(RATE_MBPS), "UDP": udp_mbps / _UDP_SHARE}
    shares = theory.max_min_mbps({"link": RATE_MBPS}, {name: ["link"] for name in demands}, demands)
    return shares["TCP"] * _TCP_SHARE, shares["UDP"] * _UDP_SHARE


@panel_maker(earlier=MAX_EARLIER_RUNS)
def panel() -> PanelParts:
    """Return the parts of a panel that shows a TCP connection next to UDP of some rate on 5 Mbit/s, and the effect of
    the queue: its controls, and the functions that make its scenario and its figure.

    A run takes 20 s of network time, of which the first 10 s are ignored.
    """

    def scenario(udp_mbps: float, room_packets: float, draw: int, queue: str) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: UDP of this rate at random moments and a TCP connection over 5
        Mbit/s, behind a queue (a key of `DISCIPLINES`) with this room, which is rounded; `draw` is the seed.
        """
        return {
            "topology": topologies.three_pcs(RATE_MBPS, round(room_packets), aqm=DISCIPLINES[queue]),
            # The only UDP flow of a run is exactly periodic by default, and all draws would be equal.
            "traffic": [Udp("h1", "h3", rate_mbps=udp_mbps, spacing="random"), Tcp("h2", "h3", start_s=1)],
            "duration_s": SECONDS,
            "interval_s": 1,
            "seed": draw,
        }

    def forecast(place: int, queue: str) -> Callable[[float], float]:
        """Return a function of UDP's rate in Mbit/s that returns the theoretical goodput in Mbit/s of TCP (`place` 0)
        or of UDP (1) behind a queue, a key of `DISCIPLINES`.
        """
        return lambda udp_mbps: shares_mbps(udp_mbps, queue)[place]

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the goodputs of TCP and UDP after the first 10 s of the run `result` by the rate of UDP,
        with theory; `settings` has the values of the controls.
        """
        udp_mbps, queue = settings["udp_mbps"], settings["queue"]
        tcp = result.flows.iloc[1]
        # A connection that never opened has no intervals; its goodput is 0.
        got = result.goodput_mbps(after_s=SETTLED_S).reindex(result.flows["flow"], fill_value=0.0)
        udp_got, tcp_got = got
        detail = (
            f"{queue}, {settings['room_packets']:.0f} packets; draw {settings['draw']}<br>"
            f"TCP: {tcp['loss_rate']:.1%} lost, {tcp['timeouts']:.0f} timeouts"
        )
        comparison = plots.Comparison(
            x_label="UDP sends (Mbit/s)",
            y_label="Goodput (Mbit/s)",
            title=f"Queue: {queue}. UDP sends {udp_mbps:.3g}: TCP gets {tcp_got:.2f}, UDP {udp_got:.2f} Mbit/s",
            residual="absolute",
            log_x=True,
        )
        line = np.geomspace(MIN_UDP_MBPS, MAX_UDP_MBPS, 201)
        for place, (name, got) in enumerate((("TCP", tcp_got), ("UDP", udp_got))):
            comparison.add(name, [udp_mbps], [got], line, forecast(place, queue), details=[detail])
        return comparison.fix_axes(x=(0.9 * MIN_UDP_MBPS, 1.1 * MAX_UDP_MBPS), y=(0, 1.05 * RATE_MBPS), residual=1.0)

    controls = {
        "udp_mbps": log_slider("UDP sends", 2, MIN_UDP_MBPS, MAX_UDP_MBPS, 20, "Mbit/s"),
        "room_packets": log_slider("Room in the queue", QUEUE_PACKETS, 5, 500, 6, "packets"),
        "draw": slider("Draw", 1, 1, 50, 1),
        "queue": choice("Queue", list(DISCIPLINES)),
    }
    return controls, scenario, show
