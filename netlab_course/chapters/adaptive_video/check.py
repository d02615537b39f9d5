"""Checks of the chapter "Adaptive video", which run the student's rules."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from netlab import theory
from netlab.base.errors import NetlabError
from netlab.base.values import is_number, to_python
from netlab.network.trace import Trace
from netlab.runs.replications import interval
from netlab_course.answers import answer_in_words, bare_word, error_in_words, is_stub
from netlab_course.chapters.adaptive_video import settings
from netlab_course.chapters.adaptive_video.player import LADDER_MBPS, STALL_COST_MBPS, Player, experience_mbps
from netlab_course.checks import Number, Result, Status
from netlab_course.conditions import Build, Condition, kept_for_a_proxy
from netlab_course.function_checks import Function
from netlab_course.misconceptions import formula_slips, slips
from netlab_course.output_limit import last_lines
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import MAX_SEEDS, MIN_SEEDS, VERDICTS
from netlab_course.rounded_intervals import places
from netlab_user_code.method_calls import RemoteObject

PROVIDED_RULES = {
    "Throughput": settings.Throughput(),
    "Buffer": settings.Buffer(),
    # Lower constants have less than 2.4 Mbit/s, and the highest stalls on all traces here for minutes.
    **{f"always {LADDER_MBPS[quality]}": settings.Always(quality) for quality in (2, 3)},
}
"""The rules that the student's own must beat, by name; none keeps anything between chunks."""
DIFFERENCE_OFF_MBPS = 0.02
LAST_BEGIN_S = 120
"""The length of the trace in s: a beginning from there on is one of the others again."""


@dataclass(kw_only=True, repr=False)
class Rule(Build):
    """A check of a rule's class, whose videos on some traces must fulfil conditions."""

    kind: type = dict
    videos: Callable[[type | RemoteObject], dict[str, Player]]
    """Takes the class and returns its videos, by the name under which the conditions find them."""

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a rule's class: not attempted without a method `on_chunk`, failed if a video with it
        raises an error, else by the conditions on its videos, which are played here.
        """
        if not isinstance(answer, type | RemoteObject):
            text = f"expected a class, got {answer_in_words(answer)}; pass its name, without brackets."
            return self._result(Status.FAILED, text)
        if isinstance(answer, type) and not callable(getattr(answer, "on_chunk", None)):
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet: the class has no method on_chunk.")
        try:
            with last_lines():
                videos = self.videos(answer)
        except NetlabError as error:
            return self._result(Status.FAILED, f"a video with it ended: {error}")
        except Exception as error:  # noqa: BLE001 (whatever a student's code raises is an answer to comment on)
            return self._result(Status.FAILED, f"a video with it ended{error_in_words(error)}")
        return super()._judge(videos)


def _player(traces: Mapping[str, Trace]) -> Callable[[type | RemoteObject], dict[str, Player]]:
    """Return a function that plays a video by a rule's class on each of these traces (by name) and returns the players
    by the trace's name, the same ones for the same proxy of a grader.
    """
    return kept_for_a_proxy(lambda rule: {name: settings.watch(rule, trace) for name, trace in traces.items()})


@cache
def play_provided(name: str, trace: Trace, chunks: int = 75) -> Player:
    """Play a video of `chunks` chunks on a trace by the rule with this name in `PROVIDED_RULES`, and return its player;
    the result is cached.
    """
    return settings.watch(PROVIDED_RULES[name], trace, chunks)


def _better_than_provided(name: str, trace: Trace, words: str) -> Condition:
    """Return the condition that the quality of experience of a student's video on a trace is above those of all provided
    rules; `name` is the key of the video among the student's, and `words` name the trace in messages.
    """

    def bars() -> dict[str, float]:
        """Return the quality of experience in Mbit/s of each provided rule on the trace, by the rule's name."""
        return {rule: play_provided(rule, trace).experience_mbps for rule in PROVIDED_RULES}

    return Condition(
        lambda videos: videos[name].experience_mbps > max(bars().values()),
        f"On {words} its quality of experience must exceed that of Throughput, of Buffer and of each constant quality.",
        "Print experiments.table of them all: is it the quality, the stalls or the switches?",
        lambda videos: (
            f"{videos[name].experience_mbps:.2f} Mbit/s with {videos[name].stall_s:.1f} s of stalls; "
            + ", ".join(f"{rule} {bar:.2f}" for rule, bar in bars().items())
        ),
    )


