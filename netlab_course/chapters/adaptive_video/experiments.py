"""Tables and figures of the chapter "Adaptive video"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from netlab import plots
from netlab.network.trace import Trace
from netlab.plots.theme import COLOURS
from netlab_course.chapters.adaptive_video import settings
from netlab_course.chapters.adaptive_video.player import CHUNK_S, LADDER_MBPS, LIMIT_S, Player


def videos_table(videos: Mapping[str, Player]) -> pd.DataFrame:
    """Return a table with a row for each video (players by the rule's name): `rule`, the mean rate `quality_mbps` and
    the quality of experience `experience_mbps` in Mbit/s, the number of `switches` of the quality, and the sum of all
    stalls `stall_s` in s.
    """
    rows = []
    for name, video in videos.items():
        changes = np.abs(np.diff(video.qualities_mbps))
        rows.append(
            {
                "rule": name,
                "quality_mbps": float(np.mean(video.qualities_mbps)),
                "switches": int((changes > 0).sum()),
                "stall_s": video.stall_s,
                "experience_mbps": video.experience_mbps,
            }
        )
    return pd.DataFrame(rows)


def table(videos: Mapping[str, Player]) -> str:
    """Return the table of `videos_table` for these players (by the rule's name) as text, with two decimals."""
    names = {"quality_mbps": "mean quality (Mbit/s)", "stall_s": "stalls (s)", "experience_mbps": "experience (Mbit/s)"}
    return str(videos_table(videos).rename(columns=names).round(2).to_string(index=False))


def _buffer_curve(video: Player) -> tuple[list[float], list[float]]:
    """Return two lists for a player's video: network times in s, and the seconds of video in the buffer at each;
    between two of them the buffer is a straight line.
    """
    times_s, buffers_s = [0.0], [0.0]
    for chunk in video.history:
        started = len(times_s) > 1
        empty_s = chunk.asked_s + chunk.buffer_s
        if started and empty_s < chunk.arrived_s:
            times_s.append(empty_s)
            buffers_s.append(0.0)
        left_s = max(0.0, chunk.buffer_s - (chunk.arrived_s - chunk.asked_s)) if started else 0.0
        times_s += [chunk.arrived_s, chunk.arrived_s]
        buffers_s += [left_s, left_s + CHUNK_S]
    return times_s, buffers_s


def video_figure(videos: Mapping[str, Player], trace: Trace, title: str) -> go.Figure:
    """Return a figure of the rate of each chunk of some videos (players by the rule's name) with the rate of the
    trace, in Mbit/s, and below it the buffers in s, over the network time; one colour for each rule.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08, row_heights=[0.6, 0.4])
    end_s = max(video.history[-1].arrived_s for video in videos.values())
    moments_s = np.arange(0, end_s, 2.0)
    rates = [trace.at(float(at_s)) for at_s in moments_s]
    grey = {"color": "#9e9e9e", "width": 1, "shape": "hv"}
    figure.add_scatter(x=moments_s, y=rates, mode="lines", name="rate of the link", line=grey, row=1, col=1)
    for place, (name, video) in enumerate(videos.items()):
        colour = COLOURS[place % len(COLOURS)]
        asked_s = [chunk.asked_s for chunk in video.history]
        line = {"color": colour, "shape": "hv"}
        figure.add_scatter(x=asked_s, y=video.qualities_mbps, mode="lines", name=name, line=line, row=1, col=1)
        times_s, buffers_s = _buffer_curve(video)
        same = {"showlegend": False, "line": {"color": colour}}
        figure.add_scatter(x=times_s, y=buffers_s, mode="lines", name=f"buffer, {name}", row=2, col=1, **same)
    figure.update_yaxes(title_text="Quality (Mbit/s)", row=1, col=1, range=[0, LADDER_MBPS[-1] + 1])
    figure.update_yaxes(title_text="Buffer (s)", row=2, col=1, range=[0, LIMIT_S + 1])
    figure.update_xaxes(title_text="Network time (s)", row=2, col=1)
    return figure.update_layout(title=title, height=460)


def stall_figure(
    rates_mbps: Sequence[float], stalls_s: Sequence[float], left_mbit: float, buffer_s: float
) -> go.Figure:
    """Return a figure of the measured stalls in s after a fall to each of these rates of the link in Mbit/s, with
    theory: `left_mbit` of a chunk were missing when the rate fell, and `buffer_s` seconds of video were in the buffer.
    The fraction 1448/1514 of a link's rate carries data.
    """
    curve = np.linspace(min(rates_mbps), max(rates_mbps), 100)
    return (
        plots.Comparison(
            "Rate after the fall (Mbit/s)",
            "Stall (s)",
            "A fall of the rate, and the stall after it",
            residual="absolute",
        )
        .add(
            "measured",
            list(rates_mbps),
            list(stalls_s),
            list(curve),
            lambda rate: settings.stall_s(left_mbit, rate * 1448 / 1514, buffer_s),
        )
        .figure
    )
