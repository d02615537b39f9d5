"""Networks, scenarios and own numbers of the chapter "Congestion control", without answers."""

import math
from collections.abc import Mapping

import numpy as np

from netlab import theory
from netlab.base.units import MS_PER_S
from netlab.engines import run_length_s
from netlab.measure.results import Run
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs import experiment
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

_STATED_RATIOS = (0.73, 0.77, 1.2, 1.24)
"""The numbers that a statement may have, relative to the formula."""


def formula_mbps(own: StudentValues) -> float:
    """Return the goodput in Mbit/s of Reno by the square-root formula for random losses, at the loss rate and the
    round-trip time of a student's copy.
    """
    loss_rate = own.lost_per_thousand / 1000
    return float(theory.mathis_mbps(theory.MSS_BYTES, own.lossy_ms, loss_rate, c=theory.MATHIS_RANDOM_C))


def _bdp_packets(own: StudentValues) -> float:
    """Return the number of packets that the path of a student's copy holds without a queue."""
    return theory.bdp_bytes(own.rate_mbps, 2 * own.delay_ms) / theory.tcp_wire_bytes()


def tooth_queue_packets(own: StudentValues) -> float:
    """Return the queue in packets with which a tooth of Reno lasts `own.tooth_s` s on the path of a student's copy, if
    the link is always busy.
    """
    frames = own.tooth_s * MS_PER_S / theory.transmission_delay_ms(theory.tcp_wire_bytes(), own.rate_mbps)
    return math.sqrt(8 / 3 * frames) - _bdp_packets(own)


def _derived_numbers(own: StudentValues) -> Mapping[str, float]:
    """Return the number of the statement of a student's copy (`own`) on the goodput of Reno, in Mbit/s, as
    `stated_mbps`.
    """
    return {"stated_mbps": stated_number(own, formula_mbps(own), _STATED_RATIOS)}


NUMBERS = OwnNumbers(
    {
        "rate_mbps": (8, 6, 7, 9, 10, 12),
        "delay_ms": (30, 25, 28, 32, 35),
        "tooth_s": (6, 7, 5, 8),
        "lost_per_thousand": (5, 4, 6, 7, 8),
        "lossy_ms": (40, 30, 36, 44, 50),
    },
    # The queue of exercise 2 must not be the answer of exercise 3.
    holds=lambda own: abs(tooth_queue_packets(own) / _bdp_packets(own) - 1) > 0.25,
    derive=_derived_numbers,
)

RATE_MBPS, DELAY_MS, QUEUE_PACKETS = 10, 20, 33
CONTROLS = ("tahoe", "reno", "cubic", "bbr")
SETTLED_S = 5.0


def path(
    rate_mbps: float = RATE_MBPS, delay_ms: float = DELAY_MS, queue_packets: int = QUEUE_PACKETS, loss_rate: float = 0.0
) -> Topology:
    """Return a network in which h1 and its neighbour h2 send to h3 over one slow link with this rate, one-way delay,
    queue and random loss (0 to 1); the way back has the same delay, but is fast and loses nothing.
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


def loss_times_s(run: Run) -> list[float]:
    """Return the times in s at which the sender of a run's only TCP flow began to repair a loss, by the samples of
    `intervals`; repairs less than 0.35 s apart count as one.
    """
    intervals = run.intervals.dropna(subset=["cwnd_segments"])
    times: list[float] = []
    last_s = -math.inf
    for t_s in intervals["t_s"].to_numpy()[1:][np.diff(intervals["retransmits"].to_numpy()) > 0]:
        if t_s - last_s > 0.35:
            times.append(float(t_s))
        last_s = float(t_s)
    return times


class QueueTrials:
    """A limited number of runs of Reno over a path of this rate and one-way delay, with which a
    student tries queues.
    """

    def __init__(self, rate_mbps: float, delay_ms: float, at_most: int = 4) -> None:
        """Set the path's rate in Mbit/s, its one-way delay in ms and the number of runs that are allowed."""
        self._rate_mbps, self._delay_ms, self._left = rate_mbps, delay_ms, at_most

    def __call__(self, queue_packets: int) -> str:
        """Use up a trial: run Reno for 30 s with a queue of this many packets, and return a text with its share of the
        possible goodput in %, the mean RTT in ms and the trials left; if none is left, run nothing and return a
        sentence that says so.
        """
        if not self._left:
            return "All trials are used up. What do they have in common with the BDP?"
        self._left -= 1
        network = path(self._rate_mbps, self._delay_ms, queue_packets)
        run = experiment.run(network, [Tcp("h1", "h3", congestion="reno")], duration_s=30, interval_s=0.5)
        used = run.goodput_mbps(after_s=SETTLED_S).iloc[0] / theory.tcp_goodput_limit_mbps(self._rate_mbps)
        rtt_ms = run.intervals.loc[run.intervals["t_s"] > SETTLED_S, "rtt_ms"].mean()
        return (
            f"queue of {queue_packets} packets: {100 * used:.1f} % of what the link can carry,\n"
            f"mean RTT {rtt_ms:.0f} ms; trials left: {self._left}"
        )


def random_loss(own: StudentValues) -> Scenario:
    """Return a scenario of a Reno flow over 100 Mbit/s with random losses, at the loss rate and the round-trip time of
    a student's copy.
    """
    network = path(100, own.lossy_ms / 2, 1000, own.lost_per_thousand / 1000)
    return Scenario(network, [Tcp("h1", "h3", congestion="reno")], duration_s=run_length_s(45, real_s=12))


def __dir__() -> list[str]:
    """Return the names that Tab offers in a notebook: what builds and reads runs, not the queue of an exercise."""
    return ["QueueTrials", "formula_mbps", "loss_times_s", "path", "random_loss"]
