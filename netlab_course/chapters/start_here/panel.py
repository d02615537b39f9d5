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
    """Show in a panel pings over one link, with the effects of its delay and of other traffic."""

    def network(settings: Settings) -> Topology:
        """Return the network for the settings of the controls."""
        return topologies.chain([None, settings["rate_mbps"]], [0, settings["delay_ms"]])

    def scenario(**settings: Any) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name, for the settings of the panel's controls (units are in the
        names).
        """
        traffic: list[Traffic] = [Ping("h1", "h2", interval_s=0.2)]
        if settings["beside_mbps"] > 0:
            traffic.append(Udp("h1", "h2", rate_mbps=settings["beside_mbps"]))
        return {"topology": network(settings), "traffic": traffic, "duration_s": SECONDS}

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the round-trip times of a run's pings over time, with that of the empty path."""
        empty_ms = theory.ping_rtt_ms(network(settings).path_hops("h1", "h2"))
        echoes = result.pings.dropna()
        lost = len(result.pings) - len(echoes)
        comparison = plots.Comparison(
            x_label="Time (s)",
            y_label="RTT (ms)",
            residual="absolute",
            title=f"{len(result.pings)} pings, {lost} lost; theory is the empty path, {empty_ms:.1f} ms",
        ).add("measured", echoes["t_s"], echoes["rtt_ms"], [0, SECONDS], [empty_ms, empty_ms])
        return comparison.still(y=(0, _MAX_RTT_MS))

    controls = {
        "delay_ms": slider("Delay, each way", 20, 0, 80, 5, "ms"),
        "rate_mbps": slider("Rate", 10, 5, 20, 1, "Mbit/s"),
        "beside_mbps": slider("UDP beside the pings", 0, 0, 20, 1, "Mbit/s"),
    }
    return controls, scenario, show
