"""Tables and figures of the chapter "Build a reliable transfer"."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from netlab import plots, theory
from netlab.measure.results import Run
from netlab.runs.replications import Interval, interval
from netlab_course.chapters.reliable_transfer.channel import Protocol
from netlab_course.chapters.reliable_transfer.programs import (
    PIECE_BYTES,
    GoBackNSender,
    InOrderReceiver,
    SelectiveReceiver,
    SelectiveSender,
    StopAndWaitSender,
)
from netlab_course.chapters.reliable_transfer.settings import (
    LOSS_RATE,
    RATE_MBPS,
    RTT_MS,
    TIMEOUT_MS,
)
from netlab_course.page_style import widen_columns

STOP_AND_WAIT = Protocol(StopAndWaitSender, InOrderReceiver)
GO_BACK_N = Protocol(GoBackNSender, InOrderReceiver)
SELECTIVE_REPEAT = Protocol(SelectiveSender, SelectiveReceiver)
"""Replacements of exercises that are still open."""

# A datagram has one byte more than the data, for the piece's number.
_DATA_SHARE = PIECE_BYTES / (PIECE_BYTES + 1)
FORMULAS: Mapping[str, Callable[..., Any]] = {
    "go-back-N": theory.go_back_n_mbps,
    "selective repeat": theory.selective_repeat_mbps,
}


def theory_mbps(name: str, window: Any, loss_rate: float = LOSS_RATE) -> Any:
    """Return the theoretical goodput in Mbit/s of a scheme, "go-back-N" or "selective repeat", with a window in pieces
    (a number or an array) and this loss rate (0 to 1) over a path of 2 Mbit/s and 100 ms.
    """
    return _DATA_SHARE * FORMULAS[name](window, RATE_MBPS, RTT_MS, loss_rate, TIMEOUT_MS, PIECE_BYTES + 1)


def transfers_table(runs: Mapping[tuple[str, int, int], Run]) -> pd.DataFrame:
    """Return a table with a row for each run of one transfer: `name`, `window` and `seed` (the key of the run:
    protocol, window in pieces, seed), `goodput_mbps`, and the number of `errors` (duplicates, missing and wrong bytes).
    """
    rows = []
    for (name, window, seed), run in runs.items():
        flow = run.flows.iloc[0]
        errors = int(flow[["duplicates", "missing_bytes", "wrong_bytes"]].sum())
        rows.append(
            {"name": name, "window": window, "seed": seed, "goodput_mbps": flow["goodput_mbps"], "errors": errors}
        )
    return pd.DataFrame(rows)


def intervals(found: pd.DataFrame) -> dict[tuple[str, int], Interval]:
    """Return the mean goodput in Mbit/s with its half width from a table of `transfers_table`, by protocol and
    window.
    """
    groups: list[tuple[Any, pd.DataFrame]] = list(found.groupby(["name", "window"], sort=False))
    return {(name, window): interval(rows["goodput_mbps"]) for (name, window), rows in groups}


def window_figure(found: pd.DataFrame) -> plots.Comparison:
    """Return a figure of the goodput in Mbit/s of go-back-N and selective repeat by window in pieces with 95 %
    intervals, from a table of `transfers_table`, with the theoretical formulas.
    """
    comparison = plots.Comparison(
        "Window (pieces)", "Goodput (Mbit/s)", f"{RTT_MS} ms, {100 * LOSS_RATE:g} % of the datagrams lost", log_x=True
    )
    line = np.geomspace(1, 40, 80)
    seen = intervals(found)
    for name in FORMULAS:
        by_window = {window: each for (what, window), each in seen.items() if what == name}
        means, halves = zip(*by_window.values(), strict=True)
        comparison.add(name, list(by_window), means, line, partial(theory_mbps, name), half_widths=halves)
    windows = sorted({window for _, window in seen})
    comparison.figure.update_xaxes(tickvals=windows, ticktext=[f"{window}" for window in windows])
    return comparison


def span_table(found: pd.DataFrame, wide: pd.DataFrame) -> pd.DataFrame:
    """Return a table for printing of the goodput in Mbit/s of selective repeat with intervals, a row for each window:
    counted from the oldest piece (the table `found` of `transfers_table`), counted in flight (`wide`), and by the
    formula.
    """
    near, far = intervals(found), intervals(wide)
    return widen_columns(
        pd.DataFrame(
            [
                {
                    "window": window,
                    "from the oldest (Mbit/s)": f"{near['selective repeat', window]:.2f}",
                    "in flight (Mbit/s)": f"{each:.2f}",
                    "formula (Mbit/s)": f"{theory_mbps('selective repeat', float(window)):.2f}",
                }
                for (_, window), each in far.items()
            ]
        )
    )


def shared_goodputs(runs: Mapping[tuple[str, int], Run]) -> pd.DataFrame:
    """Return a table with a row for each run: the traffic `beside` TCP, the goodput `tcp_mbps` and the RTT in ms of the TCP
    flow, the goodput `other_mbps` of the flow next to it, if any, and the datagrams that a program sent for each piece.
    The keys of `runs` are (the traffic beside TCP, seed).
    """
    rows = []
    for (case, _), run in runs.items():
        tcp, *others = (row for _, row in run.flows.iterrows())
        row = {"beside": case, "tcp_mbps": tcp["goodput_mbps"], "rtt_ms": tcp["rtt_ms"]}
        for other in others:
            row["other_mbps"] = other["goodput_mbps"]
            if other["kind"] == "program":
                row["sent_for_each"] = other["sent_datagrams"] * PIECE_BYTES / other["received_bytes"]
        rows.append(row)
    return pd.DataFrame(rows)


def together_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return a table for printing of the means over the seeds, with intervals of the goodputs, of the table of
    `shared_goodputs`, a row for each case.
    """
    rows = []
    for case, runs in found.groupby("beside", sort=False):
        is_alone = runs["other_mbps"].isna().all()
        rows.append(
            {
                "beside TCP": case,
                "TCP (Mbit/s)": f"{interval(runs['tcp_mbps']):.2f}",
                "the other (Mbit/s)": "" if is_alone else f"{interval(runs['other_mbps']):.2f}",
                "RTT (ms)": f"{runs['rtt_ms'].mean():.0f}",
            }
        )
    return widen_columns(pd.DataFrame(rows))
