"""Checks of the chapter "UDP loss". Whoever reads on finds the answers."""

from __future__ import annotations

from netlab import theory
from netlab.chapters.udp_loss.settings import MOST_PROBES, PAYLOAD_BYTES
from netlab.checks import Function, Number, Trap
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.units import BITS_PER_BYTE, BITS_PER_MEGABIT

_HEADERS_BYTES = theory.IP_HEADER_BYTES + theory.UDP_HEADER_BYTES
_MYSTERY_MBPS = 23.0


def _limit_mbps(rate_mbps: float, payload_bytes: int, framing_bytes: int) -> float:
    return rate_mbps * payload_bytes / (payload_bytes + _HEADERS_BYTES + framing_bytes)


def _full_after_s(
    offered_mbps: float, limit_mbps: float, queue_packets: int, payload_bytes: int, counted_bytes: int = 0
) -> float:
    bits = queue_packets * (payload_bytes + counted_bytes) * BITS_PER_BYTE
    return bits / BITS_PER_MEGABIT / (offered_mbps - limit_mbps)


def _share_mbps(own_mbps: float, other_mbps: float, rate_mbps: float, payload_bytes: int) -> float:
    return float(theory.udp_shares_mbps([own_mbps, other_mbps], rate_mbps, payload_bytes)[0])


goodput_limit = Function(
    name="goodput limit",
    reference=_limit_mbps,
    cases=[
        {"rate_mbps": 10, "payload_bytes": 500, "framing_bytes": 38},
        {"rate_mbps": 5, "payload_bytes": 1000, "framing_bytes": 38},
        {"rate_mbps": 5, "payload_bytes": 1000, "framing_bytes": 14},
        {"rate_mbps": 100, "payload_bytes": 64, "framing_bytes": 38},
    ],
    unit="Mbit/s",
    tolerance=0.001,
    traps=[
        Trap(
            lambda rate_mbps, payload_bytes, framing_bytes: rate_mbps * payload_bytes / (payload_bytes + framing_bytes),
            "The IP header (20 bytes) and the UDP header (8 bytes) travel too; the framing is not all.",
        ),
        Trap(
            lambda rate_mbps, payload_bytes, framing_bytes: (
                rate_mbps * payload_bytes / (payload_bytes + _HEADERS_BYTES)
            ),
            "The IP and UDP headers are in; framing_bytes is not yet.",
        ),
        Trap(
            lambda rate_mbps, payload_bytes, framing_bytes: rate_mbps,
            "This is the rate itself: no header has been paid for yet.",
        ),
        Trap(
            lambda rate_mbps, payload_bytes, framing_bytes: (
                rate_mbps * (payload_bytes + _HEADERS_BYTES + framing_bytes) / payload_bytes
            ),
            "The fraction is upside down: no more data can arrive than the link carries in all.",
        ),
        Trap(
            lambda rate_mbps, payload_bytes, framing_bytes: (
                rate_mbps * (payload_bytes + _HEADERS_BYTES) / (payload_bytes + _HEADERS_BYTES + framing_bytes)
            ),
            "This is the rate of IP packets. The application gets only the payload in them.",
        ),
    ],
    hints=[
        "Of all the bits that pass the link, which part is payload?",
        "One datagram takes payload + 8 (UDP) + 20 (IP) + framing bytes from the link's rate.",
        "The limit is rate_mbps * payload_bytes / (payload_bytes + 28 + framing_bytes).",
    ],
)

