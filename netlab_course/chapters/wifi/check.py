"""Checks of the chapter "Wi-Fi". The answers are below."""

import functools
import math
from collections.abc import Callable

from netlab import theory
from netlab.base.headers import IP_HEADER_BYTES, UDP_HEADER_BYTES
from netlab.network.media import Wifi
from netlab_course.chapters.wifi.settings import MAX_PAYLOAD_BYTES, two_senders
from netlab_course.checks import Number
from netlab_course.designs import Designs
from netlab_course.function_checks import Function
from netlab_course.misconceptions import slips
from netlab_course.own_numbers import StudentValues
from netlab_course.statements import Statement


def udp_ceiling_mbps(payload_bytes: int, rate_mbps: int) -> float:
    """Return the largest goodput in Mbit/s of one UDP sender over 802.11g with this payload, whose data frames are sent
    at `rate_mbps`.
    """
    return theory.wifi_udp_limit_mbps(payload_bytes, {"rate_mbps": rate_mbps})


def largest_payload_bytes(rate_mbps: int, limit_us: float, ack_us: int | None = None) -> int:
    """Return the largest payload in bytes of a datagram whose exchange at `rate_mbps` (frame, SIFS, ACK) takes at most
    `limit_us`; `ack_us` is the duration of the ACK in us (None: the right one).
    """
    wifi = Wifi(rate_mbps=rate_mbps)
    more_us = 0 if ack_us is None else ack_us - wifi.ack_us
    headers_bytes = UDP_HEADER_BYTES + IP_HEADER_BYTES
    fitting = (
        size for size in range(1, MAX_PAYLOAD_BYTES + 1) if wifi.exchange_us(size + headers_bytes) + more_us <= limit_us
    )
    return max(fitting, default=0)


_CEILINGS = (theory.wifi_udp_limit_mbps, theory.wifi_exchange_us, Wifi.exchange_us)
# DIFS, backoff, preamble and signal extension, SIFS, ACK.
_FIXED_US = 28 + 67.5 + 26 + 10 + 34


def _wrong_mbps(
    fixed_us: float = _FIXED_US,
    headers_bytes: int = 64,
    byte_bits: int = 8,
    symbol_us: float = 4,
    *,
    whole: bool = True,
) -> Callable[[int, int], float]:
    """Return a function of payload in bytes and rate in Mbit/s that returns a wrong ceiling in Mbit/s: with these
    numbers in place of the right ones, the defaults, or (`whole` is False) with a fraction of a symbol.
    """

    def mbps(payload_bytes: int, rate_mbps: int) -> float:
        """Return the wrong ceiling in Mbit/s for UDP with this payload and rate of the data frames."""
        symbols = (byte_bits * (payload_bytes + headers_bytes) + 22) / (4 * rate_mbps)
        return 8 * payload_bytes / (fixed_us + symbol_us * (math.ceil(symbols) if whole else symbols))

    return mbps


@functools.cache  # the draw of a copy asks for combinations that its checks ask for again
def _smallest_payload_bytes(rate_mbps: int, target_mbps: float) -> int:
    """Return the smallest payload in bytes whose ceiling for UDP, at this rate of the data frames, is at least
    `target_mbps`.
    """
    sizes = range(1, MAX_PAYLOAD_BYTES + 1)
    return next(size for size in sizes if udp_ceiling_mbps(size, rate_mbps) >= target_mbps)


