"""The panel of the chapter on parallel streams."""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.traffic import Tcp
from netlab.widgets import PanelParts, Settings, panel_maker, slider, toggle
from netlab_course.chapters.parallel_streams.settings import LOSS_RATE, RTT_MS, SLOW_MBPS, slow_path

MAX_STREAMS = 32


def _forecast_mbps(streams: float, settings: Settings) -> tuple[float, float]:
    """Return the theoretical goodputs in Mbit/s of all `streams` connections of h1 together and of all connections of
    the neighbour; `settings` has the values of the controls.
    """
    neighbours, loss_rate = settings["neighbours"], settings["lost_per_thousand"] / 1000
    # A sender waits until a whole segment fits into the window.
    whole_bytes = settings["window_bytes"] // theory.MSS_BYTES * theory.MSS_BYTES
    one = theory.window_limit_mbps(float(whole_bytes), RTT_MS)
    if loss_rate:
        one = min(one, theory.mathis_mbps(theory.MSS_BYTES, RTT_MS, loss_rate, theory.MATHIS_RANDOM_C))
    # Packets that are lost behind the queue have used the link.
    limit = theory.tcp_goodput_limit_mbps(SLOW_MBPS) * (1 - loss_rate)
    if not settings["queue_per_host"]:
        one = min(one, limit / (streams + neighbours))
        return streams * one, neighbours * one
    wanted = {host: count * one for host, count in (("h1", streams), ("h2", neighbours)) if count}
    shares = theory.max_min_mbps({"link": limit}, {host: ["link"] for host in wanted}, wanted)
    return shares["h1"], shares.get("h2", 0.0)


SECONDS = 10.0


@panel_maker()
def panel() -> PanelParts:
    """Return the parts of a panel that shows the goodput of h1's connections together with a neighbour's connections,
    by their number, and their limits: its controls, and the functions that make its scenario and its figure.

    The link has 50 Mbit/s and a round-trip time of 20 ms. Its queue serves packets in the order of arrival or,
    optionally, the hosts in turn.

    A run takes 10 s of network time, of which the first quarter is ignored.
    """

    def scenario(
        streams: int, neighbours: int, lost_per_thousand: int, window_bytes: int, queue_per_host: bool
    ) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: h1 sends with `streams` Reno connections and h2 with
        `neighbours` over a link of 50 Mbit/s with random losses, each with a window of `window_bytes`; its queue is
        FIFO, or with `queue_per_host` CAKE.
        """
        network = slow_path(2, loss_rate=lost_per_thousand / 1000, aqm="cake" if queue_per_host else "fifo")
        hosts = [("h1", "h3", streams), ("h2", "h4", neighbours)]
        traffic = [
            Tcp(src, dst, streams=count, congestion="reno", window_bytes=window_bytes)
            for src, dst, count in hosts
            if count
        ]
        return {"topology": network, "traffic": traffic, "duration_s": SECONDS}

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the goodputs of h1 and of the neighbour in the run `result` by the number of h1's
        connections, with theory; `settings` has the values of the controls.
        """
        streams = settings["streams"]
        got = dict(zip(("h1", "h2"), result.goodput_mbps(after_s=SECONDS / 4), strict=False))
        rtt_ms = float(result.flows["rtt_ms"].iloc[0])
        detail = (
            f"{settings['neighbours']} connections of h2, {settings['lost_per_thousand']} of 1000 lost<br>"
            f"windows of {settings['window_bytes']} bytes, {'one queue per host' if settings['queue_per_host'] else 'one queue'}"
        )

        def theory_mbps(index: int) -> Callable[[float], float]:
            """Return a function of the number of h1's connections that returns the theoretical goodput in Mbit/s of h1
            (`index` 0) or of the neighbour (1).
            """
            return lambda count: _forecast_mbps(count, settings)[index]

        comparison = plots.Comparison(
            x_label="Connections of h1",
            y_label="Goodput (Mbit/s)",
            title=", ".join(f"{name} {mbps:.2f}" for name, mbps in got.items()) + f" Mbit/s; RTT {rtt_ms:.1f} ms",
        )
        line = np.arange(1.0, MAX_STREAMS + 1)
        for index, (host, goodput_mbps) in enumerate(got.items()):
            comparison.add(host, [streams], [goodput_mbps], line, theory_mbps(index), details=[detail])
        return comparison.fix_axes(x=(0, MAX_STREAMS + 0.5), y=(0, SLOW_MBPS))

    controls = {
        "streams": slider("Connections of h1", 4, 1, MAX_STREAMS, 1),
        "neighbours": slider("Connections of h2", 2, 0, 8, 1),
        "lost_per_thousand": slider("Random loss", round(1000 * LOSS_RATE), 0, 50, 1, "of 1000"),
        "window_bytes": slider("Window of each", 1_000_000, 20_000, 1_000_000, 10_000, "bytes"),
        "queue_per_host": toggle("One queue per host"),
    }
    return controls, scenario, show
