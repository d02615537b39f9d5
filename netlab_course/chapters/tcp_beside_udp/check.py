"""Checks of the chapter "TCP beside UDP". The answers are below."""

from typing import Any

from netlab import theory
from netlab.base.units import BITS_PER_BYTE
from netlab.measure.results import Run
from netlab_course.answers import with_unit
from netlab_course.chapters.tcp_beside_udp import settings
from netlab_course.chapters.tcp_beside_udp.settings import PAYLOAD_BYTES, RATE_MBPS, SENSOR_MBPS, SETTLED_S
from netlab_course.checks import Number
from netlab_course.conditions import (
    Condition,
    Measurement,
    minimum_duration,
    share_slow_links,
    slow_links,
    traffic_in_words,
    traffic_items,
)
from netlab_course.function_checks import Function
from netlab_course.misconceptions import slips
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement

_DATA_SHARE = theory.MSS_BYTES / theory.tcp_wire_bytes()
_SAVED_MBPS = 1.7
_SAFE_SENSOR_MBPS = 0.93


def video_mbps(update_mb: float, update_minutes: float) -> float:
    """Return the highest rate of the video in Mbit/s with which an update of `update_mb` megabytes arrives within
    `update_minutes` minutes, next to the sensor on the link of 5 Mbit/s.
    """
    goodput = update_mb * BITS_PER_BYTE / (60 * update_minutes)
    update_wire_mbps = goodput * theory.tcp_wire_bytes() / theory.MSS_BYTES
    return (RATE_MBPS - update_wire_mbps) * PAYLOAD_BYTES / theory.udp_wire_bytes(PAYLOAD_BYTES) - SENSOR_MBPS


def _video_with(own: StudentValues, goodput_mbps: float) -> float:
    """Return the rate in Mbit/s of the fastest video with which the update of a student's numbers gets this goodput in
    Mbit/s; with a wrong goodput it is a known mistake.
    """
    return video_mbps(goodput_mbps * 60 * own.update_minutes / 8, own.update_minutes)


def _rates_mbps(run: Run, src: str) -> list[float]:
    """Return the rates in Mbit/s of a run's UDP flows from the host `src` to h3, in the order of the scenario."""
    return [item["rate_mbps"] for item in traffic_items(run, kind="udp", src=src, dst="h3")]


def _updates(run: Run) -> list[dict[str, Any]]:
    """Return the TCP flows from h2 to h3 of a run, as dicts of the scenario file."""
    return traffic_items(run, kind="tcp", src="h2", dst="h3")


def _goodput_mbps(run: Run, kind: str, src: str) -> float:
    """Return the goodput in Mbit/s after the first 10 s of the first flow of a run with this kind ("tcp" or "udp") and
    this sender. Raises IndexError if there is none.
    """
    flows = run.flows[(run.flows["kind"] == kind) & (run.flows["src"] == src)]
    return float(run.goodput_mbps(SETTLED_S)[flows["flow"].iloc[0]])


