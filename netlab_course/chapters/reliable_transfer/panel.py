"""The panel of the chapter "Build a reliable transfer"."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots
from netlab.widgets import PanelParts, Settings, choice, panel_maker, slider
from netlab_course.chapters.reliable_transfer.experiments import GO_BACK_N, SELECTIVE_REPEAT, theory_mbps
from netlab_course.chapters.reliable_transfer.settings import LOSS_RATE, RATE_MBPS, network, transfer

PROTOCOLS = {"go-back-N": GO_BACK_N, "selective repeat": SELECTIVE_REPEAT}
MAX_WINDOW = 64
SECONDS = 5


@panel_maker(earlier=12)
def panel() -> PanelParts:
    """Return the parts of a panel that shows the goodput of netlab's own transfers over a lossy path of 2 Mbit/s by
    window, each point one run of 5 s: its controls, and the functions that make its scenario and its figure.
    """

    def scenario(window: int, loss_percent: float, draw: int, scheme: str) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: a transfer by a scheme (a key of `PROTOCOLS`) with a window in
        pieces over a path of 2 Mbit/s and 100 ms, which loses `loss_percent` % of the data; `draw` is the seed.
        """
        path = network(loss_rate=loss_percent / 100)
        ends = PROTOCOLS[scheme].ends(window)
        return {"topology": transfer(*ends, duration_s=SECONDS, topology=path, seed=draw)}

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the goodput of the run `result` by window, with theory; `settings` has the values of the
        controls.
        """
        window, scheme, loss_rate = settings["window"], settings["scheme"], settings["loss_percent"] / 100
        flow = result.flows.iloc[0]
        pieces = flow["received_bytes"] / 1000
        comparison = plots.Comparison(
            x_label="Window (pieces)",
            y_label="Goodput (Mbit/s)",
            residual="absolute",
            title=(
                f"{scheme}, window {window}, {100 * loss_rate:g} % lost: {flow['goodput_mbps']:.2f} Mbit/s, "
                f"{flow['sent_datagrams']:.0f} sent for {pieces:.0f} pieces"
            ),
        ).add(
            "measured",
            [window],
            [flow["goodput_mbps"]],
            np.linspace(1, MAX_WINDOW, 127),
            lambda at: theory_mbps(scheme, at, loss_rate),
            details=[f"{settings['loss_percent']} % lost, draw {settings['draw']}"],
        )
        return comparison.fix_axes(x=(0, MAX_WINDOW + 1), y=(0, RATE_MBPS), residual=1.0)

    controls = {
        "window": slider("Window", 8, 1, MAX_WINDOW, 1, "pieces"),
        "loss_percent": slider("Losses", 100 * LOSS_RATE, 0.0, 10.0, 0.5, "%"),
        "draw": slider("Draw", 1, 1, 50, 1),
        "scheme": choice("Scheme", list(PROTOCOLS)),
    }
    return controls, scenario, show
