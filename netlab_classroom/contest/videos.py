"""The contest of rules for adaptive video: each plays videos over traces that nobody has seen."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netlab import theory
from netlab.base.errors import NetlabError
from netlab.network.trace import Trace
from netlab_classroom.contest.drawing import Plane
from netlab_classroom.contest.game import Game, TrialResult, Wording
from netlab_classroom.contest.scoring import DIGITS, FULL_POINTS
from netlab_classroom.grading.guest_calls import StudentCodeError
from netlab_classroom.grading.helper import stop_requested
from netlab_course.chapters.adaptive_video import settings
from netlab_course.chapters.adaptive_video.player import LADDER_MBPS, Player

CHUNKS = 75


class HalfThroughput:
    """The rule that takes the highest quality whose rate is at most half of the throughput, and never goes up by more
    than one.
    """

    def __init__(self) -> None:
        """Begin with the lowest quality, 0."""
        self.last = 0

    def on_chunk(self, _buffer_s: float, throughput_mbps: float, _sizes: Sequence[int]) -> int:
        """Return the quality of the next chunk, an index of LADDER_MBPS: the highest whose rate is at most half of
        `throughput_mbps`, the throughput of the chunk before, but at most one above the last quality.
        """
        allowed = [quality for quality, rate in enumerate(LADDER_MBPS) if rate <= throughput_mbps / 2]
        self.last = min(self.last + 1, max(allowed, default=0))
        return self.last


RULES: dict[str, object] = {"Throughput": settings.Throughput, "Buffer": settings.Buffer, "Careful": HalfThroughput}


@dataclass(frozen=True)
class Video:
    """A video of the contest: five minutes over a path whose rate follows a trace.

    Attributes
    ----------
    key, title : str
        Its name in tables, and in words.
    trace : Trace
        The rate of the last link over time; it is repeated.
    """

    key: str
    title: str
    trace: Trace

    @property
    def capacity_mbps(self) -> float:
        """The highest mean rate in Mbit/s of a video that plays for ever without stalls: TCP's goodput at the trace's
        mean rate, but at most the highest rate of the ladder.
        """
        return min(LADDER_MBPS[-1], theory.tcp_goodput_limit_mbps(self.trace.mean_mbps()))


def draw(seed: str) -> list[Video]:
    """Return the videos that follow from a seed (any text), in the order of the board: three of netlab's traces with
    random scale and start, a rate that falls for a while, and a steady rate; the same seed gives the same traces.

    Examples
    --------
    >>> [video.key for video in draw("1")]
    ['train', 'walk', 'wifi', 'falls', 'steady']
    """
    chance = random.Random(f"{seed}/videos")  # noqa: S311 (no secret but the seed)

    def part(name: str, low: float, high: float) -> Trace:
        """Return netlab's trace of this name, with all rates times a random number between `low` and `high`, from a
        random time on; its beginning follows its end.
        """
        return settings.mobile(name, round(chance.uniform(low, high), 3), settings.STEP_S * chance.randrange(60))

    steady_mbps = round(chance.uniform(1.5, 6), 2)
    return [
        Video("train", "a train", part("train", 0.2, 0.4)),
        Video("walk", "a walk", part("walk_4g", 0.2, 0.4)),
        Video("wifi", "a crowded Wi-Fi", part("crowded_wifi", 0.2, 0.5)),
        Video("falls", "a rate that falls for a while", _falling_rate(chance)),
        Video("steady", "a steady rate", Trace([(0.0, steady_mbps)], duration_s=60.0)),
    ]


def _falling_rate(chance: random.Random) -> Trace:
    """Return a trace of 100 s, drawn with the random generator `chance`: a high rate, then a low one for 10 to 40 s
    that begins between 20 and 50 s, then the high one again.
    """
    high_mbps, low_mbps = round(chance.uniform(5, 9), 2), round(chance.uniform(0.5, 1.5), 2)
    at_s, length_s = round(chance.uniform(20, 50)), round(chance.uniform(10, 40))
    return Trace([(0.0, high_mbps), (float(at_s), low_mbps), (float(at_s + length_s), high_mbps)], duration_s=100.0)


def score(video: Video, player: Player) -> dict[str, float]:
    """Return the score of a rule by the player that has played a video with it: "points" (100 times the quality of
    experience over the video's capacity, cut to 0 to 100), "experience" and mean "rate" in Mbit/s, "stall_s" in s, and
    "changes", the number of changes of the quality.
    """
    rates = player.qualities_mbps
    points = min(1.0, max(0.0, player.experience_mbps / video.capacity_mbps))
    return {
        "points": round(FULL_POINTS * points, DIGITS),
        "experience": round(player.experience_mbps, DIGITS + 2),
        "rate": round(sum(rates) / len(rates), DIGITS + 2),
        "stall_s": round(player.stall_s, DIGITS + 2),
        "changes": float(sum(before != after for before, after in itertools.pairwise(rates))),
    }


class Videos(Game):
    """The game of rules for adaptive video, whose trials are videos."""

    key = "videos"
    methods = ("on_chunk",)
    unfinished_score: Mapping[str, float] = {
        "points": 0.0,
        "experience": 0.0,
        "rate": 0.0,
        "stall_s": 0.0,
        "changes": 0.0,
    }
    displayed_trial = "train"
    reference = "Throughput"
    wording = Wording(
        heading="Rate and stalls",
        about="Mean rate of all videos, and the sum of their stalls. Good is right and below.",
        x_label="Mean rate of the video (Mbit/s)",
        y_label="Stalls (s)",
        series="quality",
        series_label="Rate of the chunk (Mbit/s)",
    )

    def draw(self, seed: str) -> list[Video]:
        """Return the videos that follow from a seed (any text), in the order of the board."""
        return draw(seed)

    def references(self) -> dict[str, object]:
        """Return netlab's own rules for video players, which compete with the students', as classes by name."""
        return dict(RULES)

    def is_own(self, reference: str) -> bool:
        """Return whether the reference competitor of this name is one of netlab's rules; all are."""
        return reference in RULES

    def play(self, trial: Video, competitor: object) -> TrialResult:
        """Play a video by a rule (a class, or a proxy for a student's), and return its score (see `score`) and, as
        steps over time, pairs of the time in s and the rate of the chunk in Mbit/s. Raises StudentCodeError if the rule
        returns no valid quality, other NetlabErrors of the sandbox, and KeyboardInterrupt when the contest is stopped.
        """
        if stop_requested.is_set():
            raise KeyboardInterrupt
        try:
            player = settings.watch(competitor, trial.trace, CHUNKS)
        except NetlabError as error:
            # The player's own error; those of engines and of the sandbox have classes of their own.
            if type(error) is NetlabError:
                raise StudentCodeError(str(error)) from None
            raise
        # A quality stays until the next one: each change is drawn as a step.
        series: list[list[float]] = []
        for chunk, rate_mbps in zip(player.history, player.qualities_mbps, strict=True):
            asked_s = round(chunk.asked_s, 3)
            series += [[asked_s, series[-1][1]], [asked_s, rate_mbps]] if series else [[asked_s, rate_mbps]]
        return TrialResult(score(trial, player), series)

    def spot(self, trials: Sequence[Video], scores: Mapping[str, Mapping[str, float]]) -> tuple[float, float] | None:
        """Return a rule's place in the figure by its scores in these videos: the mean rate of all videos in Mbit/s, and
        the sum of their stalls in s; None if it has not finished one of them.
        """
        found = [scores[trial.key] for trial in trials]
        if not all(each["rate"] for each in found):
            return None
        return sum(each["rate"] for each in found) / len(found), sum(each["stall_s"] for each in found)

    def plane(self, spots: Sequence[tuple[float, float]]) -> Plane:
        """Return the axes of the figure for these places (rate in Mbit/s and stalls in s): from 0 to a little above the
        highest rate, and from 0 to a little above the longest stalls.
        """
        rates, stalls = [rate for rate, _ in spots], [stall_s for _, stall_s in spots]
        return Plane((0.0, max([1.0, *rates]) * 1.05), (0.0, max([10.0, *stalls]) * 1.05))

    def spot_in_words(self, x: float, y: float) -> str:
        """Return a place in the figure as text: the mean rate `x` in Mbit/s, and the stalls `y` in s."""
        return f"{x:.2f} Mbit/s, {y:.1f} s of stalls"
