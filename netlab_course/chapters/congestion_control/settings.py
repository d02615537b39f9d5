"""Networks, scenarios and runs of the chapter "Congestion control", without answers."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netlab import theory
from netlab.engines import lasting
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs import experiment, sweeps
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.traffic import Command, Tcp, Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues

NUMBERS = OwnNumbers(
    {
        "rate_mbps": (8, 6, 7, 9, 10, 12),
        "delay_ms": (30, 25, 28, 32, 35),
        "room_packets": (20, 16, 18, 22, 24),
        "lost_per_thousand": (5, 4, 6, 7, 8),
        "lossy_ms": (40, 30, 36, 44, 50),
    },
    # With the given queue, a loss must have a cost.
    holds=lambda own: own.room_packets < 0.8 * own.rate_mbps * 2 * own.delay_ms * 1000 / 8 / 1514,
)

RATE_MBPS, DELAY_MS, QUEUE_PACKETS = 10, 20, 33
CONTROLS = ("tahoe", "reno", "cubic", "bbr")
SETTLED_S = 5.0
LOSS_RATES = (0.002, 0.005, 0.01, 0.03, 0.1)

# The simulated senders of `ece6110` send single frames and have no selective acknowledgements.
_FRAME_BY_FRAME = Command("h1", "ip link set dev h1-eth0 gso_max_segs 1")
_ACKNOWLEDGE_EACH = Command("h2", "ip route | while read route; do ip route change $route quickack 1; done")
_WITHOUT_SACK = {"net.ipv4.tcp_sack": 0}
_STARTS_S = {"tahoe": 0.5, "reno": 20.0}


def path(
    rate_mbps: float = RATE_MBPS, delay_ms: float = DELAY_MS, queue_packets: int = QUEUE_PACKETS, loss_rate: float = 0.0
) -> Topology:
    """Return a network in which h1 and its neighbour h2 send to h3 over one slow link with this one-way delay, queue
    and random loss; the return path is fast and lossless.
    """
    reverse = {"rate_mbps": 1000, "queue_packets": 1000, "loss_rate": 0}
    slow = Link(
        "r1",
        "h3",
        rate_mbps=rate_mbps,
        delay_ms=delay_ms,
        queue_packets=queue_packets,
        loss_rate=loss_rate,
        reverse=reverse,
    )
    return Topology(hosts=["h1", "h2", "h3"], routers=["r1"], links=[Link("h1", "r1"), Link("h2", "r1"), slow])


def burst(start_s: float = 10.0) -> Udp:
    """Return UDP of 200 Mbit/s from h2 for 0.3 s, with which nearly all packets in the queue are lost."""
    return Udp("h2", "h3", rate_mbps=200, start_s=start_s, duration_s=0.3)


def loss_times_s(run: Run) -> list[float]:
    """Return the moments in s at which the sender of a run's only TCP flow began to repair a loss; repairs less than
    0.35 s apart count as one.
    """
    intervals = run.intervals.dropna(subset=["cwnd_segments"])
    times: list[float] = []
    last_s = -math.inf
    for t_s in intervals["t_s"].to_numpy()[1:][np.diff(intervals["retransmits"].to_numpy()) > 0]:
        if t_s - last_s > 0.35:
            times.append(float(t_s))
        last_s = float(t_s)
    return times


def per_loss(rates_mbps: Sequence[float]) -> pd.DataFrame:
    """Run Reno over the chapter's path with almost no queue, and return the cost of one loss in segments and what leads
    to it, a row for each rate in Mbit/s.
    """
    runs = sweeps.sweep(
        {
            rate: Scenario(path(rate, queue_packets=2), [Tcp("h1", "h3", congestion="reno")], 30, interval_s=0.1)
            for rate in rates_mbps
        }
    )
    rows = []
    for rate, run in runs.items():
        first, *later = [t_s for t_s in loss_times_s(run) if t_s > SETTLED_S]
        inside = run.intervals[(run.intervals["t_s"] > first) & (run.intervals["t_s"] <= later[-1])]
        between_s = (later[-1] - first) / len(later)
        per_s = inside["goodput_mbps"].mean() * 1e6 / 8 / theory.MSS_BYTES
        possible_per_s = theory.tcp_goodput_limit_mbps(rate) * 1e6 / 8 / theory.MSS_BYTES
        rtt_s = inside["rtt_ms"].mean() / 1000
        rows.append(
            {
                "rate (Mbit/s)": rate,
                "losses": len(later),
                "BDP (segments)": theory.bdp_bytes(rate, 2 * DELAY_MS) / theory.tcp_wire_bytes(),
                "s between": between_s,
                "sent between": per_s * between_s,
                "cost": (possible_per_s - per_s) * between_s,
                "c": per_s * rtt_s / math.sqrt(per_s * between_s),
            }
        )
    return pd.DataFrame(rows)


class QueueTrials:
    """A limited number of runs of Reno over a path of this rate and one-way delay, with which a
    student tries queues.
    """

    def __init__(self, rate_mbps: float, delay_ms: float, at_most: int = 4) -> None:
        """Set the path's rate in Mbit/s, its one-way delay in ms and the number of allowed runs."""
        self._rate_mbps, self._delay_ms, self._left = rate_mbps, delay_ms, at_most

    def __call__(self, queue_packets: int) -> str:
        """Run Reno for 30 s with a queue of this many packets, and return a text on its share of the link's rate and
        the mean RTT; another sentence when all trials are used up.
        """
        if not self._left:
            return "All trials are used up. What do they have in common with the BDP?"
        self._left -= 1
        network = path(self._rate_mbps, self._delay_ms, queue_packets)
        run = experiment.run(network, [Tcp("h1", "h3", congestion="reno")], duration_s=30, interval_s=0.5)
        used = run.goodput_mbps(after_s=SETTLED_S).iloc[0] / theory.tcp_goodput_limit_mbps(self._rate_mbps)
        rtt_ms = run.intervals.loc[run.intervals["t_s"] > SETTLED_S, "rtt_ms"].mean()
        return (
            f"queue of {queue_packets} packets: {100 * used:.1f} % of what the link can carry, mean RTT {rtt_ms:.0f} ms; "
            f"trials left: {self._left}"
        )


