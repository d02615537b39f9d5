"""Tables and figures of the chapter "Incast", made from the runs in its notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from netlab import plots
from netlab.base.units import MS_PER_S
from netlab.measure.results import Run
from netlab_course.page_style import widen_columns

LATE_MS = 100
PORT = "sw to c"


def last_answers_ms(run: Run) -> pd.Series[float]:
    """Return the time in ms from each query of a run until the last byte of its slowest answer, by the number of the query
    from 1; NaN for a query with an answer that did not arrive.
    """
    answers = run.requests.assign(query=run.requests["request"] + 1).groupby("query")["completion_s"]
    times_ms = MS_PER_S * answers.max().rename("last_ms")
    times_ms[answers.count() < answers.size()] = np.nan
    return times_ms


def later_ms(run: Run) -> pd.Series[float]:
    """Return the times of `last_answers_ms` in ms by the number of the query, without query 1, whose connections are
    new.
    """
    return last_answers_ms(run).loc[2:]


def late_share(run: Run) -> float:
    """Return the share (0 to 1) of the single answers of a run that took longer than 100 ms."""
    return float((MS_PER_S * run.requests["completion_s"] > LATE_MS).mean())


def drops(run: Run) -> int:
    """Return the number of packets that the queue of the switch's port to the client dropped in a run."""
    return int(run.queues.loc[run.queues["link"] == PORT, "drops"].max())


def queries_table(runs: Mapping[Any, Run], name: str = "") -> pd.DataFrame:
    """Return a table for printing with a row for each run: the key of the run in a column called `name`, the median and
    the longest time of a query in ms, the number of queries later than 100 ms, drops and timeouts.
    """
    rows = []
    for label, run in runs.items():
        times_ms = last_answers_ms(run)
        rows.append(
            {
                name: label,
                "median (ms)": f"{times_ms.median():.1f}",
                "slowest (ms)": f"{times_ms.max():.1f}",
                "late queries": f"{int((times_ms > LATE_MS).sum())} of {len(times_ms)}",
                "dropped": drops(run),
                "timeouts": int(run.flows["timeouts"].sum()),
            }
        )
    return widen_columns(pd.DataFrame(rows))


def slowest_answer(run: Run) -> tuple[str, int]:
    """Return the server of the slowest single answer of a run, such as "s3", and the number of its query, from 1."""
    row = run.requests.iloc[int(run.requests["completion_s"].argmax())]
    return str(row["flow"]).removeprefix("c-").removesuffix(" requests"), int(row["request"]) + 1


def packets_table(run: Run, server: str, query: int) -> pd.DataFrame:
    """Return a table of the packets that a run captured at a server, such as "s3", during a query (numbered from 1), a
    row for each, with times in ms after the query and bytes counted from the first one of the answer.
    """
    row = run.requests[(run.requests["flow"] == f"c-{server} requests") & (run.requests["request"] == query - 1)].iloc[
        0
    ]
    begin_s, end_s = row["start_s"], row["start_s"] + row["completion_s"]
    packets = run.packets
    seen = packets[(packets["node"] == server) & packets["t_s"].between(begin_s, end_s)]
    first = seen.loc[seen["departs"], "seq"].min()
    sends = seen["departs"].to_numpy()
    return pd.DataFrame(
        {
            "t (ms)": (MS_PER_S * (seen["t_s"] - begin_s)).round(2),
            "from": seen["src"],
            "first byte": [
                "-" if not own else f"{byte - first:.0f}" for own, byte in zip(sends, seen["seq"], strict=True)
            ],
            "bytes": seen["payload_bytes"],
            "acknowledges": [
                "-" if own else f"{byte - first:.0f}" for own, byte in zip(sends, seen["ack"], strict=True)
            ],
        }
    ).reset_index(drop=True)


def mean_ms(runs: Mapping[tuple[str, int], Run]) -> dict[tuple[str, int], float]:
    """Return the mean time in ms from a query to its last answer in each run, without its first query, by the keys of
    `runs`: setting and number of servers.
    """
    return {case: float(later_ms(run).mean()) for case, run in runs.items()}


def servers_figure(runs: Mapping[tuple[str, int], Run], ideal_ms: Callable[[int], float]) -> plots.Comparison:
    """Return a figure of the mean time in ms from a query to its last answer, without first queries, by the number of
    servers, a series for each setting; `runs` are by setting and number of servers, `ideal_ms` returns the ideal time
    for a number of servers.
    """
    means = mean_ms(runs)
    counts = sorted({servers for _, servers in means})
    line = np.arange(counts[0], counts[-1] + 1)
    comparison = plots.Comparison(
        "Servers", "Last answer, mean (ms)", "Last answer by servers", residual="absolute", log_y=True
    )
    for name in dict.fromkeys(name for name, _ in runs):
        measured_ms = [means[name, servers] for servers in counts]
        comparison.add(name, counts, measured_ms, line, [ideal_ms(int(servers)) for servers in line])
    return comparison
