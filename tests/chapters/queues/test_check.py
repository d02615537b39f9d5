"""The chapter's checks: right answers pass; runs are judged by what ran and what was measured."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from netlab import Tcp
from netlab.measure.results import Run
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab_course.chapters import queues
from netlab_course.chapters.opening import judging_checks
from netlab_course.chapters.queues import check
from netlab_course.chapters.queues.settings import NUMBERS
from tests.chapters.checking import failure_text, names_of_cells, passes


def test_no_copy_has_a_link_whose_smallest_threshold_depends_on_the_seed() -> None:
    # By runs, 5 packets fill 30 Mbit/s and 26 ms to 99.9 %, and 6 packets do not; with four seeds, 3 packets send from 2 parts
    # in 10 000 less than that to 2 more over 16 Mbit/s and 38 ms.
    drawn = {(own.rate_mbps, own.base_rtt_ms) for own in (queues.begin(str(token)).own for token in range(1000))}
    assert len(drawn) == 33
    assert drawn <= {*product(NUMBERS.values("rate_mbps"), NUMBERS.values("base_rtt_ms"))} - {(30, 26), (16, 38)}


def test_the_check_alone_knows_the_link_without_a_smallest_threshold() -> None:
    own = NUMBERS.draw(next(token for token in map(str, range(3000)) if _link(NUMBERS.draw(token)) == (30, 26)))
    created = check.Checks(own).threshold_run
    assert not created.tells_apart() and check.Checks(NUMBERS.draw()).threshold_run.tells_apart()


def _link(own: Any) -> tuple[float, float]:
    return own.rate_mbps, own.base_rtt_ms


def stand_in(
    topology: Topology,
    *,
    congestion: str = "cubic",
    seconds: float = 20,
    start_s: float = 0,
    streams: int = 1,
    flows: int = 1,
    **figures: Any,
) -> Run:
    """A run that nobody made."""
    seen = {"goodput_mbps": 18.9, "marks": 12, "retransmits": 0, "rtt_ms": 33.0, "rtt_min_ms": 30.6, **figures}
    traffic = [Tcp("h1", "h3", congestion=congestion, start_s=start_s, streams=streams)] * flows
    label = traffic[0].label
    intervals = pd.DataFrame(
        {
            "flow": label,
            "t_s": [float(second) for second in range(1, int(seconds) + 1)],
            "goodput_mbps": seen["goodput_mbps"],
            "rtt_ms": seen["rtt_ms"],
        }
    )
    table_of_flows = pd.DataFrame(
        {"flow": [label], "rtt_min_ms": seen["rtt_min_ms"], "retransmits": seen["retransmits"]}
    )
    table = pd.DataFrame({"interface": ["r1-eth2"], "marks": [seen["marks"]]})
    scenario = Scenario(topology, traffic, duration_s=seconds, interval_s=1).to_dict()
    empty = pd.DataFrame()
    settings = {"scenario": scenario, "network_s": seconds}
    return Run(table_of_flows, intervals, empty, empty, table, empty, empty, settings)


@pytest.fixture
def opened() -> SimpleNamespace:
    chapter = queues.begin()
    own, settings = chapter.own, chapter.settings
    return SimpleNamespace(
        checks=judging_checks(chapter),
        marks=settings.one_link(own.rate_mbps, own.base_rtt_ms, aqm="codel", aqm_options={"ecn": True}),
        step=names_of_cells("12_queues", "network", "marking")["marking"](5, own.rate_mbps, own.base_rtt_ms),
        late_step=names_of_cells("12_queues", "network", "marking")["marking"](7, own.rate_mbps, own.base_rtt_ms),
        other=settings.one_link(own.rate_mbps + 1, own.base_rtt_ms, aqm="codel", aqm_options={"ecn": True}),
    )


def test_marks_without_losses_pass_and_each_condition_is_looked_for(opened: SimpleNamespace) -> None:
    check = opened.checks["ecn_run"]
    passes(check, stand_in(opened.marks))
    cases = {
        "the round-trip time that the exercise asks for": stand_in(opened.other),
        "20 s or more": stand_in(opened.marks, seconds=10),
        "by CUBIC": stand_in(opened.marks, congestion="dctcp"),
        "Seen: tcp h1 to h3 with cubic from 6 s.": stand_in(opened.marks, start_s=6),
        "There must be one flow": stand_in(opened.marks, flows=2),
        "Seen: tcp h1 to h3 with cubic in 4 streams.": stand_in(opened.marks, streams=4),
        "must have marked": stand_in(opened.marks, marks=0),
        "No segment may have been sent again": stand_in(opened.marks, retransmits=1),
        "at least. Seen: 15 Mbit/s, 78.42 % of the 19.13": stand_in(opened.marks, goodput_mbps=15.0),
    }
    for sentence, run in cases.items():
        assert sentence in failure_text(check, run)


def test_a_full_and_nearly_empty_queue_passes_and_each_condition_is_looked_for(opened: SimpleNamespace) -> None:
    check = opened.checks["threshold_run"]
    passes(check, stand_in(opened.step, congestion="dctcp", goodput_mbps=19.12))
    cases = {
        "by DCTCP": stand_in(opened.step, goodput_mbps=19.1),
        "with dctcp in 2 streams": stand_in(opened.step, congestion="dctcp", goodput_mbps=19.12, streams=2),
        "a step of marks": stand_in(opened.marks, congestion="dctcp", goodput_mbps=19.12),
        "Seen: 19.09 Mbit/s, 99.8 % of the 19.13 Mbit/s of a full link.": stand_in(
            opened.step, congestion="dctcp", goodput_mbps=19.09
        ),
        "must be the smallest": stand_in(opened.late_step, congestion="dctcp", goodput_mbps=19.12),
    }
    for sentence, run in cases.items():
        assert sentence in failure_text(check, run)
