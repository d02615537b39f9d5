"""Networks, tables and figures of the chapter "Multiplexing", without answers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netlab import plots, theory
from netlab.engines import run_length_s
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.traffic import Ping, Tcp, Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

_STATED_RATIOS = (1.035, 0.975, 1.02, 0.96)
"""The numbers that a statement may have, relative to theory."""
EMPTY_MS, L2_MBPS = 60.0, 30.0
"""The round trip from h1 to h4 and back with empty queues, and the rate of the link L2."""


def longest_ms(room_packets: int) -> float:
    """Return the longest round trip in ms from h1 to h4 by theory, with room for this many packets in the queue before
    L2.
    """
    return float(EMPTY_MS + theory.queueing_delay_ms(room_packets * theory.tcp_wire_bytes(), L2_MBPS))


def _derived_numbers(own: StudentValues) -> Mapping[str, float]:
    """Return the number of the statement of a student's copy (`own`) on the longest ping, in ms, as `stated_ms`."""
    return {"stated_ms": stated_number(own, longest_ms(own.room_packets), _STATED_RATIOS)}


NUMBERS = OwnNumbers(
    {
        "room_packets": (60, 45, 50, 55, 65, 70, 80, 85),
        "most_ms": (90, 92, 100, 88, 94, 98, 104, 110),
        "wide_mbps": (40, 35, 45, 50),
        "narrow_mbps": (20, 15, 18, 24),
    },
    derive=_derived_numbers,
)

LIMIT_PACKETS = (67, 100, 33)
"""The queue limits of `simpleperf` before L1, L2 and L3."""

CAPACITIES_MBPS = {"L1": 40, "L2": 30, "L3": 20}
EXPERIMENTS = {
    1: ["h1-h4", "h2-h5"],
    2: ["h1-h4", "h2-h5", "h3-h6"],
    3: ["h1-h4", "h7-h9"],
    4: ["h1-h4", "h8-h9"],
}
ROUTES = {
    "h1-h4": ["L1", "L2"],
    "h2-h5": ["L1", "L2"],
    "h3-h6": ["L1", "L2"],
    "h7-h9": ["L2", "L3"],
    "h8-h9": ["L3"],
}
PUBLISHED_MBPS = {1: [14.90, 14.29], 2: [12.61, 9.22, 8.14], 3: [18.00, 10.84], 4: [27.92, 19.11]}
PUBLISHED_MS = {1: [71.362, 71.838], 2: [71.680, 71.044, 72.566], 3: [70.331, 69.089], 4: [69.058, 25.032]}

QUEUE_OFFSET = 0.28  # of the way from one flow to the next: the three queues stand side by side
CROSSING = {
    "h1-h9": ["L1", "L2", "L3"],
    "h2-h7": ["L1"],
    "h3-h4": ["L1", "L2"],
    "h7-h5": ["L2"],
    "h8-h9": ["L3"],
    "h6-h9": ["L3"],
}
"""The six crossing flows, each with its links."""

FAIR_QUEUE: dict[str, Any] = {"aqm": "fq_codel", "aqm_options": {"target_ms": 20}}

START_WITHIN_S = 0.1
"""Flows that start together start at random moments within this time in s."""
START_S = run_length_s(5, real_s=3)
"""The time in s at the beginning of each transfer that is ignored because of slow start."""


def transfer_and_ping(room_packets: int) -> Scenario:
    """Return a scenario of a TCP transfer and pings from h1 to h4, with room for `room_packets` before L2; a call of 1
    Mbit/s (UDP at random moments) from h2 to h5 also crosses L2.
    """
    flows = [Tcp("h1", "h4"), Ping("h1", "h4", interval_s=0.1), Udp("h2", "h5", rate_mbps=1, spacing="random")]
    return Scenario(
        topologies.portfolio(queue_packets=(67, room_packets, 33)), flows, duration_s=run_length_s(25, real_s=12)
    )


