"""Checks of the chapter "BDP" (window, delay and the bandwidth-delay product). The answers are below."""

import math
from collections.abc import Callable, Sequence

from netlab import theory
from netlab.base.units import BITS_PER_BYTE, MS_PER_S
from netlab.measure.results import Run
from netlab.network.link import LinkShape
from netlab_course import cell_history
from netlab_course.chapters.bdp.settings import (
    MAX_WINDOW_BYTES,
    MIN_WINDOW_BYTES,
    TRANSFERS,
    half_window_beside_udp,
    window_limit_mbps,
)
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
from netlab_course.misconceptions import Misconception, slips
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement

_PING_HEADERS_BYTES = theory.ICMP_HEADER_BYTES + theory.IP_HEADER_BYTES + theory.FRAMING_BYTES["tc"]
_LONG_ENOUGH_S = 5
_MIN_QUEUE_PACKETS = 1000


class Checks:
    """The checks of the chapter "BDP", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make the checks with the student's own numbers."""
        self.rtt = _rtt()
        self.repeated = _repetition(own)
        self.overfull = _overfull_window_check(own)
        self.waiting = _queue_wait_check(own)
        self.window = _window()


def _rtt_ms(rates_mbps: Sequence[float], delays_ms: Sequence[float], payload_bytes: int) -> float:
    """Return the round-trip time in ms of a ping with this payload over an empty path of links, with rates in Mbit/s
    and one-way delays in ms.
    """
    path = [theory.Hop(rate, delay) for rate, delay in zip(rates_mbps, delays_ms, strict=True)]
    return theory.ping_rtt_ms(path, payload_bytes)


def _wrong_ms(
    propagations: int = 2, transmissions: float = 2, headers_bytes: int = _PING_HEADERS_BYTES, *, slowest: bool = False
) -> Callable[..., float]:
    """Return a function that computes a ping's round-trip time wrongly: with these numbers of propagations and
    transmissions, these headers, or only the slowest link's transmission.
    """

    def rtt_ms(rates_mbps: Sequence[float], delays_ms: Sequence[float], payload_bytes: int) -> float:
        """Return the wrong round-trip time in ms; the arguments are those of the right function."""
        counted = [min(rates_mbps)] if slowest else rates_mbps
        sent_ms = sum(theory.transmission_delay_ms(payload_bytes + headers_bytes, rate) for rate in counted)
        return propagations * sum(delays_ms) + transmissions * sent_ms

    return rtt_ms


def _rtt() -> Function:
    """Return the check of the exercise "round-trip time of a ping"."""
    return Function(
        name="round-trip time of a ping",
        same_as=(theory.ping_rtt_ms, theory.path_delay_ms),
        reference=_rtt_ms,
        cases=[
            {"rates_mbps": [10, 5], "delays_ms": [2, 3], "payload_bytes": 958},
            {"rates_mbps": [1], "delays_ms": [0], "payload_bytes": 1458},
            {"rates_mbps": [40, 30, 20], "delays_ms": [10, 20, 10], "payload_bytes": 56},
        ],
        unit="ms",
        tolerance=0.0005,
        misconceptions=slips(
            _wrong_ms(propagations=1, transmissions=1),
            "This is one way. The echo comes back over the same links.",
            _wrong_ms(transmissions=1),
            "The propagation counts there and back, the transmission only once. The echo is as long as the ping.",
            _wrong_ms(propagations=1),
            "The transmission counts there and back, the propagation only once. `delays_ms` are one-way delays.",
            _wrong_ms(transmissions=0),
            "This is propagation and next to nothing else. Each link also takes the frame's bits one after the other, 1000 of "
            "them in a millisecond at 1 Mbit/s.",
            _wrong_ms(headers_bytes=0),
            "The payload is in, its headers are not: 8 of ICMP, 20 of IP and 14 of Ethernet.",
            _wrong_ms(slowest=True),
            "The slowest link alone is counted. Every node takes in the whole frame, then sends it again: add up all links.",
            _wrong_ms(transmissions=2 / BITS_PER_BYTE),
            "A byte has 8 bits, and the rates are in bits.",
            _wrong_ms(transmissions=2 * MS_PER_S),
            "The transmission is a thousand times too large: 1 Mbit/s is 1000 bits in a millisecond, not one.",
            _wrong_ms(headers_bytes=_PING_HEADERS_BYTES - theory.FRAMING_BYTES["tc"]),
            "ICMP and IP are in; the link also counts the 14 bytes of the Ethernet header.",
        ),
        hints=[
            "Which of the four delays are left on an empty path whose nodes compute in no time?",
            "One link: delay_ms + (payload + 42) * 8 / (rate_mbps * 1000), in ms. Then add up all links.",
            "That is one way. The reply is as large as the request, and goes over the same links.",
        ],
    )


