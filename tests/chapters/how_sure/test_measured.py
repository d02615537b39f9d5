"""The chapter's statements on its measurements, with stated bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import netlab as nl
from netlab_course.chapters import how_sure
from netlab_course.chapters.how_sure import experiments
from netlab_course.own_numbers import StudentValues
from tests.agreement import agrees
from tests.chapters.checking import names_of_cells

pytestmark = pytest.mark.library

chapter = how_sure.begin()
settings = chapter.settings


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The scenarios that the chapter's cells define."""
    return names_of_cells("02_how_sure", "network", "with-tcp", "clockwork", experiments=experiments)


def test_more_room_loses_less_of_the_same_arrivals_in_every_run(page: dict[str, Any]) -> None:
    """The interval of paired differences is five times narrower than with other seeds, at least."""
    small, large = (100 * nl.repeat(page["bursts"](room), seeds=6).set_index("seed")["loss_rate"] for room in (20, 22))
    assert (small > large).all()
    paired, apart = nl.interval(small - large), nl.interval(small, large)
    assert paired.half_width < apart.half_width / 5


def test_flow_loses_at_the_rate_of_its_link() -> None:
    """Sixty flows of 200 datagrams: the mean within three standard errors of 0.1."""
    run = nl.run(**_given_scenario(settings.known_loss(flows=60)))
    agrees("loss rate", run.flows["loss_rate"].mean(), 0.1, absolute=3 * (0.1 * 0.9 / 200 / 60) ** 0.5)


def test_a_clockwork_pair_gives_each_seed_the_same_and_each_start_another_result(page: dict[str, Any]) -> None:
    cases = {later_ms: page["periodic"](later_ms) for later_ms in (0, 0.1)}
    table = experiments.clockwork_table(nl.repeat(cases, seeds=2, case="later (ms)"))
    assert list(table["later (ms)"]) == [0, 0.1]
    assert (table["half width"] == 0).all()
    assert abs(table["loss rate"].diff().iloc[-1]) > 0.3


@pytest.mark.parametrize("offered_kbps", settings.NUMBERS.values("offered_kbps"))
def test_six_pairs_with_new_seeds_decide_between_queues_unlike_unpaired_runs(offered_kbps: int) -> None:
    """The exercise's budget: a trial of four runs of each queue and six of the two best, 24 runs in all."""
    own = StudentValues({"offered_kbps": offered_kbps})
    trial = {queue: nl.repeat(settings.candidate(own, queue), seeds=4)["loss_rate"].mean() for queue in settings.QUEUES}
    best, second, _ = sorted(trial, key=trial.__getitem__)
    first, other = (
        nl.repeat(settings.candidate(own, queue), seeds=range(5, 11)).set_index("seed")["loss_rate"]
        for queue in (second, best)
    )
    paired, apart = nl.interval(first - other), nl.interval(first, other)
    assert paired.mean > paired.half_width and apart.mean < apart.half_width


@pytest.mark.slow
def test_single_runs_of_each_queue_are_hardly_better_than_a_coin_toss(page: dict[str, Any]) -> None:
    small, large = (
        nl.repeat(page["bursts"](room), seeds=seeds)["loss_rate"].to_numpy()
        for room, seeds in ((20, range(1, 201)), (22, range(201, 401)))
    )
    agrees("pairs in the right order", (small[:, None] > large).mean(), 0.63, absolute=0.005)


@pytest.mark.slow
def test_pairs_help_less_with_tcp(page: dict[str, Any]) -> None:
    """Nine times narrower with datagrams, 1.7 times with TCP over 10 ms, and in more runs than the page's 3.4 times over 20 ms."""
    bursts, with_tcp = page["bursts"], page["reno_and_cubic"]
    for name, pair, column, seeds, times, absolute in (
        ("datagrams", [bursts(20), bursts(22)], "loss_rate", 100, 9, 0.5),
        ("TCP over 10 ms", with_tcp(10), "goodput_mbps", 100, 1.7, 0.1),
        ("TCP over 20 ms", with_tcp(20), "goodput_mbps", 200, 3.4, 0.1),
    ):
        one, two = (nl.repeat(scenario, seeds=seeds)[column].to_numpy() for scenario in pair)
        agrees(name, nl.interval(one, two).half_width / nl.interval(one - two).half_width, times, absolute=absolute)


def test_few_values_give_on_average_too_small_a_scatter() -> None:
    """The page's 0.940 and 0.987, and the 2.53 that they make of Student's 2.65: 250 intervals of a known loss."""
    theory = 0.940 * nl.theory.student_t(5) / 5**0.5 / (0.987 * nl.theory.student_t(20) / 20**0.5)
    draws = nl.repeat(settings.known_loss(flows=20), seeds=50).assign(draw=lambda rows: (rows["seed"] - 1) // 5)
    of_five = [nl.interval(values).half_width for _, values in draws.groupby(["draw", "flow"])["loss_rate"]]
    of_twenty = [nl.interval(values).half_width for _, values in draws.groupby("seed")["loss_rate"]]
    agrees("times narrower", np.mean(of_five) / np.mean(of_twenty), theory, absolute=0.1)


def _given_scenario(scenario: nl.Scenario) -> dict:
    return {
        "topology": scenario.topology,
        "traffic": scenario.traffic,
        "duration_s": scenario.duration_s,
        "interval_s": scenario.interval_s,
    }


@pytest.mark.parametrize("letter", settings.QUEUES)
def test_the_check_wants_the_scenario_that_the_exercises_cell_makes(letter: str) -> None:
    created = names_of_cells("02_how_sure", "candidate", chapter=chapter, own=chapter.own)["candidate"](letter)
    assert created.to_dict() == settings.candidate(chapter.own, letter).to_dict()