def by_draw(run: Run, pairs: Sequence[str], column: str = "goodput_mbps", kind: str = "tcp") -> pd.DataFrame:
    """Return a table of the values of a column of `Run.flows` for the flows of one kind, a row for each draw and a
    column for each of `pairs`, such as "h1-h4"; the run has these flows, in the order of `pairs`, once for each draw.
    """
    values = run.flows.loc[run.flows["kind"] == kind, column].to_numpy()
    return pd.DataFrame(values.reshape(-1, len(pairs)), columns=list(pairs))


def fair_data_mbps(pairs: Sequence[str]) -> dict[str, float]:
    """Return the max-min shares in Mbit/s of data, without headers, of the flows of these pairs (keys of `ROUTES`), by
    pair.
    """
    shares = theory.max_min_mbps(CAPACITIES_MBPS, {pair: ROUTES[pair] for pair in pairs})
    return {pair: mbps * theory.tcp_goodput_limit_mbps(1) for pair, mbps in shares.items()}


def fair_table() -> pd.DataFrame:
    """Return a table with a row for each pair of the four experiments of the lab `simpleperf`: the max-min fair rate
    and the data in it in Mbit/s, and Jain's index of the experiment's fair rates.
    """
    rows = []
    for number, pairs in EXPERIMENTS.items():
        shares = theory.max_min_mbps(CAPACITIES_MBPS, {pair: ROUTES[pair] for pair in pairs})
        for pair, mbps in shares.items():
            jain = theory.jain_index(list(shares.values()))
            rows.append((number, pair, mbps, fair_data_mbps(pairs)[pair], jain))
    return pd.DataFrame(rows, columns=["experiment", "pair", "fair rate", "data in it", "Jain"])