counted_bytes = Number(
    name="bytes that the link counted",
    expected=theory.udp_wire_bytes(PAYLOAD_BYTES, "tc"),
    unit="bytes",
    tolerance=0.002,
    traps=[
        Trap(1066, "This is what a real wire carries. Turn the formula round and put in the measured goodput."),
        Trap(1028, "This is the IP packet. The measured goodput says that the link counted a little more."),
        Trap(42, "These are the headers. Asked for are they and the payload together."),
        Trap(959.7, "The fraction is upside down: a datagram takes more bytes than its payload of 1000."),
        Trap(14, "This is the framing alone. Asked for is all that one datagram took from the rate."),
    ],
    right="1042 = 1000 + 8 + 20 + 14: the link counted the Ethernet header and none of the other 24 bytes.",
    hints=[
        "Turn the formula round: goodput is known, the bytes per datagram are not.",
        "bytes = rate_mbps * payload_bytes / goodput_mbps, with the goodput measured at 10 Mbit/s.",
    ],
)

first_loss = Function(
    name="time to the first loss",
    reference=_full_after_s,
    cases=[
        {"offered_mbps": 6, "limit_mbps": 4.8, "queue_packets": 50, "payload_bytes": 1000},
        {"offered_mbps": 5, "limit_mbps": 4.798, "queue_packets": 100, "payload_bytes": 1000},
        {"offered_mbps": 40, "limit_mbps": 29.17, "queue_packets": 100, "payload_bytes": 1470},
    ],
    unit="s",
    tolerance=0.005,
    traps=[
        Trap(
            lambda offered_mbps, limit_mbps, queue_packets, payload_bytes: (
                queue_packets * payload_bytes * BITS_PER_BYTE / BITS_PER_MEGABIT / offered_mbps
            ),
            "The queue is emptied while it is filled: only what exceeds the limit stays in it.",
        ),
        Trap(
            lambda offered_mbps, limit_mbps, queue_packets, payload_bytes: (
                queue_packets * payload_bytes * BITS_PER_BYTE / BITS_PER_MEGABIT / limit_mbps
            ),
            "This is how long a full queue takes to drain. How long does it take to fill?",
        ),
        Trap(
            lambda offered_mbps, limit_mbps, queue_packets, payload_bytes: _full_after_s(
                offered_mbps, limit_mbps, queue_packets, payload_bytes, theory.udp_wire_bytes(1) - 1
            ),
            "Offered rate and limit count payload, so the queue must be counted in payload as well.",
        ),
    ],
    hints=[
        "Water in a basin: what flows in, what flows out, and what stays?",
        "The queue holds queue_packets * payload_bytes * 8 bits of payload; offered - limit stays in it.",
        "Divide the bits by 1e6 to get Mbit, then by (offered_mbps - limit_mbps).",
    ],
)

share = Function(
    name="share of two UDP flows",
    reference=_share_mbps,
    cases=[
        {"own_mbps": 2, "other_mbps": 3, "rate_mbps": 4, "payload_bytes": 1000},
        {"own_mbps": 1, "other_mbps": 4, "rate_mbps": 5, "payload_bytes": 1000},
        {"own_mbps": 9, "other_mbps": 1, "rate_mbps": 5, "payload_bytes": 1000},
        {"own_mbps": 1, "other_mbps": 0.5, "rate_mbps": 5, "payload_bytes": 1000},
        {"own_mbps": 8, "other_mbps": 8, "rate_mbps": 10, "payload_bytes": 500},
    ],
    unit="Mbit/s",
    tolerance=0.001,
    traps=[
        Trap(
            lambda own_mbps, other_mbps, rate_mbps, payload_bytes: (
                own_mbps / (own_mbps + other_mbps) * _limit_mbps(rate_mbps, payload_bytes, 14)
            ),
            "No flow gets more than it sends: where both fit, there is nothing to divide.",
        ),
        Trap(
            lambda own_mbps, other_mbps, rate_mbps, payload_bytes: min(
                own_mbps, own_mbps / (own_mbps + other_mbps) * rate_mbps
            ),
            "The rate is divided, but headers are not paid for: divide the goodput limit.",
        ),
        Trap(
            lambda own_mbps, other_mbps, rate_mbps, payload_bytes: min(
                own_mbps, own_mbps / (own_mbps + other_mbps) * _limit_mbps(rate_mbps, payload_bytes, 38)
            ),
            "This counts the framing of a real wire (38 bytes); this link counts 14.",
        ),
        Trap(
            lambda own_mbps, other_mbps, rate_mbps, payload_bytes: _limit_mbps(rate_mbps, payload_bytes, 14) / 2,
            "Equal halves are what a fair queue gives. This queue does not know whose packet it drops.",
        ),
        Trap(
            lambda own_mbps, other_mbps, rate_mbps, payload_bytes: max(
                0.0, _limit_mbps(rate_mbps, payload_bytes, 14) - other_mbps
            ),
            "This gives the other flow all it wants. Both meet the same full queue.",
        ),
    ],
    hints=[
        "A full queue drops whatever comes, whoever sent it. So which fraction of each flow passes?",
        "The same fraction of both: limit / (own + other), and never more than 1.",
        "own_mbps * min(1, limit / (own_mbps + other_mbps)), the limit with 14 bytes of framing.",
    ],
)


