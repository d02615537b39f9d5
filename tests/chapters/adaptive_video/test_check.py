"""The chapter's checks: right answers pass, wrong ones are told their mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import netlab as nl
from netlab_course.chapters import adaptive_video
from netlab_course.chapters.adaptive_video import check, settings
from netlab_course.chapters.adaptive_video.player import LADDER_MBPS, Player, experience_mbps
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Status
from tests.chapters.checking import failure_text, is_right_but_netlabs, passes

chapter = adaptive_video.begin()


class Careful:
    """A rule by buffer and throughput; it passes on the printed trace."""

    def __init__(self) -> None:
        self.quality = 0

    def on_chunk(self, buffer_s: float, throughput_mbps: float, sizes: list[int]) -> int:
        if throughput_mbps and sizes[self.quality] * 8e-6 / throughput_mbps > buffer_s - 6:
            self.quality = max(0, self.quality - 1)
        elif buffer_s >= 10 and self.quality < 3 and LADDER_MBPS[self.quality + 1] <= 1.3 * throughput_mbps:
            self.quality += 1
        return self.quality


class Greedy:
    def on_chunk(self, _buffer_s: float, _throughput_mbps: float, _sizes: list[int]) -> int:
        return 4


@pytest.mark.parametrize("token", ["", "anna", "ben", "cleo"])
def test_right_answers_pass(token: str) -> None:
    own = adaptive_video.begin(token)
    passes(
        judging_checks(own)["stall"], lambda left_mbit, rate_mbps, buffer_s: max(0, left_mbit / rate_mbps - buffer_s)
    )
    is_right_but_netlabs(judging_checks(own)["buffer"], settings.buffer_quality)
    is_right_but_netlabs(judging_checks(own)["experience"], experience_mbps)
    chunk_bytes = own.own.chunk_kb * 1000
    passes(
        judging_checks(own)["throughput"],
        chunk_bytes * 8e-3 / nl.theory.short_flow_ms(chunk_bytes, own.own.path_mbps, 40),
    )


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda left_mbit, rate_mbps, buffer_s: left_mbit / rate_mbps - buffer_s, "a stall is never below 0"),
        (lambda left_mbit, rate_mbps, buffer_s: left_mbit / rate_mbps, "plays on from the buffer"),
        (lambda left_mbit, rate_mbps, buffer_s: left_mbit / rate_mbps + buffer_s, "is that added to the stall?"),
        (lambda left_mbit, rate_mbps, buffer_s: max(0, 8 * left_mbit / rate_mbps - buffer_s), "no factor of 8"),
        (lambda left_mbit, rate_mbps, buffer_s: max(0, left_mbit - rate_mbps * buffer_s), "That is in Mbit"),
        (lambda left_mbit, rate_mbps, buffer_s: left_mbit * rate_mbps - buffer_s, "are no seconds"),
        (lambda left_mbit, rate_mbps, buffer_s: max(1, left_mbit / rate_mbps - buffer_s), "is 0, not 1"),
        (lambda left_mbit, rate_mbps, buffer_s: 0, "the picture does stand still"),
        (lambda left_mbit, rate_mbps, buffer_s: max(0, int(left_mbit / rate_mbps / buffer_s - 1)), "does stand still"),
        (lambda left_mbit, rate_mbps, buffer_s: max(0, buffer_s - left_mbit / rate_mbps), "the buffer still holds"),
    ],
)
def test_wrong_stalls_are_explained(answer: Callable[..., float], sentence: str) -> None:
    assert sentence in failure_text(judging_checks(chapter)["stall"], answer)


def test_wrong_maps_are_explained() -> None:
    assert "in the number of the quality" in failure_text(
        judging_checks(chapter)["buffer"], lambda buffer_s: min(4, max(0, int((buffer_s - 5) / 10 * 4)))
    )
    assert "returns its place in the ladder" in failure_text(
        judging_checks(chapter)["buffer"], lambda buffer_s: LADDER_MBPS[settings.buffer_quality(buffer_s)]
    )
    assert "counts from 1" in failure_text(
        judging_checks(chapter)["buffer"], lambda buffer_s: settings.buffer_quality(buffer_s) + 1
    )
    assert (
        "this rounds up"
        in failure_text(
            judging_checks(chapter)["buffer"], lambda buffer_s: min(4, settings.buffer_quality(buffer_s) + 1)
        ).lower()
    )


def line(begin_s: float, end_s: float, lowest_mbps: float = 0.6, rise_mbps: float = 9.0) -> Callable[[float], int]:
    """A map by a line between these times and rates."""

    def quality(buffer_s: float) -> int:
        part = min(1, max(0, (buffer_s - begin_s) / (end_s - begin_s)))
        rates = [rate for rate in LADDER_MBPS if rate <= lowest_mbps + rise_mbps * part + 1e-9]
        return max(0, len(rates) - 1)

    return quality


def nearest(buffer_s: float) -> int:
    """A map to the rate that is nearest to the right line."""
    line_mbps = 0.6 + 9 * min(1, max(0, (buffer_s - 5) / 10))
    return min(range(5), key=lambda place: abs(LADDER_MBPS[place] - line_mbps))


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (line(0, 20), "at the highest rate from 15 s on"),
        (line(5, 20), "at the highest rate from 15 s on"),
        (line(0, 15), "at the lowest rate up to 5 s, and rises"),
        (line(5, 15, 0, 9.6), "not at 0."),
        (line(5, 15, 0.6, 9.6), "by 9.0, not by 9.6"),
        (nearest, "the rate that is nearest to the line"),
    ],
)
def test_wrong_lines_are_explained(answer: Callable[[float], int], sentence: str) -> None:
    passes(judging_checks(chapter)["buffer"], line(5, 15))
    assert sentence in failure_text(judging_checks(chapter)["buffer"], answer)


def test_a_trial_without_a_quality_is_no_sign_of_a_written_number() -> None:
    text = failure_text(judging_checks(chapter)["buffer"], lambda buffer_s: 4 if buffer_s > 12 else 3)
    assert "for buffer_s=2 got 3" in text and "is a number written into the function" not in text


def test_the_rate_of_the_link_is_not_what_a_chunk_measures() -> None:
    assert "begins with ten segments" in failure_text(judging_checks(chapter)["throughput"], chapter.own.path_mbps)
    took_ms = chapter.own.chunk_kb * 8 / check.chunk_mbps(chapter.own)
    assert "handshake is missing" in failure_text(
        judging_checks(chapter)["throughput"], chapter.own.chunk_kb * 8 / (took_ms - 40)
    )
    link_ms = chapter.own.chunk_kb * 1000 / 1448 * 1514 * 8e-3 / chapter.own.path_mbps
    for more_ms, sentence in ((-20, "Half a round trip is missing"), (20, "Half a round trip is too much")):
        message = failure_text(judging_checks(chapter)["throughput"], chapter.own.chunk_kb * 8 / (took_ms + more_ms))
        assert sentence in message
    assert "lacks slow start" in failure_text(
        judging_checks(chapter)["throughput"], chapter.own.chunk_kb * 8 / (60 + link_ms)
    )


@pytest.mark.parametrize("chunk_kb", settings.NUMBERS.values("chunk_kb"))
@pytest.mark.parametrize("path_mbps", settings.NUMBERS.values("path_mbps"))
def test_round_trips_counted_by_hand_are_near_enough_if_headers_count(chunk_kb: int, path_mbps: int) -> None:
    """Windows of 10, 20, ... segments until one lasts for a round trip, as the solution counts them, or with the first
    segment of each. Either way without headers the throughput is too large.
    """
    right_ms = nl.theory.short_flow_ms(chunk_kb * 1000, path_mbps, settings.RTT_MS)
    for frame_bytes in (1514, 1448):
        segment_ms = frame_bytes * 8e-3 / path_mbps
        for round_ms in (40, 40 + segment_ms):
            took_ms, left, window = 40.0, chunk_kb * 1000 / 1448, 10
            while window * segment_ms < round_ms:
                took_ms, left, window = took_ms + round_ms, left - window, 2 * window
            took_ms += left * segment_ms + 20
            off = right_ms / took_ms - 1
            assert left > 0 and (abs(off) < 0.009 if frame_bytes == 1514 else off > 0.012)


def test_a_throughput_without_headers_is_refused() -> None:
    on_path_mbps = check.chunk_mbps(chapter.own)
    assert "is something small forgotten" in failure_text(judging_checks(chapter)["throughput"], 1.0124 * on_path_mbps)
    passes(judging_checks(chapter)["throughput"], 0.994 * on_path_mbps)


def test_the_changes_of_a_video_count() -> None:
    assert "changes between chunks are missing" in failure_text(
        judging_checks(chapter)["experience"],
        lambda qualities_mbps, stall_s: (sum(qualities_mbps) - 9.6 * stall_s) / len(qualities_mbps),
    )


@pytest.mark.parametrize(
    ("buffer_s", "quality"), [(0, 0), (5, 0), (5.7, 1), (7, 2), (9.6, 2), (9.7, 3), (14.9, 3), (15, 4), (20, 4)]
)
def test_the_map_by_hand(buffer_s: float, quality: int) -> None:
    """The line is 0.6 + 0.9 * (buffer - 5): 1.23 at 5.7 s, 2.4 at 7 s, 4.74 and 4.83 around 9.67 s."""
    assert settings.buffer_quality(buffer_s) == quality


def test_object_that_is_no_rule_is_no_answer() -> None:
    assert "expected a class" in failure_text(judging_checks(chapter)["mine"], 3)
    stub = type("Mine", (), {"__doc__": "Nothing yet."})
    assert judging_checks(chapter)["mine"].judge(stub).status is Status.NOT_ATTEMPTED


@pytest.mark.library
def test_a_rule_that_looks_at_both_passes_until_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    check = judging_checks(chapter)["mine"]
    assert check.judge(Careful).status is Status.PASSED
    monkeypatch.setattr(Careful, "on_chunk", lambda _self, _buffer_s, _throughput_mbps, _sizes: 0)
    assert check.judge(Careful).status is Status.FAILED, "the class has changed in its place"


@pytest.mark.library
@pytest.mark.parametrize(
    ("rule", "sentence"),
    [(settings.Throughput, "On your trace its quality of experience must exceed"), (settings.Buffer, "2 of 2")],
)
def test_the_given_rules_do_not_beat_themselves(rule: type, sentence: str) -> None:
    assert sentence in failure_text(judging_checks(chapter)["mine"], rule)


@pytest.mark.library
@pytest.mark.parametrize("token", ["", "anna"])
@pytest.mark.parametrize("quality", range(5))
def test_no_constant_quality_meets_either_condition(token: str, quality: int) -> None:
    class Constant:
        def on_chunk(self, _buffer_s: float, _throughput_mbps: float, _sizes: list[int]) -> int:
            return quality

    assert "2 of 2" in failure_text(judging_checks(adaptive_video.begin(token))["mine"], Constant)


def test_a_rule_that_fits_one_trace_alone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The conditions by made-up videos: above all provided rules on the own trace, below them on the walk."""
    created = {"own": video([4, 4]), "other": video([0, 0])}
    monkeypatch.setattr(check, "play_provided", lambda _rule, _trace: video([2, 2]))
    own, other = judging_checks(chapter)["mine"].conditions
    assert own.holds_for(created) and not other.holds_for(created)
    assert (
        "0.60 Mbit/s with 0.0 s of stalls; Throughput 2.40, Buffer 2.40, always 2.4 2.40, always 4.8 2.40"
        in other.complaint(created)
    )