def _at_places(columns: Sequence[Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return x and y of a figure's points as two arrays: the values of column number k, counted from 0, all have the x
    k.
    """
    return np.repeat(np.arange(len(columns)), [len(values) for values in columns]), np.concatenate(columns)


def shares_figure(runs: Mapping[int, Run], title: str) -> plots.Comparison:
    """Return a figure of the goodput in Mbit/s of each draw of each pair, its fair share, and the published value;
    `runs` has the runs of the experiments of the lab `simpleperf` by their number, 1 to 4.
    """
    cases = [(number, pair) for number, pairs in EXPERIMENTS.items() for pair in pairs]
    tables = {number: by_draw(runs[number], pairs) for number, pairs in EXPERIMENTS.items()}
    return plots.Comparison(
        x_label="",
        y_label="Goodput (Mbit/s)",
        cases=[f"exp. {number}<br>{pair}" for number, pair in cases],
        title=title,
    ).add(
        "measured",
        *_at_places([tables[number][pair] for number, pair in cases]),
        np.arange(len(cases)),
        np.array([fair_data_mbps(EXPERIMENTS[number])[pair] for number, pair in cases]),
        published=(np.arange(len(cases)), np.concatenate(list(PUBLISHED_MBPS.values()))),
    )


def shares_table(runs: Mapping[int, Run]) -> pd.DataFrame:
    """Return a table with a row for each pair and for the sum of an experiment: the fair goodput in Mbit/s, the mean of
    the draws with the half width of its 95 % interval, the extremes, and the published value; `runs` has the runs of
    the experiments of the lab `simpleperf` by their number, 1 to 4.
    """
    rows = []
    for number, pairs in EXPERIMENTS.items():
        table = by_draw(runs[number], pairs)
        fair = fair_data_mbps(pairs)
        for pair, published in zip(pairs, PUBLISHED_MBPS[number], strict=True):
            values = table[pair]
            rows.append((number, pair, fair[pair], *interval(values), values.min(), values.max(), published))
        if number != 4:
            total = table.sum(axis=1)
            link = theory.tcp_goodput_limit_mbps(30)
            published = sum(PUBLISHED_MBPS[number])
            rows.append((number, "together", link, *interval(total), total.min(), total.max(), published))
    columns = ["experiment", "pair", "fair", "mean", "+-", "least", "most", "published"]
    return pd.DataFrame(rows, columns=columns)


def full_rtt_ms(pair: str, rooms: Sequence[float]) -> float:
    """Return the round-trip time in ms over the path of a pair, such as "h1-h4", with one full queue, that before the
    path's bottleneck, and all others empty; `rooms` has the room in packets before L1, L2 and L3.
    """
    empty_ms = 2 * sum({"L1": 10, "L2": 20, "L3": 10}[link] for link in ROUTES[pair])
    place = 2 if pair == "h8-h9" else 1  # L2 is the bottleneck of all others: h7-h9 shares it and is not alone on L3
    rate_mbps = (40, 30, 20)[place]
    return empty_ms + theory.queueing_delay_ms(rooms[place] * theory.tcp_wire_bytes(), rate_mbps)


def waits_table(runs: Mapping[int, Run], lab_runs: Mapping[int, Run]) -> pd.DataFrame:
    """Return a table with a row for each pair: its round-trip times in ms by ping, the longest, and the one of a full
    queue in theory, and the means in both sets of runs and as published; `runs` and `lab_runs` have the experiments of the
    lab `simpleperf` by their number, with the lab's queue limits and with smaller rooms.
    """
    rows = []
    for number, pairs in EXPERIMENTS.items():
        longest = by_draw(runs[number], pairs, "rtt_max_ms", "ping").max()
        wide, narrow = (by_draw(these[number], pairs, "rtt_ms", "ping").mean() for these in (runs, lab_runs))
        for pair, published in zip(pairs, PUBLISHED_MS[number], strict=True):
            full_ms, gap = full_rtt_ms(pair, LIMIT_PACKETS), 100 * (narrow[pair] / published - 1)
            rows.append((number, pair, full_ms, longest[pair], wide[pair], narrow[pair], published, gap))
    columns = ["experiment", "pair", "full queue", "longest", "mean", "mean, lab's rooms", "published", "gap, %"]
    return pd.DataFrame(rows, columns=columns)


EMPTY_RTTS_MS = {"h1-h9": 80, "h2-h7": 20, "h3-h4": 60, "h7-h5": 40, "h8-h9": 20, "h6-h9": 20}
"""The round-trip time in ms of the empty path of each of the six crossing flows."""


def allocations(rtts_ms: Mapping[str, float] | None = None) -> pd.DataFrame:
    """Return a table of the theoretical goodputs in Mbit/s of the six crossing flows (the index): max-min, and by
    Reno's square root, which depends on the round-trip times in ms by flow (None: the times of the empty paths).
    """
    rtts_ms = rtts_ms or EMPTY_RTTS_MS
    table = pd.DataFrame(
        {
            "max-min": theory.max_min_mbps(CAPACITIES_MBPS, CROSSING),
            "square root": theory.reno_optimum_mbps(CAPACITIES_MBPS, CROSSING, rtts_ms),
        }
    )
    return table * theory.tcp_goodput_limit_mbps(1)


def crossing_figure(runs: Mapping[str, Run], title: str) -> plots.Comparison:
    """Return a figure of the goodput in Mbit/s of each draw of the six crossing flows, with the rates by the square
    root or max-min; `runs` has runs by the name of their queues, "drop-tail", "RED" and "fair queues", in this order.
    """
    pairs = list(CROSSING)
    comparison = plots.Comparison(
        x_label="",
        y_label="Goodput (Mbit/s)",
        title=title,
        log_y=True,  # the long flow's rates are a tenth of the others'
        cases=[f"{pair}<br>{', '.join(links)}" for pair, links in CROSSING.items()],
    )
    theories = {"drop-tail": "square root", "RED": "square root", "fair queues": "max-min"}
    best = allocations()
    for number, (name, run) in enumerate(runs.items()):
        table = by_draw(run, pairs)
        x, y = _at_places([table[pair] for pair in pairs])
        aside = QUEUE_OFFSET * (number - 1)
        comparison.add(
            name,
            x + aside,
            y,
            np.arange(len(pairs)) + aside,
            best[theories[name]].to_numpy(),
            theory_name=theories[name],
        )
    return comparison


def crossing_table(runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return a table of the goodputs in Mbit/s of the six crossing flows and their sum: theory, and for each kind of
    queue (the keys of `runs`) the mean over the draws and the half width of its 95 % interval.
    """
    pairs = list(CROSSING)
    table = allocations()
    for name, run in runs.items():
        got = by_draw(run, pairs)
        table[name] = got.mean()
        table[f"+- {name}"] = {pair: interval(got[pair])[1] for pair in pairs}
    table.loc["together"] = table.sum().where(~table.columns.str.startswith("+-"))
    return table


def _after_start(run: Run) -> pd.DataFrame:
    """Return a table with a row for each TCP transfer of a run: the number of its window reductions after its first
    `START_S` seconds, `cuts`, and the number of `segments` delivered in that time.
    """
    flows = dict(list(run.intervals.groupby("flow", sort=False)))
    rows = []
    transfers = run.flows[run.flows["kind"] == "tcp"]
    for flow, start_s, duration_s in transfers[["flow", "start_s", "duration_s"]].itertuples(index=False):
        late = flows[flow].query(f"{start_s + START_S} < t_s <= {start_s + duration_s}")
        # The slow-start threshold changes at each reduction, and only then.
        cuts = int((late["ssthresh_segments"].diff().fillna(0) != 0).sum())
        megabits = late["goodput_mbps"].mean() * (late["t_s"].iloc[-1] - late["t_s"].iloc[0])
        rows.append((cuts, megabits * 1e6 / 8 / theory.MSS_BYTES))
    return pd.DataFrame(rows, columns=["cuts", "segments"], index=transfers["flow"])


def between_cuts_s(run: Run) -> float:
    """Return the mean time in s between two window reductions of a TCP transfer after its first `START_S` seconds, over
    all such transfers of a run.
    """
    cuts = _after_start(run)["cuts"]
    return float((run.flows.loc[run.flows["kind"] == "tcp", "duration_s"] - START_S).sum() / cuts.sum())


def cuts_table(runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return a table of the reductions of the window per 1000 segments, without the start of each transfer, a row for
    "drop-tail" and for "RED" (keys of `runs`): flows over L1, L2 and L3 alone, their sum, and h1-h9 with its interval.
    """
    pairs = list(CROSSING)
    rows = []
    for name in ("drop-tail", "RED"):
        counted = _after_start(runs[name])
        cuts, segments = (
            pd.DataFrame(counted[each].to_numpy().reshape(-1, len(pairs)), columns=pairs) for each in counted
        )
        rate = 1000 * cuts.sum() / segments.sum()
        parts = [
            rate["h2-h7"],
            rate["h7-h5"],
            1000 * cuts[["h8-h9", "h6-h9"]].sum().sum() / segments[["h8-h9", "h6-h9"]].sum().sum(),
        ]
        long, half = interval(1000 * cuts["h1-h9"] / segments["h1-h9"])
        rows.append((name, *parts, sum(parts), long, half, long / sum(parts)))
    return pd.DataFrame(
        rows, columns=["queues", "L1 alone", "L2 alone", "L3 alone", "sum", "h1-h9", "+-", "h1-h9 / sum"]
    )


def heads_table(runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return a table of the mean goodputs in Mbit/s over the draws of runs of experiment 2 or 3, a row for each run,
    and as second and fifth row the published values; the name of a run (its key) begins with the number of its
    experiment.
    """
    rows = []
    for name, run in runs.items():
        got = by_draw(run, EXPERIMENTS[int(name[0])])
        rows.append((name, *[*got.mean(), np.nan][:3], got.sum(axis=1).mean(), interval(got["h1-h4"])[1]))
    rows.insert(1, ("2, published", 12.61, 9.22, 8.14, 29.97, np.nan))
    rows.insert(4, ("3, published", 18.00, 10.84, np.nan, 28.84, np.nan))
    return pd.DataFrame(rows, columns=["experiment", "h1-h4", "second", "third", "together", "+- of h1-h4"])
