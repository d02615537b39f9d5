"""The panel of the chapter "Adaptive video"."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.traffic import Requests
from netlab.widgets import PanelParts, Settings, panel_maker, slider
from netlab_course.chapters.adaptive_video.settings import RTT_MS, path

MAX_KB, MAX_MBPS = 1000, 30


@panel_maker(earlier=5)
def panel() -> PanelParts:
    """Return the parts of a panel that shows the throughput of a chunk that is asked for after a pause, over a steady
    link: its controls, and the functions that make its scenario and its figure.
    """

    def scenario(chunk_kb: int, rate_mbps: float, pause_s: float) -> dict[str, Any]:
        """Return the arguments of `netlab.run`, by name: a phone asks for four chunks of `chunk_kb` kB over a link of
        `rate_mbps`, each `pause_s` seconds after the one before has arrived.
        """
        chunks = Requests("phone", "server", response_bytes=chunk_kb * 1000, count=4, think_s=pause_s)
        return {"topology": path(rate_mbps), "traffic": [chunks], "duration_s": 30}

    def show(result: Any, settings: Settings) -> go.Figure:
        """Return the figure of the throughput of the last chunk in the run `result` by the chunk's size, with theory's
        throughput in slow start; `settings` has the values of the controls.
        """
        chunk_kb, rate_mbps = settings["chunk_kb"], settings["rate_mbps"]
        took_s = float(result.requests["completion_s"].iloc[-1])
        measured_mbps = chunk_kb * 8e-3 / took_s
        title = f"{chunk_kb} kB after a pause of {settings['pause_s']:g} s: {measured_mbps:.1f} Mbit/s"
        comparison = plots.Comparison("Chunk (kB)", "Throughput of a chunk (Mbit/s)", title).add(
            "measured",
            [chunk_kb],
            [measured_mbps],
            list(np.arange(20, MAX_KB + 1, 20)),
            lambda size: size * 8 / theory.short_flow_ms(size * 1000, rate_mbps, RTT_MS),
        )
        return comparison.fix_axes(x=(0, MAX_KB + 20), y=(0, MAX_MBPS), residual=100)

    controls = {
        "chunk_kb": slider("Chunk", 300, 20, MAX_KB, 20, "kB"),
        "rate_mbps": slider("Rate of the link", 20, 5, MAX_MBPS, 1, "Mbit/s"),
        "pause_s": slider("Pause between chunks", 2.0, 0.0, 4.0, 0.5, "s"),
    }
    return controls, scenario, show
