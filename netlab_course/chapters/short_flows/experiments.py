"""Runs, tables and figures of the chapter on short flows."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.base.units import MS_PER_S
from netlab.captures import Capture
from netlab.measure.results import Run
from netlab.plots.theme import points
from netlab.runs import experiment, sweeps
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.chapters.short_flows.settings import (
    CROWD_GAP_S,
    CROWD_LOSS_RATE,
    GAP_S,
    LOST,
    PAGE_BYTES,
    RTT_MS,
    SIZES_BYTES,
    SMALL_PAGE_BYTES,
    crowd,
    length_s,
    one_by_one,
    path,
)

_LINE_BYTES = np.geomspace(800, 1.2e6, 500)


def transfers(rates_mbps: Sequence[float], windows: Sequence[int | None] = (None,)) -> pd.DataFrame:
    """Measure transfers of all sizes, one after the other; return the completion time in ms, a row for each rate in
    Mbit/s, initial window in segments (None: Linux's 10) and size.
    """
    runs = sweeps.sweep(
        {
            (rate_mbps, window): Scenario(
                path(rate_mbps), flows := one_by_one(SIZES_BYTES, window), duration_s=length_s(flows)
            )
            for rate_mbps in rates_mbps
            for window in windows
        }
    )
    tables = [
        pd.DataFrame(
            {
                "rate_mbps": rate_mbps,
                "initial_window": 10 if window is None else window,
                "size_bytes": SIZES_BYTES,
                "completion_ms": MS_PER_S * run.flows["completion_s"].to_numpy(),
            }
        )
        for (rate_mbps, window), run in runs.items()
    ]
    return pd.concat(tables, ignore_index=True)


def pages_table(rates_mbps: Sequence[float]) -> pd.DataFrame:
    """Measure a page of 100 kB at each rate in Mbit/s: its time in ms, and the part of that time in which the link was
    busy; return a row for each rate.
    """
    rows = []
    for rate_mbps in rates_mbps:
        run = experiment.run(path(rate_mbps), [Tcp("h1", "h2", num_bytes=PAGE_BYTES)], duration_s=GAP_S, progress=False)
        taken_ms = MS_PER_S * float(run.flows["completion_s"].iloc[0])
        wire_bytes = PAGE_BYTES / theory.MSS_BYTES * theory.tcp_wire_bytes()
        busy_ms = theory.transmission_delay_ms(wire_bytes, rate_mbps)
        rows.append({"rate (Mbit/s)": rate_mbps, "page (ms)": taken_ms, "link busy (ms)": busy_ms})
    table = pd.DataFrame(rows)
    return table.assign(**{"busy (%)": 100 * table["link busy (ms)"] / table["page (ms)"]})


def captured_page(rate_mbps: float = 100) -> Run:
    """Run a page of 100 kB over a link of this rate, with a capture on the sender's link, and return the run."""
    page = Tcp("h1", "h2", num_bytes=PAGE_BYTES)
    return experiment.run(path(rate_mbps), [page], duration_s=GAP_S, captures=[Capture("h1", "r1")], progress=False)


def sizes_figure(found: pd.DataFrame, by: str, name: Callable[[Any], str], title: str) -> plots.Comparison:
    """Return a figure of the completion time by size, a series for each value of the column `by` of the table of
    `transfers`, with theory; `name` returns the name of a series.
    """
    comparison = plots.Comparison("Size (kB)", "Completion time (ms)", title, log_x=True, log_y=True)
    for value, rows in found.groupby(by):
        rate_mbps, window = float(rows["rate_mbps"].iloc[0]), int(rows["initial_window"].iloc[0])

        def formula(size_kb: Any, rate_mbps: float = rate_mbps, window: int = window) -> Any:
            """Return theory's completion times in ms for sizes in kB."""
            sizes = np.atleast_1d(size_kb)
            return np.array([theory.short_flow_ms(1000 * size, rate_mbps, RTT_MS, window) for size in sizes])

        comparison.add(
            name(value),
            rows["size_bytes"].to_numpy() / 1000,
            rows["completion_ms"].to_numpy(),
            _LINE_BYTES / 1000,
            formula,
        )
    return comparison


def window_table(
    size_bytes: float, rtt_ms: float, windows: Sequence[int], queues: Mapping[str, int], rate_mbps: float = 10
) -> pd.DataFrame:
    """Measure a page of this size over a path with this rate and round-trip time, with several initial windows in
    segments and queues (packets by name): return completion in ms and retransmitted segments, a row for each window.
    """
    runs = sweeps.sweep(
        {
            (window, name): Scenario(
                path(rate_mbps, rtt_ms, queue_packets),
                [Tcp("h1", "h2", num_bytes=int(size_bytes), initial_window_segments=window)],
                duration_s=5,
            )
            for window in windows
            for name, queue_packets in queues.items()
        }
    )
    rows = []
    for window in windows:
        row: dict[str, Any] = {"initial window": window}
        for name in queues:
            flow = runs[window, name].flows.iloc[0]
            row[f"{name}: ms"] = MS_PER_S * flow["completion_s"]
            row[f"{name}: sent again"] = int(flow["retransmits"])
        rows.append(row)
    return pd.DataFrame(rows)


def crowd_run(seed: int = 1) -> Run:
    """Run sixty pages of 20 kB, one after the other, over a link that loses one packet in a hundred in each direction;
    return the run, with a capture.
    """
    pages = crowd()
    return experiment.run(
        path(loss_rate=CROWD_LOSS_RATE),
        pages,
        duration_s=length_s(pages, CROWD_GAP_S),
        seed=seed,
        captures=[Capture("h1", "r1")],
        progress=False,
    )


def crowd_figure(run: Run) -> go.Figure:
    """Return a figure of the completion times of all pages of a run of `crowd_run`, from the fastest to the slowest, by
    their retransmissions.
    """
    flows = run.flows.sort_values("completion_s").reset_index(drop=True)
    kinds = {
        "nothing sent again": flows["retransmits"] == 0,
        "sent again": (flows["retransmits"] > 0) & (flows["timeouts"] == 0),
        "sent again after a timeout": flows["timeouts"] > 0,
    }
    figure = go.Figure(layout={"template": "netlab", "title_text": "Sixty equal pages over a path that loses 1 %"})
    for number, (name, chosen) in enumerate(kinds.items()):
        if chosen.any():
            figure.add_scatter(
                x=(np.flatnonzero(chosen) + 1).tolist(),
                y=(MS_PER_S * flows.loc[chosen, "completion_s"]).tolist(),
                name=name,
                hovertemplate="page %{x}: %{y:.0f} ms<extra></extra>",
                **points(number),
            )
    figure.update_xaxes(title_text="Pages, from the quickest to the slowest")
    return figure.update_yaxes(title_text="Completion time (ms)", rangemode="tozero")


def page_packets(run: Run, place: int) -> pd.DataFrame:
    """Return the captured packets of the page with index `place` in a run of `crowd_run`, a row for each, with times in
    ms after the first one.
    """
    seen = run.packets
    first_port = int(seen.loc[seen["dst"] == "h2", "dst_port"].min())
    port = first_port + place
    there = seen[(seen["node"] == "h1") & ((seen["src_port"] == port) | (seen["dst_port"] == port))]
    base = there.loc[there["src"] == "h1", "seq"].min()
    back = there.loc[there["src"] == "h2", "seq"].min()
    sends = there["src"] == "h1"
    return pd.DataFrame(
        {
            "t (ms)": (MS_PER_S * (there["t_s"] - there["t_s"].iloc[0])).round().astype(int),
            "from": there["src"],
            "flags": there["flags"],
            "first byte": np.where(sends, there["seq"] - base, there["seq"] - back),
            "bytes": there["payload_bytes"],
            # A SYN acknowledges nothing.
            "acknowledges": [
                "-" if math.isnan(byte) else f"{byte:.0f}"
                for byte in np.where(sends, there["ack"] - back, there["ack"] - base)
            ],
        }
    ).reset_index(drop=True)


def lost_table() -> pd.DataFrame:
    """Measure a small page that loses one chosen packet; return its time in ms, retransmissions and the additional
    time, a row for each lost packet.
    """
    rows = []
    for what, changes in LOST.items():
        page = Tcp("h1", "h2", num_bytes=SMALL_PAGE_BYTES, start_s=1)
        run = experiment.run(path(), [page], duration_s=4, changes=changes, progress=False)
        flow = run.flows.iloc[0]
        rows.append(
            {
                "lost": what,
                "page (ms)": MS_PER_S * flow["completion_s"],
                "sent again": int(flow["retransmits"]),
                "timeouts": int(flow["timeouts"]),
            }
        )
    table = pd.DataFrame(rows)
    return table.assign(**{"more (ms)": table["page (ms)"] - table["page (ms)"].iloc[0]})