def _repetition(own: StudentValues) -> Repetition:
    """Return the check of the repeated measurement of a transfer with a window of half the BDP, with theory's limit of
    that window.
    """
    return Repetition(
        name="a window beside UDP",
        scenario=lambda: half_window_beside_udp(own),
        made_by="nl.Scenario(path, [half_window, udp], duration_s=10)",
        values=lambda table: table.loc[table["kind"] == "tcp", "goodput_mbps"],
        expected=lambda _table: window_limit_mbps(own),
        unit="Mbit/s",
        right=(
            "The window is the same in each draw, but its round trip is longer than a ping's on the empty path. Most of that is so "
            "without the UDP flow, too (below, 'The gap' asks why); beside it segments also wait for its datagrams. Put the mean of "
            "the column rtt_ms into W / T: how much of the gap is left?"
        ),
        plot='my_rows.plot(kind="scatter", x="seed", y="goodput_mbps")',
        axis="Goodput (Mbit/s)",
        compared="8 W / T_0",
        statement=Statement(own.stated_mbps),
        hints=[
            'my_table[my_table["kind"] == "tcp"] are the rows of the transfer, one for each seed.',
            'nl.interval(my_rows["goodput_mbps"]) is the interval. On which side of it is the number of the statement?',
        ],
    )


def _hops(run: Run) -> list[LinkShape]:
    """Return the properties of the links from h1 to h2 in a run."""
    return links_on_path(run, "h1", "h2")


def _slow_links(run: Run) -> list[LinkShape]:
    """Return the properties of those links from h1 to h2 in a run that have a rate."""
    return [shape for shape in _hops(run) if shape.rate_mbps is not None]


