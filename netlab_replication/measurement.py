"""The measurement of a published number: the scenario, the value read from its run, and the value of theory.

Values are in Mbit/s, ms and fractions here; the report turns them into the unit of the published row.
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
    """The measurement of one published row."""

    scenario: Scenario
    """The scenario that runs."""
    read: Read
    """From its run to the value."""
    theory: float | None = None
    """The value of netlab's formulas."""
    why: str = ""
    """Why the number misses theory or ours misses theirs: a sentence with `{value}`, in the row's unit, of a second run."""
    again: Scenario | None = None
    """The scenario of the second run."""
    read_again: Read | None = None
    """From that run to its value, where it is another quantity than the row's."""
    holds: bool = True
    """True if the formula's conditions are met; if not, its value is shown but not counted."""


Measurements = Mapping[tuple[str, str], Measurement]
"""The measurements of a published setting, by flow and quantity."""
Settings = dict[tuple[str, str], Measurements]
"""The settings of a lab, by table and setting."""


def goodput(flow: str, after_s: float | None = None) -> Read:
    """Goodput of a flow in Mbit/s: of the whole transfer, or of what came later than `after_s`."""
    if after_s is None:
        return lambda run: float(run.flows.set_index("flow").goodput_mbps[flow])
    return lambda run: float(run.goodput_mbps(after_s)[flow])


def stream_goodput(flow: str, stream: int) -> Read:
    """Goodput in Mbit/s of one connection of a flow."""
    return lambda run: float(run.streams[run.streams.flow == flow].goodput_mbps.iloc[stream])


def loss(flow: str) -> Read:
    """Lost share of a flow's datagrams."""
    return lambda run: float(run.flows.set_index("flow").loss_rate[flow])


def rtt(flow: str) -> Read:
    """Mean round-trip time of a ping in ms."""
    return lambda run: float(run.flows.set_index("flow").rtt_ms[flow])


def sent(interface: str) -> Read:
    """Everything that a queue sent, headers included, in Mbit/s over the last four fifths of the run."""

    def read(run: Run) -> float:
        queue = run.queues[run.queues.interface == interface]
        late = queue[queue.t_s >= queue.t_s.max() / 5]
        first, last = late.iloc[0], late.iloc[-1]
        return float((last.sent_bytes - first.sent_bytes) * 8e-6 / (last.t_s - first.t_s))

    return read


def utilization(interface: str, rate_mbps: float) -> Read:
    """The share of a link's rate that a queue sent over the last four fifths of the run."""
    return lambda run: sent(interface)(run) / rate_mbps


def ends(pair: str) -> tuple[str, str]:
    """The two hosts of a pair such as h1-h4."""
    src, dst = pair.split("-")
    return src, dst
