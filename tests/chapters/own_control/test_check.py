"""The chapter's checks: right classes pass, wrong ones hear what they did."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab_course.chapters import own_control
from netlab_course.chapters.opening import judging_checks
from netlab_course.chapters.own_control import check, windows
from netlab_course.chapters.own_control.settings import Window, side_by_side
from netlab_course.checks import Status
from netlab_course.repeated_measurements import RepeatedMeasurement
from netlab_course.repetition import Repetition
from tests.chapters.checking import failure_text, passes

chapter = own_control.begin()


class NoAck:
    left = 0.5

    def on_start(self, flow: Any) -> None:
        self.flow = flow

    def on_loss(self, _loss: Any) -> None:
        flow = self.flow
        flow.ssthresh_segments = flow.cwnd_segments = max(2, flow.cwnd_segments * self.left)


class Aimd(NoAck):
    unit = 1

    def on_ack(self, ack: Any) -> None:
        flow = self.flow
        if ack.may_grow and flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments * self.unit
        elif ack.may_grow:
            flow.cwnd_segments += ack.delivered_segments / flow.cwnd_segments


class Bytes(Aimd):
    unit = 1448


class Quarter(Aimd):
    left = 0.25


class Gentle(Aimd):
    left = 0.9


class Half(Aimd):
    left = 0.58


class Steep(Aimd):
    added = 1.6

    def on_ack(self, ack: Any) -> None:
        flow = self.flow
        if ack.may_grow and flow.cwnd_segments >= flow.ssthresh_segments:
            flow.cwnd_segments += self.added * ack.delivered_segments / flow.cwnd_segments
        else:
            super().on_ack(ack)


class Flat(Steep):
    added = 0.7


class OneForEachAck(Aimd):
    def on_ack(self, ack: Any) -> None:
        flow = self.flow
        if ack.may_grow and flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += 1
        else:
            super().on_ack(ack)


class Shared(Aimd):
    acks = 0

    def on_ack(self, ack: Any) -> None:
        super().on_ack(ack)
        Shared.acks += 1


class Fixed(Window):
    def __init__(self) -> None:
        super().__init__(20)


class Unused(Aimd):
    """The window also grows while it is not used."""

    def on_ack(self, ack: Any) -> None:
        super().on_ack(SimpleNamespace(may_grow=True, delivered_segments=ack.delivered_segments))


class Broken(Aimd):
    def on_ack(self, ack: Any) -> None:
        self.flow.cwnd_segments = ack.nothing


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_right_numbers_pass(token: str) -> None:
    own = own_control.begin(token)
    passes(judging_checks(own)["best"], own.own.rate_mbps * own.own.base_rtt_ms / 12.112)


@pytest.mark.parametrize("token", ["", "anna", "ben", "cleo"])
def test_the_window_that_has_the_greatest_power_in_runs_is_right(token: str) -> None:
    """By Little's law with the two segments that are being sent or wait to be acknowledged: 27 with the printed numbers."""
    own = own_control.begin(token)
    passes(judging_checks(own)["best"], round(own.own.rate_mbps * own.own.base_rtt_ms / 12.112 + 2))


def test_a_path_of_40_ms_written_into_the_function_is_found() -> None:
    assert "got 60.56 ms" in failure_text(
        judging_checks(chapter)["delay"],
        lambda window_segments, rate_mbps, base_rtt_ms: max(40, window_segments * 12.112 / rate_mbps),
    )


def test_the_numbers_of_the_first_link_are_found() -> None:
    assert "a link of 10 Mbit/s only" in failure_text(
        judging_checks(chapter)["delay"],
        lambda window_segments, rate_mbps, base_rtt_ms: max(base_rtt_ms, window_segments * 1.2112),
    )
    assert "window of the first link" in failure_text(judging_checks(chapter)["best"], 33)
    assert "These are kbit" in failure_text(judging_checks(chapter)["best"], 300)
    own = chapter.own
    in_kb = own.rate_mbps * own.base_rtt_ms / 8
    assert "in kB, or one and a half times what fills it" in failure_text(judging_checks(chapter)["best"], in_kb)
    assert "in kB, or one and a half times what fills it" in failure_text(
        judging_checks(chapter)["best"], 1.5 * in_kb / 1.514
    )