def _overfull_window_check(own: StudentValues) -> Measurement:
    """Return the check of a student's run with a window that is larger than the BDP."""
    window_bytes = 1000 * own.window_kb
    return Measurement(
        name="a measurement of your own",
        conditions=[
            Condition(
                lambda run: (
                    [(flow["kind"], flow["src"], flow["dst"], flow.get("streams")) for flow in run.scenario["traffic"]]
                    == [("tcp", "h1", "h2", 1)]
                ),
                "One TCP flow of one connection must go from h1 to h2, and nothing else may be sent.",
                "Look at the list of traffic that you gave to `nl.run`.",
                traffic_in_words,
            ),
            Condition(
                lambda run: run.scenario["traffic"][0]["window_bytes"] == window_bytes,
                f"Its window must be {own.window_kb} kB, that is {window_bytes} bytes.",
                "`nl.Tcp` has `window_bytes`; 1 kB is 1000 bytes.",
                lambda run: f"window_bytes={run.scenario['traffic'][0]['window_bytes']}",
            ),
            Condition(
                lambda run: [shape.rate_mbps for shape in _slow_links(run)] == [own.rate_mbps],
                f"Exactly one link on the way must have a rate, and it must be {own.rate_mbps} Mbit/s.",
                "`nl.Link` has `rate_mbps`; leave the other link without one.",
                lambda run: rates(_slow_links(run)),
            ),
            Condition(
                lambda run: sum(shape.delay_ms for shape in _hops(run)) == own.delay_ms,
                f"The delay from h1 to h2 must be {own.delay_ms} ms.",
                "`nl.Link` has `delay_ms`, which holds for each direction.",
                lambda run: f"{sum(shape.delay_ms for shape in _hops(run)):g} ms",
            ),
            Condition(
                lambda run: (
                    len(_hops(run)) > 1
                    and all((shape.queue_packets or 0) >= _MIN_QUEUE_PACKETS for shape in _slow_links(run))
                ),
                f"A router must be on the way, and the queue before the slow link must have room for {_MIN_QUEUE_PACKETS} packets.",
                "`nl.Link` has `queue_packets`. The slow link is the one behind the router.",
                lambda run: (
                    f"queue_packets={[shape.queue_packets for shape in _slow_links(run)]}"
                    if len(_hops(run)) > 1
                    else "no router on the way"
                ),
            ),
            plain_links(_hops),
            Condition(
                lambda run: _sending_s(run) >= _LONG_ENOUGH_S,
                f"The flow must send for {_LONG_ENOUGH_S} s or more.",
                "`nl.run(..., duration_s=...)`, and an `nl.Tcp` without start_s and duration_s.",
                lambda run: f"{_sending_s(run):g} s",
            ),
            Condition(
                lambda run: run.flows["goodput_mbps"].iloc[0] > 0.9 * theory.tcp_goodput_limit_mbps(own.rate_mbps),
                "The link must be full.",
                "Look at `my_run.flows`: does `error` say something, or was the flow too short?",
                lambda run: f"{run.flows['goodput_mbps'].iloc[0]:.4g} Mbit/s on a link of {own.rate_mbps}",
            ),
        ],
        right="The link is full, and the window is larger than what the path holds.",
        hints=[
            "Two hosts, a router between them, two links: one without numbers, one with rate, delay and queue.",
            (
                "nl.Topology(hosts=['h1', 'h2'], routers=['r1'], links=[nl.Link('h1', 'r1'), nl.Link('r1', 'h2', rate_mbps=..., "
                "delay_ms=..., queue_packets=1000)])."
            ),
            "nl.run(my_network, [nl.Tcp('h1', 'h2', window_bytes=...)], duration_s=5).",
        ],
    )


def _sending_s(run: Run) -> float:
    """Return the time in s for which the first flow of a run may send: from its start to its own end or that of the run."""
    flow, run_s = traffic_items(run)[0], float(run.scenario["duration_s"])
    left_s = run_s - (flow.get("start_s") or 0)
    return float(min(left_s, flow.get("duration_s") or left_s))


def _queue_wait_check(own: StudentValues) -> Number:
    """Return the check of the time in ms that a segment waits in the queue in that run."""
    frame_bytes = theory.tcp_wire_bytes()
    segments = 1000 * own.window_kb // theory.MSS_BYTES
    whole_ms = segments * theory.transmission_delay_ms(frame_bytes, own.rate_mbps)
    empty_ms = theory.segment_rtt_ms([theory.Hop(own.rate_mbps, own.delay_ms)])
    return Number(
        name="waiting in the queue",
        expected=lambda: whole_ms - empty_ms,
        unit="ms",
        tolerance=0.05,
        misconceptions=[
            *slips(
                whole_ms,
                "This is the whole round-trip time. How much of it is there without any queue?",
                2 * own.delay_ms,
                "This is the round-trip time of the empty path. How much more did you measure?",
                whole_ms - own.delay_ms,
                "The delay counts there and back, so it must be subtracted twice.",
            ),
            Misconception(
                theory.transmission_delay_ms(1000 * own.window_kb, own.rate_mbps) - 2 * own.delay_ms,
                "Are headers forgotten? A window counts data, and the link also sends the headers of each segment.",
                may_be_near=True,
            ),
            Misconception(
                lambda: _mean_rtt_ms() - 2 * own.delay_ms,
                "This is from the mean of the whole run. While the window grew, the queue was shorter: take the last rows.",
                may_be_near=True,
            ),
        ],
        right="By theory the link needs 1514 bytes for 1448 of the window, and what the pipe does not hold waits.",
        hints=[
            "my_run.intervals has a column rtt_ms: the round-trip time as the sender measures it. Take one of the last rows.",
            "The same path without a queue has twice its delay (and a little for transmission). The rest is waiting.",
            "Subtract the second hint's time from the first hint's; delay_ms is the one that you gave your link.",
        ],
    )