def summary(runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return goodput and mean RTT from 5 to 10 s, retransmissions and timeouts of the first flow of each run, a row for
    each congestion control.
    """
    rows = []
    for name, run in runs.items():
        flow = run.flows.iloc[0]
        own = run.intervals[run.intervals["flow"] == flow["flow"]]
        rows.append(
            {
                "control": name,
                "goodput (Mbit/s)": run.goodput_mbps(after_s=SETTLED_S, before_s=10).iloc[0],
                "mean RTT (ms)": own.query(f"{SETTLED_S} < t_s <= 10")["rtt_ms"].mean(),
                "sent again": int(flow["retransmits"]),
                "timeouts": int(flow["timeouts"]),
            }
        )
    return pd.DataFrame(rows).set_index("control").rename_axis(None)


def _flow(control: str, window_bytes: int, mss_bytes: int, start_s: float, duration_s: float) -> Tcp:
    """Return a TCP flow from h1 to h2 with this congestion control, window, segment size, start and duration."""
    window: dict[str, Any] = {"window_bytes": window_bytes, "mss_bytes": mss_bytes}
    return Tcp("h1", "h2", congestion=control, start_s=start_s, duration_s=duration_s, **window)


def both(
    window_bytes: int, queue_bytes: int, mss_bytes: int, interval_s: float = 0.5, *, sack: bool = False
) -> Scenario:
    """Return the scenario of `ece6110`: 15 s of Tahoe, a pause, then 15 s of Reno, with this window, queue and segment
    size.
    """
    flows = [_flow(control, window_bytes, mss_bytes, start_s, 15) for control, start_s in _STARTS_S.items()]
    sysctls = {} if sack else _WITHOUT_SACK
    network = topologies.slow_middle(queue_bytes)
    return Scenario(network, [_FRAME_BY_FRAME, *flows], 35.5, interval_s=interval_s, sysctls=sysctls)


def stall(*, sack: bool = False) -> Run:
    """Run the setting of `ece6110` (window and queue of 64 000 bytes, segments of 128 bytes), with or without selective
    acknowledgements, and return the run.
    """
    return experiment.run(both(64_000, 64_000, 128, interval_s=0.1, sack=sack))


def claims() -> pd.DataFrame:
    """Return a table with the goodput in Mbit/s of Tahoe and Reno for the settings of the claims of `ece6110` part II,
    without SACK, a row for each window, queue and segment size in bytes.
    """
    settings = {
        *itertools.product((64_000,), (2_000, 8_000, 32_000, 64_000), (128,)),
        (2_000, 2_000, 128),
        *itertools.product((2_000, 8_000, 32_000), (64_000,), (128, 512)),
        (8_000, 2_000, 128),
    }
    runs = sweeps.sweep({each: both(*each) for each in sorted(settings)})
    found = [run.flows.dropna(subset=["congestion"]).set_index("congestion")["goodput_mbps"] for run in runs.values()]
    table = pd.DataFrame(list(runs), columns=["window", "queue", "segment"])
    return table.assign(**{control: [each[control] for each in found] for control in _STARTS_S})


def random_loss(own: StudentValues) -> Scenario:
    """Return a scenario of a Reno flow over 100 Mbit/s with random losses, at the loss rate and round-trip time of this
    copy.
    """
    network = path(100, own.lossy_ms / 2, 1000, own.lost_per_thousand / 1000)
    return Scenario(network, [Tcp("h1", "h3", congestion="reno")], duration_s=lasting(45, real_s=12))


def at_random(loss_rates: Sequence[float] = LOSS_RATES) -> pd.DataFrame:
    """Run Reno and BBR with each random loss rate over 100 Mbit/s and 40 ms; return goodputs in Mbit/s, RTT in ms and
    Reno's constant with intervals, a row for each rate.

    Each flow is a draw; their mean gets a 95 % interval. BBR runs alone.
    """
    scenarios = {}
    for rate in loss_rates:
        network = path(100, DELAY_MS, 1000, rate)
        flows = [Tcp("h1", "h3", congestion="reno")] * (10 if rate > 0.002 else 8)
        scenarios["reno", rate] = Scenario(network, flows, lasting(45, real_s=12), interval_s=0.5)
        scenarios["bbr", rate] = Scenario(network, [Tcp("h1", "h3", congestion="bbr")], 4, interval_s=0.5)
    runs = sweeps.sweep(scenarios)
    rows = []
    for rate in loss_rates:
        reno = runs["reno", rate]
        mean_mbps, half_mbps = interval(reno.goodput_mbps(after_s=SETTLED_S))
        rtt_ms = float(reno.intervals.query(f"t_s > {SETTLED_S}")["rtt_ms"].mean())
        rows.append(
            {
                "loss_rate": rate,
                "reno_mbps": mean_mbps,
                "half_mbps": half_mbps,
                "rtt_ms": rtt_ms,
                "timeouts": reno.flows["timeouts"].mean(),
                "bbr_mbps": runs["bbr", rate].goodput_mbps(after_s=2).iloc[0],
                "pftk_mbps": theory.pftk_mbps(theory.MSS_BYTES, rtt_ms, rate),
            }
        )
    table = pd.DataFrame(rows)
    per_round = table["reno_mbps"] * table["rtt_ms"] / theory.mathis_mbps(theory.MSS_BYTES, 1.0, 1.0, c=1.0)
    table["c"] = per_round * np.sqrt(table["loss_rate"])
    table["half_c"] = table["c"] * table["half_mbps"] / table["reno_mbps"]
    return table


def ten_flows(draws: int = 8) -> pd.DataFrame:
    """Run ten equal flows of `ece6110` part III, started within 0.1 s and drawn again every 25 s; return the sum, least
    and most goodput in Mbit/s and Jain's index, a row for each draw and control.
    """
    rng = np.random.default_rng(1)
    starts_s = [25 * draw + rng.uniform(0, 0.1, 10) for draw in range(draws)]
    runs = sweeps.sweep(
        {
            control: Scenario(
                topologies.slow_middle(64_000),
                [_flow(control, 64_000, 512, float(start_s), 20) for draw in starts_s for start_s in draw],
                25.0 * draws,
                interval_s=1,
            )
            for control in ("tahoe", "reno")
        }
    )
    rows = [
        (control, draw, shares.sum(), shares.min(), shares.max(), theory.jain_index(shares))
        for control, run in runs.items()
        for draw, shares in enumerate(run.flows["goodput_mbps"].to_numpy().reshape(draws, 10), start=1)
    ]
    return pd.DataFrame(rows, columns=["control", "draw", "together", "least", "most", "Jain"])


def ten_windows(segments: Sequence[int] = (12, 13, 14, 16)) -> pd.DataFrame:
    """Run ten Reno flows with windows of so many segments of 512 bytes, with delayed and with immediate
    acknowledgements; return their least and most goodput in Mbit/s, a row for each window.
    """
    step_s, send_s = lasting(30, real_s=12), lasting(25, real_s=10)
    flows = [
        _flow("reno", 512 * size, 512, step_s * place, send_s) for place, size in enumerate(segments) for _ in range(10)
    ]
    scenario: Callable[..., Scenario] = lambda *before: Scenario(  # noqa: E731
        topologies.slow_middle(64_000), [*before, *flows], float(step_s * len(segments)), interval_s=1
    )
    runs = sweeps.sweep({"delayed": scenario(), "each": scenario(_FRAME_BY_FRAME, _ACKNOWLEDGE_EACH)})
    table = pd.DataFrame({"segments": segments, "bytes of all": [10 * size * 578 for size in segments]})
    for name, run in runs.items():
        got = run.flows.dropna(subset=["congestion"])["goodput_mbps"].to_numpy().reshape(-1, 10)
        table[f"{name}: least"], table[f"{name}: most"] = got.min(axis=1), got.max(axis=1)
    return table
