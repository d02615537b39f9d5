"""Tables and figures of the chapter on short flows, made from the runs in its notebook."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab import plots, theory
from netlab.base.units import MS_PER_S
from netlab.measure.results import Run
from netlab.plots.theme import points
from netlab_course.chapters.short_flows.settings import RTT_MS

_LINE_BYTES = np.geomspace(800, 1.2e6, 500)


def completion_ms(table: pd.DataFrame, sizes_bytes: Sequence[int]) -> pd.DataFrame:
    """Return a table of the completion times in ms of transfers of these sizes, a row for each size and a column for
    each case, from a table of `netlab.repeat` with one seed, whose column `case` has the cases and whose flows have the
    sizes in this order.
    """
    times = {case: MS_PER_S * rows["completion_s"].to_numpy() for case, rows in table.groupby("case", sort=False)}
    return pd.DataFrame(times, index=pd.Index(sizes_bytes, name="size_bytes"))


def sizes_figure(by_rate: pd.DataFrame, title: str) -> plots.Comparison:
    """Return a figure of the completion times in ms by size in kB, with theory for an initial window of 10 segments and
    100 ms; `by_rate` has a row for each size in bytes (the index) and a column for each rate in Mbit/s.
    """
    comparison = plots.Comparison("Size (kB)", "Completion time (ms)", title, log_x=True, log_y=True)
    for rate_mbps, times_ms in by_rate.items():

        def formula(size_kb: Any, rate_mbps: Any = rate_mbps) -> Any:
            """Return an array of theory's completion times in ms for one size or several in kB, on a link of
            `rate_mbps`.
            """
            return np.array([theory.short_flow_ms(1000 * size, rate_mbps, RTT_MS) for size in np.atleast_1d(size_kb)])

        sizes_kb = by_rate.index.to_numpy() / 1000
        comparison.add(f"{rate_mbps:g} Mbit/s", sizes_kb, times_ms.to_numpy(), _LINE_BYTES / 1000, formula)
    return comparison


def window_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a row for each initial window in segments: the completion time in ms, rounded, and the
    retransmitted segments of a page for each queue; `table` is from `netlab.repeat`, with the columns `initial window`
    and `queue` for its cases.
    """
    columns = {"initial window": table["initial window"].unique()}
    for name, rows in table.groupby("queue", sort=False):
        columns[f"{name}: ms"] = (MS_PER_S * rows["completion_s"]).round().astype(int).to_numpy()
        columns[f"{name}: sent again"] = rows["retransmits"].astype(int).to_numpy()
    return pd.DataFrame(columns)


def crowd_figure(run: Run) -> go.Figure:
    """Return a figure of the completion times in ms of all pages (flows) of a run, from the fastest to the slowest, in
    three series: without retransmissions, with some, and with a timeout.
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
    """Return a table of the packets that a run captured at h1 of one page, a row for each, with times in ms after the
    first one and bytes counted from the first of each direction; `place` is the page's place among the run's flows,
    from 0.
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


def lost_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a row for each lost packet, from a table of `netlab.repeat` whose column `lost` names it: the
    time in ms of a page, its retransmissions and timeouts, and the time in ms more than in the first row, in which
    nothing was lost.
    """
    page_ms = MS_PER_S * table["completion_s"]
    return pd.DataFrame(
        {
            "lost": table["lost"],
            "page (ms)": page_ms,
            "sent again": table["retransmits"].astype(int),
            "timeouts": table["timeouts"].astype(int),
            "more (ms)": page_ms - page_ms.iloc[0],
        }
    )
