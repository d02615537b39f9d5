"""The lossy path and own numbers of the chapter "Build a reliable transfer", without answers."""

from typing import Any

from netlab import theory
from netlab.engines import run_length_s
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Program, Tcp
from netlab_course.chapters.reliable_transfer.programs import TIMEOUT_S
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

RATE_MBPS = 2
RTT_MS = 100
LOSS_RATE = 0.02
QUEUE_PACKETS = 100
TIMEOUT_MS = 1000 * TIMEOUT_S

_CUBIC_BY_FORMULA = 0.82
"""The goodput of CUBIC relative to the square-root formula, measured at the losses of the copies."""
_STATED_RATIOS = (0.5, 0.55, 1.45, 1.55)
"""The numbers that a statement may have, relative to this goodput."""


def _derived_numbers(own: StudentValues) -> dict[str, float]:
    """Return the numbers that follow from a student's numbers, in Mbit/s by name: the goodput of the worked example,
    `worked_mbps`, and the number of the copy's statement on TCP, `stated_mbps`.
    """
    formula_mbps = theory.mathis_mbps(theory.MSS_BYTES, RTT_MS, own.loss_percent / 100, c=theory.MATHIS_RANDOM_C)
    return {
        "worked_mbps": theory.selective_repeat_mbps(own.worked_window, own.worked_rate_mbps, own.worked_rtt_ms),
        "stated_mbps": stated_number(own, _CUBIC_BY_FORMULA * float(formula_mbps), _STATED_RATIOS),
    }


NUMBERS = OwnNumbers(
    {
        "worked_window": (4, 3, 5, 6, 7),
        "worked_rate_mbps": (10, 8, 12, 16, 20),
        "worked_rtt_ms": (50, 40, 60, 80),
        "rate_mbps": (2, 2.5, 3),
        "loss_percent": (2, 1.5, 2.5, 3),
        # None divides another, so that a schedule which breaks one of them does not break the others.
        "modulus": (6, 5, 7, 8, 9),
    },
    derive=_derived_numbers,
)


def network(rate_mbps: float = RATE_MBPS, rtt_ms: float = RTT_MS, loss_rate: float = LOSS_RATE) -> Topology:
    """Return a network of sender h1, a router and receiver h2 behind a link with this rate and round-trip time, which
    randomly loses data with the probability `loss_rate`, but no ACKs.

    The queue is in a router: TCP keeps only a few packets in a queue of its own host (TCP small queues).
    """
    link = Link(
        "r1",
        "h2",
        rate_mbps=rate_mbps,
        delay_ms=rtt_ms / 2,
        loss_rate=loss_rate,
        queue_packets=QUEUE_PACKETS,
        reverse={"rate_mbps": None, "queue_packets": None, "loss_rate": 0.0},
    )
    return Topology(hosts=["h1", "h2"], routers=["r1"], links=[Link("h1", "r1"), link])


def transfer(
    sender: Any, receiver: Any, duration_s: float = 10.0, topology: Topology | None = None, seed: int = 1
) -> Scenario:
    """Return a scenario with a sender's and a receiver's program (classes or objects) from h1 to h2 over `topology`
    (None: a path of 2 Mbit/s and 100 ms that loses 2 % of the data), for `duration_s` seconds and with this seed.
    """
    program = Program("h1", "h2", sender=sender, receiver=receiver)
    return Scenario(
        network() if topology is None else topology, [program], duration_s=duration_s, interval_s=1, seed=seed
    )


def tcp_scenario(own: StudentValues) -> Scenario:
    """Return a scenario with Linux's TCP (CUBIC) over a path of 100 ms, with the rate and the losses of a student's
    copy.
    """
    path = network(own.rate_mbps, RTT_MS, own.loss_percent / 100)
    return Scenario(path, [Tcp("h1", "h2", congestion="cubic")], duration_s=run_length_s(20, real_s=10), interval_s=1)
