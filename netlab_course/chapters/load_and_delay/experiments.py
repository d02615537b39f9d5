"""Runs, tables and figures of the chapter "Why is 95 % too much?"."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.base.units import MS_PER_S
from netlab.measure.results import Run
from netlab.plots.theme import COLOURS, TEXT, Array, points, theory_line
from netlab.runs.replications import Interval, interval
from netlab.runs.scenario import Scenario
from netlab_course.chapters.load_and_delay import settings
from netlab_course.page_style import widen_columns

KINDS: Mapping[str, tuple[Callable[[float, float], Scenario], float, float]] = {
    "one size": (settings.one_size, settings.SERVICE_MS, 0.0),
    "mixed sizes": (settings.mixed_sizes, settings.MIXED_SERVICE_MS, settings.MIXED_VARIATION),
}
"""For each kind: a function that returns the scenario, the mean time on the link in ms, and the variation of the sizes."""
LONG_LOAD = 0.95
"""The load at which runs of several durations are compared."""


def mean_delay_ms(flows: pd.DataFrame) -> float:
    """Return the mean one-way delay in ms of all received datagrams of some flows, rows of `Run.flows`, together."""
    received = flows["received_datagrams"]
    return float((flows["delay_ms"] * received).sum() / received.sum())


def by_formula_ms(rate_mbps: float, payload_bytes: int, offered_mbps: float) -> float:
    """Return the mean delay in ms by theory, wait and time on the link, of datagrams with this payload that come at
    random moments and offer `offered_mbps` of data to a link of `rate_mbps`.
    """
    service_ms = theory.transmission_delay_ms(theory.udp_wire_bytes(payload_bytes), rate_mbps)
    load = offered_mbps / theory.udp_goodput_limit_mbps(rate_mbps, payload_bytes)
    return float(theory.mean_wait_ms(load, service_ms)) + service_ms


def theory_ms(kind: str, load: float) -> float:
    """Return the mean delay in ms at this load (0 to 1) by Pollaczek and Khinchine; `kind` is "one size" or "mixed
    sizes".
    """
    _, service_ms, variation = KINDS[kind]
    return float(theory.mean_wait_ms(load, service_ms, variation)) + service_ms


def mean_delays(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a table with a row for each run: `kind`, `load`, `seed`, its duration `seconds` and the mean delay
    `delay_ms`; `tables` has tables of `netlab.repeat` over loads (column `load`) by kind, a key of `KINDS`.

    A run may have several flows: the mean is over all datagrams that were received.
    """
    rows = []
    for kind, table in tables.items():
        lengths_s = {load: scenario["duration_s"] for load, scenario in table.attrs["scenarios"].items()}
        for (load, seed), flows in _groups(table, ["load", "seed"]):
            row = {"kind": kind, "load": load, "seed": seed, "seconds": lengths_s[load]}
            rows.append({**row, "delay_ms": mean_delay_ms(flows)})
    return pd.DataFrame(rows)


def _groups(found: pd.DataFrame, names: str | list[str]) -> list[tuple[Any, pd.DataFrame]]:
    """Return the groups of a table's rows that have equal values in one column or several, in the table's order, as
    pairs of these values and the rows.
    """
    return list(found.groupby(names, sort=False))


def load_figure(found: pd.DataFrame, formula: Callable[[float], float]) -> plots.Comparison:
    """Return a figure of the mean delay in ms by load with 95 % intervals, from the table of `mean_delays`, with
    theory: `formula`, a function of the load that returns ms, for one size, and `theory_ms` for mixed sizes.
    """
    comparison = plots.Comparison(
        "Load (share of the time in which the link is busy)", "Mean delay (ms)", "Delay over load"
    )
    line = np.linspace(0.02, 0.965, 90)
    formulas = {"one size": formula, "mixed sizes": lambda load: theory_ms("mixed sizes", load)}
    for kind, rows in _groups(found, "kind"):
        intervals = {load: interval(rows_of_load["delay_ms"]) for load, rows_of_load in _groups(rows, "load")}
        means, halves = zip(*intervals.values(), strict=True)
        comparison.add(kind, list(intervals), means, line, np.vectorize(formulas[kind]), half_widths=halves)
    comparison.figure.update_yaxes(range=[0, 40], row=1, col=1)
    return comparison