@pytest.mark.library
@pytest.mark.parametrize(
    ("control", "sentence"),
    [
        (Fixed, "use 80 % of the link"),
        (NoAck, "it must have on_ack and on_loss of its own: without on_ack Linux's Reno does that part"),
        (Bytes, "In slow start the window must double"),
        (OneForEachAck, "1.87 times the window after each RTT below ssthresh_segments"),
        (Quarter, "to 0.26 of the window"),
        (Gentle, "to 0.91 of the window"),
        (Half, "to 0.59 of the window"),
        (Steep, "1.6 segments for each RTT while the window is small"),
        (Flat, "0.69 segments for each RTT while the window is small"),
        (Unused, "Grow only where ack.may_grow is true"),
        (Shared, "Keep it on the object: self.acks"),
    ],
)
def test_control_other_than_aimd_is_reported_with_the_missing_part(control: type, sentence: str) -> None:
    assert sentence in failure_text(judging_checks(chapter)["aimd"], control)


@pytest.mark.library
def test_aimd_passes() -> None:
    passes(judging_checks(chapter)["aimd"], Aimd)


@pytest.mark.library
def test_failing_class_is_reported_with_its_own_line() -> None:
    assert "ack.nothing is unknown: got 'nothing'; allowed: now_s, rtt_ms" in failure_text(
        judging_checks(chapter)["aimd"], Broken
    )


def test_object_that_is_no_class_is_no_answer() -> None:
    assert "expected a class" in failure_text(judging_checks(chapter)["mine"], 12)
    assert "nothing calls ack" in failure_text(
        judging_checks(chapter)["mine"], type("Mine", (), {"__module__": "student", "ack": len})
    )
    stub = type("Mine", (), {"__module__": "student", "__doc__": "Nothing yet."})
    assert judging_checks(chapter)["mine"].judge(stub).status is Status.NOT_ATTEMPTED


def on_trace(goodput_mbps: float) -> Any:
    """A run that nobody made, with a delay of 1 s."""
    return SimpleNamespace(
        flows=pd.DataFrame([{"flow": "a", "goodput_mbps": goodput_mbps}]),
        intervals=pd.DataFrame({"flow": "a", "rtt_ms": [1000.0] * 5}),
    )


@pytest.mark.parametrize(
    ("left", "threshold", "told"),
    [
        (0.5, 0.5, ""),
        (0.53, 0.5, ""),  # The window grew before it was seen.
        (0.5, np.nan, ""),  # The class keeps its own threshold.
        (0.485, 0.485, ""),  # Half of what was in flight.
        (0.5, 0.25, "to 0.5 of the window, and ssthresh_segments to 0.25 of it; timeouts: 0"),
        (0.25, 0.5, "to 0.25 of the window, and ssthresh_segments to 0.5 of it"),
        (0.55, 0.5, "to 0.55 of the window"),
        (0.544, 0.544, "to 0.54 of the window, and ssthresh_segments to 0.54 of it"),
        (0.46, 0.45, "to 0.46 of the window"),
    ],
)
def test_a_loss_must_set_both_to_half(left: float, threshold: float, told: str) -> None:
    """The windows every 0.1 s: two cuts after the first 2 s, each after 200 segments."""
    sizes = [160, 180, 200, 200 * left, 200 * left + 20, 200, 200 * left, 200 * left + 20]
    rows = pd.DataFrame(
        {
            "t_s": [2.1 + 0.1 * place for place in range(len(sizes))],
            "cwnd_segments": sizes,
            "ssthresh_segments": 200 * threshold,
        }
    )
    run = SimpleNamespace(intervals=rows, flows=pd.DataFrame({"timeouts": [0]}))
    (both,) = [each for each in judging_checks(chapter)["aimd"].conditions if "half of the window" in each.sentence]
    assert both.holds_for({"alone": run}) == (not told)
    assert told in str(both.state_in_words({"alone": run}))


