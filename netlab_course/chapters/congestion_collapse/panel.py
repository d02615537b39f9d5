"""The panel of the chapter on congestion collapse."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.traffic import Tcp, Udp
from netlab.widgets import PanelParts, Settings, panel_maker, slider, toggle
from netlab_course.chapters.congestion_collapse.settings import (
    EXITS_MBPS,
    FAIR_QUEUE,
    MIDDLE_MBPS,
    MODEST_MBPS,
    QUEUE_PACKETS,
    network,
)

SECONDS = 20.0


@panel_maker()
def panel() -> PanelParts:
    """Return the parts of a panel that shows the effect of the rate of an aggressor h2-h3 on a modest flow h1-h4 over
    two routers: its controls, and the functions that make its scenario and its figure.

    With UDP, the slider is the rate that h2 sends; with TCP, it is the rate of h2's access link, the most that it could send.

    A run takes 20 s of network time, of which the first quarter is ignored.
    """
    exits_mbps = np.array(EXITS_MBPS)

    def scenario(aggressor_mbps: float, queue_packets: int, tcp: bool, fair_queue: bool) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: h1 sends 1 Mbit/s of UDP and h2 `aggressor_mbps`, or with
        `tcp` both send TCP and that is the rate of h2's link; all queues have `queue_packets`, with `fair_queue` that
        before the shared link is fq_codel.
        """
        fair: Mapping[str, Any] = FAIR_QUEUE if fair_queue else {}
        udp = [Udp("h1", "h4", rate_mbps=MODEST_MBPS), Udp("h2", "h3", rate_mbps=aggressor_mbps)]
        return {
            "topology": network((None, aggressor_mbps if tcp else None), queue_packets=queue_packets, **fair),
            "traffic": [Tcp("h1", "h4"), Tcp("h2", "h3")] if tcp else udp,
            "duration_s": SECONDS,
        }

    def forecast_mbps(rate_mbps: float, settings: Settings) -> Any:
        """Return theory's goodputs of h1 and h2 in Mbit/s, as an array, if h2 sends, or with TCP could send,
        `rate_mbps`; `settings` has the values of the controls.
        """
        if settings["tcp"]:
            fair = np.minimum(exits_mbps, [MIDDLE_MBPS - min(exits_mbps[1], rate_mbps), rate_mbps])
            return fair * theory.tcp_goodput_limit_mbps(1)
        wire = theory.udp_wire_bytes(1000) / 1000
        formula = theory.two_router_fair_queue_mbps if settings["fair_queue"] else theory.two_router_collapse_mbps
        return formula(np.array([MODEST_MBPS, rate_mbps]) * wire, MIDDLE_MBPS, exits_mbps) / wire

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the goodputs of h1 and of both together in the run `result` by the rate of h2, with
        theory; `settings` has the values of the controls.
        """
        rate = settings["aggressor_mbps"]
        got = result.goodput_mbps(after_s=SECONDS / 4).to_numpy()
        kind = "TCP" if settings["tcp"] else "UDP"
        queue = "a fair queue" if settings["fair_queue"] else "a plain queue"
        detail = f"{kind}, {queue} of {settings['queue_packets']} packets<br>h2 gets {got[1]:.3f} Mbit/s"
        shown = {
            "h1": (got[0], lambda x: forecast_mbps(x, settings)[0]),
            "both together": (got.sum(), lambda x: forecast_mbps(x, settings).sum()),
        }
        comparison = plots.Comparison(
            x_label="What h2 sends, or could send (Mbit/s)",
            y_label="Goodput (Mbit/s)",
            title=f"{kind}, {queue}: h1 {got[0]:.3f}, h2 {got[1]:.3f}, together {got.sum():.3f} Mbit/s",
        )
        for name, (goodput_mbps, formula) in shown.items():
            comparison.add(name, [rate], [goodput_mbps], np.linspace(0.1, 10.0, 199), formula, details=[detail])
        return comparison.fix_axes(x=(0, 10.3), y=(0, MIDDLE_MBPS))

    controls = {
        "aggressor_mbps": slider("h2 sends", 3.0, 0.1, 10.0, 0.1, "Mbit/s"),
        "queue_packets": slider("Queues", QUEUE_PACKETS, 2, 200, 1, "packets"),
        "tcp": toggle("TCP instead of UDP"),
        "fair_queue": toggle("Fair queue at r1"),
    }
    return controls, scenario, show
