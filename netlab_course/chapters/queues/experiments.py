"""Tables and figures of the chapter "Queues that speak up"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from netlab import theory
from netlab.engines import run_length_s
from netlab.measure.results import Run
from netlab.plots.theme import TEXT, hover, points
from netlab.runs.replications import Interval, interval
from netlab_course.chapters.queues.settings import BASE_RTT_MS, RATE_MBPS
from netlab_course.page_style import widen_columns

WARM_UP_S = 5
LAB_SETTLED_S = run_length_s(60, real_s=25)
PAGE_BYTES = 100_000
SLOW_LINK = "r1-eth2"
NOT_ECT, ECT_1, ECT_0, CE = range(4)
PUBLISHED = {
    "CUBIC, 1000 packets": (2.10, 2.65, 3000),
    "CUBIC, RED": (2.373, 2.411, 50),
    "DCTCP, RED and ECN": (2.39, 2.39, 55),
}
"""Measurements of `epfl` section 4: goodputs of h1 and h2 in Mbit/s, round-trip time in ms."""


def full_queue_wait_ms(queue_packets: float, rate_mbps: float, frame_bytes: float) -> float:
    """Return the wait in ms of a packet behind a full queue of `queue_packets` frames of `frame_bytes` each, before a
    link of `rate_mbps`.
    """
    return float(queue_packets * theory.transmission_delay_ms(frame_bytes, rate_mbps))


def settled_intervals(run: Run, flow: str | None = None) -> pd.DataFrame:
    """Return the rows of `intervals` of one flow of a run, given by its name (None: the first flow), after the first 5
    s.
    """
    name = run.flows["flow"].iloc[0] if flow is None else flow
    return run.intervals[(run.intervals["flow"] == name) & (run.intervals["t_s"] > WARM_UP_S)]


def lab_table(runs: dict[str, Run]) -> pd.DataFrame:
    """Return a table of texts for printing, a row for each setting of the lab `epfl`, measured (without the first
    LAB_SETTLED_S s) and published: the goodputs of its two flows in Mbit/s in one cell, and the round-trip time in ms. The
    dicts `runs` and `PUBLISHED` have the same keys.
    """
    rows = []
    for name, run in runs.items():
        first_mbps, second_mbps = run.goodput_mbps(after_s=LAB_SETTLED_S)
        rtt_ms = run.intervals.loc[run.intervals["t_s"] > LAB_SETTLED_S, "rtt_ms"].mean()
        published = PUBLISHED[name]
        rows.append(
            {
                "": name,
                "Mbit/s here": f"{first_mbps:.1f} / {second_mbps:.1f}",
                "Mbit/s, epfl": f"{published[0]:.1f} / {published[1]:.1f}",
                "RTT here (ms)": f"{rtt_ms:.0f}" if rtt_ms < 1000 else f"{round(rtt_ms, -2):.0f}",
                "RTT, epfl (ms)": f"{published[2]:.0f}",
            }
        )
    return widen_columns(pd.DataFrame(rows))


def ecn_table(runs: dict[str, Run]) -> pd.DataFrame:
    """Return a table for printing with a row for each run (by name): the numbers of data packets captured at the
    receiver h3 by their two ECN bits, of acknowledgements with ECE, of data packets with CWR, and of segments sent
    again.
    """
    rows = []
    for name, run in runs.items():
        packets = run.packets
        arrived = packets[(packets["node"] == "h3") & (packets["protocol"] == "tcp")]
        data = arrived[~arrived["departs"] & (arrived["payload_bytes"] > 0)]
        answers = arrived[arrived["departs"]]
        rows.append(
            {
                "": name,
                "00": int((data["ecn"] == NOT_ECT).sum()),
                "10, ECT(0)": int((data["ecn"] == ECT_0).sum()),
                "11, CE": int((data["ecn"] == CE).sum()),
                "ACKs, ECE": int(answers["flags"].str.contains("E").sum()),
                "data, CWR": int(data["flags"].str.contains("C").sum()),
                "sent again": int(run.flows["retransmits"].sum()),
            }
        )
    return widen_columns(pd.DataFrame(rows))


def thresholds_table(runs: Mapping[int, Run]) -> pd.DataFrame:
    """Return a table of `goodput_mbps` and mean wait in the queue `wait_ms` of the only flow of each run after the
    first 5 s, a row for each; the keys of `runs` are marking thresholds in packets (column `threshold`).
    """
    return pd.DataFrame(
        [
            {
                "threshold": value,
                "goodput_mbps": settled_intervals(run)["goodput_mbps"].mean(),
                "wait_ms": settled_intervals(run)["rtt_ms"].mean() - run.flows["rtt_min_ms"].iloc[0],
            }
            for value, run in runs.items()
        ]
    )


def thresholds_figure(found: pd.DataFrame, rate_mbps: float, base_rtt_ms: float) -> go.Figure:
    """Return a figure of the table of `thresholds_table`: goodput with the link's limit, and mean wait, by threshold; a
    line marks a seventh of the BDP of the link with this rate and RTT.
    """
    figure = make_subplots(rows=1, cols=2, horizontal_spacing=0.13)
    for panel, (column, label) in enumerate(
        (("goodput_mbps", "Goodput (Mbit/s)"), ("wait_ms", "Mean wait (ms)")), start=1
    ):
        figure.add_scatter(
            x=found["threshold"].tolist(),
            y=found[column].tolist(),
            **points(size=10),
            showlegend=False,
            hovertemplate=hover("measured", "Threshold (packets)", label),
            meta={"role": "measured"},
            row=1,
            col=panel,
        )
        figure.add_vline(
            x=theory.dctcp_threshold_packets(rate_mbps, base_rtt_ms),
            line={"dash": "dot", "width": 1.5, "color": TEXT},
            annotation_text="BDP / 7",
            annotation_position="bottom right",
            row=1,
            col=panel,
        )
        figure.update_yaxes(title_text=label, row=1, col=panel)
    limit_mbps = theory.tcp_goodput_limit_mbps(rate_mbps)
    figure.add_hline(y=limit_mbps, line={"dash": "dash", "color": TEXT}, annotation_text="limit", row=1, col=1)
    figure.update_yaxes(range=[0.95 * limit_mbps, 1.01 * limit_mbps], row=1, col=1)
    figure.update_yaxes(rangemode="tozero", row=1, col=2)
    figure.update_xaxes(title_text="Threshold (packets)")
    title = f"DCTCP by marking threshold, {rate_mbps:g} Mbit/s and {base_rtt_ms:g} ms"
    return figure.update_layout(template="netlab", title_text=title, height=400)


def page_times_s(run: Run) -> list[float]:
    """Return the time in s of each finished page of h2 in a run, from the start of its connection to its last byte, in
    the order of `Run.flows`.
    """
    pages = run.flows[(run.flows["kind"] == "tcp") & (run.flows["src"] == "h2")]
    return [float(value) for value in pages["completion_s"].dropna()]


def pages(runs: Mapping[tuple[str, int], Run], name: str) -> pd.DataFrame:
    """Return the rows of `Run.flows` of all pages of h2 behind the queue with this name, in all draws; the keys of
    `runs` are (queue, seed).
    """
    tables = [
        run.flows[(run.flows["kind"] == "tcp") & (run.flows["src"] == "h2")]
        for (queue, _), run in runs.items()
        if queue == name
    ]
    return pd.concat(tables, ignore_index=True)


def slowed_by_loss(found: pd.DataFrame) -> float:
    """Return the median time of the pages with a retransmission divided by the median time of the pages without
    one, from the table of `pages`.
    """
    has_lost = found["retransmits"] > 0
    return float(found.loc[has_lost, "completion_s"].median() / found.loc[~has_lost, "completion_s"].median())


def compared_table(runs: Mapping[tuple[str, int], Run]) -> pd.DataFrame:
    """Return a table with a row for each run, whose key is (queue, seed): the link's utilization `full` (0 to 1), the
    mean waits of the download and of a neighbour's pings in ms, the median and the slowest page in s, the number of
    pages, and the share of lost pings.
    """
    rows = []
    for (name, seed), run in runs.items():
        pings = run.pings.loc[run.pings["t_s"] > WARM_UP_S, "rtt_ms"]
        queue = run.queues[(run.queues["interface"] == SLOW_LINK) & (run.queues["t_s"] >= WARM_UP_S)]
        seconds = queue["t_s"].iloc[-1] - queue["t_s"].iloc[0]
        sent_mbps = (queue["sent_bytes"].iloc[-1] - queue["sent_bytes"].iloc[0]) * 8e-6 / seconds
        times_s = page_times_s(run)
        rows.append(
            {
                "queue": name,
                "seed": seed,
                "full": sent_mbps / RATE_MBPS,
                "bulk_wait_ms": settled_intervals(run)["rtt_ms"].mean() - BASE_RTT_MS,
                "other_wait_ms": pings.mean() - BASE_RTT_MS,
                "page_s": float(np.median(times_s)),
                "slowest_s": max(times_s),
                "pages": len(times_s),
                "lost_pings": float(pings.isna().mean()),
            }
        )
    return pd.DataFrame(rows)


def mean_intervals(found: pd.DataFrame) -> dict[str, pd.Series[Any]]:
    """Return for each queue, by its name, a series from the table of `compared_table`: the means over its draws of
    `full`, `bulk_wait_ms`, `other_wait_ms` and `page_s`, each with its interval, and the slowest of all pages,
    `slowest_s`.
    """
    columns = ["full", "bulk_wait_ms", "other_wait_ms", "page_s"]
    return {
        str(name): pd.Series(
            {**{column: interval(rows[column]) for column in columns}, "slowest_s": float(rows["slowest_s"].max())}
        )
        for name, rows in found.groupby("queue", sort=False)
    }


_NAMED_AT = {
    "long drop-tail": "bottom right",
    "drop-tail, 1 BDP": "top right",
    "drop-tail, 5": "bottom right",
    "RED": "bottom right",
    "PIE": "middle left",
    "CoDel": "top right",
    "CoDel, ECN": "top left",
    "fq_codel": "bottom left",
    "CAKE": "bottom center",
    "DualPI2, DCTCP": "bottom right",
}
"""Positions of the points' names, such that no two names overlap."""


