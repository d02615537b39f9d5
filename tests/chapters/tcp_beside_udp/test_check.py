"""The chapter's checks: right answers pass, wrong ones get their sentence, whatever the numbers of the copy are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import netlab as nl
from netlab.measure.results import Run
from netlab_course.chapters import tcp_beside_udp as chapter
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Check
from tests.chapters.checking import failure_text, passes


def wait(first_timer_ms: float, loss_rate: float) -> float:
    return sum(first_timer_ms * 2**k * loss_rate ** (k + 1) for k in range(1000))


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_right_answers_pass(token: str) -> None:
    notebook = chapter.begin(token)
    own = notebook.own
    passes(judging_checks(notebook)["wait"], wait)
    needed_mbps = own.update_mb * 8 / (60 * own.update_minutes)
    passes(judging_checks(notebook)["video"], (5 - needed_mbps * 1514 / 1448) * 1000 / 1042 - 1)


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_a_sum_that_is_cut_off_is_refused(token: str) -> None:
    """By hand: at a loss rate of 0.49 the first hundred terms have 1 - 0.98**100 = 0.867 of 7350 ms."""
    told = failure_text(
        judging_checks(chapter.begin(token))["wait"],
        lambda first_timer_ms, loss_rate: sum(first_timer_ms * 2**k * loss_rate ** (k + 1) for k in range(100)),
    )
    assert "loss_rate=0.49 got 6375 ms" in told and "The hundred first terms are not enough" in told


def test_the_worked_numbers_are_those_of_the_copy() -> None:
    own = chapter.begin("anna").own
    assert own.worked_wait_ms == pytest.approx(wait(own.wait_timer_ms, own.wait_loss_rate))


def test_the_table_of_losses_gives_the_students_wait_where_it_has_an_end() -> None:
    notebook = chapter.begin()
    losses = pd.DataFrame(
        {"measured": [1600.0, 16.0], "+-": [1.0, 1.0], "square root": [1800.0, 358.0], "timeouts per loss": [0.0, 0.4]},
        index=[0.3, 0.5],
    )
    table = notebook.settings.cliff_table(losses, wait)
    assert table[" mean wait (s)"].tolist() == [f" {0.26 * 0.3 / 0.4:.2f}", " -"]
    assert table[" too high"].tolist() == [" 1.1 x", " 22.4 x"]


def test_the_lab_put_1_22_into_the_formula() -> None:
    """The table of part 2: M = 2896 bytes, 22 and 52 % of loss, 60 and 54 ms."""
    for loss_rate, rtt_ms, kbps in ((0.22, 60, 1004), (0.52, 54, 726)):
        assert round(1000 * nl.theory.mathis_mbps(2896, rtt_ms, loss_rate, c=1.22)) == kbps


def measured_run(tcp_mbps: float = 1.9, sensor_mbps: float = 1.0, **changes: Any) -> Any:
    """A run as the check sees one, its numbers made up."""
    words = {"video_mbps": 9, "streams": 1, "duration_s": 30, "rate_mbps": 5, "more": [], **changes}
    network = nl.topologies.three_pcs(rate_mbps=words["rate_mbps"], aqm="fq_codel")
    traffic = [
        nl.Udp("h1", "h3", rate_mbps=1),
        nl.Udp("h2", "h3", rate_mbps=words["video_mbps"]),
        nl.Tcp("h2", "h3", streams=words["streams"]),
        *words["more"],
    ]
    scenario = nl.Scenario(network, traffic, duration_s=words["duration_s"], interval_s=1)
    flows = pd.DataFrame({"flow": ["a", "b", "c"], "kind": ["udp", "udp", "tcp"], "src": ["h1", "h2", "h2"]})
    goodput_mbps = {"a": sensor_mbps, "b": 2.0, "c": tcp_mbps}
    rows = [(flow, float(second), mbps) for flow, mbps in goodput_mbps.items() for second in range(1, 31)]
    nothing = pd.DataFrame()
    return Run(
        flows, pd.DataFrame(rows, columns=["flow", "t_s", "goodput_mbps"]), nothing, nothing, nothing, nothing, nothing,
        settings={"scenario": scenario.to_dict()},
    )  # fmt: skip


CHECK: Check = judging_checks(chapter.begin())["my_run"]


def test_a_run_that_saves_tcp_passes() -> None:
    passes(CHECK, measured_run())


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (measured_run(video_mbps=4), "the video 9 Mbit/s from h2"),
        (measured_run(streams=4), "The update must be one TCP connection from h2 to h3. Seen: 4 connections."),
        (measured_run(rate_mbps=10), "rates [10]"),
        (measured_run(more=[nl.Tcp("h1", "h3")]), "These three alone must send"),
        (measured_run(duration_s=5), "must last 30 s or more. Seen: 5 s."),
        (measured_run(tcp_mbps=0.01), "TCP must get 1.7 Mbit/s at least"),
        (
            measured_run(sensor_mbps=0.5),
            "The sensor must get 0.93 of its 1 Mbit/s at least, counted from 10 s on. Seen: 0.5 Mbit/s.",
        ),
        (SimpleNamespace(), "expected what nl.run(...) returns"),
    ],
)
def test_different_run_fails_with_the_reason(run: object, sentence: str) -> None:
    assert sentence in failure_text(CHECK, run)