class Checks:
    """The checks of the chapter "TCP beside UDP", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        goodput_mbps = own.update_mb * 8 / (60 * own.update_minutes)

        self.repeated = Repetition(
            name="TCP beside a video",
            scenario=lambda: settings.video_scenario(own.beside_mbps),
            made_by="video_scenario(own.beside_mbps)",
            values=lambda table: table.loc[table["kind"] == "tcp", "goodput_mbps"],
            expected=lambda _table: settings.left_mbps(SENSOR_MBPS + own.beside_mbps, RATE_MBPS, PAYLOAD_BYTES),
            unit="Mbit/s",
            compared="G",
            statement=Statement(own.stated_mbps),
            right=(
                "G counts all of UDP. What the full queue drops of it, TCP gets in addition, and the link stays full: look at the "
                "columns loss_rate and goodput_mbps of the UDP flows."
            ),
            hints=[
                'my_table[my_table["kind"] == "tcp"] are the rows of the update, one for each seed.',
                "Theory: UDP offers sensor and video together, and each datagram of 1000 bytes takes 1042 of the link.",
            ],
        )
        self.video = Number(
            name="fastest video beside the update",
            expected=lambda: video_mbps(own.update_mb, own.update_minutes),
            unit="Mbit/s",
            tolerance=0.005,
            misconceptions=slips(
                video_mbps(own.update_mb, own.update_minutes) + SENSOR_MBPS,
                "This is what both UDP flows may send together. The sensor has its part of it.",
                RATE_MBPS - goodput_mbps - SENSOR_MBPS,
                "No header is paid for: neither UDP's 42 of 1042 bytes nor TCP's 66 of 1514.",
                RATE_MBPS - goodput_mbps,
                "This is the link less the update. The sensor sends too, and headers take room.",
                (RATE_MBPS - goodput_mbps / _DATA_SHARE) - SENSOR_MBPS,
                "UDP's headers are not paid for: 1000 bytes of data take 1042 of the link.",
                _video_with(own, goodput_mbps * _DATA_SHARE),
                "TCP's headers are not paid for: 1448 bytes of data take 1514 of the link.",
                _video_with(own, goodput_mbps / 8),
                "The update is in megabytes: a byte has 8 bits.",
                _video_with(own, goodput_mbps * 2**20 / 1e6),
                "A megabyte is 1,000,000 bytes here, not 1024 * 1024.",
            ),
            right="A program that sends with UDP has to do this sum; TCP does it by itself, packet by packet.",
            hints=[
                "Which goodput must TCP have, in Mbit/s? Then turn exercise 1 round.",
                "The update takes goodput * 1514 / 1448 of the link; what remains is for two UDP flows with headers.",
                "Turn what remains into data of UDP: 1000 of a datagram's 1042 bytes. The sensor has a part of it already.",
            ],
        )

        self.wait = Function(
            name="mean wait for doubling timers",
            same_as=(settings.wait_ms,),
            reference=settings.wait_ms,
            cases=[
                {"first_timer_ms": own.wait_timer_ms, "loss_rate": own.wait_loss_rate},
                {"first_timer_ms": 260, "loss_rate": 0.1},
                {"first_timer_ms": 400, "loss_rate": 0.45},
                # Near one half the series has so many terms that a sum of a hundred of them is too small.
                {"first_timer_ms": 300, "loss_rate": 0.49},
            ],
            unit="ms",
            tolerance=0.001,
            misconceptions=slips(
                lambda first_timer_ms, loss_rate: first_timer_ms * loss_rate / (1 - loss_rate),
                "Here all timers are equally long. Each one is twice as long as the one before.",
                lambda first_timer_ms, loss_rate: first_timer_ms / (1 - 2 * loss_rate),
                "The series begins too early: the first timer runs only if the segment is lost.",
                lambda first_timer_ms, loss_rate: first_timer_ms * loss_rate,
                "This is the first timer alone. What is sent again may be lost again.",
                lambda first_timer_ms, loss_rate: first_timer_ms * loss_rate * (1 - loss_rate) / (1 - 2 * loss_rate),
                "The k-th timer runs when the segment was lost k times at least; what comes after does not matter.",
                lambda first_timer_ms, loss_rate: (
                    settings.wait_ms(first_timer_ms, loss_rate) * (1 - (2 * loss_rate) ** 100)
                ),
                "The hundred first terms are not enough near a loss rate of one half: which formula has them all?",
                lambda first_timer_ms, loss_rate: 2 * first_timer_ms * loss_rate / (1 - 2 * loss_rate),
                "The first timer is first_timer_ms long; only the second one is twice as long.",
            ),
            right="Near a loss rate of one half it grows beyond all bounds.",
            hints=[
                "The first timer runs with the chance p, the second one with p * p, and is twice as long. Add them up.",
                "A geometric series: 1 + 2p + (2p)**2 + ... = 1 / (1 - 2p), as long as 2p is below 1.",
                "Take out of all terms of the sum the factor that they share. What is left is the series of the second hint.",
            ],
        )

        alone = Condition(
            lambda run: (
                len(traffic_items(run)) == 3
                and [link["rate_mbps"] for link in slow_links(run)] == [RATE_MBPS]
                and share_slow_links(run, SETTLED_S)
            ),
            "These three alone must send, to the end and without window_bytes, and the only link with a rate must have 5 Mbit/s.",
            "Start from nl.topologies.three_pcs(rate_mbps=5, ...) and change the queue alone.",
            lambda run: f"{traffic_in_words(run)}; rates {[link['rate_mbps'] for link in slow_links(run)]}",
        )
        self.my_run = Measurement(
            name="TCP saved by the queue",
            conditions=[
                Condition(
                    lambda run: (
                        _rates_mbps(run, "h1") == [SENSOR_MBPS] and _rates_mbps(run, "h2") == [own.my_video_mbps]
                    ),
                    f"The sensor must send 1 Mbit/s from h1 and the video {own.my_video_mbps:g} Mbit/s from h2, both UDP to h3.",
                    "Compare with senders(own.my_video_mbps), from the cell of the network.",
                    traffic_in_words,
                ),
                Condition(
                    lambda run: [item["streams"] for item in _updates(run)] == [1],
                    "The update must be one TCP connection from h2 to h3.",
                    "More connections would be another trick (chapter on parallel streams).",
                    lambda run: f"{sum(item['streams'] for item in _updates(run))} connections",
                ),
                alone,
                minimum_duration(30, "duration_s=30; the first 10 s are not counted."),
                Condition(
                    lambda run: share_slow_links(run, SETTLED_S) and _goodput_mbps(run, "tcp", "h2") >= _SAVED_MBPS,
                    f"TCP must get {_SAVED_MBPS} Mbit/s at least, counted from 10 s on.",
                    "Which queue serves flows in turn and, when its room is full, drops from the longest?",
                    lambda run: with_unit(_goodput_mbps(run, "tcp", "h2"), "Mbit/s", _SAVED_MBPS),
                    after=(alone,),
                ),
                Condition(
                    lambda run: _goodput_mbps(run, "udp", "h1") >= _SAFE_SENSOR_MBPS,
                    f"The sensor must get {_SAFE_SENSOR_MBPS} of its 1 Mbit/s at least, counted from 10 s on.",
                    "It asks for less than its fair share, so a fair queue has no reason to drop it.",
                    lambda run: with_unit(_goodput_mbps(run, "udp", "h1"), "Mbit/s", _SAFE_SENSOR_MBPS),
                ),
            ],
            right=(
                "No sender has changed. The queue has. (fq drops whatever comes when its room is full. It keeps 100 packets of a "
                "flow at most, so it protects only where it has room for more.)"
            ),
            hints=[
                "All that must change is the queue before the slow link.",
                "A fair queue keeps a queue for each flow. Which values of aqm= do so? help(nl.Link) lists them.",
                "nl.run(nl.topologies.three_pcs(rate_mbps=5, aqm=...), senders(...), duration_s=30)",
            ],
        )
