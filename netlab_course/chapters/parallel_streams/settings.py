"""Networks, runs and common numbers of the chapter "Parallel streams", without answers."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from netlab import theory
from netlab.engines import lasting
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.runs.sweeps import sweep
from netlab.traffic import Command, Tcp
from netlab_course.own_numbers import OwnNumbers
from netlab_course.page_style import spaced

WAN_MBPS = 10_000
RTT_MS = 20
"""The round-trip time in ms of the path with 10 Gbit/s and of the slow path."""
WINDOW_BYTES = 8 * 2**20
LOSS_RATE = 0.01
SLOW_MBPS = 50
SLOW_QUEUE_PACKETS = 83
"""The bandwidth-delay product of 50 Mbit/s and 20 ms in packets."""


def wan(delay_ms: float = RTT_MS, **more: Any) -> Topology:
    """Return the network of `lab9`, a link of 10 Gbit/s from h1 to h2; its fields `more` hold for both directions,
    delay and loss only for the way there.
    """
    there = {"rate_mbps": WAN_MBPS, "delay_ms": delay_ms, "queue_bytes": 15_000_000, **more}
    link = Link("h1", "h2", **there, reverse={"delay_ms": 0, "loss_rate": 0})
    return Topology(hosts=["h1", "h2"], links=[link])


def slow_path(pairs: int, loss_rate: float = LOSS_RATE, **more: Any) -> Topology:
    """Return a network of senders h1, h2, ... and as many receivers behind one link of 50 Mbit/s with a round-trip time
    of 20 ms and random loss after its queue; `more` has other fields of the link.
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


def shared(**queue: Any) -> Topology:
    """Return a network of three pairs of hosts on the link that `simpleperf`'s paths share: 30 Mbit/s, a round-trip
    time of 60 ms, 100 packets; `queue` has other fields of it.
    """
    return topologies.dumbbell(3, rate_mbps=30, delay_ms=30, queue_packets=100, **queue)


def window_mbps(streams: int, window_bytes: float, rtt_ms: float, limit_mbps: float) -> float:
    """Return the goodput in Mbit/s of some connections with a window each, at most `limit_mbps`."""
    return float(min(streams * theory.window_limit_mbps(float(window_bytes), rtt_ms), limit_mbps))


def one_mbps(loss_rate: float, rtt_ms: float = RTT_MS) -> float:
    """Return the goodput in Mbit/s of one connection with random loss, by the square-root formula."""
    return float(theory.mathis_mbps(theory.MSS_BYTES, rtt_ms, loss_rate, theory.MATHIS_RANDOM_C))


def needed(rate_mbps: float, rtt_ms: float, loss_rate: float) -> int:
    """Return the number of connections that fill a lossy link, by the square-root formula."""
    return math.ceil(theory.tcp_goodput_limit_mbps(rate_mbps) / one_mbps(loss_rate, rtt_ms))


def most_free(neighbours: int, loss_rate: float) -> int:
    """Return the largest number of h1's connections with which all connections reach the limit of the random losses, on
    the slow path.
    """
    return math.floor(theory.tcp_goodput_limit_mbps(SLOW_MBPS) / one_mbps(loss_rate)) - neighbours


NUMBERS = OwnNumbers(
    {
        "run_mbps": (1000, 600, 800, 900, 1200),
        "run_delay_ms": (25, 20, 30, 40),
        # The values do not include those of the page: 10 Gbit/s, 20 ms, 1 %.
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
        "most_free": most_free(own.neighbours, own.free_loss_rate),
        "greedy": most_free(own.neighbours, own.free_loss_rate) + 6,
    },
)


def goodputs(runs: Mapping[Any, Run], after_s: float) -> pd.DataFrame:
    """Return the goodput of each sender in Mbit/s without the first `after_s` seconds, a row for each run and a column
    for each sender.
    """
    rows = [run.goodput_mbps(after_s).rename(lambda flow: str(flow)[:2]) for run in runs.values()]
    return pd.DataFrame(rows).set_axis(pd.Index(list(runs)))


def moments_s(draw: Any) -> list[float]:
    """Return three moments in s within the first second at which senders start; they follow from `draw`, a seed of
    NumPy's generator.
    """
    return [round(float(moment), 3) for moment in np.random.default_rng(draw).uniform(0, 1, 3)]


# ---- part 2: random losses, and what the lab lost


_AT_ONCE = Command("h2", "ip route | while read route; do ip route change $route quickack 1; done")


def lossy(counts: Iterable[int], *, at_once: bool = False) -> dict[tuple[int, int], Scenario]:
    """Return scenarios of Reno connections on the slow path for 12 s, by their number and seed (1 to 8); with `at_once`
    the receiver acknowledges each segment immediately.
    """
    before = [_AT_ONCE] if at_once else []
    return {
        (count, seed): Scenario(
            slow_path(1),
            [*before, Tcp("h1", "h2", streams=count, congestion="reno")],
            duration_s=12,
            interval_s=1,
            seed=seed,
        )
        for count in counts
        for seed in range(1, 9)
    }


