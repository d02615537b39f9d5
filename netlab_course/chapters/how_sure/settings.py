"""Networks and own numbers of the chapter "How sure are you?", without answers."""

from collections.abc import Mapping
from itertools import permutations
from typing import Any

from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.traffic import Ping, Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues

RATE_MBPS = 5
PAYLOAD_BYTES = 1000
NEAR_MBPS = 4.6
"""The rate offered to both queue sizes: below the link's rate, so that only bursts are lost."""
SMALL_PACKETS, LARGE_PACKETS = 20, 22
SEEDS = 8
TRUE_LOSS_RATE = 0.1
DATAGRAMS = 200
INTERVALS, RUNS_EACH = 20, 5
FULL_PACKETS = 200
BUDGET_RUNS = 24
QUEUES = ("A", "B", "C")


def _worked(own: StudentValues) -> Mapping[str, Any]:
    """Return the values derived from a student's numbers: text, mean and half width of the worked example."""
    mean, half_width = interval(own.worked)
    first, second, third = own.worked
    return {"worked_text": f"{first}, {second} and {third}", "worked_mean": mean, "worked_half": half_width}


NUMBERS = OwnNumbers(
    {
        "offered_kbps": (4600, 4540, 4560, 4580, 4620, 4640, 4660, 4680),
        "scatter_ms": (12, 9, 10, 11, 13, 14, 15, 16, 17, 18),
        "wanted_ms": (3, 2.5, 3.5, 4),
        "worked": ((4, 6, 11), (3, 5, 10), (2, 5, 8), (1, 4, 10), (3, 8, 10), (5, 6, 13)),
    },
    derive=_worked,
)
WAY_BACK: Mapping[str, Any] = {"rate_mbps": None, "queue_packets": None, "aqm": "fifo", "aqm_options": {}}

_DISCIPLINES: tuple[Mapping[str, Any], ...] = (
    {"queue_packets": 24},
    {"queue_packets": 60, "aqm": "red", "aqm_options": {"min_packets": 5, "max_packets": 15, "probability": 0.02}},
    {"queue_packets": 60, "aqm": "codel"},
)


def _one_queue(**queue: Any) -> Topology:
    """Return a network of a sender, a router and a receiver behind a slow link with these fields of its queue."""
    slow = Link("r1", "h2", rate_mbps=RATE_MBPS, **queue, reverse=WAY_BACK)
    return Topology(["h1", "h2"], ["r1"], links=[Link("h1", "r1"), slow])


def bursts(queue_packets: int, seed: int = 1) -> Scenario:
    """Return a scenario of datagrams at random moments into a queue of this many packets, almost as many as the link
    carries.
    """
    flow = Udp("h1", "h2", rate_mbps=NEAR_MBPS, payload_bytes=PAYLOAD_BYTES, spacing="random")
    return Scenario(_one_queue(queue_packets=queue_packets), [flow], duration_s=4, interval_s=0.1, seed=seed)


def known_loss(flows: int = INTERVALS, datagrams: int = DATAGRAMS) -> Scenario:
    """Return a scenario of this many flows, each of `datagrams` small datagrams, over a link that loses each
    independently with probability TRUE_LOSS_RATE.
    """
    lossy = Link("r1", "h2", loss_rate=TRUE_LOSS_RATE, reverse={"loss_rate": 0})
    network = Topology(["h1", "h2"], ["r1"], links=[Link("h1", "r1"), lossy])
    one = Udp("h1", "h2", rate_mbps=8e-4 * datagrams, payload_bytes=100, duration_s=1, spacing="even")
    return Scenario(network, [one] * flows, duration_s=1.2, interval_s=1)


def candidate(own: StudentValues, queue: str) -> Scenario:
    """Return a scenario of datagrams at random moments into one of the queues "A", "B" and "C", whose disciplines
    differ from copy to copy.
    """
    orders = list(permutations(_DISCIPLINES))
    order = orders[own.offered_kbps // 20 % len(orders)]
    flow = Udp("h1", "h2", rate_mbps=own.offered_kbps / 1000, payload_bytes=PAYLOAD_BYTES, spacing="random")
    return Scenario(_one_queue(**order[QUEUES.index(queue)]), [flow], duration_s=5)


def filling(seed: int = 1) -> Scenario:
    """Return a scenario that overloads an initially empty queue, with a ping every 50 ms."""
    traffic = [
        Udp("h1", "h2", rate_mbps=6, payload_bytes=PAYLOAD_BYTES, spacing="random"),
        Ping("h1", "h2", interval_s=0.05),
    ]
    return Scenario(_one_queue(queue_packets=FULL_PACKETS), traffic, duration_s=6, seed=seed)


def _two_senders(h1: Udp, h2: Udp, duration_s: float, seed: int) -> Scenario:
    """Return a scenario of two flows that share the way to a slow link for this time."""
    links = [Link("h1", "s1"), Link("h2", "s1"), Link("s1", "r1")]
    slow = Link("r1", "h3", rate_mbps=RATE_MBPS, queue_packets=100, reverse=WAY_BACK)
    network = Topology(["h1", "h2", "h3"], ["r1"], ["s1"], links=[*links, slow])
    return Scenario(network, [h1, h2], duration_s=duration_s, seed=seed)


def clockwork(h1_later_ms: float, seed: int = 1) -> Scenario:
    """Return a scenario of flows of 1 and 9 Mbit/s into 5 Mbit/s, both exactly periodic; h1 starts `h1_later_ms` later
    than h2.
    """
    h1 = Udp("h1", "h3", rate_mbps=1, payload_bytes=PAYLOAD_BYTES, spacing="even", start_s=h1_later_ms / 1000)
    h2 = Udp("h2", "h3", rate_mbps=9, payload_bytes=PAYLOAD_BYTES, spacing="even")
    return _two_senders(h1, h2, 4, seed)


def modest_and_greedy(seed: int = 1) -> Scenario:
    """Return scenario A2 of `epfl`: flows of 1 and 4 Mbit/s, with datagrams at random moments, into 5 Mbit/s."""
    h1 = Udp("h1", "h3", rate_mbps=1, payload_bytes=PAYLOAD_BYTES, spacing="random")
    h2 = Udp("h2", "h3", rate_mbps=4, payload_bytes=PAYLOAD_BYTES, spacing="random")
    return _two_senders(h1, h2, 15, seed)
