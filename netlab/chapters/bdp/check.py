"""Checks of the chapter "BDP" (window, delay and the bandwidth-delay product). Whoever reads on finds the answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from netlab import theory
from netlab.chapters.bdp.settings import CEILING_BYTES
from netlab.checks import Build, Choice, Condition, Function, Number, Trap
from netlab.errors import ScenarioError
from netlab.network.link import LinkShape
from netlab.network.topology import Topology
from netlab.units import BITS_PER_BYTE, MS_PER_S

_PING_HEADERS_BYTES = theory.ICMP_HEADER_BYTES + theory.IP_HEADER_BYTES + theory.FRAMING_BYTES["tc"]
_SLOWEST_MBPS = (20, 200)
_LEAST_QUEUE_PACKETS = 100  # with 50 the start's bursts overflow it, and a path that is right measures half as much
_HALF_TOLERANCE = 0.03
_SEGMENT_BYTES = 512
_PIPE_BYTES, _QUEUE_BYTES = 10_000, 16_000


def _path(rates_mbps: Sequence[float], delays_ms: Sequence[float]) -> list[theory.Hop]:
    return [theory.Hop(rate, delay) for rate, delay in zip(rates_mbps, delays_ms, strict=True)]


def _in_transmission_ms(rates_mbps: Sequence[float], frame_bytes: float) -> float:
    return sum(theory.transmission_delay_ms(frame_bytes, rate) for rate in rates_mbps)


path_rtt = Function(
    name="round-trip time of a ping",
    reference=lambda rates_mbps, delays_ms, payload_bytes: theory.ping_rtt_ms(
        _path(rates_mbps, delays_ms), payload_bytes
    ),
    cases=[
        {"rates_mbps": [10, 5], "delays_ms": [2, 3], "payload_bytes": 958},
        {"rates_mbps": [1], "delays_ms": [0], "payload_bytes": 1458},
        {"rates_mbps": [40, 30, 20], "delays_ms": [10, 20, 10], "payload_bytes": 56},
    ],
    unit="ms",
    tolerance=0.0005,
    traps=[
        Trap(
            lambda rates_mbps, delays_ms, payload_bytes: (
                theory.ping_rtt_ms(_path(rates_mbps, delays_ms), payload_bytes) / 2
            ),
            "This is one way. The echo comes back over the same links.",
        ),
        Trap(
            lambda rates_mbps, delays_ms, payload_bytes: (
                2 * sum(delays_ms) + _in_transmission_ms(rates_mbps, payload_bytes + _PING_HEADERS_BYTES)
            ),
            "The propagation counts there and back, the transmission only once. The echo is as long as the ping.",
        ),
        Trap(
            lambda rates_mbps, delays_ms, payload_bytes: (
                sum(delays_ms) + 2 * _in_transmission_ms(rates_mbps, payload_bytes + _PING_HEADERS_BYTES)
            ),
            "The transmission counts there and back, the propagation only once. `delays_ms` are one-way delays.",
        ),
        Trap(
            lambda rates_mbps, delays_ms, payload_bytes: 2 * sum(delays_ms),
            "This is propagation and next to nothing else. Each link also takes the frame's bits one after the other, 1000 of "
            "them in a millisecond at 1 Mbit/s.",
        ),
        Trap(
            lambda rates_mbps, delays_ms, payload_bytes: (
                2 * sum(delays_ms) + 2 * _in_transmission_ms(rates_mbps, payload_bytes)
            ),
            "The payload is in, its headers are not: 8 of ICMP, 20 of IP and 14 of Ethernet.",
        ),
        Trap(
            lambda rates_mbps, delays_ms, payload_bytes: (
                2 * sum(delays_ms) + 2 * _in_transmission_ms([min(rates_mbps)], payload_bytes + _PING_HEADERS_BYTES)
            ),
            "The slowest link alone is counted. Every node takes in the whole frame, then sends it again: add up all links.",
        ),
        Trap(
            lambda rates_mbps, delays_ms, payload_bytes: (
                2 * sum(delays_ms)
                + 2 * _in_transmission_ms(rates_mbps, payload_bytes + _PING_HEADERS_BYTES) / BITS_PER_BYTE
            ),
            "A byte has 8 bits, and the rates are in bits.",
        ),
        Trap(
            lambda rates_mbps, delays_ms, payload_bytes: (
                2 * sum(delays_ms) + 2 * MS_PER_S * _in_transmission_ms(rates_mbps, payload_bytes + _PING_HEADERS_BYTES)
            ),
            "The transmission is a thousand times too large: 1 Mbit/s is 1000 bits in a millisecond, not one.",
        ),
        Trap(
            lambda rates_mbps, delays_ms, payload_bytes: (
                2 * sum(delays_ms)
                + 2 * _in_transmission_ms(rates_mbps, payload_bytes + _PING_HEADERS_BYTES - theory.FRAMING_BYTES["tc"])
            ),
            "ICMP and IP are in; the link also counts the 14 bytes of the Ethernet header.",
        ),
    ],
    hints=[
        "Which of the four delays are left on an empty path whose nodes compute in no time?",
        "One link: delay_ms + (payload + 42) * 8 / (rate_mbps * 1000), in ms. Then add up all links.",
        "2 * sum(delay + (payload_bytes + 42) * 8 / (rate * 1000) for each rate and delay).",
    ],
)


def _goodput_mbps(window_bytes: float, rate_mbps: float, rtt_ms: float) -> float:
    return float(theory.windowed_goodput_mbps(window_bytes, rate_mbps, rtt_ms, framing="ethernet"))


goodput = Function(
    name="goodput of a window",
    reference=_goodput_mbps,
    cases=[
        {"window_bytes": 60_000, "rate_mbps": 50, "rtt_ms": 20},
        {"window_bytes": 200_000, "rate_mbps": 50, "rtt_ms": 20},
        {"window_bytes": 65_535, "rate_mbps": 100, "rtt_ms": 16},
        {"window_bytes": 100_000, "rate_mbps": 1000, "rtt_ms": 160},
    ],
    unit="Mbit/s",
    tolerance=0.001,
    traps=[
        Trap(
            lambda window_bytes, rate_mbps, rtt_ms: theory.window_limit_mbps(float(window_bytes), rtt_ms),
            "This is the window's limit. The link has one, too, and the smaller of the two decides.",
        ),
        Trap(
            lambda window_bytes, rate_mbps, rtt_ms: theory.tcp_goodput_limit_mbps(rate_mbps, framing="ethernet"),
            "This is the link's limit. The window has one, too, and the smaller of the two decides. If you took the "
            "smaller, look at the units: 8 * bytes / ms are kbit/s.",
        ),
        Trap(
            lambda window_bytes, rate_mbps, rtt_ms: window_bytes / rtt_ms,
            "This is the window's limit in bytes per ms, that is kB/s. Make it Mbit/s; and the link has a limit, too.",
        ),
        Trap(
            lambda window_bytes, rate_mbps, rtt_ms: min(
                theory.window_limit_mbps(float(window_bytes), rtt_ms), rate_mbps
            ),
            "The link's rate is divided among data and headers: of 1538 bytes 1448 are data.",
        ),
        Trap(
            lambda window_bytes, rate_mbps, rtt_ms: (
                min(theory.window_limit_mbps(float(window_bytes), rtt_ms), rate_mbps)
                * theory.MSS_BYTES
                / theory.tcp_wire_bytes(framing="ethernet")
            ),
            "The window counts data only: headers are paid for on the link, not in the window.",
        ),
        Trap(
            lambda window_bytes, rate_mbps, rtt_ms: min(
                theory.window_limit_mbps(float(window_bytes), rtt_ms), theory.tcp_goodput_limit_mbps(rate_mbps)
            ),
            "This link counts the framing of a real wire: 1538 bytes for 1448 of data, not 1514.",
        ),
        Trap(
            lambda window_bytes, rate_mbps, rtt_ms: min(
                window_bytes / rtt_ms / 1000, theory.tcp_goodput_limit_mbps(rate_mbps, framing="ethernet")
            ),
            "The window is in bytes and the goodput in bits: a byte has 8.",
        ),
    ],
    hints=[
        "There are two limits. Write each in Mbit/s; which of them decides?",
        "The window's: window_bytes * 8 bits in rtt_ms milliseconds. Divide by 1000 to come from kbit/s to Mbit/s.",
        "min(window_bytes * 8 / rtt_ms / 1000, rate_mbps * 1448 / 1538).",
    ],
)


def _joined(network: Topology) -> bool:
    try:
        return not network.problems() and "r1" in network.path("h1", "h2")
    except ScenarioError:
        return False


def _shapes(network: Topology) -> list[LinkShape]:
    return [way.shape for way in network.path_hops("h1", "h2")]


def _limited(network: Topology) -> bool:
    """Whether there is a share to speak of; when not, another condition says what is missing."""
    return _joined(network) and math.isfinite(network.bottleneck_mbps("h1", "h2"))


def _share_of_the_limit(network: Topology) -> float:
    """What the old ceiling's window reaches on the way h1-h2, as a share of what the slowest link carries."""
    rtt_ms = theory.segment_rtt_ms(network.path_hops("h1", "h2"), back=network.path_hops("h2", "h1"))
    reached = theory.window_limit_mbps(float(CEILING_BYTES), rtt_ms)
    return reached / theory.tcp_goodput_limit_mbps(network.bottleneck_mbps("h1", "h2"))


