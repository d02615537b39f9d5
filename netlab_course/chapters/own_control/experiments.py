"""Runs, tables and figures of the chapter "Your own congestion control", with points in the plane of goodput and delay."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab import theory
from netlab.base.headers import FRAME_BYTES, MSS_BYTES
from netlab.base.units import MS_PER_S
from netlab.measure.results import Run
from netlab.plots.theme import COLOURS, SYMBOLS
from netlab.runs import experiment, sweeps
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.chapters.own_control.settings import (
    BASE_RTT_MS,
    FIXED_S,
    LANDMARKS,
    RATE_MBPS,
    TRACE_S,
    Window,
    steady,
    traced,
)

PERCENTILE = 95


def rtt_ms(window_segments: float, rate_mbps: float = RATE_MBPS, base_rtt_ms: float = BASE_RTT_MS) -> float:
    """Return the RTT in ms of a fixed window in segments by Little's law: that of the empty path, until the window
    fills it.
    """
    return max(base_rtt_ms, theory.transmission_delay_ms(window_segments * FRAME_BYTES, rate_mbps))


def goodput_mbps(window_segments: float, rate_mbps: float = RATE_MBPS, base_rtt_ms: float = BASE_RTT_MS) -> float:
    """Return the goodput in Mbit/s of a fixed window in segments, by Little's law."""
    return theory.window_limit_mbps(window_segments * MSS_BYTES, rtt_ms(window_segments, rate_mbps, base_rtt_ms))


def point(run: Run, flow: int = 0) -> dict[str, float]:
    """Return a flow's point in the plane of goodput and delay: `goodput_mbps`, and `rtt95_ms`, the 95th percentile of
    its RTT; `flow` is its index.
    """
    label = run.flows["flow"].iloc[flow]
    rtts = run.intervals.loc[run.intervals["flow"] == label, "rtt_ms"].dropna()
    high_ms = float(np.percentile(rtts, PERCENTILE)) if len(rtts) else float("nan")
    return {"goodput_mbps": float(run.flows["goodput_mbps"].iloc[flow]), "rtt95_ms": high_ms}


def power(run: Run, flow: int = 0) -> float:
    """Return a flow's goodput over the 95th percentile of its RTT, in Mbit/s per second; `flow` is its index."""
    found = point(run, flow)
    return found["goodput_mbps"] / found["rtt95_ms"] * MS_PER_S


def fixed_windows(windows: Sequence[float]) -> pd.DataFrame:
    """Run fixed windows in segments on the steady link; return goodput and mean RTT after 1 s, a row for each."""
    scenarios = {size: Scenario(steady(), [Tcp("h1", "h3", congestion=Window(size))], FIXED_S) for size in windows}
    runs = sweeps.sweep(scenarios)
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


def most_powerful(windows: Sequence[float]) -> float:
    """Return the fixed window in segments that has the greatest power on the steady link, of those in `windows`."""
    found = fixed_windows(windows)
    powers = (found["goodput_mbps"] / found["rtt_ms"]).to_numpy()
    return float(found["window"].to_numpy()[powers.argmax()])


def longer_ms(rate_mbps: float, window: float = 10) -> float:
    """Return the difference in ms between the RTT of a small window and that of the empty path, on the steady link at
    another rate.
    """
    flow = Tcp("h1", "h3", congestion=Window(window))
    run = experiment.run(Scenario(steady(rate_mbps), [flow], FIXED_S), progress=False)
    return float(run.intervals.query("t_s > 1")["rtt_ms"].mean()) - BASE_RTT_MS


def on_trace(name: str, controls: Mapping[str, Any], start_s: float = 0) -> pd.DataFrame:
    """Run each congestion control (a name or class, by label) alone on a trace, from the time `start_s` of the trace
    on; return its point and power, a row for each.
    """
    flows = {label: Tcp("h1", "h3", congestion=each, start_s=start_s) for label, each in controls.items()}
    runs = sweeps.sweep({label: Scenario(traced(name), [flow], start_s + TRACE_S) for label, flow in flows.items()})
    rows = [{"control": label, **point(run), "power": power(run)} for label, run in runs.items()]
    return pd.DataFrame(rows)


def landmarks() -> dict[str, Any]:
    """Return Linux's own congestion controls for comparison, by name."""
    return {name: name for name in LANDMARKS}


def windows_figure(found: pd.DataFrame) -> go.Figure:
    """Return a figure of fixed windows (the table of `fixed_windows`) in the plane of goodput and delay, with Little's
    law.
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
    """Return a figure of congestion controls (the table of `on_trace`) in the plane of goodput and delay: the student's
    with filled markers, Linux's with open ones.
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
    """Return the figure with title and axes of the plane: goodput in Mbit/s, and a logarithmic one for the delay."""
    figure.update_layout(title=title)
    figure.update_xaxes(title_text="Goodput (Mbit/s)", rangemode="tozero")
    figure.update_yaxes(title_text=y_label, type="log")
    return figure


def table(found: pd.DataFrame) -> str:
    """Return the points of `on_trace` as text, a line for each, the greatest power first."""
    names = {"goodput_mbps": "Mbit/s", "rtt95_ms": "RTT 95 % (ms)", "power": "power (Mbit/s per s)"}
    ordered = found.sort_values("power", ascending=False).rename(columns=names)
    return str(ordered.round(2).to_string(index=False))
