"""Checks of the chapter "Congestion control". The answers are below."""

import math
from collections.abc import Callable
from itertools import pairwise
from statistics import fmean

from netlab import theory
from netlab.measure.results import Run
from netlab_course.chapters.congestion_control.settings import SETTLED_S, formula_mbps, loss_times_s, random_loss
from netlab_course.checks import Number
from netlab_course.conditions import (
    Condition,
    Measurement,
    link_in_words,
    links_on_path,
    not_plain,
    slow_links,
    traffic_in_words,
    traffic_items,
)
from netlab_course.function_checks import Function
from netlab_course.misconceptions import slips
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement

MIN_DURATION_S, MAX_INTERVAL_S, MIN_TEETH = 40, 0.05, 2
TOOTH_WITHIN = 0.2
"""The relative tolerance of the time of a tooth. By theory without the round trip that passes until the sender hears of a loss, it is
up to 14 % too short."""


def _window(rate_mbps: float, rtt_ms: float, packet_bytes: float | None = None) -> float:
    """Return the number of packets of `packet_bytes` (None: full frames of 1514 bytes) that a path with this rate and
    round-trip time holds without a queue.
    """
    return theory.bdp_bytes(rate_mbps, rtt_ms) / (packet_bytes or theory.tcp_wire_bytes())


def _cost_segments(rate_mbps: float, rtt_ms: float) -> float:
    """Return the number of segments that Reno does not send because of one loss, on a path with this rate and
    round-trip time and a queue of zero.
    """
    return theory.aimd_cost_segments(_window(rate_mbps, rtt_ms))


def _times(factor: float) -> Callable[..., float]:
    """Return a wrong formula for the cost of a loss in segments, of the rate in Mbit/s and the round-trip time in ms:
    `factor` times the square of the window in packets.
    """

    def wrong(rate_mbps: float, rtt_ms: float) -> float:
        """Return the wrong cost of a loss in segments on a path with this rate and round-trip time."""
        return factor * _window(rate_mbps, rtt_ms) ** 2

    return wrong


def _sending_s(run: Run) -> float:
    """Return the time in s for which the first flow of a run sends."""
    flow, start_s = traffic_items(run)[0], traffic_items(run)[0].get("start_s") or 0
    return float(min(flow.get("duration_s") or math.inf, run.scenario["duration_s"] - start_s))


def _teeth_s(run: Run) -> list[float]:
    """Return the times in s between the losses of a run's only TCP flow, without those of slow start."""
    return [later - loss for loss, later in pairwise(t_s for t_s in loss_times_s(run) if t_s > SETTLED_S)]


def _teeth_in_words(run: Run) -> str:
    """Return the number of teeth of a run and their mean time as text, such as "5 teeth of 6.1 s"."""
    teeth_s = _teeth_s(run)
    if not teeth_s:
        return "no tooth"
    return f"{len(teeth_s)} {'tooth' if len(teeth_s) == 1 else 'teeth'} of {fmean(teeth_s):.1f} s"


