"""The panel of the chapter on Wi-Fi."""

from typing import Any

import ipywidgets
import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.network.media import OFDM_RATES_MBPS
from netlab.traffic import Udp
from netlab.widgets import PanelParts, Settings, panel_maker, slider, toggle
from netlab_course.chapters.wifi.settings import air

PAYLOADS_BYTES = np.arange(40, 1473, 8)


def options(rate_mbps: int, rts: bool) -> dict[str, Any]:
    """Return the options of the 802.11g medium, by name: the rate of its data frames in Mbit/s, and with `rts` that RTS
    and CTS at 11 Mbit/s precede each frame.
    """
    protection = {"protection": "rts", "protection_rate_mbps": 11} if rts else {}
    return {"rate_mbps": rate_mbps, **protection}


SECONDS = 0.5


@panel_maker()
def panel() -> PanelParts:
    """Return the parts of a panel that shows the goodput of UDP over 802.11g by payload, rate, protection and a second
    sender: its controls, and the functions that make its scenario and its figure.
    """

    def scenario(payload_bytes: int, rate_mbps: int, two_senders: bool, rts: bool) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: UDP with this payload, faster than the medium of this rate
        carries it, from h1 to h2 and with `two_senders` also back; with `rts` RTS and CTS precede each frame.
        """
        ends = [("h1", "h2"), ("h2", "h1")][: 1 + two_senders]
        limit_mbps = theory.wifi_udp_limit_mbps(payload_bytes, options(rate_mbps, rts))
        return {
            "topology": air(queue_packets=20, **options(rate_mbps, rts)),
            "traffic": [Udp(*pair, rate_mbps=1.2 * limit_mbps, payload_bytes=payload_bytes) for pair in ends],
            "duration_s": SECONDS,
        }

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the sum of the goodputs in the run `result` by payload, with theory; `settings` has the
        values of the controls.
        """
        rate_mbps, stations = settings["rate_mbps"], 1 + settings["two_senders"]
        medium = options(rate_mbps, settings["rts"])
        goodput_mbps = float(result.flows["goodput_mbps"].sum())
        who = "two senders together" if stations == 2 else "one sender"
        protected = " behind RTS/CTS" if settings["rts"] else ""
        comparison = plots.Comparison(
            "Payload (bytes)", "Goodput (Mbit/s)", f"{rate_mbps} Mbit/s{protected}, {who}: {goodput_mbps:.2f} Mbit/s"
        ).add(
            "measured",
            [settings["payload_bytes"]],
            [goodput_mbps],
            PAYLOADS_BYTES,
            lambda size: theory.wifi_saturation(stations, int(size), medium).goodput_mbps,
        )
        return comparison.fix_axes(x=(0, 1500), y=(0, 32))

    controls = {
        "payload_bytes": slider("Payload", 1000, 40, 1472, 8, "bytes"),
        "rate_mbps": ipywidgets.SelectionSlider(
            options=OFDM_RATES_MBPS,
            value=54,
            description="Rate (Mbit/s)",
            continuous_update=False,
        ),
        "two_senders": toggle("A second sender"),
        "rts": toggle("RTS/CTS at 11 Mbit/s"),
    }
    return controls, scenario, show
