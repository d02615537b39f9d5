"""Checks of the chapter "UDP loss". The answers are below."""

from typing import Any

from netlab import theory
from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT
from netlab.measure.results import Run
from netlab.network.link import LinkShape
from netlab_course.chapters.udp_loss.settings import HIDDEN_QUEUE_PACKETS, LOST_DATAGRAMS, PAYLOAD_BYTES, PROBES
from netlab_course.checks import Number
from netlab_course.conditions import (
    Condition,
    Measurement,
    links_on_path,
    plain_links,
    rates,
    traffic_in_words,
    traffic_items,
)
from netlab_course.function_checks import Function
from netlab_course.misconceptions import formula_slips, slips
from netlab_course.own_numbers import StudentValues

_HEADERS_BYTES = theory.IP_HEADER_BYTES + theory.UDP_HEADER_BYTES
_MAX_RATE_MBPS = 60
_MIN_DURATION_S = 0.01
_LONG_ENOUGH_S = 5


def goodput_limit_mbps(rate_mbps: float, payload_bytes: int, framing_bytes: int) -> float:
    """Return the largest goodput in Mbit/s of UDP with this payload over a link on which each packet takes
    `framing_bytes` in addition to payload, UDP and IP headers.
    """
    return rate_mbps * payload_bytes / (payload_bytes + _HEADERS_BYTES + framing_bytes)


class PaperProbe:
    """A probe whose results come from formulas: those of a real probe of a path with a bottleneck of this rate in
    Mbit/s.
    """

    def __init__(self, rate_mbps: float) -> None:
        """Set the rate of the path's bottleneck in Mbit/s; no probe is counted yet."""
        self.rate_mbps = rate_mbps
        self._used = 0
        self._lost = 0.0

    def __call__(self, offered_mbps: float, duration_s: float) -> float:
        """Return the goodput in Mbit/s of a probe that offers `offered_mbps` for `duration_s` seconds. Raises
        RuntimeError when the allowed probes or lost datagrams are used up, ValueError for a duration below 0.01 s.
        """
        if duration_s < _MIN_DURATION_S:
            raise ValueError(f"a probe lasts {_MIN_DURATION_S} s or more, got {duration_s}")
        self._used += 1
        if self._used > PROBES:
            raise RuntimeError(f"all {PROBES} probes are used up; search in fewer steps")
        limit_mbps = theory.udp_goodput_limit_mbps(self.rate_mbps, PAYLOAD_BYTES)
        above_mbit = (offered_mbps - limit_mbps) * duration_s
        above = above_mbit * BITS_PER_MEGABIT / BITS_PER_BYTE / PAYLOAD_BYTES
        self._lost += max(0.0, above - HIDDEN_QUEUE_PACKETS)
        if self._lost > LOST_DATAGRAMS:
            raise RuntimeError(f"the probes have lost {self._lost:.0f} datagrams, {LOST_DATAGRAMS} are allowed")
        return min(offered_mbps, limit_mbps)

    def __repr__(self) -> str:
        """Return a text that names the probe by the rate of its bottleneck, for messages."""
        return f"<probe of a {self.rate_mbps:g} Mbit/s bottleneck>"


