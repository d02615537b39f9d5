"""Networks, scenarios and own numbers of the chapter "BDP", without answers."""

from collections.abc import Mapping

from netlab import theory
from netlab.base.units import BITS_PER_BYTE
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Command, Tcp, Traffic, Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

RATE_MBPS = 100
DELAY_MS = 8

TRANSFERS = 3
MIN_WINDOW_BYTES, MAX_WINDOW_BYTES = 10_000, 1_000_000
HIDDEN_DELAY_MS = 11
MIN_WAITING_KB = 45

# Without segmentation offload, the sender's interface gets single frames.
WITHOUT_OFFLOAD = Command("h1", "ip link set dev h1-eth0 gso_max_segs 1")

_BESIDE_UDP = 0.945
"""The usual goodput beside the UDP flow, relative to window over empty round-trip time; copies differ by 3 %."""
_STATED_RATIOS = (0.91, 0.94, 1.035, 1.05)
"""The numbers that a statement may have, relative to the usual goodput."""


def _bdp_kb(own: StudentValues) -> float:
    """Return the bandwidth-delay product in kB of a student's path."""
    return float(own.rate_mbps * 2 * own.delay_ms / BITS_PER_BYTE)


def _half_kb(own: StudentValues) -> int:
    """Return a window of half the bandwidth-delay product of a student's path, in tens of kB."""
    return int(round(_bdp_kb(own) / 2, -1))


def window_limit_mbps(own: StudentValues) -> float:
    """Return that window over the round-trip time of the empty path, in Mbit/s."""
    return float(theory.window_limit_mbps(1000.0 * _half_kb(own), 2.0 * own.delay_ms))


def _derived_numbers(own: StudentValues) -> Mapping[str, float]:
    """Return two windows in kB for this copy's path, and the number of its statement in Mbit/s."""
    return {
        "window_kb": int(round(own.filling * _bdp_kb(own), -1)),
        "half_kb": _half_kb(own),
        "stated_mbps": stated_number(own, _BESIDE_UDP * window_limit_mbps(own), _STATED_RATIOS),
    }


NUMBERS = OwnNumbers(
    {
        "rate_mbps": (50, 30, 40, 60, 70, 80),
        "delay_ms": (12, 9, 10, 15, 18, 20),
        "filling": (2.5, 1.5, 1.6, 2.4, 2.8, 3),
        "hidden_mbps": (45, 35, 55, 65, 75, 85),
    },
    # The window must exceed the BDP by some 30 frames: one or two of them make runs differ from theory.
    holds=lambda own: own.window_kb - _bdp_kb(own) >= MIN_WAITING_KB,
    derive=_derived_numbers,
)


def transfer(window_bytes: int, network: Topology) -> Scenario:
    """Return a scenario of 5 s of TCP from h1 to h2 with this window in bytes."""
    flow = Tcp("h1", "h2", congestion="reno", window_bytes=window_bytes, start_s=0.5, duration_s=5)
    return Scenario(network, [flow], duration_s=5.5, interval_s=0.5)


def half_window_beside_udp(own: StudentValues) -> Scenario:
    """Return a scenario of a transfer from h1 to h2 with a window of half the BDP, and a UDP flow of 30 % of the rate
    with datagrams at random moments.
    """
    flows: list[Traffic] = [
        Tcp("h1", "h2", window_bytes=1000 * own.half_kb),
        Udp("h1", "h2", rate_mbps=0.3 * own.rate_mbps, spacing="random"),
    ]
    return Scenario(topologies.chain([None, own.rate_mbps], [0, own.delay_ms], 1000), flows, duration_s=10)


def settled_mbps(run: Run) -> float:
    """Return the goodput in Mbit/s of a run of `transfer` without its first 1.5 s, in which TCP adapts."""
    return float(run.goodput_mbps(after_s=2).dropna().iloc[0])


def settled_rtt_ms(run: Run) -> float:
    """Return the mean round-trip time in ms that the sender measured after the first 1.5 s of a run of `transfer`."""
    return float(run.intervals.loc[run.intervals["t_s"] > 2, "rtt_ms"].mean())


def hidden_path(own: StudentValues) -> Topology:
    """Return a path from h1 to h2 with a student's hidden rate, whose queue has room for every allowed window."""
    return topologies.chain([None, own.hidden_mbps], [0, HIDDEN_DELAY_MS], 1000)
