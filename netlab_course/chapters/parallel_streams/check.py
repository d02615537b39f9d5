"""Checks of the chapter "Parallel streams". The answers are below."""

import math
from dataclasses import dataclass, replace
from typing import Any, cast

from netlab import theory
from netlab.measure.results import Run
from netlab_course.answers import as_number
from netlab_course.chapters.parallel_streams import settings
from netlab_course.chapters.parallel_streams.settings import SLOW_MBPS
from netlab_course.checks import Number, Result
from netlab_course.conditions import Condition, Measurement, duration, link_in_words, traffic_in_words
from netlab_course.misconceptions import slips
from netlab_course.own_numbers import StudentValues
from netlab_course.thresholds import Threshold

_NEARLY_WHOLE, _SPARE = 0.9999, 1.1
_ROUNDED_C = 1.31
"""The constant of the formula for random losses as the chapter prints it; with many connections it gives one fewer."""
_ROUNDED_PERIODIC_C = 1.22
"""The constant of the formula for periodic losses as the chapter prints it."""
MIN_RUN_S = 3
_FULL_SHARE = 0.93
"""The share of the limit that a window without spare room reaches: its round-trip time is a little longer than the delay."""


def min_connections(rate_mbps: float, rtt_ms: float, loss_rate: float, c: float = theory.MATHIS_RANDOM_C) -> int:
    """Return the smallest number of Reno connections that fill a link of this rate with this random loss rate (0 to 1),
    by the square-root formula with the constant `c`.
    """
    one = float(theory.mathis_mbps(theory.MSS_BYTES, rtt_ms, loss_rate, c))
    return math.ceil(theory.tcp_goodput_limit_mbps(rate_mbps) / one)


def _flow(run: Run) -> dict[str, Any]:
    """Return the fields in the scenario file of the only item of traffic of a run. Raises ValueError if it has not
    exactly one.
    """
    [flow] = run.scenario["traffic"]
    return cast("dict[str, Any]", flow)


def _link(run: Run) -> dict[str, Any]:
    """Return the fields in the scenario file of the only link of a run's network. Raises ValueError if it has not
    exactly one.
    """
    [link] = run.scenario["topology"]["links"]
    return cast("dict[str, Any]", link)


def _of_own_path(run: Run, own: StudentValues) -> bool:
    """Return whether a run's only link has the rate `run_mbps` and the round trip `run_delay_ms` of a student's
    numbers. Raises ValueError if it has not exactly one link.
    """
    link = _link(run)
    back_ms = (link.get("reverse") or {}).get("delay_ms", link.get("delay_ms"))
    return link["rate_mbps"] == own.run_mbps and math.isclose(link["delay_ms"] + back_ms, own.run_delay_ms)


@dataclass(kw_only=True, repr=False)
class _Connections(Number):
    """A check of a number of connections, which may be computed with the rounded constant of the text."""

    rounded: int
    """The number with the rounded constant."""

    def _judge(self, answer: object) -> Result:
        """Return the verdict on an answer that is not a stub; the number with the rounded constant is right, too."""
        number, _ = as_number(answer)
        accepted = self if number != self.rounded else replace(self, expected=self.rounded)
        return super(_Connections, accepted)._judge(answer)


