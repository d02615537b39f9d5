"""The chapter's checks: right answers pass, wrong ones get their sentence, a measurement is judged by its numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from netlab.runs.replications import interval
from netlab_course.chapters import load_and_delay
from netlab_course.chapters.load_and_delay import check, settings
from netlab_course.chapters.opening import judging_checks
from tests.chapters.checking import failure_text, passes

TOKENS = ["", "anna", "ben"]


def by_the_book_ms(rate_mbps: float, payload_bytes: int, offered_mbps: float) -> float:
    service_ms = (payload_bytes + 42) * 8 / rate_mbps / 1000
    load = offered_mbps / payload_bytes * (payload_bytes + 42) / rate_mbps
    return load / (1 - load) * service_ms / 2 + service_ms


@pytest.mark.parametrize("token", TOKENS)
def test_right_answers_pass(token: str) -> None:
    chapter = load_and_delay.begin(token)
    passes(judging_checks(chapter)["mean_delay"], by_the_book_ms)
    passes(judging_checks(chapter)["calls"], int(judging_checks(chapter)["calls"].exactly))


def test_the_worked_number_is_the_formulas() -> None:
    own = load_and_delay.begin().own
    busy = own.worked_mbps / own.worked_payload_bytes * (own.worked_payload_bytes + 42) / own.worked_rate_mbps
    assert busy == pytest.approx(own.worked_percent / 100, rel=1e-3)


def test_wait_of_m_m_1_is_reported_with_the_residual_transmission() -> None:
    def wrong(rate_mbps: float, payload_bytes: int, offered_mbps: float) -> float:
        service_ms = (payload_bytes + 42) * 8 / rate_mbps / 1000
        load = offered_mbps / payload_bytes * (payload_bytes + 42) / rate_mbps
        return service_ms / (1 - load)

    assert "how much is left on average" in failure_text(judging_checks(load_and_delay.begin())["mean_delay"], wrong)


@pytest.mark.parametrize("token", TOKENS)
def test_wrong_number_of_calls_does_not_pass(token: str) -> None:
    check = judging_checks(load_and_delay.begin(token))["calls"]
    for number in (check.exactly - 1, check.exactly + 1):
        failure_text(check, int(number))


@pytest.mark.slow
@pytest.mark.parametrize(
    "formula", [check.share_that_waits, check.share_near_full_load, check.both_mistakes], ids=lambda each: each.__name__
)
def test_an_approximation_gives_another_number_of_calls_in_each_copy(formula: check.LateShare) -> None:
    numbers = set()
    for token in range(60):
        own = load_and_delay.begin(f"t{token}").own
        packet_bytes = own.call_bytes + 42
        right = int(check.calls_that_fit(own, packet_bytes))
        numbers.add(right)
        wrong = int(check.calls_that_fit(own, packet_bytes, formula))
        assert wrong != right
        assert "For a hint" in failure_text(judging_checks(load_and_delay.begin(f"t{token}"))["calls"], wrong)
    assert len(numbers) > 12, "a number that is tried at random must seldom be right"


@pytest.mark.slow
def test_one_more_call_about_doubles_the_late_packets_in_each_copy() -> None:
    """The chapter says so to all students. With one to three calls it would be up to five times as many."""
    for token in range(60):
        own = load_and_delay.begin(f"t{token}").own
        number = int(check.calls_that_fit(own, own.call_bytes + 42))
        service_ms = settings.call_service_ms(own)
        loads = [each * 50 * service_ms / 1000 for each in (number, number + 1)]
        late, later = (check.exact_share(load, service_ms, own.late_ms) for load in loads)
        assert 1.5 < later / late < 2.7


def test_a_formula_for_loads_near_1_is_named() -> None:
    chapter = load_and_delay.begin()
    wrong = int(check.calls_that_fit(chapter.own, chapter.own.call_bytes + 42, check.share_near_full_load))
    assert "exp(-wait / mean wait) is for loads near 1" in failure_text(judging_checks(chapter)["calls"], wrong)


@pytest.mark.parametrize("token", ["", "anna", "bert"])
def test_the_share_of_late_packets_and_a_call_too_many_or_too_few_are_named(token: str) -> None:
    chapter = load_and_delay.begin(token)
    own, calls = chapter.own, judging_checks(chapter)["calls"]
    right = int(check.calls_that_fit(own, own.call_bytes + 42))
    service_ms = settings.call_service_ms(own)
    numbers = range(1, int(1000 / (50 * service_ms)) + 1)
    loads = {number: number * 50 * service_ms / 1000 for number in numbers}
    ten = max(n for n in numbers if loads[n] < 1 and check.exact_share(loads[n], service_ms, own.late_ms) <= 0.1)
    mean = max(n for n in numbers if loads[n] < 1 and service_ms * (1 + loads[n] / (1 - loads[n]) / 2) <= own.late_ms)
    assert "10 of 100 datagrams be late" in failure_text(calls, ten)
    assert "keeps the mean delay within the limit" in failure_text(calls, mean)
    for number in (right - 1, right + 1):
        assert "It is one call off" in failure_text(calls, number)


@pytest.mark.parametrize("percent", settings.NUMBERS.values("worked_percent"))
def test_no_worked_load_leaves_as_much_as_it_takes(percent: float) -> None:
    """At 50 % the load is as large as what it leaves, and a formula with one of them for the other is right."""
    assert abs(percent - 50) >= 10


def finding(chapter, halfs: float, seconds: float = 75.0) -> list[object]:
    """Ten results near theory, of runs that nobody made, whose interval has about this part of the mean as its half."""
    delays = 9.0 * (1 + halfs * 1.4 * np.linspace(-1, 1, 10))
    table = pd.DataFrame({"seed": range(1, 11), "flow": "h1-h2 udp", "delay_ms": delays, "error": None})
    table.attrs["scenario"] = replace(chapter.settings.busy(chapter.own), duration_s=seconds).to_dict()
    mean, half = interval(table["delay_ms"])
    stated_ms = chapter.own.stated_ms
    verdict = "supported" if mean + half < stated_ms else "refuted" if mean - half > stated_ms else "undecided"
    return [table, (mean, half), f"low > {stated_ms}", verdict]


def test_precise_mean_passes_and_a_wide_interval_is_reported() -> None:
    chapter = load_and_delay.begin()
    passes(judging_checks(chapter)["busy"], finding(chapter, 0.02))
    assert "at most 3 % of the mean. Seen: 6." in failure_text(judging_checks(chapter)["busy"], finding(chapter, 0.1))


def test_another_scenario_or_shorter_runs_do_not_count() -> None:
    chapter = load_and_delay.begin()
    assert "what the exercise describes" in failure_text(
        judging_checks(chapter)["busy"], finding(chapter, 0.02, seconds=5)
    )
