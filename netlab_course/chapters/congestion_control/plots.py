"""Figures of the chapter "Congestion control": windows over time with named phases."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from netlab import theory
from netlab.measure.results import Run
from netlab.plots.theme import SYMBOLS, TEXT, finite, line, points, series_settings, theory_line

PHASES = {
    "slow start": "dot",
    "congestion avoidance": "solid",
    "fast recovery": "dashdot",
    "after a timeout": "longdash",
    "window": "solid",
}
"""The phases, each with its line style."""
_LABELS = ("Time (s)", "Window (segments)")


def phases(run: Run) -> pd.DataFrame:
    """Return the rows of `intervals` of a run's first TCP flow, with an added column `phase`: "slow start", "congestion
    avoidance", "fast recovery" or "after a timeout"; with BBR "window".

    The kernel itself reports fast recovery and the repair after a timeout (`ca_state`). Otherwise it is slow start if
    the window is below its threshold. Tahoe has no fast recovery; BBR has none of these phases, its phase is `window`.
    """
    known = run.intervals.dropna(subset=["cwnd_segments"])
    own: pd.DataFrame = known[known["flow"] == known["flow"].iloc[0]].copy()
    below = own["ssthresh_segments"].isna() | (own["cwnd_segments"] < own["ssthresh_segments"])
    control = _control(own)
    own["phase"] = np.select(
        [
            np.full(len(own), control == "bbr"),
            own["ca_state"] == "loss",
            (own["ca_state"] == "recovery") & (control != "tahoe"),
            below,
        ],
        ["window", "after a timeout", "fast recovery", "slow start"],
        "congestion avoidance",
    )
    return own


def _control(own: pd.DataFrame) -> str:
    """Return the congestion control of a flow, given by its rows of `intervals`: the second word of the flow's name."""
    return str(own["flow"].iloc[0]).split()[1]


def window_figure(run: Run, rate_mbps: float, rtt_ms: float, queue_packets: int, *, title: str) -> go.Figure:
    """Return a figure of the congestion window in segments of a run's first TCP flow over time, with each phase drawn
    and named, and the capacity of path and queue in packets; `rate_mbps` is the rate of the slow link, `rtt_ms` the RTT
    of the empty path.
    """
    own = phases(run)
    figure = go.Figure(layout={"template": "netlab"})
    _window(figure, own)
    _name(figure, own)
    _add_capacities(figure, own, rate_mbps, rtt_ms, queue_packets)
    figure.update_layout(
        title_text=title, height=450, margin_t=80, xaxis_title_text=_LABELS[0], yaxis_title_text=_LABELS[1]
    )
    return figure.update_yaxes(rangemode="tozero")


def _window(figure: go.Figure, own: pd.DataFrame) -> None:
    """Add the window of a flow, given by its rows as from `phases`, to a figure, each phase in its line style, with
    marks at fast retransmits and timeouts.
    """
    times_s, window = own["t_s"].to_numpy(), own["cwnd_segments"].to_numpy(dtype=float)
    for number, (phase, dash) in enumerate(PHASES.items()):
        inside = (own["phase"] == phase).to_numpy()
        if not inside.any():
            continue
        # Draw a phase up to the first sample of the next one, so that short phases are visible.
        shown = inside | np.concatenate([[False], inside[:-1]])
        figure.add_scatter(
            x=times_s.tolist(),
            y=finite(np.where(shown, window, np.nan)),
            **line(number, dash=dash, width=3),
            **series_settings("measured", phase, *_LABELS),
        )
    state, before = own["ca_state"], own["ca_state"].shift()
    for number, (name, found) in enumerate(
        {
            "fast retransmit": (state == "recovery") & ~before.isin(["recovery", "loss"]),
            "timeout": (state == "loss") & (before != "loss"),
        }.items()
    ):
        if found.any():
            figure.add_scatter(
                x=times_s[found].tolist(),
                y=window[found].tolist(),
                **points(3 + 2 * number, 12, color=TEXT),
                **series_settings("measured", name, *_LABELS),
            )


