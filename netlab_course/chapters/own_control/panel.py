"""The panel of the chapter "Your own congestion control"."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots
from netlab.base.units import MS_PER_S
from netlab.traffic import Tcp
from netlab.widgets import PanelParts, Settings, panel_maker, slider
from netlab_course.chapters.own_control import experiments
from netlab_course.chapters.own_control.settings import BASE_RTT_MS, FIXED_S, RATE_MBPS, Window, steady

MAX_WINDOW = 200


@panel_maker(earlier=10)
def panel() -> PanelParts:
    """Return the parts of a panel that shows the goodput and delay of one flow with a fixed window on a steady link:
    its controls, and the functions that make its scenario and its figure.
    """

    def scenario(window: int, rate_mbps: float, base_rtt_ms: int) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: one TCP flow with a fixed window of `window` segments over a
        link of this rate, with this RTT of the empty path.
        """
        return {
            "topology": steady(rate_mbps, base_rtt_ms),
            "traffic": [Tcp("h1", "h3", congestion=Window(window))],
            "duration_s": FIXED_S,
        }

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the mean RTT after 1 s in the run `result` by window, with Little's law; `settings` has
        the values of the controls.
        """
        window, rate_mbps, base_rtt_ms = (settings[name] for name in ("window", "rate_mbps", "base_rtt_ms"))
        late = result.intervals[result.intervals["t_s"] > 1]
        goodput_mbps, rtt_ms = float(late["goodput_mbps"].mean()), float(late["rtt_ms"].mean())
        sizes = np.arange(2, MAX_WINDOW + 1)
        title = f"A window of {window}: {goodput_mbps:.2f} Mbit/s, {rtt_ms:.0f} ms, power {goodput_mbps / rtt_ms * MS_PER_S:.0f}"
        comparison = plots.Comparison("Window (segments)", "RTT (ms)", title).add(
            "measured", [window], [rtt_ms], sizes, lambda size: experiments.rtt_ms(size, rate_mbps, base_rtt_ms)
        )
        return comparison.fix_axes(x=(0, MAX_WINDOW + 5), y=(0, 500), residual=20)

    controls = {
        "window": slider("Window", 20, 2, MAX_WINDOW, 2, "segments"),
        "rate_mbps": slider("Rate of the link", RATE_MBPS, 5.0, 20.0, 1.0, "Mbit/s"),
        "base_rtt_ms": slider("RTT of the empty path", BASE_RTT_MS, 10, 100, 10, "ms"),
    }
    return controls, scenario, show