def load_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return a table for printing with a row for each kind and load, from the table of `mean_delays`: the mean delay in
    ms with its interval and theory, and the mean number of packets by Little's law.
    """
    rows = []
    for (kind, load), rows_of_load in _groups(found, ["kind", "load"]):
        delay_ms = interval(rows_of_load["delay_ms"])
        packets_per_ms = load / KINDS[kind][1]
        rows.append(
            {
                "": kind,
                "load": load,
                "runs": f"{len(rows_of_load)} of {rows_of_load['seconds'].iloc[0]:g} s",
                "delay (ms)": f"{delay_ms:.2f}",
                "theory (ms)": f"{theory_ms(kind, load):.2f}",
                "packets there": f"{packets_per_ms * delay_ms.mean:.1f}",
            }
        )
    return widen_columns(pd.DataFrame(rows))


def length_table(by_length: Mapping[float, pd.DataFrame]) -> pd.DataFrame:
    """Return a table for printing with a row for each duration in s, a key of `by_length` (tables of `netlab.repeat` of
    runs at a load of 95 %): the mean delay with its interval, the extremes, and the scatter in % with its theory.
    """
    wait_share = 1 - settings.SERVICE_MS / theory_ms("one size", LONG_LOAD)
    rows = []
    for seconds, table in by_length.items():
        delay_ms = table["delay_ms"]
        relaxations = MS_PER_S * seconds / theory.relaxation_ms(LONG_LOAD, settings.SERVICE_MS)
        rows.append(
            {
                "length (s)": seconds,
                "runs": len(table),
                "d / theta": f"{relaxations:.0f}",
                "mean delay (ms)": f"{interval(delay_ms):.1f}",
                "lowest, highest": f"{delay_ms.min():.1f}, {delay_ms.max():.1f}",
                "scatter (%)": f"{100 * delay_ms.std() / delay_ms.mean():.0f}",
                "in theory (%)": f"{100 * wait_share / relaxations**0.5:.0f}",
            }
        )
    return widen_columns(pd.DataFrame(rows))


def length_figure(by_length: Mapping[float, pd.DataFrame]) -> go.Figure:
    """Return a figure of the mean delay in ms of each run at a load of 95 % by its duration, with theory for an
    infinite run; `by_length` has tables of `netlab.repeat` by duration in s.
    """
    figure = go.Figure(layout={"template": "netlab", "title_text": "Mean delay of single runs at 95 %", "height": 380})
    found = pd.concat([table.assign(seconds=seconds) for seconds, table in by_length.items()], ignore_index=True)
    # Draw runs of the same duration side by side, so that all are visible.
    places = found.groupby("seconds")["seed"].transform(lambda seeds: (seeds - seeds.mean()) / len(seeds))
    spread = found["seconds"] * 1.4**places
    figure.add_scatter(
        x=spread.tolist(),
        y=found["delay_ms"].tolist(),
        name="one run",
        **points(),
        hovertext=[
            f"seed {seed}, {seconds:g} s" for seed, seconds in zip(found["seed"], found["seconds"], strict=True)
        ],
    )
    lengths_s = sorted(by_length)
    figure.add_scatter(
        x=[1.2, 1.6 * lengths_s[-1]],
        y=[theory_ms("one size", LONG_LOAD)] * 2,
        name="theory, a run without end",
        **theory_line(color=COLOURS[0]),
    )
    figure.update_xaxes(
        title_text="Length of the run (s)",
        type="log",
        tickvals=lengths_s,
        ticktext=[f"{s:g}" for s in lengths_s],
    )
    figure.update_yaxes(title_text="Mean delay (ms)", rangemode="tozero")
    return figure


def delays_ms(run: Run) -> Array:
    """Return an array of the delay in ms of each UDP datagram from leaving h1 to its arrival at h2, in the order of
    arrival, from a run with captures of both links; the datagrams of a flow must keep their order, and none may be lost.
    """
    datagrams = run.packets[run.packets["protocol"] == "udp"]
    left_s = _times_by_number(datagrams[(datagrams["node"] == "h1") & datagrams["departs"]])
    arrived_s = _times_by_number(datagrams[(datagrams["node"] == "h2") & ~datagrams["departs"]])
    delays_s = arrived_s - left_s.reindex(arrived_s.index)
    return MS_PER_S * np.asarray(delays_s, dtype=np.float64)


def _times_by_number(datagrams: pd.DataFrame) -> "pd.Series[float]":
    """Return the times in s of captured datagrams in their order, by flow and number in the flow."""
    flow = ["src", "dst", "src_port", "dst_port"]
    return datagrams.assign(number=datagrams.groupby(flow).cumcount()).set_index([*flow, "number"])["t_s"]


def queue_waits_ms(run: Run) -> Array:
    """Return an array of the time in ms that each packet waited in the queue, in the order of arrival, from a run of
    `settings.one_size` with captures of both links.
    """
    return delays_ms(run) - settings.SERVICE_MS


def late_share(waits_ms: Sequence[Array], wait_ms: float) -> Interval:
    """Return the share (0 to 1) of packets that wait longer than `wait_ms`, as the mean over the runs with its
    interval; `waits_ms` has an array of waits in ms for each run.
    """
    # Captures count in nanoseconds: ignore smaller differences.
    return interval([float((waits > wait_ms + 1e-6).mean()) for waits in waits_ms])


def tenfold_ms(waits_ms: Sequence[Array], near_ms: float = 2.0, far_ms: float = 10.0) -> Interval:
    """Return the additional wait in ms that makes late packets ten times rarer, as the mean over the runs with its
    interval, from the shares of packets that wait longer than `near_ms` and `far_ms`; `waits_ms` has an array of waits
    in ms for each run.
    """
    shares = [[float((waits > wait_ms).mean()) for wait_ms in (near_ms, far_ms)] for waits in waits_ms]
    return interval([(far_ms - near_ms) / np.log10(near / far) for near, far in shares])


def tail_figure(waits_ms: Mapping[float, Sequence[Array]], longest_ms: float = 25.0) -> go.Figure:
    """Return a figure of the share of packets that wait longer, on a logarithmic axis, by the wait up to `longest_ms`,
    with intervals and theory's exponential tails; `waits_ms` has, by load (0 to 1), an array of waits in ms for each
    run.
    """
    figure = go.Figure(layout={"template": "netlab", "title_text": "How many wait longer?", "height": 440})
    for number, (load, waits) in enumerate(waits_ms.items()):
        # Stop where fewer than ten packets of a run are left: these waited together in one long queue, and give no share.
        at_ms = np.arange(0, min(longest_ms, *(np.sort(each)[-10] for each in waits)), 1.0)
        shares_and_halves = [late_share(waits, wait) for wait in at_ms]
        figure.add_scatter(
            x=at_ms.tolist(),
            y=[share.mean for share in shares_and_halves],
            # An interval that reaches 0 cannot be drawn on a logarithmic axis.
            error_y={
                "array": [share.half_width for share in shares_and_halves],
                "arrayminus": [min(share.half_width, 0.9 * share.mean) for share in shares_and_halves],
                "thickness": 1,
            },
            name=f"{100 * load:.0f} % busy",
            legendgroup=f"{load}",
            **points(number, 8),
        )
        waits_shown_ms = np.linspace(0, longest_ms, 100)
        figure.add_scatter(
            x=waits_shown_ms.tolist(),
            y=theory.late_share(load, settings.SERVICE_MS, waits_shown_ms).tolist(),
            name=f"theory, {100 * load:.0f} % busy",
            legendgroup=f"{load}",
            **theory_line(color=COLOURS[number]),
        )
    figure.add_hline(y=0.01, line={"dash": "dot", "width": 1.5, "color": TEXT})
    # On a logarithmic axis, the position of an annotation is a power of ten.
    figure.add_annotation(x=1, xref="paper", y=-2, text="1 in 100", showarrow=False, xanchor="right", yanchor="bottom")
    figure.update_xaxes(title_text="Wait (ms)", range=[0, longest_ms])
    shares = [1, 0.1, 0.01, 0.001]
    figure.update_yaxes(
        title_text="Share of packets that wait longer",
        type="log",
        range=[-3.3, 0.05],
        tickvals=shares,
        ticktext=[f"{share:g}" for share in shares],
    )
    return figure


def late_percent(run: Run, limit_ms: float) -> float:
    """Return the percentage of the UDP datagrams of a run with captures of both links that took longer than `limit_ms`
    from h1 to h2.
    """
    return float(100 * (delays_ms(run) > limit_ms).mean())
