"""The chapter's checks: right answers pass, wrong ones get their sentence, runs are judged by what ran."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from netlab import Tcp
from netlab.measure.results import Run
from netlab.network.topology import Topology
from netlab.runs.replications import interval, table_of
from netlab.runs.scenario import Scenario
from netlab.theory import runs_needed
from netlab_course.chapters import fairness
from netlab_course.chapters.fairness.settings import far_and_near
from netlab_course.chapters.opening import judging_checks
from netlab_course.conditions import Measurement
from tests.chapters.checking import failure_text, names_of_cells, passes

THREE = (("h1", "h3"), ("h1", "h2"), ("h2", "h3"))


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_right_answers_pass(token: str) -> None:
    chapter = fairness.begin(token)
    passes(judging_checks(chapter)["h2_delay"], 2**0.5 * chapter.own.base_rtt_ms - chapter.own.base_rtt_ms / 2)


def stand_in(
    topology: Topology,
    goodputs_mbps: tuple[float, float, float],
    *,
    pairs=THREE,
    seconds: float = 120,
    base_ms: float = 200,
) -> Run:
    """A run that nobody made: equal goodputs over its whole time."""
    traffic = [Tcp(src, dst) for src, dst in pairs]
    labels = [item.label for item in traffic]
    rows = [
        {"flow": label, "t_s": float(second), "goodput_mbps": mbps}
        for label, mbps in zip(labels, goodputs_mbps, strict=True)
        for second in range(1, int(seconds) + 1)
    ]
    flows = pd.DataFrame({"flow": labels, "rtt_min_ms": [base_ms] * len(labels)})
    scenario = Scenario(topology, traffic, duration_s=seconds, interval_s=1).to_dict()
    empty = pd.DataFrame()
    settings = {"scenario": scenario, "network_s": seconds}
    return Run(flows, pd.DataFrame(rows), empty, empty, empty, empty, empty, settings)


@pytest.fixture
def opened() -> SimpleNamespace:
    chapter = fairness.begin()
    crossing = names_of_cells("11_fairness", "network", "draw", "crossing", np=np)["crossing"]
    network = crossing(chapter.own.rate_mbps, chapter.own.base_rtt_ms, queue_packets=300, aqm="fq")
    return SimpleNamespace(
        check=judging_checks(chapter)["fair_run"], network=network, crossing=crossing, own=chapter.own
    )


def test_a_fair_and_full_run_passes(opened: SimpleNamespace) -> None:
    assert isinstance(opened.check, Measurement)
    passes(opened.check, stand_in(opened.network, (1.9, 1.92, 1.88)))


def test_each_condition_is_checked_in_the_run(opened: SimpleNamespace) -> None:
    own, crossing = opened.own, opened.crossing
    fair = {"queue_packets": 300, "aqm": "fq"}
    cases = {
        f"Both slow links must have {own.rate_mbps} Mbit/s.": stand_in(
            crossing(own.rate_mbps + 1, own.base_rtt_ms, **fair), (2, 2, 2)
        ),
        f"the round-trip time must be {own.base_rtt_ms} ms. Seen: 300 ms.": stand_in(
            opened.network, (1.9, 1.9, 1.9), base_ms=300
        ),
        "h1 to h3, h1 to h2, h2 to h3": stand_in(opened.network, (1.9, 1.9, 1.9), pairs=(*THREE[:2], ("h2", "h1"))),
        "120 s at least": stand_in(opened.network, (1.9, 1.9, 1.9), seconds=60),
        "a queue for each flow": stand_in(crossing(own.rate_mbps, own.base_rtt_ms, queue_packets=300), (1.9, 1.9, 1.9)),
        "within 15 % of the greatest": stand_in(opened.network, (1.7, 2.05, 2.05)),
        "full to 83 % at least": stand_in(opened.network, (1.55, 1.55, 1.55)),
    }
    for sentence, run in cases.items():
        assert sentence in failure_text(opened.check, run)


def test_a_number_is_no_run(opened: SimpleNamespace) -> None:
    assert "nl.run" in failure_text(opened.check, 2.39)


def parts(own: SimpleNamespace, runs: int, scatter: float) -> pd.DataFrame:
    """A table of this many runs in which the far flow's per cent scatters so much about 26."""
    values = np.random.default_rng(runs).normal(size=runs)
    percent = 26 + scatter * (values - values.mean()) / np.std(values, ddof=1)
    flows = {
        seed: SimpleNamespace(
            flows=pd.DataFrame(
                {
                    "flow": ["far", "near"],
                    "src": ["h1", "h2"],
                    "goodput_mbps": [0.04 * each, 4 - 0.04 * each],
                    "rtt_ms": [400.0, 150.0],
                    "error": None,
                }
            )
        )
        for seed, each in enumerate(percent, start=1)
    }
    return table_of(far_and_near(own).to_dict(), flows)  # type: ignore[arg-type]


@pytest.mark.parametrize("token", ["", "anna", "ben", "carla", "t1", "t2", "t3", "t4", "t5", "t6"])
@pytest.mark.parametrize("scatter", [2.5, 4.0, 7.0])
def test_a_plan_from_a_pilot_passes_and_its_slips_are_named(token: str, scatter: float) -> None:
    chapter = fairness.begin(token)
    own, check = chapter.own, judging_checks(chapter)["planned"]
    planned = runs_needed(scatter, own.half_percent)
    table = parts(own, min(planned, 16), 3.5)
    wide = table.pivot_table(index="seed", columns="src", values="goodput_mbps")
    found = interval(100 * wide["h1"] / (wide["h1"] + wide["h2"]))
    word = "reached" if found.half_width <= own.half_percent else "missed"
    pilot = parts(own, 6, scatter)
    passes(check, [pilot, planned, table, found, word])
    assert "Theory lies " in str(check.judge([pilot, planned, table, found, word]))
    ratio = interval(wide["h2"] / wide["h1"])
    assert "my_interval must be" in failure_text(check, [pilot, planned, table, ratio, word])
    if scatter == 4.0:
        squareless = int(2.571 * scatter / own.half_percent)
        told = failure_text(check, [pilot, squareless, parts(own, squareless, 3.5), found, word])
        assert "is a square missing?" in told


@pytest.mark.parametrize("token", ["", "anna", "bert"])
@pytest.mark.parametrize(
    ("part", "words"),
    [(0.5, "the delay that h2 has already"), (0.5**0.5 - 0.5, "round-trip time shorter by that factor")],
)
def test_a_delay_that_changes_nothing_or_the_wrong_way_is_named(token: str, part: float, words: str) -> None:
    opened = fairness.begin(token)
    assert words in failure_text(judging_checks(opened)["h2_delay"], part * opened.own.base_rtt_ms)
