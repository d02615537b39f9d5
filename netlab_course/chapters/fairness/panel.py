"""The panel of the chapter on fairness."""

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.plots.theme import COLOURS
from netlab.widgets import PanelParts, Settings, choice, panel_maker, slider, toggle
from netlab_course.chapters.fairness.experiments import NAMES, random_start_scenario, rtts_ms, window_reductions
from netlab_course.chapters.fairness.settings import (
    FAR_MS,
    NEAR_MS,
    QUEUE_PACKETS,
    WARM_UP_S,
    gentle_red,
    two_distances,
)

LOSS_KINDS = {"drop-tail": "synchronized", "gentle RED": "random", "one for each flow": ""}
"""The queues, each with the kind of losses that its theory assumes."""
MAX_FAR_MS = 1500
MAX_PACKETS = 300
MAX_RTT_RATIO = MAX_FAR_MS / NEAR_MS
MAX_EARLIER_RUNS = 12


def _scenario(far_ms: float, room_packets: int, draw: int, queue: str, cubic: bool) -> dict[str, Any]:
    """Return the arguments of `netlab.run`, by name: a far flow (propagation `far_ms`) and a near one with CUBIC or
    Reno, behind a queue (a key of `LOSS_KINDS`) with room for `room_packets`; `draw` is the seed.
    """
    fields = {
        "drop-tail": {"queue_packets": room_packets},
        "gentle RED": gentle_red(room_packets),
        "one for each flow": {
            "queue_packets": 2 * room_packets,
            "aqm": "fq",
            "aqm_options": {"flow_packets": room_packets},
        },
    }[queue]
    pairs = (("h1", "h3"), ("h2", "h3"))
    return {"topology": random_start_scenario(two_distances(fields, far_ms), pairs, "cubic" if cubic else "reno", draw)}


def _show(result: Any, settings: Settings) -> go.Figure:
    """Return the figure of the far flow's part of both goodputs in the run `result` by the ratio of the measured
    round-trip times, with theory; `settings` has the values of the controls.
    """
    congestion, queue = "cubic" if settings["cubic"] else "reno", settings["queue"]
    far_mbps, near_mbps = result.goodput_mbps(after_s=WARM_UP_S)
    (far_ms, near_ms), (far_reductions, near_reductions) = rtts_ms(result), window_reductions(result)
    part = far_mbps / (far_mbps + near_mbps)
    detail = (
        f"{settings['far_ms']} ms, {settings['room_packets']} packets, draw {settings['draw']}<br>"
        f"cuts: h1 {far_reductions}, h2 {near_reductions}"
    )

    def share(loss_kind: str) -> Callable[[float], float]:
        """Return a function that returns the far flow's part in theory for a ratio of round-trip times (far over near);
        `loss_kind` is the kind of losses, "synchronized" or "random", or "" for equal parts.
        """
        exponent = theory.RTT_EXPONENTS[congestion, loss_kind] if loss_kind else 0.0
        return lambda ratio: float(theory.rtt_shares_mbps(1.0, [ratio, 1.0], exponent)[0])

    ratios = np.linspace(1, MAX_RTT_RATIO, 81)
    comparison = plots.Comparison(
        x_label="T far / T near, queueing included",
        y_label="h1's part of the goodput",
        residual="absolute",
        title=(
            f"{NAMES[congestion]}, {queue}: h1 {far_mbps:.2f}, h2 {near_mbps:.2f} Mbit/s; "
            f"h2 waits {near_ms - NEAR_MS:.0f} ms"
        ),
    ).add("measured", [far_ms / near_ms], [part], ratios, share(LOSS_KINDS[queue]), details=[detail])
    figure = comparison.figure
    for loss_kind, dash in (("synchronized", "dot"), ("random", "dashdot")):
        if loss_kind != LOSS_KINDS[queue]:
            figure.add_scatter(
                x=ratios.tolist(),
                y=[share(loss_kind)(ratio) for ratio in ratios],
                mode="lines",
                name=loss_kind,
                line={"dash": dash, "width": 1.5, "color": COLOURS[0]},
                row=1,
                col=1,
            )
    return comparison.fix_axes(x=(0.95, MAX_RTT_RATIO + 0.1), y=(0, 0.75), residual=0.35)


@panel_maker(earlier=MAX_EARLIER_RUNS)
def panel() -> PanelParts:
    """Return the parts of a panel that shows a far and a near flow on one link, and the effect of distance and queue on
    their shares: its controls, and the functions that make its scenario and its figure.

    Each run takes the chapter's four minutes of network time; each point is one draw.
    """
    controls = {
        "far_ms": slider("h1 is away", FAR_MS, NEAR_MS, MAX_FAR_MS, 50, "ms"),
        "room_packets": slider("Room in the queue", QUEUE_PACKETS, 10, MAX_PACKETS, 10, "packets"),
        "draw": slider("Draw", 1, 1, 50, 1),
        "queue": choice("Queue", list(LOSS_KINDS)),
        "cubic": toggle("CUBIC instead of Reno"),
    }
    return controls, _scenario, _show
