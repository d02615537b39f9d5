"""Networks, tables and common numbers of the chapter "Parallel streams", without answers."""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from netlab import theory
from netlab.engines import run_length_s
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.page_style import widen_columns

WAN_MBPS = 10_000
RTT_MS = 20
"""The round-trip time in ms of the path with 10 Gbit/s and of the slow path."""
LOSS_RATE = 0.01
SLOW_MBPS = 50
SLOW_QUEUE_PACKETS = 83
"""The bandwidth-delay product of 50 Mbit/s and 20 ms in packets."""
Case = tuple[float, str, str, int, int]


def slow_path(pairs: int, loss_rate: float = LOSS_RATE, **more: Any) -> Topology:
    """Return a network of `pairs` senders h1, h2, ... and as many receivers behind one link of 50 Mbit/s with a
    round-trip time of 20 ms and random loss (0 to 1) of data after its queue; `more` has other fields of the link.
    """
    return topologies.dumbbell(
        pairs,
        rate_mbps=SLOW_MBPS,
        delay_ms=RTT_MS // 2,
        queue_packets=SLOW_QUEUE_PACKETS,
        loss_rate=loss_rate,
        reverse={"loss_rate": 0},
        **more,
    )


def window_mbps(streams: int, window_bytes: float, rtt_ms: float, limit_mbps: float) -> float:
    """Return the goodput in Mbit/s of `streams` connections with a window of `window_bytes` each, all together; at most
    `limit_mbps`.
    """
    return float(min(streams * theory.window_limit_mbps(float(window_bytes), rtt_ms), limit_mbps))


def one_mbps(loss_rate: float, rtt_ms: float = RTT_MS) -> float:
    """Return the goodput in Mbit/s of one Reno connection with this random loss rate (0 to 1), by the square-root
    formula.
    """
    return float(theory.mathis_mbps(theory.MSS_BYTES, rtt_ms, loss_rate, theory.MATHIS_RANDOM_C))


def max_free_streams(neighbours: int, loss_rate: float) -> int:
    """Return the largest number of h1's connections with which h1's and the neighbour's `neighbours` all reach the
    limit of the random losses (0 to 1) on the slow path of 50 Mbit/s, because they do not fill it.
    """
    return math.floor(theory.tcp_goodput_limit_mbps(SLOW_MBPS) / one_mbps(loss_rate)) - neighbours


_PART_AT, _PART_PER_STREAM = 1.026, -0.0088
"""The part of the rule's value that h2 has in runs of 10 s, at no connection of h1 and for each of them, fitted for 5 to
9: 1 % is lost, and h1, whose connections start first, is ahead in the beginning."""


def _kept_mbps(own: StudentValues) -> float:
    """Return the goodput in Mbit/s that h2 must keep in a student's copy, between its means beside two successive numbers
    of connections of h1 that fill the link.
    """
    digest = hashlib.sha256(f"kept\n{own!r}".encode()).digest()
    # With two neighbours the means of more connections lie too close together for 25 seeds.
    streams = (6,) if own.neighbours == 2 else (7, 8)
    middle = streams[digest[0] % len(streams)] + 0.5
    part = _PART_AT + _PART_PER_STREAM * middle
    all_mbps = float(theory.tcp_goodput_limit_mbps(SLOW_MBPS))
    return float(round(part * own.neighbours * all_mbps / (own.neighbours + middle), 1))


NUMBERS = OwnNumbers(
    {
        "run_mbps": (1000, 600, 800, 900, 1200),
        "run_delay_ms": (25, 20, 30, 40),
        # The page's own values are not among them: 10 Gbit/s, 20 ms, 1 %.
        "big_mbps": (5_000, 2_500, 4_000, 8_000),
        "big_rtt_ms": (30, 15, 25, 40),
        "big_loss_rate": (0.005, 0.002, 0.02),
        "neighbours": (2, 3, 4),
        "free_loss_rate": (0.01, 0.008, 0.009),
    },
    # No integer number of connections may fill the link exactly.
    holds=lambda own: 0.1 < theory.tcp_goodput_limit_mbps(SLOW_MBPS) / one_mbps(own.free_loss_rate) % 1 < 0.9,
    derive=lambda own: {
        "free_one_mbps": one_mbps(own.free_loss_rate),
        "most_free": max_free_streams(own.neighbours, own.free_loss_rate),
        "kept_mbps": _kept_mbps(own),
    },
)


def goodputs(runs: Mapping[Any, Run], after_s: float) -> pd.DataFrame:
    """Return a table of the goodput of each sender in Mbit/s without the first `after_s` seconds, a row for each run
    (the keys of `runs`) and a column for each sender, such as "h1".
    """
    rows = [run.goodput_mbps(after_s).rename(lambda flow: str(flow)[:2]) for run in runs.values()]
    return pd.DataFrame(rows).set_axis(pd.Index(list(runs)))


def suspects(runs: Mapping[Case, Run]) -> pd.DataFrame:
    """Return a table with a row for each case, the key of a run without its seed: the goodput in Mbit/s by the formula
    for single losses, the mean over the seeds with its half width, the largest, and the published value.

    The runs are over 10 Gbit/s with 1 % of loss. Their keys are the delay in ms, the unit that is lost, congestion
    control, number of connections and seed.
    """
    limit = theory.tcp_goodput_limit_mbps(WAN_MBPS)
    cases: dict[Any, list[Run]] = {}
    for key, run in runs.items():
        cases.setdefault(key[:-1], []).append(run)
    rows = []
    for (delay_ms, lost_as, congestion, streams), each in cases.items():
        got = [float(run.goodput_mbps(4 if delay_ms == RTT_MS else 0.2).iloc[0]) for run in each]
        formula = min(streams * one_mbps(LOSS_RATE, delay_ms), limit)
        published = 7590 if streams == 1 else 9600
        rows.append((delay_ms, lost_as, congestion, streams, formula, *interval(got), max(got), published))
    columns = ["delay (ms)", "lost as", "control", "K", "formula", "measured", "+-", "most", "published"]
    return pd.DataFrame(rows, columns=columns)


def suspects_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `suspects` for printing, with its delays and rates rounded as text."""
    rates = found[["formula", "measured", "+-", "most"]]
    texts = rates.apply(lambda column: column.map(lambda mbps: f"{mbps:.0f}" if mbps >= 100 else f"{mbps:.1f}"))
    return widen_columns(found.assign(**{"delay (ms)": found["delay (ms)"].map("{:g}".format)}, **texts))


def shared_path(streams: int, neighbours: int, loss_rate: float, seed: int = 1) -> Scenario:
    """Return a scenario of `streams` Reno connections of h1 and `neighbours` of h2 on the slow path of 50 Mbit/s with
    this random loss rate (0 to 1) and this seed.
    """
    flows = [
        Tcp("h1", "h3", streams=streams, congestion="reno"),
        Tcp("h2", "h4", streams=neighbours, congestion="reno"),
    ]
    return Scenario(
        slow_path(2, loss_rate=loss_rate), flows, duration_s=run_length_s(10, real_s=7), interval_s=1, seed=seed
    )