def _mean_rtt_ms() -> float:
    """Return the mean round-trip time in ms of the whole run that the notebook has as `my_run`; NaN without such a run."""
    run = cell_history.notebook_value("my_run")
    rtts_ms = run.intervals.get("rtt_ms") if isinstance(run, Run) else None
    return math.nan if rtts_ms is None else float(rtts_ms.mean())


class PaperTransfer:
    """A transfer whose results come from formulas: those of a real transfer over a path of this rate in Mbit/s and this
    empty RTT in ms.
    """

    def __init__(self, rate_mbps: float, rtt_ms: float) -> None:
        """Set the path's rate in Mbit/s and its round-trip time without a queue in ms."""
        self.rate_mbps, self.rtt_ms = rate_mbps, rtt_ms
        self._used = 0

    def __call__(self, window_bytes: float) -> tuple[float, float]:
        """Return goodput in Mbit/s and round-trip time in ms of a transfer with this window in bytes. Raises ValueError
        for a window that is not allowed, RuntimeError after TRANSFERS calls.
        """
        if not MIN_WINDOW_BYTES <= window_bytes <= MAX_WINDOW_BYTES:
            raise ValueError(
                f"a window must have {MIN_WINDOW_BYTES} to {MAX_WINDOW_BYTES} bytes, got {window_bytes:.0f}"
            )
        self._used += 1
        if self._used > TRANSFERS:
            raise RuntimeError(f"all {TRANSFERS} transfers are used up")
        goodput = theory.windowed_goodput_mbps(float(window_bytes), self.rate_mbps, self.rtt_ms)
        on_the_link_bytes = window_bytes * theory.tcp_wire_bytes() / theory.MSS_BYTES
        return float(goodput), max(self.rtt_ms, theory.transmission_delay_ms(on_the_link_bytes, self.rate_mbps))

    def __repr__(self) -> str:
        return f"<transfers over {self.rate_mbps:g} Mbit/s and {self.rtt_ms:g} ms>"

    def answer_bytes(self) -> float:
        """Return the smallest window in bytes that fills the path."""
        return theory.bdp_bytes(theory.tcp_goodput_limit_mbps(self.rate_mbps), self.rtt_ms)


def _window() -> Function:
    """Return the check of a function that finds the smallest window that fills a path by a few transfers."""
    return Function(
        name="smallest window that fills the path",
        same_as=(theory.bdp_bytes,),
        reference=lambda transfer: transfer.answer_bytes(),
        cases=[
            {"transfer": PaperTransfer(rate_mbps, rtt_ms)}
            for rate_mbps, rtt_ms in ((50, 40), (10, 15), (90, 80), (200, 25))
        ],
        unit="bytes",
        tolerance=0.01,
        misconceptions=slips(
            lambda transfer: theory.bdp_bytes(transfer.rate_mbps, transfer.rtt_ms),
            "This is the BDP, headers included. The window counts data only: use the goodput.",
            lambda transfer: transfer.answer_bytes() / 1000,
            "This is in kB. Asked for are bytes.",
            lambda transfer: MAX_WINDOW_BYTES,
            "This is the largest window allowed. It fills the path, and the queue as well. Which is the smallest?",
            lambda transfer: transfer.answer_bytes() * BITS_PER_BYTE,
            "These are bits. A window is in bytes.",
        ),
        right="Two transfers are enough: a large window shows the limit, a small one the round-trip time of the empty path.",
        hints=[
            "Two things are unknown, the limit and the round-trip time of the empty path. Which window shows the one, which the other?",
            "With the largest window the link limits: its goodput is the limit. With the smallest nothing waits: its rtt_ms is T_0.",
            "The window that just fills the path is what the limit carries in T_0. Mind the units: Mbit/s, ms, bytes.",
        ],
    )