def _name(figure: go.Figure, own: pd.DataFrame) -> None:
    """Write the name of each phase into the figure of a flow's window, given by its rows as from `phases`: next to its
    first stretch, of congestion avoidance the longest and of fast recovery the third.
    """
    climb = "climb along a cubic curve" if _control(own) == "cubic" else "additive increase"
    own = own.assign(stretch=(own["phase"] != own["phase"].shift()).cumsum())
    for phase, text, place in (
        ("slow start", "slow start", {"ax": 60, "ay": -4}),
        ("congestion avoidance", climb, {"ax": 40, "ay": -46}),
        ("fast recovery", "multiplicative decrease:<br>fast retransmit, fast recovery", {"ax": 50, "ay": 44}),
        ("after a timeout", "timeout,<br>slow start again", {"ax": 70, "ay": -14}),
    ):
        stretches = [part for _, part in own[own["phase"] == phase].groupby("stretch")]
        if not stretches:
            continue
        longest = max(stretches, key=len)
        # The losses just after slow start do not show the regular pattern yet.
        part = {"congestion avoidance": longest, "fast recovery": stretches[min(2, len(stretches) - 1)]}.get(
            phase, stretches[0]
        )
        at = part.iloc[len(part) // 2] if phase != "slow start" else part.iloc[-1]
        figure.add_annotation(
            x=float(at["t_s"]), y=float(at["cwnd_segments"]), text=text, arrowcolor=TEXT, font={"size": 13}, **place
        )


def _add_capacities(
    figure: go.Figure, own: pd.DataFrame, rate_mbps: float, rtt_ms: float, queue_packets: int, **place: int
) -> None:
    """Add two dashed lines to a figure, over the time of the rows `own` of a flow: the capacity of the path in packets,
    and the capacity of path and queue. `place` has keyword arguments of `add_scatter`, such as `row` and `col` of a panel.
    """
    span_s = [float(own["t_s"].min()), float(own["t_s"].max())]
    bdp_packets = theory.bdp_bytes(rate_mbps, rtt_ms) / theory.tcp_wire_bytes()
    for name, packets in (("BDP", bdp_packets), ("BDP + queue", bdp_packets + queue_packets)):
        figure.add_scatter(
            x=span_s,
            y=[packets, packets],
            **theory_line(width=1 if name == "BDP" else 2),
            **series_settings("theory", name, *_LABELS),
            **place,
        )


def windows_figure(
    runs: Mapping[str, Run], rate_mbps: float, rtt_ms: float, queue_packets: int, title: str
) -> go.Figure:
    """Return a figure of the windows in segments of several congestion controls (runs of one flow by name) over time,
    one strip each on a common scale, with the capacity of path and queue; `rtt_ms` is the RTT of the empty path.
    """
    figure = make_subplots(rows=len(runs), cols=1, shared_xaxes=True, vertical_spacing=0.04)
    for row, (name, run) in enumerate(runs.items(), start=1):
        own = phases(run)
        figure.add_scatter(
            x=own["t_s"].tolist(),
            y=finite(own["cwnd_segments"]),
            showlegend=False,
            **line(row - 1, dash=None),
            **series_settings("measured", name, *_LABELS),
            row=row,
            col=1,
        )
        _add_capacities(figure, own, rate_mbps, rtt_ms, queue_packets, row=row, col=1, showlegend=row == 1)
        figure.update_yaxes(title_text=name, rangemode="tozero", row=row, col=1)
    # Use a common scale: with separate scales the windows would look equally large.
    figure.update_yaxes(matches="y")
    figure.update_xaxes(title_text="Time (s); vertical axes: window (segments)", row=len(runs), col=1)
    return figure.update_layout(template="netlab", title_text=title, height=116 + 130 * len(runs), margin_t=82)


def stall_figure(run: Run, starts_s: Mapping[str, float], limit_mbps: float, title: str) -> go.Figure:
    """Return a figure of the goodputs in Mbit/s of two transfers in one run over the time since the start of each, in
    half seconds up to 15 s; `starts_s` are the starts by congestion control, `limit_mbps` is the link's limit.
    """
    figure = go.Figure(layout={"template": "netlab"})
    for number, (control, start_s) in enumerate(starts_s.items()):
        own = run.intervals[run.intervals["flow"].str.contains(control)]
        half_s = np.ceil((own["t_s"] - start_s) / 0.5 - 1e-6) * 0.5
        means = own.groupby(half_s)["goodput_mbps"].mean().loc[0.5:15]
        figure.add_scatter(
            x=means.index.tolist(),
            y=means.tolist(),
            **{**line(number), "mode": "lines+markers"},
            marker={"symbol": SYMBOLS[number], "size": 7},
            **series_settings("measured", control, "Time (s)", "Goodput (Mbit/s)"),
        )
    figure.add_scatter(
        x=[0.5, 15],
        y=[limit_mbps, limit_mbps],
        **theory_line(),
        **series_settings("theory", "link's limit", "Time (s)", "Goodput (Mbit/s)"),
    )
    figure.update_layout(title_text=title, height=380, xaxis_title_text="Time since the start (s)")
    return figure.update_yaxes(title_text="Goodput (Mbit/s)", rangemode="tozero")


def losses_figure(table: pd.DataFrame, title: str) -> go.Figure:
    """Return a figure with two panels by loss rate, from the table of `experiments.random_table`: Reno's constant with
    its 95 % interval and three formulas; the goodputs of Reno and of BBR with theirs.
    """
    labels = ("Loss rate", "c = goodput · T · √p / M", "Goodput (Mbit/s)")
    figure = make_subplots(rows=1, cols=2, column_widths=[0.62, 0.38], horizontal_spacing=0.18)
    rates = np.geomspace(table["loss_rate"].min() / 1.3, table["loss_rate"].max() * 1.3, 60)
    # The round-trip time changes slightly, because it includes the repair of lost segments.
    rtts_ms = np.interp(np.log(rates), np.log(table["loss_rate"]), table["rtt_ms"])
    pftk = [
        theory.pftk_mbps(theory.MSS_BYTES, float(rtt), float(rate)) for rtt, rate in zip(rtts_ms, rates, strict=True)
    ]
    formulas = {
        "periodic loss (1.22)": np.full(len(rates), theory.MATHIS_C),
        "random loss (1.31)": np.full(len(rates), theory.MATHIS_RANDOM_C),
        "PFTK": np.asarray(pftk) * rtts_ms * np.sqrt(rates) / theory.mathis_mbps(theory.MSS_BYTES, 1.0, 1.0, c=1.0),
    }
    for number, (name, values) in enumerate(formulas.items()):
        figure.add_scatter(
            x=rates.tolist(),
            y=values.tolist(),
            **line(dash=("dash", "dot", "longdash")[number], color=TEXT),
            **series_settings("theory", name, *labels[:2]),
            row=1,
            col=1,
        )
    shown = (
        ("Reno", "c", "half_c", 0, 1),
        ("Reno", "reno_mbps", "half_mbps", 0, 2),
        ("BBR", "bbr_mbps", "half_bbr_mbps", 1, 2),
    )
    for name, column, half, series, panel in shown:
        figure.add_scatter(
            x=table["loss_rate"].tolist(),
            y=table[column].tolist(),
            error_y={"array": table[half].tolist()},
            showlegend=column != "reno_mbps",
            **points(series, 10),
            **series_settings("measured", name, labels[0], labels[panel]),
            row=1,
            col=panel,
        )
    # A panel has room for every second tick only.
    ticks = table["loss_rate"].tolist()[::2]
    figure.update_xaxes(
        type="log", title_text=labels[0], tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks], tickangle=0
    )
    figure.update_yaxes(title_text=labels[1], range=[0.6, 1.5], row=1, col=1)
    figure.update_yaxes(title_text=labels[2], type="log", dtick=1, row=1, col=2)
    return figure.update_layout(template="netlab", title_text=title, height=440, margin_t=80)
