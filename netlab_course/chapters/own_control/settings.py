"""Networks and own numbers of the chapter "Your own congestion control", without answers."""

from collections.abc import Mapping
from typing import Any

from netlab import theory
from netlab.base.headers import FRAME_BYTES
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.network.trace import Trace
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

RATE_MBPS, BASE_RTT_MS, QUEUE_PACKETS = 10.0, 40, 200
FIXED_S, STEADY_S, TRACE_S, LOSSY_S = 5.0, 8.0, 10.0, 5.0
FAST_MBPS, FAST_RTT_MS, FAST_QUEUE_PACKETS, START_S = 200.0, 100, 1000, 0.8
"""The fast link, and the time in s that a flow is in slow start on it: ten segments become 640, and nothing is lost."""
TRACES = ("walk_4g", "train", "crowded_wifi")
TRACE_RTT_MS, TRACE_QUEUE_PACKETS = 40, 150
LANDMARKS = ("cubic", "bbr", "vegas", "dctcp")
LOSS_RATE = 0.01

_USUAL_RATIO = 1.8
"""The power of a control that looks at delay divided by AIMD's over the lossy links: 1.1 to 2.6 in six variants."""
_STATED_RATIOS = (0.68, 1.5, 0.6, 1.65)
"""The numbers that a statement may have, relative to this ratio; an own class may have any other."""


def _derived_numbers(own: StudentValues) -> Mapping[str, float]:
    """Return the numbers that follow from a student's numbers, by name: the RTT of the worked example in ms,
    `worked_rtt_ms`, and the number of the copy's statement on the ratio of powers, `stated_times`.
    """
    return {
        "worked_rtt_ms": theory.transmission_delay_ms(own.worked_window * FRAME_BYTES, own.worked_rate_mbps),
        "stated_times": stated_number(own, _USUAL_RATIO, _STATED_RATIOS),
    }


NUMBERS = OwnNumbers(
    {
        "rate_mbps": (6, 4, 5, 7, 8, 9, 10, 12),
        "base_rtt_ms": (50, 30, 34, 38, 42, 46, 54, 58, 62, 66, 70),
        "worked_rate_mbps": (5, 4, 6, 8),
        "worked_window": (60, 50, 55, 65, 70, 75, 80, 90),
    },
    derive=_derived_numbers,
)


class Window:
    """A congestion control with a fixed window of this many segments."""

    def __init__(self, segments: float) -> None:
        """Set the window in segments, which never changes."""
        self.segments = segments

    def on_start(self, flow: Any) -> None:
        """Set the window of a flow that starts; netlab calls this with the flow."""
        flow.cwnd_segments = self.segments

    def on_ack(self, _ack: Any) -> None:
        """Leave the window as it is; netlab calls this at each acknowledgement."""

    def on_loss(self, _loss: Any) -> None:
        """Leave the window as it is; netlab calls this at each loss."""


def steady(rate_mbps: float = RATE_MBPS, base_rtt_ms: float = BASE_RTT_MS) -> Topology:
    """Return a network with a slow link of constant rate in Mbit/s and this RTT of the empty path in ms: h1 and h2
    send, h3 and h4 receive.
    """
    return topologies.dumbbell(pairs=2, rate_mbps=rate_mbps, delay_ms=base_rtt_ms / 2, queue_packets=QUEUE_PACKETS)


def small_queue() -> Topology:
    """Return the network of `steady` for 10 Mbit/s and 40 ms with room for one BDP in the queue, so that losses begin
    early.
    """
    room = round(theory.bdp_bytes(RATE_MBPS, BASE_RTT_MS) / FRAME_BYTES)
    return topologies.dumbbell(pairs=2, rate_mbps=RATE_MBPS, delay_ms=BASE_RTT_MS / 2, queue_packets=room)


def fast() -> Topology:
    """Return a network whose slowest link is so fast (200 Mbit/s, 100 ms) that a flow in slow start fills it after 0.8 s
    only.
    """
    return topologies.dumbbell(pairs=2, rate_mbps=FAST_MBPS, delay_ms=FAST_RTT_MS / 2, queue_packets=FAST_QUEUE_PACKETS)


def trace_network(name: str) -> Topology:
    """Return a network with a slow link whose rate follows the trace with this name, one of `TRACES`: h1 and h2 send,
    h3 and h4 receive, and the RTT of the empty path is 40 ms.
    """
    trace: Any = Trace.named(name)
    return topologies.dumbbell(pairs=2, rate_mbps=trace, delay_ms=TRACE_RTT_MS / 2, queue_packets=TRACE_QUEUE_PACKETS)


def side_by_side(first: object, second: object) -> Scenario:
    """Return a scenario of two equal lossy links: `first`, a congestion control (a name, a class or an object),
    controls the flow of h1 on one of them, `second` the flow of h2 on the other.
    """
    # The queue is in a router: TCP keeps only a few packets in a queue of its own host (TCP small queues).
    slow: dict[str, Any] = {"delay_ms": BASE_RTT_MS / 2, "queue_packets": QUEUE_PACKETS, "loss_rate": LOSS_RATE}
    links = [Link(router, dst, rate_mbps=RATE_MBPS, **slow) for router, dst in (("r1", "h3"), ("r2", "h4"))]
    return Scenario(
        Topology(
            hosts=["h1", "h2", "h3", "h4"], routers=["r1", "r2"], links=[Link("h1", "r1"), Link("h2", "r2"), *links]
        ),
        [Tcp("h1", "h3", congestion=first), Tcp("h2", "h4", congestion=second)],
        duration_s=LOSSY_S,
    )
