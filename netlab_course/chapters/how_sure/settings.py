"""Networks and own numbers of the chapter "How sure are you?", without answers."""

from collections.abc import Mapping
from itertools import permutations
from typing import Any

from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.traffic import Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues

RATE_MBPS = 5
PAYLOAD_BYTES = 1000
SMALL_PACKETS, LARGE_PACKETS = 20, 22
TRUE_LOSS_RATE = 0.1
DATAGRAMS = 200
INTERVALS, RUNS_EACH = 20, 5
BUDGET_RUNS = 24
QUEUES = ("A", "B", "C")


def _worked_example(own: StudentValues) -> Mapping[str, Any]:
    """Return the values that follow from a student's numbers, by name: the three values of the worked example as text,
    their mean, and the half width of their interval.
    """
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
    derive=_worked_example,
)
_DISCIPLINES: tuple[Mapping[str, Any], ...] = (
    {"queue_packets": 60, "aqm": "red", "aqm_options": {"min_packets": 8, "max_packets": 24, "probability": 0.02}},
    {"queue_packets": 60, "aqm": "red", "aqm_options": {"min_packets": 10, "max_packets": 30, "probability": 0.02}},
    {"queue_packets": 60, "aqm": "codel"},
)


def known_loss(flows: int = INTERVALS, datagrams: int = DATAGRAMS) -> Scenario:
    """Return a scenario of this many UDP flows at once, each of `datagrams` datagrams of 100 bytes, over a link that
    loses each independently with probability 0.1.
    """
    lossy = Link("r1", "h2", loss_rate=TRUE_LOSS_RATE)
    network = Topology(["h1", "h2"], ["r1"], links=[Link("h1", "r1"), lossy])
    one = Udp("h1", "h2", rate_mbps=8e-4 * datagrams, payload_bytes=100, duration_s=1, spacing="even")
    return Scenario(network, [one] * flows, duration_s=1.2, interval_s=1)


def unknown_queue(own: StudentValues, letter: str) -> Mapping[str, Any]:
    """Return the fields of the link with the queue "A", "B" or "C" (`letter`), whose disciplines differ between
    students' copies. Raises ValueError for another letter.
    """
    orders = list(permutations(_DISCIPLINES))
    order: tuple[Mapping[str, Any], ...] = orders[own.offered_kbps // 20 % len(orders)]
    return order[QUEUES.index(letter)]


def candidate(own: StudentValues, letter: str) -> Scenario:
    """Return the scenario of exercise 3 for a student's copy: 5 s of datagrams at random moments into the queue "A",
    "B" or "C" (`letter`). Raises ValueError for another letter.
    """
    network = topologies.chain([None, RATE_MBPS], [0, 0], **unknown_queue(own, letter))
    flow = Udp("h1", "h2", rate_mbps=own.offered_kbps / 1000, payload_bytes=PAYLOAD_BYTES, spacing="random")
    return Scenario(network, [flow], duration_s=5)