SAWTOOTH = [*range(34, 68, 2), 69, *range(34, 68, 2), 69]


@pytest.mark.parametrize(
    ("sizes", "holds"),
    [
        (SAWTOOTH, True),
        ([67] * 36, False),  # The window never grows: delivered // window.
        ([93, 51, 81, 63, 55, 97] * 6, False),  # Doubles for each RTT.
        ([98, 82, 56, 402, 68, 122] * 6, False),  # Adds bytes.
        ([34 * 1.0167**step for step in range(42)], False),  # Adds a hundredth of the window.
    ],
)
def test_aimd_adds_one_segment_for_each_rtt(sizes: list[float], holds: bool) -> None:
    """The windows every 0.1 s at an RTT of 50 ms; 20 segments a second are one for each RTT."""
    rows = pd.DataFrame(
        {
            "t_s": [2 + 0.1 * place for place in range(len(sizes))],
            "cwnd_segments": sizes,
            "rtt_ms": 50.0,
            "ca_state": "open",
        }
    )
    (adds,) = [
        each for each in judging_checks(chapter)["aimd"].conditions if "about one segment for each RTT" in each.sentence
    ]
    assert adds.holds_for({"alone": SimpleNamespace(intervals=rows)}) == holds


@pytest.mark.parametrize("left", [0.25, 0.5, 0.7, 0.75, 0.9])
@pytest.mark.parametrize("added", [1, 0.7])
def test_the_growth_between_losses_does_not_depend_on_what_a_loss_takes(left: float, added: float) -> None:
    """The windows every 0.1 s, whole as Linux has them, at an RTT that grows with the queue; a recovery takes an interval."""
    window, rows = 40.0, []
    for place in range(80):
        is_late = window >= 68
        window = 68 * left if is_late else window + added * 0.1 / max(0.04, 0.0012 * window)
        row = {"t_s": 2 + 0.1 * place, "cwnd_segments": int(window), "rtt_ms": max(40, 1.2 * window)}
        rows.append({**row, "ca_state": "recovery" if is_late else "open"})
    run: Any = SimpleNamespace(intervals=pd.DataFrame(rows))
    assert windows.grows_by_one(run) == (added == 1), windows.growth_in_words(run)


@pytest.mark.parametrize(
    ("sizes", "ssthresh", "holds"),
    [
        ([10, 20, 40, 80, 160, 320], np.nan, True),
        ([1, 2, 4, 8, 16], np.nan, True),
        ([10, 20, 40, 64, 65, 66], 64, True),
        ([10, 20, 37, 68, 126, 232], np.nan, False),  # A segment for each acknowledgement.
        ([10, 15, 22, 33, 50, 75], np.nan, False),
        ([10, 30, 90, 204], np.nan, False),
        ([100, 210, 440, 923], np.nan, False),  # 1.1 times what was delivered.
        ([10, 11, 12], 10, False),
    ],
)
def test_slow_start_doubles_the_window_for_each_rtt(sizes: list[float], ssthresh: float, holds: bool) -> None:
    rows = pd.DataFrame({"cwnd_segments": sizes, "ssthresh_segments": ssthresh})
    alone = pd.DataFrame({"t_s": [0.5], "cwnd_segments": [100]})
    (doubles,) = [each for each in judging_checks(chapter)["aimd"].conditions if "must double" in each.sentence]
    made = {"alone": SimpleNamespace(intervals=alone), "start": SimpleNamespace(intervals=rows)}
    assert doubles.holds_for(made) == holds


