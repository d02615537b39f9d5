"""The panel of the chapter "Queues that speak up"."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import theory
from netlab.base.headers import FRAME_BYTES
from netlab.plots.theme import points
from netlab.traffic import Ping, Tcp, Traffic
from netlab.widgets import PanelParts, Settings, choice, log_slider, panel_maker, slider
from netlab_course.chapters.queues.experiments import PAGE_BYTES, SLOW_LINK, page_times_s
from netlab_course.chapters.queues.settings import BASE_RTT_MS, RATE_MBPS, one_link

DISCIPLINES: Mapping[str, str] = {"drop-tail": "fifo", "CoDel": "codel", "PIE": "pie", "fq_codel": "fq_codel"}
MIN_ALLOWED_MS, MAX_ALLOWED_MS = 1, 300
WARM_UP_S = 3
PAGE_EVERY_S = 1.5
PAGES = 6
SECONDS = 12
MAX_EARLIER_RUNS = 12


def queue(discipline: str, allowed_ms: float) -> dict[str, Any]:
    """Return fields of the slow link for a discipline, a key of `DISCIPLINES`: drop-tail has room for `allowed_ms` ms
    of full frames, the others have these as their target.
    """
    if discipline == "drop-tail":
        frame_ms = theory.transmission_delay_ms(FRAME_BYTES, RATE_MBPS)
        return {"queue_packets": max(1, round(allowed_ms / float(frame_ms)))}
    return {"aqm": DISCIPLINES[discipline], "aqm_options": {"target_ms": round(allowed_ms, 3)}}


def _scenario(allowed_ms: float, base_rtt_ms: float, discipline: str) -> dict[str, Any]:
    """Return the arguments of `netlab.run`, by name: a download, a neighbour's pings and pages behind a queue of this
    discipline, whose room or target is `allowed_ms`, with this RTT of the empty path.
    """
    pages: list[Traffic] = [
        Tcp("h2", "h3", num_bytes=PAGE_BYTES, start_s=WARM_UP_S + number * PAGE_EVERY_S) for number in range(PAGES)
    ]
    return {
        "topology": one_link(RATE_MBPS, base_rtt_ms, **queue(discipline, allowed_ms)),
        "traffic": [Tcp("h1", "h3"), Ping("h2", "h3", interval_s=0.05), *pages],
        "duration_s": SECONDS,
        "interval_s": 0.1,
    }


def _show(result: Any, settings: Settings) -> go.Figure:
    """Return the figure of the link's utilization in % in the run `result` by the mean waits of the download and of the
    neighbour in ms; `settings` has the values of the controls.
    """
    discipline, base_rtt_ms = settings["discipline"], settings["base_rtt_ms"]
    download = result.intervals[result.intervals["flow"] == result.flows["flow"].iloc[0]]
    pings = result.pings.loc[result.pings["t_s"] > WARM_UP_S, "rtt_ms"]
    counted = result.queues[(result.queues["interface"] == SLOW_LINK) & (result.queues["t_s"] >= WARM_UP_S)]
    first, last = counted.iloc[0], counted.iloc[-1]
    sent_mbps = (last["sent_bytes"] - first["sent_bytes"]) * 8e-6 / (last["t_s"] - first["t_s"])
    in_use = 100 * sent_mbps / RATE_MBPS
    waits_ms = {
        "the download's packets": float(download.loc[download["t_s"] > WARM_UP_S, "rtt_ms"].mean()) - base_rtt_ms,
        "the neighbour's": float(pings.mean()) - base_rtt_ms,
    }
    times_s = page_times_s(result)
    page = f"a page takes {np.median(times_s):.2f} s" if times_s else "no page is through"
    word = "room for" if discipline == "drop-tail" else "target"
    figure = go.Figure()
    for number, (name, wait_ms) in enumerate(waits_ms.items()):
        figure.add_scatter(
            x=[max(wait_ms, 0.1)],
            y=[in_use],
            name=name,
            hovertemplate=(
                f"{discipline}, {word} {settings['allowed_ms']:.3g} ms, round trip {base_rtt_ms} ms<br>"
                f"{name}: wait %{{x:.1f}} ms<br>link in use %{{y:.1f}} %; {page}<extra></extra>"
            ),
            meta={"role": "measured"},
            **points(number, 12),
        )
    figure.update_layout(
        template="netlab",
        title_text=f"{discipline}, {word} {settings['allowed_ms']:.3g} ms: link {in_use:.1f} % in use, {page}",
        height=430,
    )
    # Fix the axes: a slider must not change the scale.
    figure.update_xaxes(
        title_text="Mean wait (ms)",
        type="log",
        range=[np.log10(0.3), np.log10(400)],
        tickvals=[0.5, 1, 2, 5, 10, 20, 50, 100, 200],
    )
    return figure.update_yaxes(title_text="Link in use (%)", range=[40, 102])


@panel_maker(earlier=MAX_EARLIER_RUNS)
def panel() -> PanelParts:
    """Return the parts of a panel that shows a download with pages and pings of a neighbour, the link's utilization,
    and the waits of both: its controls, and the functions that make its scenario and its figure.
    """
    controls = {
        "allowed_ms": log_slider("Room, or target", 100, MIN_ALLOWED_MS, MAX_ALLOWED_MS, 6, "ms"),
        "base_rtt_ms": slider("Round trip", BASE_RTT_MS, 5, 50, 5, "ms"),
        "discipline": choice("Queue", list(DISCIPLINES)),
    }
    return controls, _scenario, _show