class PaperProbe:
    """A probe that answers by formula, at once: what a real one measures on a path with this bottleneck."""

    def __init__(self, rate_mbps: float, payload_bytes: int = PAYLOAD_BYTES) -> None:
        self._rate_mbps = rate_mbps
        self._payload_bytes = payload_bytes
        self._used = 0

    def __call__(self, offered_mbps: float) -> float:
        """Return the goodput in Mbit/s at an offered rate in Mbit/s."""
        self._used += 1
        if self._used > MOST_PROBES:
            raise RuntimeError(f"all {MOST_PROBES} probes are used up; search in fewer steps")
        return float(theory.udp_goodput_mbps(offered_mbps, self._rate_mbps, self._payload_bytes))

    def __repr__(self) -> str:
        return f"<probe of a {self._rate_mbps:g} Mbit/s bottleneck>"

    def answer(self) -> float:
        """Return the bottleneck's rate in Mbit/s and allow all probes anew."""
        self._used = 0
        return self._rate_mbps


search = Function(
    name="search for the bottleneck",
    reference=lambda probe: probe.answer(),
    cases=[{"probe": PaperProbe(rate_mbps)} for rate_mbps in (30.0, 5.0, 0.7, 812.0)],
    unit="Mbit/s",
    tolerance=0.01,
    traps=[
        Trap(
            lambda probe: theory.udp_goodput_limit_mbps(probe.answer(), PAYLOAD_BYTES),
            "This is the goodput at the bottleneck. Its rate is larger: put the headers back in.",
        ),
        Trap(
            lambda probe: (
                theory.udp_goodput_limit_mbps(probe.answer(), PAYLOAD_BYTES)
                * theory.udp_wire_bytes(PAYLOAD_BYTES, "ethernet")
                / PAYLOAD_BYTES
            ),
            "The headers are back in, with 38 bytes of framing; this link counts 14.",
        ),
    ],
    hints=[
        "How do you notice, from one probe alone, that you sent more than the bottleneck takes?",
        "Double the offered rate until the goodput stays behind it. What does the goodput tell you then?",
        "While probe(offered) > 0.99 * offered: offered *= 2. Then the rate is probe(offered) * 1042 / 1000.",
    ],
)

mystery = Number(
    name="the unknown bottleneck",
    expected=_MYSTERY_MBPS,
    unit="Mbit/s",
    tolerance=0.01,
    traps=[
        Trap(
            theory.udp_goodput_limit_mbps(_MYSTERY_MBPS),
            "This is the goodput at the bottleneck. Its rate is larger: put the headers back in.",
        )
    ],
    right="Found, and nobody had to show you the network.",
)


def mystery_path() -> Topology:
    """Return a path from h1 to h2 over four links whose rates the student is to find out by probing."""
    return topologies.chain([90.0, 41.0, _MYSTERY_MBPS, 64.0], [2.0, 5.0, 3.0, 1.0])
