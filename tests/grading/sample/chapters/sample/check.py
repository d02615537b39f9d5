"""The tutors of the sample chapter."""

from __future__ import annotations

from netlab_course.chapters.sample.settings import MAX_PROBES

from netlab import theory
from netlab_course.checks import ChoiceCheck, Number
from netlab_course.conditions import Condition, Measurement
from netlab_course.function_checks import Function
from netlab_course.misconceptions import Misconception
from netlab_course.own_numbers import StudentValues


class Probe:
    """Answers by formula, as often as it may."""

    def __init__(self, rate_mbps: float) -> None:
        self.rate_mbps, self._used = rate_mbps, 0

    def __call__(self, offered_mbps: float) -> float:
        """Goodput at an offered rate."""
        self._used += 1
        if self._used > MAX_PROBES:
            raise RuntimeError(f"all {MAX_PROBES} probes are used up")
        return min(offered_mbps, self.rate_mbps)


def limit_mbps(rate_mbps: float, payload_bytes: float) -> float:
    """The right formula."""
    return rate_mbps * payload_bytes / (payload_bytes + 42)


class Checks:
    """The checks, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        self.limit = Function(
            name="goodput limit",
            same_as=(theory.udp_goodput_limit_mbps,),
            reference=limit_mbps,
            cases=[{"rate_mbps": 10, "payload_bytes": 500}, {"rate_mbps": 5, "payload_bytes": 1000}],
            unit="Mbit/s",
            tolerance=0.001,
            misconceptions=[
                Misconception(
                    lambda rate_mbps, payload_bytes: rate_mbps, "This is the rate itself: no header is paid for."
                )
            ],
            hints=["Of all bits, which part is payload?"],
        )
        self.counted = Number(
            name="bytes counted",
            expected=lambda: own.payload_bytes + 42,
            unit="bytes",
            tolerance=0.002,
            misconceptions=[Misconception(own.payload_bytes + 28, "This is the IP packet; the frame is larger.")],
        )
        self.overload_run = Measurement(
            name="the overload",
            conditions=[
                Condition(
                    lambda run: run.settings["scenario"]["traffic"][0]["rate_mbps"] > own.rate_mbps,
                    "The sender must offer more than the link carries.",
                    "Look at rate_mbps of the flow.",
                    lambda run: run.settings["scenario"]["traffic"][0]["rate_mbps"],
                ),
                Condition(
                    lambda run: run.flows.loss_rate[0] > 0.1,
                    "More than a tenth must be lost.",
                    "Offer more.",
                    lambda run: run.flows.loss_rate[0],
                ),
            ],
        )
        self.letter = ChoiceCheck(
            name="what fills first",
            answer="b",
            reasons={"a": "The link is not a store.", "b": "The queue.", "c": "No."},
        )
        self.search = Function(
            name="search",
            reference=lambda probe: probe.rate_mbps,
            cases=[{"probe": Probe(30)}, {"probe": Probe(0.7)}],
            unit="Mbit/s",
            tolerance=0.01,
        )