class Checks:
    """The checks of the chapter "Wi-Fi", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        some_headers = "Some headers are missing: the wireless frame has 36 bytes of them, UDP and IP have 28."
        self.air = Function(
            name="ceiling for UDP",
            same_as=_CEILINGS,
            reference=udp_ceiling_mbps,
            cases=[
                {"payload_bytes": 500, "rate_mbps": 24},
                {"payload_bytes": 1472, "rate_mbps": 54},
                {"payload_bytes": 100, "rate_mbps": 54},
                {"payload_bytes": 1000, "rate_mbps": 36},
            ],
            unit="Mbit/s",
            tolerance=0.001,
            misconceptions=slips(
                _wrong_mbps(fixed_us=_FIXED_US - 67.5),
                "The backoff is missing: 7.5 slots of 9 µs on average.",
                _wrong_mbps(fixed_us=_FIXED_US - 60),
                "The backoff is counted in slots, 7.5 on average. A slot takes 9 µs.",
                _wrong_mbps(fixed_us=_FIXED_US - 28),
                "A row of the table is missing: DIFS.",
                _wrong_mbps(fixed_us=_FIXED_US - 20),
                "A row of the table is missing: the preamble.",
                _wrong_mbps(fixed_us=_FIXED_US - 6),
                "A row of the table is missing: the signal extension.",
                _wrong_mbps(fixed_us=_FIXED_US - 10),
                "A row of the table is missing: SIFS.",
                lambda payload_bytes, rate_mbps: (1 + 64 / payload_bytes) * udp_ceiling_mbps(payload_bytes, rate_mbps),
                "This counts the headers as application data.",
                _wrong_mbps(fixed_us=_FIXED_US - 44),
                "The receiver acknowledges every frame: SIFS and the ACK frame take their time too.",
                _wrong_mbps(fixed_us=_FIXED_US - 34),
                "The last row of the table is missing: the ACK frame takes its time too.",
                _wrong_mbps(symbol_us=1),
                "The number of symbols is in; each of them takes 4 µs.",
                _wrong_mbps(headers_bytes=0),
                "The headers are missing: 64 bytes travel in the frame beside the payload.",
                # A few bytes more or less are often the same number of symbols.
                _wrong_mbps(headers_bytes=36),
                some_headers,
                _wrong_mbps(headers_bytes=28),
                some_headers,
                _wrong_mbps(whole=False),
                "A symbol is sent whole: round their number up.",
                _wrong_mbps(fixed_us=_FIXED_US + 67.5),
                "The backoff is counted in full, with 15 slots. It is 0 to 15, so 7.5 on average.",
                lambda payload_bytes, rate_mbps: udp_ceiling_mbps(payload_bytes, 54),
                "The frame is sent at `rate_mbps`, whatever that is. This takes 54 Mbit/s for every rate.",
                _wrong_mbps(byte_bits=1),
                "The frame's length is in bytes here. A symbol holds bits: a byte has 8.",
                lambda payload_bytes, rate_mbps: rate_mbps,
                "This is the rate of the bits in a frame. Most of the time on the medium has none of your bits.",
            ),
            hints=[
                "Add up the times of all rows of the table, in µs, for one packet: 8 * payload_bytes bits come in that time.",
                "Only the data frame depends on the payload: 26 µs, and 4 µs for each symbol.",
                "A symbol carries 4 * rate_mbps bits, and only whole ones are sent. How many bits has the frame, with headers and tail?",
            ],
        )
        smallest_bytes = _smallest_payload_bytes(own.air_mbps, own.target_mbps)
        self.payload = Number(
            name="smallest payload",
            same_as=_CEILINGS,
            expected=smallest_bytes,
            unit="bytes",
            # A payload of one byte less has too little goodput.
            tolerance=0.3 / smallest_bytes,
            whole=True,
            misconceptions=slips(
                smallest_bytes + 1,
                "One byte less does it, too.",
                smallest_bytes - 1,
                "This payload just misses it. What does your function give for it, and for one byte more?",
                MAX_PAYLOAD_BYTES * own.target_mbps / udp_ceiling_mbps(MAX_PAYLOAD_BYTES, own.air_mbps),
                "This takes goodput and payload as proportional. Look at the figure: they are not.",
                MAX_PAYLOAD_BYTES * own.target_mbps / own.air_mbps,
                "This is a share of the largest payload; the time that does not depend on the payload is not in it.",
            ),
            harmless=lambda size: 1 <= size <= MAX_PAYLOAD_BYTES and size == int(size),
            right="A formula found it; a run only confirms it.",
            hints=[
                "Your function says what each payload gets. Which is the first that gets enough?",
                "Try the payloads from 1 to 1472 in a loop; a function costs nothing, a run does.",
            ],
        )
        fast_bytes = MAX_PAYLOAD_BYTES + UDP_HEADER_BYTES + IP_HEADER_BYTES
        fast_us = Wifi().exchange_us(fast_bytes)
        equal_bytes = largest_payload_bytes(own.slow_mbps, fast_us)
        self.airtime = Number(
            name="payload for the same time on the air",
            same_as=_CEILINGS,
            expected=equal_bytes,
            unit="bytes",
            # The answer is exact: the next byte may need another symbol.
            tolerance=0.3 / equal_bytes,
            whole=True,
            misconceptions=slips(
                equal_bytes - 1,
                "One byte more takes no longer.",
                equal_bytes + 1,
                "This payload takes one symbol too many: is the number of its symbols rounded up?",
                equal_bytes + 64,
                "These are the bytes of the whole frame. 64 of them are headers.",
                largest_payload_bytes(own.slow_mbps, fast_us, Wifi().ack_us),
                "The ACK of a slow frame is slow, too: look at its time in the text.",
                largest_payload_bytes(own.slow_mbps, theory.wifi_exchange_us(fast_bytes)),
                "This lets h2 use the DIFS and backoff of h1, too. Compare frame, SIFS and ACK alone.",
                MAX_PAYLOAD_BYTES * own.slow_mbps / 54,
                "This takes time and payload as proportional. Preamble, headers and ACK do not become shorter with the payload.",
            ),
            harmless=lambda size: 1 <= size <= MAX_PAYLOAD_BYTES and size == int(size),
            right="Both stations get equal turns, and now also equal time.",
            hints=[
                "How long are frame, SIFS and ACK of h1, in µs? The table of part 1 has them; DIFS and backoff are the same for both.",
                "What is left of this time for the symbols of h2, after preamble, signal extension, SIFS and its own ACK?",
                "Divide by 4 µs and round down; a symbol has 4 * R bits. Subtract 22 bits, then the headers.",
            ],
        )
        self.design = Designs(
            name="two senders, two designs",
            scenario=two_senders,
            made_by="two_senders()",
            half_width=own.wanted_mbps,
            statement=Statement(own.stated_mbps),
            right=(
                "In one run each turn of a station is one that the other does not have, so their sum hardly scatters. Bianchi's number is "
                "a little above, mostly by the backoff: a simulation of the rules gets 30.2 Mbit/s, and 30.6 if a backoff also counts "
                "a slot for each time that the medium is busy."
            ),
            hints=[
                "Which of the pilot's numbers scatter more: the goodputs of one station, or the sums of both?",
                'my_pilot.groupby("src")["goodput_mbps"].std() and sums.std() are what the two designs need.',
                "Raise n from 2 on until t s / sqrt(n) is small enough. For runs of their own both squares of s are added.",
            ],
        )