def _on_line(
    buffer_s: float,
    begin_s: float = settings.RESERVOIR_S,
    end_s: float = settings.RESERVOIR_S + settings.CUSHION_S,
    lowest_mbps: float = LADDER_MBPS[0],
    highest_mbps: float = LADDER_MBPS[-1],
) -> int:
    """Return the highest quality whose rate is not above a line through the seconds of the buffer, which rises between
    these times and these rates; 0 if all are above it.
    """
    part = min(1.0, max(0.0, (buffer_s - begin_s) / (end_s - begin_s)))
    line_mbps = lowest_mbps + part * (highest_mbps - lowest_mbps) + 1e-9
    return max(0, sum(rate <= line_mbps for rate in LADDER_MBPS) - 1)


def _nearest(buffer_s: float) -> int:
    """Return the quality whose rate is nearest to the line of the buffer-based rule at these seconds of the buffer."""
    part = min(1.0, max(0.0, (buffer_s - settings.RESERVOIR_S) / settings.CUSHION_S))
    line_mbps = LADDER_MBPS[0] + part * (LADDER_MBPS[-1] - LADDER_MBPS[0])
    return int(np.argmin([abs(rate - line_mbps) for rate in LADDER_MBPS]))


def chunk_mbps(own: StudentValues) -> float:
    """Return the theoretical throughput in Mbit/s of a chunk of a student's size on a student's path."""
    return float(own.chunk_kb * 8 / theory.short_flow_ms(own.chunk_kb * 1000, own.path_mbps, settings.RTT_MS))