half_path = Build(
    name="a path that is too long",
    kind=Topology,
    conditions=[
        Condition(
            _joined,
            "There must be a way from h1 to h2 that passes r1.",
            "Two hosts, one router, two links; the cells above build networks like it.",
        ),
        Condition(
            lambda network: (
                not _joined(network) or _SLOWEST_MBPS[0] <= network.bottleneck_mbps("h1", "h2") <= _SLOWEST_MBPS[1]
            ),
            f"The slowest link from h1 to h2 must have {_SLOWEST_MBPS[0]} to {_SLOWEST_MBPS[1]} Mbit/s.",
            "Look at `rate_mbps`; at least one of the two links needs one.",
        ),
        Condition(
            lambda network: (
                not _joined(network)
                or all(
                    (shape.queue_packets or _LEAST_QUEUE_PACKETS) >= _LEAST_QUEUE_PACKETS and shape.queue_bytes is None
                    for shape in _shapes(network)
                )
            ),
            f"A queue must have room for at least {_LEAST_QUEUE_PACKETS} packets.",
            "Look at `queue_packets`. With a short queue it would be losses that limit, and not the window.",
        ),
        Condition(
            lambda network: (
                not _joined(network)
                or all(
                    shape.framing == "tc" and shape.aqm == "fifo" and shape.loss_rate == 0 for shape in _shapes(network)
                )
            ),
            "The links must be plain: no loss, a plain queue, `tc`'s framing.",
            "Leave out `loss_rate`, `aqm` and `framing`.",
        ),
        Condition(
            lambda network: not _limited(network) or _share_of_the_limit(network) <= 0.5 * (1 + _HALF_TOLERANCE),
            "By theory the window of 192 000 bytes may reach no more than half of the link's limit.",
            "It reaches too much: the way must be longer, or the link faster. All delays count, there and back. "
            "(The limit is less than the rate: 1448 of 1514 bytes are data.)",
        ),
        Condition(
            lambda network: not _limited(network) or _share_of_the_limit(network) >= 0.5 * (1 - _HALF_TOLERANCE),
            "By theory the window of 192 000 bytes must reach at least half of the link's limit.",
            "It reaches too little: the way must be shorter, or the link slower. A link's delay counts there and back.",
        ),
    ],
    right="The path holds about twice the window, so the sender waits half of its time.",
    hints=[
        "Which round-trip time makes 192 000 bytes in each of it half of what your link can carry?",
        "Take 100 Mbit/s: half of 95.64 is 47.82 Mbit/s. rtt_ms = 192 000 * 8 / (47.82 * 1000).",
        "That is 32.1 ms, so 16 ms each way: nl.Link('r1', 'h2', rate_mbps=100, delay_ms=16, queue_packets=100).",
    ],
)