def test_errors_of_a_rule_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def on_chunk(self, _buffer_s: float, _throughput_mbps: float, sizes: list[int]) -> int:
            return sizes[9]

    class Rates:
        def on_chunk(self, _buffer_s: float, _throughput_mbps: float, _sizes: list[int]) -> float:
            return 2.4

    monkeypatch.setattr(settings, "watch", lambda rule, _trace: Player(rule).ask(0.0))
    assert "IndexError" in failure_text(judging_checks(adaptive_video.begin())["mine"], Broken)
    assert "whole number from 0 to 4, got 2.4" in failure_text(judging_checks(adaptive_video.begin())["mine"], Rates)


def video(qualities: list[int], takes_s: float = 1.0) -> Player:
    """A video of these qualities; each chunk takes `takes_s`."""
    answers = iter(qualities)
    rule = type("Rule", (), {"on_chunk": lambda *_given: next(answers)})()
    player = Player(rule, len(qualities))
    for place in range(len(qualities)):
        player.ask(place * takes_s)
        player.arrive((place + 1) * takes_s)
    return player


def comparison_check() -> check.BeginningsComparison:
    """The check of the comparison, whose replays have 2.4 Mbit/s with `Careful` and 1.2 with others."""
    found: check.BeginningsComparison = judging_checks(chapter)["shown"]
    found.replay = lambda rule, _trace, _chunks: video([2] if rule is Careful else [1])
    return found


