"""The measurement of a published number: the scenario, the value read from its run, and the value of theory.

Values are in Mbit/s, ms and fractions; the report converts them to the unit of the published row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from netlab.measure.results import Run
from netlab.runs.scenario import Scenario

MEBI = 2**20
IPERF_PAYLOAD_BYTES = 1470

Read = Callable[[Run], float]


@dataclass(frozen=True)
class Measurement:
    """The measurement of one published row: the scenario, the value that is read from its run, the value of theory, and
    a second run that explains a difference.
    """

    scenario: Scenario
    """The scenario that runs."""
    read: Read
    """Returns the value from its run."""
    theory: float | None = None
    """The value of netlab's formulas."""
    explanation: str = ""
    """The explanation if the measured value differs from theory, or the published one from it: a sentence with `{value}`, the value of a
    second run in the row's unit.
    """
    second_scenario: Scenario | None = None
    """The scenario of the second run."""
    read_second: Read | None = None
    """Returns the value from the second run, if it is another quantity than the row's."""
    holds: bool = True
    """True if the conditions of the formula are met; otherwise its value is shown but not counted."""


Measurements = Mapping[tuple[str, str], Measurement]
"""The measurements of a published setting, by flow and quantity."""
Settings = dict[tuple[str, str], Measurements]
"""The settings of a lab, by table and setting."""


def goodput(flow: str, after_s: float | None = None) -> Read:
    """Return a function that reads from a run the mean goodput of the flow of this label, such as "h1-h2 reno", in
    Mbit/s: of the whole transfer (`after_s` is None), or of the part later than `after_s` in s since the start of the
    run.
    """
    if after_s is None:
        return lambda run: float(run.flows.set_index("flow").goodput_mbps[flow])
    return lambda run: float(run.goodput_mbps(after_s)[flow])


def stream_goodput(flow: str, stream: int) -> Read:
    """Return a function that reads from a run the goodput in Mbit/s of one connection (its index, from 0) of the flow
    of this label.
    """
    return lambda run: float(run.streams[run.streams.flow == flow].goodput_mbps.iloc[stream])


def loss(flow: str) -> Read:
    """Return a function that reads from a run the loss rate (0 to 1) of the datagrams of the UDP flow of this label,
    such as "h1-h3 udp".
    """
    return lambda run: float(run.flows.set_index("flow").loss_rate[flow])


def rtt(flow: str) -> Read:
    """Return a function that reads from a run the mean round-trip time in ms of the flow of this label, a ping or TCP."""
    return lambda run: float(run.flows.set_index("flow").rtt_ms[flow])


def queue_throughput_mbps(interface: str) -> Read:
    """Return a function that reads from a run the throughput in Mbit/s, headers included, of the queue of an interface,
    such as "r1-eth1", over the last four fifths of the run.
    """

    def read(run: Run) -> float:
        """Return the throughput in Mbit/s, headers included, of the interface's queue over the last four fifths of a
        run.
        """
        queue = run.queues[run.queues.interface == interface]
        late = queue[queue.t_s >= queue.t_s.max() / 5]
        first, last = late.iloc[0], late.iloc[-1]
        return float((last.sent_bytes - first.sent_bytes) * 8e-6 / (last.t_s - first.t_s))

    return read


def utilization(interface: str, rate_mbps: float) -> Read:
    """Return a function that reads from a run the share (0 to 1) of the rate `rate_mbps` that the queue of an
    interface, such as "r1-eth0", sent over the last four fifths of the run.
    """
    return lambda run: queue_throughput_mbps(interface)(run) / rate_mbps


def ends(pair: str) -> tuple[str, str]:
    """Return the names of the source and the destination of a pair such as "h1-h4": ("h1", "h4")."""
    src, dst = pair.split("-")
    return src, dst