_wire = theory.tcp_wire_bytes(_SEGMENT_BYTES)
# The plain BDP gives 45.0 segments, one that counts transmission on all three links 46.5; 48 still fit, 49 do not.
_lossless_bytes = 46.3 * _SEGMENT_BYTES

lossless_window = Number(
    name="largest window without loss",
    expected=_lossless_bytes,
    unit="bytes",
    tolerance=0.05,
    traps=[
        Trap(
            (_PIPE_BYTES + _QUEUE_BYTES),
            "Pipe and queue are full of whole segments, headers included; the window counts data only (512 of 578 bytes).",
        ),
        Trap(
            _PIPE_BYTES * _SEGMENT_BYTES / _wire,
            "This fills the pipe. The queue takes more before anything is lost.",
        ),
        Trap(_PIPE_BYTES, "This fills the pipe. The queue takes more before anything is lost."),
        Trap(
            _QUEUE_BYTES * _SEGMENT_BYTES / _wire,
            "This fills the queue. The pipe before and behind it holds something, too.",
        ),
        Trap(_QUEUE_BYTES, "This fills the queue. The pipe before and behind it holds something, too."),
        Trap(
            (_PIPE_BYTES / 2 + _QUEUE_BYTES) * _SEGMENT_BYTES / _wire,
            "The window is under way there and back: take the whole round-trip time of 80 ms for the pipe.",
        ),
        Trap(
            (2 * _PIPE_BYTES + _QUEUE_BYTES) * _SEGMENT_BYTES / _wire,
            "The pipe holds 1 Mbit/s times 80 ms, which is 10 000 bytes; the 80 ms are there and back already.",
        ),
        Trap(
            (_PIPE_BYTES + _QUEUE_BYTES) / _wire,
            "These are segments. Asked for are the bytes of data in them.",
        ),
        Trap(
            (_PIPE_BYTES + _QUEUE_BYTES) * _SEGMENT_BYTES / _wire / 1000,
            "This is in kB. Asked for are bytes.",
        ),
        Trap((_PIPE_BYTES + _QUEUE_BYTES) / 1000, "This is in kB, and with headers. Asked for are bytes of data."),
        Trap(
            (_PIPE_BYTES + _QUEUE_BYTES) * _wire / _SEGMENT_BYTES,
            "The fraction is upside down: of 578 bytes in the pipe only 512 are data.",
        ),
    ],
    right="Pipe and queue are full. A few segments more, and the queue overflows. (The figure expected here also counts some of "
    "the time that a segment takes on the links, so it is a little above (BDP + queue) * 512 / 578.)",
    hints=[
        "Where can the bytes of a window be while they are under way? There are two places.",
        "Pipe (BDP) and queue hold 10 000 + 16 000 bytes of segments with headers. How many segments is that?",
        "26 000 / 578 segments, each with 512 bytes of data: multiply.",
    ],
)

stall = Choice(
    name="why Reno stalls",
    answer="b",
    reasons={
        "a": "The counter says none: look at the printed line. And after a timeout TCP starts from one segment, as Tahoe does, "
        "and would soon be back.",
        "b": "While it repairs, Reno takes a step only when the cumulative acknowledgement moves. That happens once in a round trip, "
        "by one hole. So many holes are as many round trips.",
        "c": "Half of the window is still more than the BDP of 10 kB. When the pause is over Reno goes on with such a window, and "
        "meets the link's limit at once.",
        "d": "The receiver's window is 64 000 bytes, and what it keeps behind the holes is less. Tahoe has the same receiver.",
    },
    hints=[
        "How many segments were sent again, and how many seconds does the pause last? Divide.",
        "A segment sent again each 80 ms, for all of the pause. Which time on this path is 80 ms long, and what ends with it?",
    ],
)