def finding(**fields: Any) -> dict[str, Any]:
    differences = [1.2, 1.21, 1.19, 1.2, 1.2, 1.21, 1.19, 1.2]
    right = {"rule": Careful, "begins_s": list(range(0, 16, 2)), "differences": differences}
    return {**right, "interval": nl.interval(differences), "verdict": "below", **fields}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"begins_s": [0] * 8}, "8 to 30 different beginnings"),
        ({"begins_s": [*range(0, 14, 2), 120]}, "even seconds below 120. Seen: 8 different of 8: [0, 2, 4"),
        ({"begins_s": [*range(0, 14, 2), 13]}, "even seconds below 120"),
        ({"begins_s": [*range(0, 14, 2), 0.5]}, "even seconds below 120"),
        ({"begins_s": [*range(0, 14, 2), -2]}, "none is left out"),
        ({"begins_s": [*range(2, 16, 2), True]}, "even seconds below 120"),
        ({"begins_s": [*range(0, 14, 2), "14"]}, "even seconds below 120"),
        ({"begins_s": [0, 2], "differences": [1.2, 1.2]}, "8 to 30 different beginnings"),
        ({"differences": [-1.2] * 8}, "Each difference must be that of your rule and Throughput"),
        ({"interval": (1.2, 0.9)}, "must be that of the differences"),
        ({"verdict": "above"}, "must say where 0 is"),
        ({"differences": "none"}, "must be that of the differences"),
        ({"begins_s": [*range(0, 14, 2), 16]}, "at equal distances"),
        ({"rule": settings.Buffer}, "the rule must be a class of your own"),
    ],
)
def test_each_part_of_the_comparison_is_judged(fields: dict[str, Any], sentence: str) -> None:
    passes(comparison_check(), finding())
    passes(comparison_check(), finding(begins_s=list(np.arange(0.0, 16.0, 2.0))))
    passes(comparison_check(), finding(begins_s=np.arange(0, 16, 2)))
    passes(comparison_check(), finding(verdict="Below."))
    assert sentence in failure_text(comparison_check(), finding(**fields))