class Checks:
    """The checks of the chapter "UDP loss", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.limit = _limit()
        self.overload = _overload(own)
        self.counted = _counted_bytes(own)
        self.search = _search()


def _limit() -> Function:
    """Return the check of the function that computes the largest goodput of UDP over a link; it is the same for all
    students.
    """
    return Function(
        name="goodput limit",
        same_as=(theory.udp_goodput_limit_mbps,),
        reference=goodput_limit_mbps,
        cases=[
            {"rate_mbps": 10, "payload_bytes": 500, "framing_bytes": 38},
            {"rate_mbps": 5, "payload_bytes": 1000, "framing_bytes": 38},
            {"rate_mbps": 5, "payload_bytes": 1000, "framing_bytes": 20},
            {"rate_mbps": 100, "payload_bytes": 64, "framing_bytes": 38},
        ],
        unit="Mbit/s",
        tolerance=0.001,
        misconceptions=formula_slips(
            lambda q: q.rate_mbps * q.payload_bytes / (q.payload_bytes + q.framing_bytes),
            "The IP header (20 bytes) and the UDP header (8 bytes) travel too; the framing is not all.",
            lambda q: q.rate_mbps * q.payload_bytes / (q.payload_bytes + _HEADERS_BYTES),
            "The IP and UDP headers are in; framing_bytes is not yet.",
            lambda q: q.payload_bytes / (q.payload_bytes + _HEADERS_BYTES + q.framing_bytes),
            "This is the part of a frame that is data. Asked for are Mbit/s: which part of which rate?",
            lambda q: q.rate_mbps,
            "This is the rate itself: no header has been paid for yet.",
            lambda q: q.rate_mbps * (q.payload_bytes + _HEADERS_BYTES + q.framing_bytes) / q.payload_bytes,
            "The fraction is upside down: no more data can arrive than the link carries in all.",
            lambda q: (
                q.rate_mbps * (q.payload_bytes + _HEADERS_BYTES) / (q.payload_bytes + _HEADERS_BYTES + q.framing_bytes)
            ),
            "This is the rate of IP packets. The application gets only the payload in them.",
        ),
        hints=[
            "Of all the bits that pass the link, which part is payload?",
            "One datagram takes payload + 8 (UDP) + 20 (IP) + framing bytes from the link's rate.",
            "That sum is what a datagram costs, its payload is what arrives. The rate is divided in the same proportion.",
        ],
    )


def _flows(run: Run) -> list[dict[str, Any]]:
    """Return the items of traffic from h1 to h2 in a run, as dicts of the scenario file."""
    return traffic_items(run, src="h1", dst="h2")


def _slow_links(run: Run) -> list[LinkShape]:
    """Return the properties of those links on the path from h1 to h2 in a run that have a rate, in their order."""
    return [shape for shape in links_on_path(run, "h1", "h2") if shape.rate_mbps is not None]


def _overload(own: StudentValues) -> Measurement:
    """Return the check of a student's run that overloads a link with the rate and queue of the student's numbers."""
    return Measurement(
        name="a measurement of your own",
        conditions=[
            Condition(
                lambda run: [flow["kind"] for flow in run.scenario["traffic"]] == ["udp"] and len(_flows(run)) == 1,
                "One UDP flow must go from h1 to h2, and nothing else may be sent.",
                "Look at the list of traffic that you gave to `nl.run`.",
                traffic_in_words,
            ),
            Condition(
                lambda run: all(flow["payload_bytes"] == own.payload_bytes for flow in _flows(run)),
                f"Its datagrams must carry {own.payload_bytes} bytes.",
                "`nl.Udp` has `payload_bytes`; left out it is 1000.",
                lambda run: f"payload_bytes={_flows(run)[0]['payload_bytes']}",
            ),
            Condition(
                lambda run: [shape.rate_mbps for shape in _slow_links(run)] == [own.rate_mbps],
                f"Exactly one link on the way must have a rate, and it must be {own.rate_mbps} Mbit/s.",
                "`nl.Link` has `rate_mbps`. Build a network with h1, h2 and one link between them, and give that one to `nl.run`.",
                lambda run: rates(_slow_links(run)),
            ),
            Condition(
                lambda run: all(shape.queue_packets == own.queue_packets for shape in _slow_links(run)),
                f"Its queue must have room for {own.queue_packets} packets.",
                "`nl.Link` has `queue_packets`.",
                lambda run: f"queue_packets={_slow_links(run)[0].queue_packets}",
            ),
            plain_links(_slow_links),
            Condition(
                lambda run: min(_sending_s(run)) >= _LONG_ENOUGH_S,
                f"The flow must send for {_LONG_ENOUGH_S} s or more.",
                "`nl.run(..., duration_s=...)`; a flow without a duration of its own sends to the end.",
                lambda run: f"{min(_sending_s(run)):g} s",
            ),
            Condition(
                lambda run: run.flows["loss_rate"].iloc[0] > 0.02,
                "The link must never be idle: more must be offered than it can carry, so that more than 2 % is lost.",
                "Offer more.",
                lambda run: f"{100 * run.flows['loss_rate'].iloc[0]:.3g} % were lost",
            ),
        ],
        right="Your link was busy all the time: it could not have carried more.",
        hints=[
            "Three things: a network (nl.Topology), a list with one flow (nl.Udp), and nl.run with both.",
            "nl.Topology(hosts=['h1', 'h2'], links=[nl.Link('h1', 'h2', rate_mbps=..., queue_packets=...)]).",
            "nl.run(my_network, [nl.Udp('h1', 'h2', rate_mbps=..., payload_bytes=...)], duration_s=5); offer well above the rate.",
        ],
    )


def _sending_s(run: Run) -> list[float]:
    """Return the time in s for which each flow from h1 to h2 of a run sends, in the order of the scenario."""
    whole_s = run.scenario["duration_s"]
    return [flow["duration_s"] or whole_s - flow["start_s"] for flow in _flows(run)]


def _counted_bytes(own: StudentValues) -> Number:
    """Return the check of the number of bytes that the link counted for each datagram, with the payload of a student's
    numbers, in the run of the check `overload`.
    """
    payload = own.payload_bytes
    return Number(
        name="bytes that the link counted",
        same_as=(theory.udp_wire_bytes,),
        expected=lambda: theory.udp_wire_bytes(payload, "tc"),
        unit="bytes",
        tolerance=0.002,
        misconceptions=slips(
            theory.udp_wire_bytes(payload, "ethernet"),
            "This is what a real wire carries. Turn the formula round and put in the goodput that you measured.",
            payload + _HEADERS_BYTES,
            "This is the IP packet. The measured goodput says that the link counted a little more.",
            payload + theory.FRAMING_BYTES["tc"],
            "The framing is in, but the headers of IP and UDP are not: they take bytes from the rate, too.",
            theory.udp_wire_bytes(payload, "tc") - payload,
            "These are the headers alone. Add the payload that they carry.",
            payload**2 / theory.udp_wire_bytes(payload, "tc"),
            "The fraction is upside down: a datagram takes more bytes than its payload.",
            theory.FRAMING_BYTES["tc"],
            "This is the framing alone. Asked for is all that one datagram took from the rate.",
        ),
        right="Take away the payload and 28 bytes for IP and UDP: what is left is one line of the table of frame parts.",
        hints=[
            "Turn the formula of exercise 1 round: the goodput is known, the bytes per datagram are not.",
            "my_run.flows['goodput_mbps'].iloc[0] is the goodput; rate and payload are those of your own link.",
            "In the same time the link carries all bytes of a datagram at its rate, and the payload at the goodput: two equal times.",
        ],
    )


def _search() -> Function:
    """Return the check of a function that finds the rate of a bottleneck by a few probes; it is the same for all
    students.
    """
    return Function(
        name="search for the bottleneck",
        reference=lambda probe: probe.rate_mbps,
        cases=[{"probe": PaperProbe(rate_mbps)} for rate_mbps in (30.0, 5.0, 2.2, 55.0)],
        unit="Mbit/s",
        tolerance=0.01,
        misconceptions=slips(
            lambda probe: theory.udp_goodput_limit_mbps(probe.rate_mbps, PAYLOAD_BYTES),
            "This is the goodput at the bottleneck. Its rate is larger: put the headers back in.",
            lambda probe: _MAX_RATE_MBPS,
            "This is the fastest rate that the path may have, or the rate that you offered. What came out at the other end?",
        ),
        right="What comes out of a bottleneck has its rate, and a burst that fits into the queue loses nothing.",
        hints=[
            "Goodput tells you the limit as soon as you offer more than it. What makes such a probe lose datagrams?",
            f"A queue takes {HIDDEN_QUEUE_PACKETS} datagrams before it drops one. How short must even the fastest probe be?",
            "Count the datagrams of the fastest and shortest probe: do they fit? Its goodput leads to the rate as in exercise 3.",
        ],
    )