def compared_figure(found: pd.DataFrame) -> go.Figure:
    """Return a figure of the link's utilization in % by the page time of a neighbour in s, with its slowest page, a
    point for each queue in the table of `compared_table`; the best queue is at the top left.
    """
    figure = go.Figure()
    means = pd.DataFrame(
        [
            {"queue": name, **row.map(lambda each: getattr(each, "mean", each))}
            for name, row in mean_intervals(found).items()
        ]
    )
    for number, (label, alone) in enumerate(
        (("one queue for all", False), ("a queue for each flow, or for each kind of sender", True))
    ):
        rows = means[means["queue"].str.contains("fq_codel|CAKE|DualPI2") == alone]
        figure.add_scatter(
            x=rows["page_s"].tolist(),
            y=(100 * rows["full"]).tolist(),
            error_x={
                "array": (rows["slowest_s"] - rows["page_s"]).tolist(),
                "arrayminus": [0.0] * len(rows),
                "thickness": 1,
            },
            name=label,
            text=rows["queue"].tolist(),
            textposition=[_NAMED_AT.get(name, "top center") for name in rows["queue"]],
            **{**points(number, 11), "mode": "markers+text"},
            customdata=rows[["bulk_wait_ms", "other_wait_ms"]].to_numpy().tolist(),
            hovertemplate=(
                "%{text}<br>page %{x:.2f} s, link in use %{y:.1f} %<br>"
                "the download waits %{customdata[0]:.0f} ms, others %{customdata[1]:.0f} ms<extra></extra>"
            ),
        )
    figure.update_layout(
        template="netlab",
        title_text=f"A download and a neighbour's pages, {RATE_MBPS} Mbit/s and {BASE_RTT_MS} ms",
        height=480,
    )
    figure.update_xaxes(
        title_text="Median time of a page, to the slowest (s)",
        type="log",
        tickvals=[0.1, 0.2, 0.5, 1, 2, 5, 10],
        range=[-1.4, 1.05],
    )
    figure.update_yaxes(title_text="Link in use (%)", range=[88, 101.5])
    return figure