def runs(powers: float, goodputs: tuple[float, float], queue_ms: float, train: float = 1) -> dict[str, Any]:
    """Runs on the traces with so many times CUBIC's power, and two flows with so much queue."""
    two = SimpleNamespace(flows=pd.DataFrame({"goodput_mbps": goodputs, "rtt_ms": 40.0 + queue_ms, "rtt_min_ms": 40.0}))
    return {"walk_4g": on_trace(powers), "train": on_trace(train), "crowded_wifi": on_trace(1), "two": two}


@pytest.mark.parametrize(
    ("made", "sentences"),
    [
        (runs(1.6, (5, 4), 10), []),
        (runs(1.4, (5, 4), 10), ["must be 1.5 times CUBIC's"]),
        (
            runs(1.6, (5, 4), 10, train=0.5),
            ["not by leaving a link idle", "On each of the three traces it must get 0.6 times CUBIC's goodput"],
        ),
        (runs(1.6, (9, 1), 10), ["fairness index above 0.8"]),
        (runs(1.6, (5, 4), 35), ["no more than 30 ms of queue"]),
    ],
)
def test_a_control_is_judged_by_power_fairness_and_queue(
    made: dict[str, Any], sentences: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "cubic", lambda _name: on_trace(1.0))
    missing = [each for each in judging_checks(chapter)["mine"].conditions if not each.holds_for(made)]
    assert len(missing) == len(sentences)
    assert all(words in each.sentence for words, each in zip(sentences, missing, strict=True))


def test_the_repeated_measurement_is_of_the_two_classes_by_their_names() -> None:
    repeated: Repetition = judging_checks(chapter)["repeated"]
    mine = type("Mine", (Window,), {"__module__": "student"})
    assert repeated.scenario().to_dict() == side_by_side(Aimd, mine).to_dict()
    swapped = pd.DataFrame({"seed": [1]})
    swapped.attrs["scenario"] = side_by_side(mine, Aimd).to_dict()
    found = RepeatedMeasurement(swapped, (1.0, 1.0), {}, "undecided")
    assert "tcp h1 to h3 with class Mine, tcp h2 to h4 with class Aimd" in str(
        repeated.conditions[0].state_in_words(found)
    )
    table = pd.DataFrame({"seed": [1, 1], "src": ["h1", "h2"], "goodput_mbps": [2.0, 6.0], "rtt_ms": [40.0, 60.0]})
    assert repeated.values(table).tolist() == pytest.approx([2.0])


@pytest.mark.parametrize(
    ("instead", "sentence"),
    [
        (lambda power, _goodput: power["h1"] / power["h2"], "the ratio upside down"),
        (lambda power, _goodput: power["h2"] - power["h1"], "this is the difference"),
        (lambda _power, goodput: goodput["h2"] / goodput["h1"], "the ratio of the goodputs"),
    ],
)
def test_another_quotient_is_named_and_costs_one_condition(instead: Any, sentence: str) -> None:
    repeated: Repetition = judging_checks(chapter)["repeated"]
    chance = np.random.default_rng(1)
    rows = [
        {
            "seed": seed,
            "flow": src,
            "src": src,
            "goodput_mbps": mbps * chance.uniform(0.9, 1.1),
            "rtt_ms": rtt,
            "error": None,
        }
        for seed in range(10)
        for src, mbps, rtt in (("h1", 5.0, 50.0), ("h2", 8.0, 40.0))
    ]
    table = pd.DataFrame(rows)
    table.attrs["scenario"] = side_by_side(Aimd, type("Mine", (Window,), {"__module__": "student"})).to_dict()
    goodput = table.pivot_table(index="seed", columns="src", values="goodput_mbps")
    values = instead(goodput / table.pivot_table(index="seed", columns="src", values="rtt_ms"), goodput)
    mean, half = nl.interval(values)
    number = chapter.own.stated_times
    word = "refuted" if mean + half < number else "supported" if mean - half > number else "undecided"
    told = failure_text(repeated, [table, (mean, half), f"high < {number}", word])
    assert sentence in told and "1 of 5 conditions" in told
