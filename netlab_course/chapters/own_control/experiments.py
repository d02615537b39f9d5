"""Tables and figures of the chapter "Your own congestion control", with points in the plane of goodput and delay."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab import theory
from netlab.base.headers import FRAME_BYTES, MSS_BYTES
from netlab.base.units import MS_PER_S
from netlab.measure.results import Run
from netlab.plots.theme import COLOURS, SYMBOLS
from netlab_course.chapters.own_control.settings import (
    BASE_RTT_MS,
    LANDMARKS,
    RATE_MBPS,
)

PERCENTILE = 95


def rtt_ms(window_segments: float, rate_mbps: float = RATE_MBPS, base_rtt_ms: float = BASE_RTT_MS) -> float:
    """Return the RTT in ms that a fixed window in segments gives on a link, by Little's law: `base_rtt_ms`, the RTT of
    the empty path, until the window fills it, then longer.
    """
    return max(base_rtt_ms, theory.transmission_delay_ms(window_segments * FRAME_BYTES, rate_mbps))


def goodput_mbps(window_segments: float, rate_mbps: float = RATE_MBPS, base_rtt_ms: float = BASE_RTT_MS) -> float:
    """Return the goodput in Mbit/s that a fixed window in segments gives on a link, by Little's law; `base_rtt_ms` is
    the RTT of the empty path.
    """
    return theory.window_limit_mbps(window_segments * MSS_BYTES, rtt_ms(window_segments, rate_mbps, base_rtt_ms))


def point(run: Run, flow: int = 0) -> dict[str, float]:
    """Return a flow's point in the plane of goodput and delay: `goodput_mbps`, and `rtt95_ms`, the 95th percentile of
    its RTT (NaN without an RTT); `flow` is its place in `run.flows`, from 0.
    """
    label = run.flows["flow"].iloc[flow]
    rtts = run.intervals.loc[run.intervals["flow"] == label, "rtt_ms"].dropna()
    high_ms = float(np.percentile(rtts, PERCENTILE)) if len(rtts) else float("nan")
    return {"goodput_mbps": float(run.flows["goodput_mbps"].iloc[flow]), "rtt95_ms": high_ms}


def power(run: Run, flow: int = 0) -> float:
    """Return a flow's goodput over the 95th percentile of its RTT, in Mbit/s per second; `flow` is its place in
    `run.flows`, from 0.
    """
    found = point(run, flow)
    return found["goodput_mbps"] / found["rtt95_ms"] * MS_PER_S


def windows_table(runs: Mapping[float, Run]) -> pd.DataFrame:
    """Return a table of the `goodput_mbps` and mean `rtt_ms` after 1 s of the only flow of each run, a row for each;
    the keys of `runs` are fixed windows in segments (column `window`).
    """
    return pd.DataFrame(
        [
            {
                "window": size,
                "goodput_mbps": run.goodput_mbps(after_s=1).iloc[0],
                "rtt_ms": run.intervals.query("t_s > 1")["rtt_ms"].mean(),
            }
            for size, run in runs.items()
        ]
    )


def points_table(runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return a table with a row for the only flow of each run: `control` (the key of the run), `goodput_mbps`,
    `rtt95_ms` (95th percentile), and `power` in Mbit/s per second.
    """
    return pd.DataFrame([{"control": label, **point(run), "power": power(run)} for label, run in runs.items()])


def windows_figure(found: pd.DataFrame) -> go.Figure:
    """Return a figure of fixed windows, from the table of `windows_table`, in the plane of goodput and RTT, with
    Little's law for a link of 10 Mbit/s and 40 ms.
    """
    sizes = np.geomspace(found["window"].min(), found["window"].max(), 200)
    figure = go.Figure()
    figure.add_scatter(
        x=[goodput_mbps(size) for size in sizes],
        y=[rtt_ms(size) for size in sizes],
        mode="lines",
        name="Little's law",
        line={"color": COLOURS[0], "dash": "dash"},
    )
    figure.add_scatter(
        x=found["goodput_mbps"],
        y=found["rtt_ms"],
        mode="markers+text",
        text=[f"{size:g}" for size in found["window"]],
        textposition="middle left",
        name="measured",
        marker={"size": 10, "color": COLOURS[0]},
    )
    return _plane(figure, "Fixed windows (segments) on the steady link", "RTT (ms)")


def plane(found: pd.DataFrame, title: str) -> go.Figure:
    """Return a figure of congestion controls, from the table of `points_table`, in the plane of goodput and delay: the
    student's with filled markers, Linux's with open ones.
    """
    figure = go.Figure()
    slowest_first = found["rtt95_ms"].rank(method="first", ascending=False).astype(int) - 1
    for place, row in enumerate(found.itertuples()):
        is_linux = row.control in LANDMARKS
        figure.add_scatter(
            x=[row.goodput_mbps],
            y=[row.rtt95_ms],
            mode="markers+text",
            text=[f"\u00a0{row.control}\u00a0"],
            # Congestion controls that fill the queue are close together: place the names of neighbours on different sides.
            textposition=("top left", "middle right", "middle left", "bottom left")[slowest_first.iloc[place] % 4],
            name=str(row.control),
            showlegend=False,
            marker={
                # A filled marker remains visible inside an open one.
                "size": 16 if is_linux else 9,
                "color": COLOURS[place % len(COLOURS)],
                "symbol": SYMBOLS[place % len(SYMBOLS)].removesuffix("-open") + ("-open" if is_linux else ""),
            },
        )
    least, most = found["goodput_mbps"].min(), found["goodput_mbps"].max()
    figure.update_xaxes(range=[0.9 * least, 1.04 * most])
    low, high = np.log10([found["rtt95_ms"].min(), found["rtt95_ms"].max()])
    figure.update_yaxes(range=[low - 0.1, high + 0.1], nticks=6)
    return _plane(figure.update_layout(height=440), title, "RTT, 95th percentile (ms)")


def _plane(figure: go.Figure, title: str, y_label: str) -> go.Figure:
    """Set the title and the axes of a figure in the plane of goodput in Mbit/s and delay, which has a logarithmic axis
    with the title `y_label`; return the figure.
    """
    figure.update_layout(title=title)
    figure.update_xaxes(title_text="Goodput (Mbit/s)", rangemode="tozero")
    figure.update_yaxes(title_text=y_label, type="log")
    return figure


def table(found: pd.DataFrame) -> str:
    """Return the table of `points_table` as text with two decimals, a line for each congestion control, the greatest
    power first.
    """
    names = {"goodput_mbps": "Mbit/s", "rtt95_ms": "RTT 95 % (ms)", "power": "power (Mbit/s per s)"}
    ordered = found.sort_values("power", ascending=False).rename(columns=names)
    return str(ordered.round(2).to_string(index=False))