class Checks:
    """The checks of the chapter "Parallel streams", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        limit_mbps = theory.tcp_goodput_limit_mbps(own.run_mbps)

        def window_mbps(run: Run) -> float:
            """Return the goodput in Mbit/s that the window of a run's only flow allows, with the student's round trip;
            infinite without a window.
            """
            window = _flow(run)["window_bytes"]
            return math.inf if window is None else float(theory.window_limit_mbps(float(window), own.run_delay_ms))

        def window_in_words(run: Run) -> str:
            """Return the window of a run's only flow in bytes, and the goodput that it allows, as text."""
            window = _flow(run)["window_bytes"]
            return f"window_bytes={window}" + (f", which allows {window_mbps(run):.4g} Mbit/s" if window else "")

        self.my_run = Measurement(
            name="one connection that fills the link",
            conditions=[
                Condition(
                    lambda run: _of_own_path(run, own),
                    f"There must be one link, of {own.run_mbps} Mbit/s and a round trip of {own.run_delay_ms} ms.",
                    "path(rtt_ms, rate_mbps) makes it. The way back has no delay: give rtt_ms the whole round trip.",
                    lambda run: "; ".join(map(link_in_words, run.scenario["topology"]["links"])),
                ),
                Condition(
                    lambda run: (_flow(run)["kind"], _flow(run)["src"], _flow(run)["dst"]) == ("tcp", "h1", "h2"),
                    "The only flow must be TCP from h1 to h2.",
                    "nl.Tcp('h1', 'h2', ...), and nothing beside it.",
                    traffic_in_words,
                ),
                Condition(
                    lambda run: _flow(run)["streams"] == 1,
                    "It must be a single connection.",
                    "Leave `streams` out.",
                    lambda run: f"streams={_flow(run)['streams']}",
                ),
                Condition(
                    lambda run: window_mbps(run) >= _NEARLY_WHOLE * limit_mbps,
                    "By theory its window must allow what the link allows.",
                    "How many bytes must be in flight, so that a window for each round trip fills the link?",
                    window_in_words,
                ),
                Condition(
                    lambda run: window_mbps(run) <= _SPARE * limit_mbps,
                    "Its window must be no more than a tenth larger than needed.",
                    "What is more than a busy link has in flight waits in the queue.",
                    window_in_words,
                ),
                Condition(
                    lambda run: (
                        run.scenario["duration_s"] >= MIN_RUN_S
                        and run.goodput_mbps(1).iloc[0] >= _FULL_SHARE * limit_mbps
                    ),
                    f"It must run for {MIN_RUN_S} s at least, and after the first second the link must be full.",
                    "run.goodput_mbps(after_s=1) says what was measured.",
                    lambda run: (
                        duration(run)
                        + (
                            f"; {run.goodput_mbps(1).iloc[0]:.4g} of {limit_mbps:.4g} Mbit/s"
                            if run.scenario["duration_s"] >= MIN_RUN_S
                            else f", less than {MIN_RUN_S} s"
                        )
                    ),
                ),
            ],
            right="A window that fits the path does what several small ones do.",
            hints=[
                "The bandwidth-delay product is what is in flight when the link is just full and the queue empty.",
                "Bytes = the link's goodput limit in bit/s, times the round trip in s, over 8; int(...) makes it whole.",
                ("nl.run(path(own.run_delay_ms, own.run_mbps), [nl.Tcp('h1', 'h2', window_bytes=...)], duration_s=3)"),
            ],
        )

        def full_link_connections(
            rate_mbps: float, c: float = theory.MATHIS_RANDOM_C, rtt_ms: float = own.big_rtt_ms
        ) -> float:
            """Return the number of connections, with its fraction, that fill a link of this rate by the square-root
            formula with the constant `c`, this round-trip time and the student's loss rate.
            """
            return rate_mbps / float(theory.mathis_mbps(theory.MSS_BYTES, rtt_ms, own.big_loss_rate, c))

        big_limit_mbps = theory.tcp_goodput_limit_mbps(own.big_mbps)
        big = own.big_mbps, own.big_rtt_ms, own.big_loss_rate
        rounded = min_connections(*big, c=_ROUNDED_C)
        periodic = "This is with the constant 1.22 for periodic losses. These are random: 1.31."
        self.needed = _Connections(
            rounded=rounded,
            name="connections that fill the big link",
            expected=lambda: float(min_connections(*big)),
            unit="",
            # A connection fewer does not fill the link.
            tolerance=0.3 / min_connections(*big),
            whole=True,
            misconceptions=slips(
                min(min_connections(*big), rounded) - 1,
                "With so many a little is left over: round up.",
                math.ceil(full_link_connections(own.big_mbps)),
                "The link's rate carries headers, too: of 1514 bytes 1448 are data.",
                math.ceil(full_link_connections(big_limit_mbps, theory.MATHIS_C)),
                periodic,
                math.ceil(full_link_connections(big_limit_mbps, _ROUNDED_PERIODIC_C)),
                periodic,
                full_link_connections(own.big_mbps),
                "The link's rate carries headers, too: of 1514 bytes 1448 are data.",
                full_link_connections(big_limit_mbps, theory.MATHIS_C),
                periodic,
                full_link_connections(big_limit_mbps) * 8,
                "A segment has bytes, a rate counts bits: a byte has 8 bits.",
                full_link_connections(big_limit_mbps) * math.sqrt(own.big_loss_rate),
                "One connection's rate has the square root of the loss rate in it, not the loss rate itself.",
            ),
            right="Each further connection brings as much as the first, until the link is full.",
            hints=[
                "What does one connection get by the formula? How often does that go into what the link carries?",
                "nl.theory.mathis_mbps(...) is for one, with c=nl.theory.MATHIS_RANDOM_C; the link carries 1448 of 1514 bytes.",
                "Divide the second by the first. Does the next whole number below fill the link, or the one above?",
            ],
        )

        self.most = _most(own)


def _most(own: StudentValues) -> Threshold:
    """Return the check of the largest number of h1's connections that leaves h2 the goodput of a student's copy."""
    kept_mbps, neighbours = float(own.kept_mbps), int(own.neighbours)
    slow_limit_mbps = float(theory.tcp_goodput_limit_mbps(SLOW_MBPS))

    def beside(limit_mbps: float) -> int:
        """Return the largest number of h1's connections that leaves h2 its goodput if all share `limit_mbps` equally."""
        return math.floor(neighbours * limit_mbps / kept_mbps) - neighbours

    rule = beside(slow_limit_mbps)
    headers = "the link's 50 Mbit/s carry headers, too: of 1514 bytes 1448 are data"
    rounded = "with so many h2 has a little less already: round down"
    return Threshold(
        name="connections that h1 may open",
        scenario=lambda streams: settings.shared_path(streams, neighbours, own.free_loss_rate),
        made_by="beside_h2(my_most)",
        values=lambda table: table.loc[table["src"] == "h2"].set_index("seed")["goodput_mbps"],
        quantity="h2's mean",
        limit=kept_mbps,
        unit="Mbit/s",
        rule=lambda: rule,
        rule_slips={
            math.floor(slow_limit_mbps / kept_mbps): "these Mbit/s are those of all of h2's connections together",
            own.most_free: "up to so many h2 loses nothing by the rule, and here it may lose something",
            rule + neighbours: "these are all connections on the link, and h2 has some of them",
            beside(
                (1 - own.free_loss_rate) * slow_limit_mbps
            ): "the rule leaves out that the lost packets fill the link, too",
            beside(SLOW_MBPS): headers,
            rule + 1: f"{rounded}. Or: {headers}" if beside(SLOW_MBPS) == rule + 1 else rounded,
        },
        right=(
            "Which host starts first? Swap the two flows in beside_h2 and look at the mean again: on a full link the "
            "first host stays ahead for seconds."
        ),
        hints=[
            "By the rule a full link is shared equally by all connections. At how many of them has h2 just enough?",
            'my_last[my_last["src"] == "h2"] are the rows of h2, one for each seed. Begin at the rule\'s number, with few seeds.',
            "Go on by one connection at a time until h2's mean is on the other side. Then take more seeds for these two numbers.",
        ],
    )