@pytest.mark.parametrize("place", range(8))
def test_each_difference_is_played_again_once(place: int) -> None:
    differences = [1.2, 1.21, 1.19, 1.2, 1.2, 1.21, 1.19, 1.2]
    differences[place] = 1.5
    check, played = comparison_check(), []
    check.replay = lambda rule, trace, _chunks: played.append(trace) or video([2] if rule is Careful else [1])  # type: ignore[func-returns-value]
    text = failure_text(check, finding(differences=differences, interval=nl.interval(differences)))
    assert f"from {2 * place}.0 s on another value comes" in text
    assert len(played) == 2 * (place + 1)


def test_a_zero_within_rounding_of_the_intervals_edge_may_lie_on_either_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "DIFFERENCE_OFF_MBPS", 2)
    far = 1.535
    differences = [1.2, 1.2 + far, 1.2 - far, 1.2 + far, 1.2, 1.2 - far, 1.2 + far, 1.2 - far]
    mean, half = nl.interval(differences)
    assert 0 < mean - half < 0.02 * half
    for verdict in ("below", "inside"):
        passes(comparison_check(), finding(differences=differences, interval=(mean, half), verdict=verdict))
    assert "must say where 0 is" in failure_text(
        comparison_check(), finding(differences=differences, interval=(mean, half), verdict="above")
    )


def test_a_comparison_that_is_not_written_yet_is_not_attempted() -> None:
    assert comparison_check().judge(finding(differences=..., interval=...)).status is Status.NOT_ATTEMPTED