class Checks:
    """The checks of the chapter "Congestion control", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        rtt_ms = 2 * own.delay_ms
        self.cost = Function(
            name="cost of one loss",
            same_as=(theory.aimd_cost_segments,),
            reference=_cost_segments,
            cases=[
                {"rate_mbps": 4, "rtt_ms": 50},
                {"rate_mbps": 10, "rtt_ms": 40},
                {"rate_mbps": 20, "rtt_ms": 40},
                {"rate_mbps": own.rate_mbps, "rtt_ms": rtt_ms},
            ],
            unit="segments",
            tolerance=0.01,
            misconceptions=slips(
                _times(1 / 4),
                "This is half the window for all of the climb. The gap closes on the way: a triangle, not a rectangle.",
                _times(3 / 8),
                "This is what is sent during the climb. The exercise asks for what is not sent: the gap above it.",
                _times(1 / 2),
                "This is a climb from zero. The loss leaves half of the window.",
                lambda rate_mbps, rtt_ms: _window(rate_mbps, rtt_ms) / 2,
                "This is the gap just after the loss, once. How many round trips does it last, and how does it close?",
                lambda rate_mbps, rtt_ms: _cost_segments(rate_mbps, rtt_ms) * theory.MSS_BYTES,
                "These are bytes of data. The exercise asks for segments.",
                lambda rate_mbps, rtt_ms: theory.aimd_cost_segments(_window(rate_mbps, rtt_ms, 1448)),
                "The window is counted in segments of 1448 bytes. On this link each takes 1514.",
                lambda rate_mbps, rtt_ms: theory.aimd_cost_segments(_window(rate_mbps, rtt_ms / 2)),
                "This takes the way there only. A window is what is in flight in a whole round trip.",
                lambda rate_mbps, rtt_ms: theory.aimd_cost_segments(8 * _window(rate_mbps, rtt_ms)),
                "The window is 8 times too large: are these bits where bytes are meant?",
                lambda rate_mbps, rtt_ms: theory.aimd_cost_segments(_window(rate_mbps, rtt_ms) / 1000),
                "The window is a thousand times too small: Mbit/s times ms are kilobits.",
            ),
            right="It grows with the square of the window: twice the rate, four times the price.",
            hints=[
                "First the window: how many packets of 1514 bytes are in flight when the link is just full?",
                (
                    "Then the gap. It begins at half a window and shrinks by one segment in each round trip, so it lasts "
                    "half a window of round trips."
                ),
                "Gap over round trips is a triangle: how high is it, how long, and what is its area?",
            ],
        )
        self.sawtooth = Measurement(
            name="a sawtooth of your own",
            conditions=[
                Condition(
                    lambda run: (
                        [(item["kind"], item["src"], item["dst"]) for item in traffic_items(run)]
                        == [("tcp", "h1", "h3")]
                        and not any(traffic_items(run)[0].get(name) for name in ("window_bytes", "num_bytes"))
                    ),
                    "One TCP flow must be sent, from h1 to h3, without a window or a size, and no other traffic.",
                    "The list of traffic has one item, nl.Tcp(...).",
                    traffic_in_words,
                ),
                Condition(
                    lambda run: {item["congestion"] for item in traffic_items(run, kind="tcp")} == {"reno"},
                    "The flow must use Reno.",
                    'Linux uses CUBIC unless you say congestion="reno".',
                    lambda run: ", ".join(
                        item["congestion"] or "nothing, so CUBIC" for item in traffic_items(run, kind="tcp")
                    ),
                ),
                Condition(
                    lambda run: (
                        [slow_links(run)[0].get(name) for name in ("rate_mbps", "delay_ms")]
                        == [own.rate_mbps, own.delay_ms]
                        and not not_plain(links_on_path(run, "h1", "h3"))
                    ),
                    "The slow link must have the rate and the delay that the text asks for, and lose nothing at random.",
                    "path(rate_mbps, delay_ms, queue_packets) makes it; the delay is one way.",
                    lambda run: link_in_words(slow_links(run)[0]),
                ),
                Condition(
                    lambda run: _sending_s(run) >= MIN_DURATION_S,
                    f"The flow must send for {MIN_DURATION_S} s or more.",
                    "A tooth takes some seconds, and you need several: duration_s=...",
                    lambda run: f"{_sending_s(run):g} s",
                ),
                Condition(
                    lambda run: run.scenario["interval_s"] <= MAX_INTERVAL_S,
                    f"The window must be looked at every {MAX_INTERVAL_S:g} s or more often.",
                    "In the usual interval of 0.1 s the window may fall and begin to climb again; interval_s=... sets it.",
                    lambda run: f"interval_s={run.scenario['interval_s']:g}",
                ),
                Condition(
                    lambda run: (
                        len(_teeth_s(run)) >= MIN_TEETH
                        and math.isclose(fmean(_teeth_s(run)), own.tooth_s, rel_tol=TOOTH_WITHIN)
                    ),
                    f"After the first {SETTLED_S:g} s there must be {MIN_TEETH} teeth or more, of {own.tooth_s} s on average "
                    f"(within {100 * TOOTH_WITHIN:g} %).",
                    "How long is a tooth on your path with this queue? The round trips of its upper part are longer than twice the delay.",
                    _teeth_in_words,
                ),
            ],
            right="A longer queue makes longer teeth: there are more round trips in them, and each of them is longer.",
            hints=[
                "The run of part 1 is nearly it: one flow less, and your own path. path takes rate_mbps, delay_ms and queue_packets.",
                "The window climbs until path and queue are full, and a loss leaves half of it. Each round trip adds one segment.",
                (
                    "While the link is busy, a round trip takes the time of W frames on the link. So add up the frames of all round "
                    "trips from W/2 to W, and compare their time with the tooth's. Then W less the BDP is in the queue."
                ),
            ],
        )
        bdp_packets = _window(own.rate_mbps, rtt_ms)
        self.free = Number(
            name="queue that makes a loss free",
            expected=lambda: _window(own.rate_mbps, rtt_ms),
            unit="packets",
            tolerance=0.1,
            misconceptions=slips(
                bdp_packets * theory.tcp_wire_bytes(),
                "These are bytes. A queue is counted in packets here, of 1514 bytes.",
                0.43 * bdp_packets,
                "This would do for CUBIC, which keeps 0.7 of its window. Reno keeps half.",
            ),
            right="A queue of one BDP: the old rule of thumb for routers, and what it is for.",
            hints=[
                "Just before the loss path and queue are full. How much is in flight just after it?",
                "Half of (BDP + queue). The link stays busy if that is no less than what the path alone holds.",
                "Set the two equal and solve for the queue. The BDP counts packets of 1514 bytes, over the round trip.",
            ],
        )
        self.repeated = Repetition(
            name="the square-root formula",
            scenario=lambda: random_loss(own),
            made_by="nl.Scenario(lossy_path, [reno], duration_s=nl.run_length_s(45, real_s=12))",
            values=lambda table: table["goodput_mbps"],
            expected=lambda _table: formula_mbps(own),
            unit="Mbit/s",
            compared="the formula's goodput",
            statement=Statement(own.stated_mbps),
            right="Your runs cannot tell from chance what is smaller than half of your interval. How many seeds would halve its width?",
            hints=[
                'nl.interval(my_table["goodput_mbps"]): here one flow is sent, so each row is a seed.',
                "Theory: 1.31 * 1448 * 8 / (round trip in ms * 1000 * square root of the loss rate), in Mbit/s.",
            ],
        )
