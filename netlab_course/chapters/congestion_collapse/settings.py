"""The network and the common numbers of the chapter "Congestion collapse", without answers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from netlab import theory
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.theory.ranges import Array
from netlab.traffic import Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

MIDDLE_MBPS = 1.5
EXITS_MBPS = (1, 0.5)
"""Rates of r2's links to h4 and to h3."""
QUEUE_PACKETS = 50
MODEST_MBPS = 1
AGGRESSOR_MBPS = 10
COUNTED_S = 200
"""The shortest run in s in which packets are counted: in 30 s the counts scatter more than a wrong rate of h2 changes them."""
DROPPED_BELOW, DROPPED_ABOVE = 1.2, 0.7
"""The tolerances of the share of dropped packets, in points of per cent. The queue before the exit keeps some packets, so in 200 s the
share is 0.2 points below theory, with a standard deviation of 0.2. With a rate of h2 that is 10 % off it is 1.3 points or more away.
"""
FAIR_QUEUE = {"aqm": "fq_codel", "aqm_options": {"target_ms": 15}}
SEND_PAIRS = (("h1", "h4"), ("h2", "h3"))
_STATED_RATIOS = (0.84, 0.87, 1.13, 1.16)
"""The numbers that a statement may have, relative to theory."""
CLOSE = 0.02
"""The distance from theory, relative to it, below which most intervals hold a statement's number."""
_UNDECIDED_RATIOS = (0.998, 0.998)
"""The measured mean relative to theory, so that an interval holds the number, for a third of the copies: that of 30 seeds is ± 1 %."""


def network(access_mbps: tuple[float | None, float | None] = (None, None), **middle: Any) -> Topology:
    """Return the network of two routers of section 2 of the lab `epfl`; `access_mbps` has the rates in Mbit/s of the
    links of h1 and h2 (None: unlimited), `middle` has more fields of the link r1-r2, such as `queue_packets`.
    """
    return topologies.two_routers(access_mbps, MIDDLE_MBPS, EXITS_MBPS, **{"queue_packets": QUEUE_PACKETS, **middle})


def goodput_mbps(
    own_mbps: float, other_mbps: float, middle_mbps: float, exit_mbps: float, payload_bytes: int = 1000
) -> float:
    """Return the theoretical goodput in Mbit/s of a UDP flow that offers `own_mbps` of data beside another with
    `other_mbps` over a shared link of `middle_mbps`, and then has an exit of `exit_mbps` for itself; the rates of links
    count headers.
    """
    middle = theory.udp_goodput_limit_mbps(middle_mbps, payload_bytes)
    last = theory.udp_goodput_limit_mbps(exit_mbps, payload_bytes)
    return min(own_mbps * min(1.0, middle / (own_mbps + other_mbps)), last)


def fair_queue_mbps(aggressor_mbps: float) -> Array:
    """Return the theoretical goodputs of h1 and h2 in Mbit/s, as an array, with a fair queue before the shared link, if
    h1 offers 1 Mbit/s and h2 `aggressor_mbps` of data.
    """
    wire = theory.udp_wire_bytes(1000) / 1000
    offered = np.array([MODEST_MBPS, aggressor_mbps]) * wire
    return theory.two_router_fair_queue_mbps(offered, MIDDLE_MBPS, EXITS_MBPS) / wire


def _derived_numbers(own: StudentValues) -> Mapping[str, float]:
    """Return the number of the statement of a student's copy (`own`) on the goodput of h1, in Mbit/s, as
    `stated_mbps`.
    """
    mean_mbps = goodput_mbps(MODEST_MBPS, own.pushy_mbps, MIDDLE_MBPS, EXITS_MBPS[0], own.payload_bytes)
    return {"stated_mbps": stated_number(own, mean_mbps, _STATED_RATIOS, _UNDECIDED_RATIOS)}


NUMBERS = OwnNumbers(
    {
        "pushy_mbps": (8, 4, 5, 6, 7, 9, 11, 12),
        "payload_bytes": (500, 600, 700, 800, 900),
        "dropped_percent": (40, 25, 30, 35, 45),
        "share": (0.5, 0.4, 0.6, 0.7, 0.3),
    },
    derive=_derived_numbers,
)


def two_udp(own: StudentValues) -> Scenario:
    """Return a scenario of 30 s with 1 Mbit/s of UDP from h1 to h4, and UDP from h2 to h3 with the rate
    `own.pushy_mbps`; both have payloads of `own.payload_bytes`.
    """
    flows = [
        Udp("h1", "h4", rate_mbps=MODEST_MBPS, payload_bytes=own.payload_bytes),
        Udp("h2", "h3", rate_mbps=own.pushy_mbps, payload_bytes=own.payload_bytes),
    ]
    return Scenario(network(), flows, duration_s=30)


def both(runs: Mapping[Any, Run], after_s: float = 5) -> pd.DataFrame:
    """Return a table of the goodputs of h1 and h2 in Mbit/s (columns `h1`, `h2`) without the first `after_s` seconds, a
    row for each run, with the keys of `runs` as its index.
    """
    rows = {label: run.goodput_mbps(after_s).rename(lambda flow: str(flow)[:2]) for label, run in runs.items()}
    return pd.DataFrame(rows).T


def by_rate(run: Run, rates_mbps: Sequence[float]) -> pd.DataFrame:
    """Return a table of the goodputs of h1 and h2 in Mbit/s (columns `h1`, `h2`) by h2's rate in Mbit/s (the index),
    from one run in which both send once for each of `rates_mbps`, one step after the other.
    """
    goodputs = run.flows.pivot_table(index="start_s", columns="src", values="goodput_mbps")
    return goodputs.set_axis(list(rates_mbps)).rename_axis("h2 sends")
