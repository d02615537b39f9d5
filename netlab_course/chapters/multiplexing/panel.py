"""The panel of the chapter on multiplexing."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.network import topologies
from netlab.traffic import Tcp
from netlab.widgets import PanelParts, Settings, panel_maker, slider, toggle
from netlab_course.chapters.multiplexing.settings import CROSSING, FAIR_QUEUE, LIMIT_PACKETS, START_WITHIN_S

SECONDS = 10.0


@panel_maker()
def panel() -> PanelParts:
    """Return the parts of a panel that shows the goodputs of six TCP flows whose paths cross on three links, with their
    max-min shares: its controls, and the functions that make its scenario and its figure.

    A run takes 10 s of network time, of which the first fifth is ignored.
    """

    def rates_mbps(settings: Settings) -> tuple[float, float, float]:
        """Return the rates in Mbit/s of the links L1 (always 40), L2 and L3 for the values of the controls."""
        return 40.0, settings["l2_mbps"], settings["l3_mbps"]

    def scenario(l2_mbps: float, l3_mbps: float, queue_share: float, draw: int, fair_queue: bool) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: six TCP flows over L1 to L3, the latter two with these rates,
        queues of `queue_share` times 67, 100 and 33 packets, fq_codel with `fair_queue`; `draw` is the seed of the
        starts and of the run.
        """
        fair: Mapping[str, Any] = FAIR_QUEUE if fair_queue else {}
        rooms = [max(2, round(room * queue_share)) for room in LIMIT_PACKETS]
        starts_s = np.random.default_rng(draw).uniform(0, START_WITHIN_S, len(CROSSING))
        return {
            "topology": topologies.portfolio((40, l2_mbps, l3_mbps), rooms, **fair),
            "traffic": [
                Tcp(pair[:2], pair[3:], start_s=float(start_s))
                for pair, start_s in zip(CROSSING, starts_s, strict=True)
            ],
            "duration_s": SECONDS,
            "seed": draw,
        }

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the goodput of each flow in the run `result`, with its max-min share; `settings` has the
        values of the controls.
        """
        got = result.goodput_mbps(after_s=SECONDS / 5).to_numpy()
        shares = theory.max_min_mbps(dict(zip(("L1", "L2", "L3"), rates_mbps(settings), strict=True)), CROSSING)
        queue = "fair queues" if settings["fair_queue"] else "plain queues"
        places = np.arange(len(CROSSING))
        comparison = plots.Comparison(
            x_label="",
            y_label="Goodput (Mbit/s)",
            title=f"{queue.capitalize()}: h1-h9 {got[0]:.2f}, all together {got.sum():.1f} Mbit/s",
            cases=[f"{pair}<br>{', '.join(links)}" for pair, links in CROSSING.items()],
        ).add(
            "measured",
            places,
            got,
            places,
            np.array([shares[pair] for pair in CROSSING]) * theory.tcp_goodput_limit_mbps(1),
            details=[f"{queue}, {settings['queue_share']:g} of the usual size; draw {settings['draw']}"]
            * len(CROSSING),
        )
        return comparison.figure

    controls = {
        "l2_mbps": slider("Rate of L2", 30.0, 5.0, 60.0, 1.0, "Mbit/s"),
        "l3_mbps": slider("Rate of L3", 20.0, 5.0, 60.0, 1.0, "Mbit/s"),
        "queue_share": slider("Queues", 1.0, 0.1, 4.0, 0.1, "times usual"),
        "draw": slider("Draw", 1, 1, 50, 1),
        "fair_queue": toggle("Fair queues"),
    }
    return controls, scenario, show