class Checks:
    """The checks of the chapter, each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.stall = Function(
            name="the stall after a fall",
            same_as=(settings.stall_s,),
            reference=settings.stall_s,
            # Without a stall in the first, a difference the wrong way round is not taken for a missing stall.
            cases=[
                {"left_mbit": 20, "rate_mbps": 5, "buffer_s": 12},
                {"left_mbit": own.worked_mbit, "rate_mbps": own.worked_rate_mbps, "buffer_s": 10},
                {"left_mbit": 38.4, "rate_mbps": 1, "buffer_s": 16},
            ],
            unit="s",
            tolerance=0.005,
            misconceptions=formula_slips(
                lambda _q: 0.0,
                "Here the rest of the chunk takes longer than the buffer lasts: the picture does stand still.",
                lambda q: q.left_mbit / q.rate_mbps - q.buffer_s,
                "If the chunk comes in time nothing stands still: a stall is never below 0.",
                lambda q: q.left_mbit / q.rate_mbps,
                "That is how long the rest takes. The video plays on from the buffer meanwhile.",
                lambda q: max(0.0, q.left_mbit * 8 / q.rate_mbps - q.buffer_s),
                "What is left is in Mbit already: no factor of 8.",
                lambda q: max(0.0, q.left_mbit * q.rate_mbps - q.buffer_s),
                "Mbit times Mbit/s are no seconds: how long does the rest take at this rate?",
                lambda q: max(1.0, q.left_mbit / q.rate_mbps - q.buffer_s),
                "If the chunk comes in time nothing stands still: then the stall is 0, not 1.",
                lambda q: q.left_mbit / q.rate_mbps + q.buffer_s,
                "The video plays from the buffer while the rest comes: is that added to the stall?",
                lambda q: max(0.0, q.buffer_s - q.left_mbit / q.rate_mbps),
                "That is what the buffer still holds when the chunk comes.",
                lambda q: max(0.0, q.left_mbit - q.rate_mbps * q.buffer_s),
                "That is in Mbit: what has not come when the buffer is empty. How long does it take?",
            ),
            right="A rule by throughput is safe only as long as the rate falls more slowly than the buffer lasts.",
            hints=[
                "How long does the rest of the chunk take? How long does the buffer last?",
                "The picture stands still for the difference, if the rest takes longer.",
            ],
        )
        self.buffer = Function(
            name="the quality of a buffer",
            same_as=(settings.buffer_quality,),
            reference=settings.buffer_quality,
            # A line that ends later than at 15 s is told first; then one that is wrong at 10 s, then one that begins earlier.
            # At 13 s the nearest rate is above the line, and no line of the mistakes below reaches it.
            cases=[{"buffer_s": seconds} for seconds in (20, 15, 10, 2, 5, 7, 13, 9.5, 12, 5.7)],
            unit="",
            tolerance=0.001,
            misconceptions=formula_slips(
                lambda q: _on_line(q.buffer_s, lowest_mbps=0),
                "The line begins at the lowest rate, 0.6 Mbit/s, not at 0.",
                lambda q: _on_line(q.buffer_s, highest_mbps=LADDER_MBPS[0] + LADDER_MBPS[-1]),
                "The line rises from 0.6 to 9.6 Mbit/s: by 9.0, not by 9.6.",
                lambda q: min(4, max(0, int((q.buffer_s - 5) / 10 * 4))),
                "This is a line in the number of the quality. The line is in Mbit/s, and the qualities are not evenly spaced.",
                lambda q: _on_line(q.buffer_s, begin_s=0),
                "The line is at the lowest rate up to 5 s, and rises from there to 15 s.",
                lambda q: _on_line(q.buffer_s, end_s=20),
                "The line is at the highest rate from 15 s on, and at the lowest up to 5 s.",
                lambda q: _nearest(q.buffer_s),
                "This is the rate that is nearest to the line; asked for is the highest that is not above it.",
                lambda q: LADDER_MBPS[settings.buffer_quality(q.buffer_s)],
                "This is the rate in Mbit/s; a rule returns its place in the ladder.",
                lambda q: min(4, settings.buffer_quality(q.buffer_s) + 1),
                "This rounds up: the rate must not be above the line.",
                lambda q: settings.buffer_quality(q.buffer_s) + 1,
                "This counts from 1: the places in the ladder begin at 0.",
            ),
            right="It never looks at the network: a full buffer is what says that the rate was high enough (Huang and others).",
            hints=[
                "The line goes from 0.6 Mbit/s at 5 s to 9.6 Mbit/s at 15 s; below and above it is flat.",
                "line = 0.6 + 9.0 * part, where part is (buffer_s - 5) / 10, at least 0 and at most 1.",
                "Of the five rates take the highest that is not above the line, and return its place.",
            ],
        )
        self.experience = Function(
            name="the quality of experience",
            reference=experience_mbps,
            cases=[
                {"qualities_mbps": [2.4, 2.4, 1.2], "stall_s": 0.3},
                {"qualities_mbps": [4.8, 4.8], "stall_s": 0},
                {"qualities_mbps": [0.6, 9.6, 0.6, 9.6], "stall_s": 2},
            ],
            unit="Mbit/s",
            tolerance=0.005,
            misconceptions=formula_slips(
                lambda q: float(np.mean(q.qualities_mbps)) - STALL_COST_MBPS * q.stall_s / len(q.qualities_mbps),
                "The changes between chunks are missing.",
                lambda q: experience_mbps(q.qualities_mbps, 0),
                "The stalls are missing.",
                lambda q: experience_mbps(q.qualities_mbps, 0) - STALL_COST_MBPS * q.stall_s,
                "The stalls, too, are divided by the number of chunks.",
                lambda q: (
                    (sum(q.qualities_mbps) - float(np.diff(q.qualities_mbps).sum()) - STALL_COST_MBPS * q.stall_s)
                    / len(q.qualities_mbps)
                ),
                "A change counts upwards and downwards: take its size.",
            ),
            hints=[
                "Three sums: the rates, the sizes of their changes, and 9.6 times the stalls.",
                "zip(qualities_mbps, qualities_mbps[1:]) has each chunk with the next one.",
            ],
        )
        on_path_mbps = chunk_mbps(own)
        self.throughput = Number(
            name="throughput of a chunk",
            same_as=(theory.slow_start_rounds, theory.short_flow_ms),
            expected=on_path_mbps,
            unit="Mbit/s",
            # Without headers it is 1.2 % more at least. A measured chunk is 0.6 % slower, and a count by hand, without the
            # segment of each round trip, 0.8 % faster at most.
            tolerance=0.01,
            measured=True,
            misconceptions=slips(
                float(own.path_mbps),
                "That is the rate of the link. A new connection begins with ten segments for each round trip.",
                own.path_mbps * 1448 / 1514,
                "That is what the full link carries. A new connection begins with ten segments for each round trip.",
                own.chunk_kb * 8 / (own.chunk_kb * 8 / on_path_mbps - settings.RTT_MS),
                "The handshake is missing: the first segment leaves a round trip after the SYN.",
                own.chunk_kb * 8 / (settings.RTT_MS * 1.5 + own.chunk_kb * 8 / (own.path_mbps * 1448 / 1514)),
                "This lacks slow start: the link waits for acknowledgements until a window lasts for a round trip.",
                own.chunk_kb * 8 / (own.chunk_kb * 8 / on_path_mbps - settings.RTT_MS / 2),
                "Half a round trip is missing. The last segment has to get to the phone when it has left.",
                own.chunk_kb * 8 / (own.chunk_kb * 8 / on_path_mbps + settings.RTT_MS / 2),
                "Half a round trip is too much. The clock stops at the last byte, not at its acknowledgement.",
                on_path_mbps / 8,
                "The chunk is in kB: 8 bits to a byte.",
            ),
            right="A player that takes this for the rate of the path is too careful, and the shorter its chunks, the more so.",
            hints=[
                "One round trip for the handshake, then ten segments in one, twenty in the next. How long does the link need for each?",
                "A window that lasts for a round trip keeps the link busy to the end: from there on count the segments that are left.",
                "The last segment is at the phone half a round trip after it left. Throughput is kB times 8 over ms.",
            ],
        )
        mine, other = (
            settings.mobile("train", own.scale, own.begin_s),
            settings.mobile(settings.OTHER_TRACE, settings.OTHER_SCALE),
        )
        self.mine = Rule(
            name="your rule",
            videos=_player({"own": mine, "other": other}),
            conditions=[
                _better_than_provided("own", mine, "your trace"),
                _better_than_provided("other", other, "a walk"),
            ],
            right="It was tried on two traces. On how many others does it hold?",
            hints=[
                "Throughput switches at each change of the rate; Buffer asks for the highest quality and then stalls. Which costs more?",
                "Keep the quality unless there is a reason: go up by one only when the buffer is long and the throughput carries it.",
                "Go down by one only if a chunk of the present quality would leave too few seconds in the buffer.",
                "Which quality costs more in changes, up to it and back, than its few chunks bring? A rule may leave it out.",
            ],
        )
        self.shown = BeginningsComparison(
            name="is it better",
            scale=own.scale,
            right="An interval over beginnings of one trace says nothing about other traces: that would refute it or not.",
            hints=[
                "differences = [watch(Mine, trace, 30).experience_mbps - watch(Throughput, trace, 30).experience_mbps for each beginning].",
                "nl.interval(differences) is mean and half width; 0 is above it, inside or below.",
            ],
        )


@dataclass(kw_only=True, repr=False)
class BeginningsComparison(Build):
    """A check of a comparison of two rules over beginnings of a trace: the values, the interval and the verdict."""

    kind: type = dict
    scale: float
    """The scale of the student's trace."""
    replay: Callable[[Any, Trace, int], Player] = settings.watch
    """Plays a video again, to compare values."""
    _last: tuple[Any, ...] = field(default=(), init=False, compare=False)
    """The last comparison that was replayed: rule, beginnings, differences, and the result."""

    def _usual_conditions(self) -> list[Condition]:
        """Return the conditions on the beginnings, the differences, the interval and the verdict of a comparison, in
        this order.
        """
        return [
            Condition(
                lambda found: _are_beginnings(found["begins_s"]),
                f"There must be {MIN_SEEDS} to {MAX_SEEDS} different beginnings at equal distances, even seconds below {LAST_BEGIN_S}.",
                "begins_s is a list such as list(range(0, 96, 8)): none is left out for what it would show.",
                lambda found: (
                    f"{len(set(found['begins_s']))} different of {len(found['begins_s'])}: {found['begins_s']}"
                ),
            ),
            Condition(
                lambda found: self._wrong_beginning(found) is None,
                "Each difference must be that of your rule and Throughput on your trace from its beginning, 30 chunks each.",
                "Mine first, then Throughput, in the order of begins_s; is it your scale?",
                lambda found: f"from {self._wrong_beginning(found)} s on another value comes",
            ),
            Condition(
                lambda found: _is_interval_of(found["interval"], found["differences"]),
                "The interval must be that of the differences.",
                "nl.interval(differences) returns mean and half width.",
                lambda found: str(tuple(round(float(each), 3) for each in found["interval"])),
            ),
            Condition(
                lambda found: bare_word(found["verdict"]) in places(found["interval"], 0.0),
                "The verdict must say where 0 is.",
                f"It is one of {', '.join(VERDICTS)}: 0 is above the interval, inside it or below.",
                lambda found: str(found["verdict"]),
            ),
        ]

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a comparison, a dict with `rule`, `begins_s`, `differences`, `interval` and `verdict`;
        if one of the last four is missing or still `...`, it is not attempted.
        """
        parts = ("begins_s", "differences", "interval", "verdict")
        if isinstance(answer, dict) and any(is_stub(answer.get(part)) for part in parts):
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
        # The rule's class may have changed since the last comparison.
        self._last = ()
        rule = answer.get("rule") if isinstance(answer, dict) else None
        if str(getattr(rule, "__module__", "")).startswith("netlab_course."):
            return self._result(Status.FAILED, f"the rule must be a class of your own, got {answer_in_words(rule)}.")
        return super()._judge(answer)

    def _wrong_beginning(self, found: dict[str, Any]) -> float | None:
        """Play the rule of a comparison and Throughput again from all its beginnings, unless the last call had the same
        comparison; return the first beginning in s from which their difference is not the student's, None if there is
        none. Raises ValueError for beginnings that do not exist, or not as many differences.
        """
        if not _are_beginnings(found["begins_s"]):
            raise ValueError("no such beginnings")
        comparison = (found["rule"], list(found["begins_s"]), list(found["differences"]))
        if self._last[:-1] != comparison:
            pairs = zip(comparison[1], comparison[2], strict=True)
            wrong = (begin_s for begin_s, difference in pairs if self._differs(comparison[0], begin_s, difference))
            self._last = (*comparison, next(wrong, None))
        return None if self._last[-1] is None else float(self._last[-1])

    def _differs(self, rule: Any, begin_s: float, difference: float) -> bool:
        """Return whether the experience of a rule minus that of Throughput, from this beginning, is not `difference`."""
        trace = settings.mobile("train", self.scale, begin_s)
        own = self.replay(rule, trace, settings.SHORT_CHUNKS).experience_mbps
        bar = self.replay(settings.Throughput, trace, settings.SHORT_CHUNKS).experience_mbps
        return abs(own - bar - difference) > DIFFERENCE_OFF_MBPS


def _are_beginnings(begins_s: Sequence[float]) -> bool:
    """Return whether these are enough different beginnings of the trace, which has a rate for each two seconds."""
    exist = all(
        is_number(to_python(begin_s)) and 0 <= begin_s < LAST_BEGIN_S and begin_s % 2 == 0 for begin_s in begins_s
    )
    distances_s = {later_s - begin_s for begin_s, later_s in itertools.pairwise(sorted(begins_s))}
    return exist and MIN_SEEDS <= len(set(begins_s)) == len(begins_s) <= MAX_SEEDS and len(distances_s) == 1


def _is_interval_of(found: Sequence[float], differences: Sequence[float]) -> bool:
    """Return whether an interval (mean and half width) is that of these differences, apart from rounding; False if they
    have no interval, such as fewer than two.
    """
    try:
        return bool(np.allclose(found, interval(differences), rtol=0.05, atol=0.005))
    except NetlabError:
        return False