def pages_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return a table for printing with a row for each queue in the table of `compared_table`: the link's utilization in
    % with its interval, the mean waits in ms, and the median and the slowest page in s.
    """
    return widen_columns(
        pd.DataFrame(
            [
                {
                    "queue": name,
                    "in use (%)": f"{Interval(100 * row['full'].mean, 100 * row['full'].half_width):.1f}",
                    "bulk waits (ms)": f"{row['bulk_wait_ms'].mean:.0f}",
                    "others wait (ms)": f"{row['other_wait_ms'].mean:.0f}",
                    "page (s)": f"{row['page_s']:.2f}",
                    "slowest (s)": f"{row['slowest_s']:.1f}",
                }
                for name, row in mean_intervals(found).items()
            ]
        )
    )


def together_table(runs: Mapping[tuple[str, int], Run]) -> pd.DataFrame:
    """Return a table for printing of the goodputs in Mbit/s, with intervals, and the mean waits in ms of a DCTCP and a
    CUBIC flow, the first two of each run, a row for each queue; the keys of `runs` are (queue, seed).
    """
    rows = []
    for name in dict.fromkeys(queue for queue, _ in runs):
        draws = [run for (queue, _), run in runs.items() if queue == name]
        row = {"": name}
        for place, flow in enumerate(("DCTCP", "CUBIC")):
            means = [
                settled_intervals(run, run.flows["flow"].iloc[place])[["goodput_mbps", "rtt_ms"]].mean()
                for run in draws
            ]
            row[f"{flow} (Mbit/s)"] = f"{interval([mean['goodput_mbps'] for mean in means]):.1f}"
            row[f"{flow} wait (ms)"] = f"{np.mean([mean['rtt_ms'] for mean in means]) - BASE_RTT_MS:.0f}"
        rows.append(row)
    return widen_columns(pd.DataFrame(rows))
