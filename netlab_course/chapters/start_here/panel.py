"""The panel of "Start here"."""

from typing import Any

import plotly.graph_objects as go

from netlab import plots, theory
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.traffic import Ping, Traffic, Udp
from netlab.widgets import PanelParts, Settings, panel_maker, slider

_MAX_RTT_MS = 350
SECONDS = 5.0


@panel_maker()
def panel() -> PanelParts:
    """Return the parts of a panel that shows pings over one link, with the effects of its delay and of other traffic:
    its controls, and the functions that make its scenario and its figure.
    """

    def network(settings: Settings) -> Topology:
        """Return a network of h1, a router and h2, whose second link has the rate and the delay of the controls' values
        `settings`.
        """
        return topologies.chain([None, settings["rate_mbps"]], [0, settings["delay_ms"]])

    def scenario(**settings: Any) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: pings from h1 to h2 and, if `beside_mbps` is above 0, UDP of
        that rate with them, over a link with the `rate_mbps` and `delay_ms` of the controls' values `settings`.
        """
        traffic: list[Traffic] = [Ping("h1", "h2", interval_s=0.2)]
        if settings["beside_mbps"] > 0:
            traffic.append(Udp("h1", "h2", rate_mbps=settings["beside_mbps"]))
        return {"topology": network(settings), "traffic": traffic, "duration_s": SECONDS}

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the round-trip times of the pings in the run `result` over time, with the time of the
        empty path; `settings` has the values of the controls.
        """
        empty_ms = theory.ping_rtt_ms(network(settings).path_hops("h1", "h2"))
        echoes = result.pings.dropna()
        lost = len(result.pings) - len(echoes)
        comparison = plots.Comparison(
            x_label="Time (s)",
            y_label="RTT (ms)",
            residual="absolute",
            title=f"{len(result.pings)} pings, {lost} lost; theory is the empty path, {empty_ms:.1f} ms",
        ).add("measured", echoes["t_s"], echoes["rtt_ms"], [0, SECONDS], [empty_ms, empty_ms])
        return comparison.fix_axes(y=(0, _MAX_RTT_MS))

    controls = {
        "delay_ms": slider("Delay, each way", 20, 0, 80, 5, "ms"),
        "rate_mbps": slider("Rate", 10, 5, 20, 1, "Mbit/s"),
        "beside_mbps": slider("UDP beside the pings", 0, 0, 20, 1, "Mbit/s"),
    }
    return controls, scenario, show