CASES = (
    (20, "frames", "cubic", 1),
    (20, "frames", "cubic", 8),
    (20, "super-segments", "cubic", 1),
    (0.05, "frames", "cubic", 1),
    (0.05, "super-segments", "cubic", 1),
    (0.05, "super-segments", "reno", 1),
    (0.05, "super-segments", "cubic", 8),
    (20, "frames", "reno", 8),
)
"""For each case: delay in ms, the unit that is lost, congestion control, number of connections."""


def suspect(delay_ms: float, lost_as: str, congestion: str, streams: int) -> Scenario:
    """Return a scenario with 1 % of loss on 10 Gbit/s, a case of `CASES`: of single frames, or of super-segments of up
    to 64 kB.
    """
    network = wan(delay_ms, loss_rate=LOSS_RATE, segmentation_offload=lost_as == "super-segments")
    duration_s = 15.0 if delay_ms == RTT_MS else 0.6 if lost_as == "frames" else 1.6
    return Scenario(network, [Tcp("h1", "h2", congestion=congestion, streams=streams)], duration_s=duration_s)


def suspects(seeds: Iterable[int] = range(1, 7)) -> pd.DataFrame:
    """Return the goodput in Mbit/s of each case of `CASES` over the seeds, with its interval, the formula for single
    losses and the published value, a row for each.
    """
    seeds = list(seeds)
    runs = sweep({(*case, seed): replace(suspect(*case), seed=seed) for case in CASES for seed in seeds})
    limit = theory.tcp_goodput_limit_mbps(WAN_MBPS)
    rows = []
    for delay_ms, lost_as, congestion, streams in CASES:
        each = (runs[delay_ms, lost_as, congestion, streams, seed] for seed in seeds)
        got = [float(run.goodput_mbps(4 if delay_ms == RTT_MS else 0.2).iloc[0]) for run in each]
        formula = min(streams * one_mbps(LOSS_RATE, delay_ms), limit)
        published = 7590 if streams == 1 else 9600
        rows.append((delay_ms, lost_as, congestion, streams, formula, *interval(got), max(got), published))
    columns = ["delay (ms)", "lost as", "control", "K", "formula", "measured", "+-", "most", "published"]
    return pd.DataFrame(rows, columns=columns)


def suspects_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `suspects` for printing, with its numbers rounded as text."""
    rates = found[["formula", "measured", "+-", "most"]]
    texts = rates.apply(lambda column: column.map(lambda mbps: f"{mbps:.0f}" if mbps >= 100 else f"{mbps:.1f}"))
    return spaced(found.assign(**{"delay (ms)": found["delay (ms)"].map("{:g}".format)}, **texts))


# ---- part 3: on a full link


def case5(draw: int) -> Scenario:
    """Return a scenario of `simpleperf` case 5: two connections of h1 and one each of h2 and h3, each for 25 s from a
    random moment.
    """
    first_s, second_s, third_s = moments_s(draw)
    flows = [
        Tcp("h1", "h4", streams=2, start_s=first_s, duration_s=25),
        Tcp("h2", "h5", start_s=second_s, duration_s=25),
        Tcp("h3", "h6", start_s=third_s, duration_s=25),
    ]
    return Scenario(topologies.portfolio(), flows, duration_s=26, interval_s=0.5)


def beside_two(streams: int, draw: int = 0) -> Scenario:
    """Return a scenario of `streams` Reno connections of h1 and one each of h2 and h3, on 10 Mbit/s and 60 ms."""
    network = topologies.dumbbell(3, rate_mbps=10, delay_ms=30, queue_packets=50)
    counts = (streams, 1, 1)
    starts_s = moments_s([draw, streams])
    flows = [
        Tcp(f"h{1 + place}", f"h{4 + place}", streams=count, congestion="reno", start_s=starts_s[place])
        for place, count in enumerate(counts)
    ]
    return Scenario(network, flows, duration_s=lasting(50, real_s=25), interval_s=1)


# ---- part 4: random losses and a neighbour


def free_or_taken(streams: int, neighbours: int, loss_rate: float, seed: int = 1) -> Scenario:
    """Return a scenario of `streams` Reno connections of h1 and `neighbours` of h2 on the slow path
    with random losses.
    """
    flows = [
        Tcp("h1", "h3", streams=streams, congestion="reno"),
        Tcp("h2", "h4", streams=neighbours, congestion="reno"),
    ]
    return Scenario(slow_path(2, loss_rate=loss_rate), flows, duration_s=lasting(10, real_s=7), interval_s=1, seed=seed)
