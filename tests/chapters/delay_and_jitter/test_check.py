"""The chapter's checks: right answers pass, wrong ones get their sentence."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from netlab.measure.results import Run
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.traffic import Command, Udp
from netlab_course.chapters import delay_and_jitter
from netlab_course.chapters.opening import judging_checks
from tests.chapters.checking import failure_text, passes

chapter = delay_and_jitter.begin()
own = chapter.own


def fill(goodput_mbps: float, rtt_s: float) -> float:
    return rtt_s * max(0, math.ceil(math.log2(goodput_mbps * 1e6 * rtt_s / 8 / 1448 / 10)))


WIRE = Link("h1", "h2")


def netem(options: str) -> str:
    return f"tc qdisc add dev h1-eth0 root netem {options}"


def run(
    command: str = "",
    *,
    loss_rate: float = 0.0,
    delay_ms: float = own.wait_ms,
    link: Link = WIRE,
    **flow: Any,
) -> Run:
    """A run as the exercise asks for it, but for what is given; nothing is measured."""
    command = command or f"tc qdisc add dev h1-eth0 root netem delay {own.wait_ms}ms limit 2000"
    ends = {"src": flow.pop("src", "h1"), "dst": flow.pop("dst", "h2")}
    udp = Udp(**ends, **{"rate_mbps": own.sent_mbps, "payload_bytes": 1470, "start_s": 0.5, **flow})
    network = Topology(hosts=["h1", "h2"], links=[link])
    scenario = {
        "topology": network.to_dict(),
        "traffic": [Command("h1", command).to_dict(), udp.to_dict()],
        "duration_s": 5,
    }
    empty = pd.DataFrame()
    seen = {"loss_rate": loss_rate, "sent_datagrams": 9000, "delay_ms": delay_ms}
    table = pd.DataFrame([{"kind": "command"}, {"kind": "udp", **seen}])
    return Run(table, empty, empty, empty, empty, empty, empty, {"scenario": scenario})


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("fill", fill),
        ("buffer", run()),
        ("buffer", run(netem("limit 2305 delay 0.4s"))),
        ("buffer", run(netem("delay 400000us  limit 1844"))),
        ("buffer", run(netem("delay 400000 limit 2000"), link=Link("h2", "h1"))),
        ("buffer", run(netem("latency 400ms 0ms limit 2000 loss 0%"), duration_s=2)),
        ("buffer", run(netem("delay 400ms 0ms 0% duplicate 0.0% limit 2000"), start_s=1)),
    ],
)
def test_right_answers_pass(key: str, answer: object) -> None:
    passes(judging_checks(chapter)[key], answer)


@pytest.mark.parametrize("too_large", [1514 / 1448, 2**20 / 1e6, 2**20 / 1e6 * 1448 / 1460, 1448 / 1400])
def test_a_few_per_cent_too_many_segments_fail_near_the_window_of_a_round(too_large: float) -> None:
    """The link's rate in place of the goodput, a mega of 1024 * 1024, and smaller segments."""
    assert "for goodput_mbps=9.1, rtt_s=0.05 got 0.15 s" in failure_text(
        judging_checks(chapter)["fill"], lambda goodput_mbps, rtt_s: fill(too_large * goodput_mbps, rtt_s)
    )


def test_a_short_path_takes_no_time_rather_than_less() -> None:
    def less(goodput_mbps: float, rtt_s: float) -> float:
        return rtt_s * math.ceil(math.log2(goodput_mbps * 1e6 * rtt_s / 8 / 1448 / 10))

    assert "it takes 0 s, not less" in failure_text(judging_checks(chapter)["fill"], less)


def test_there_are_numbers_for_a_thousand_students() -> None:
    assert len(chapter.settings.NUMBERS) >= 1000


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (run("tc qdisc add dev h1-eth0 root netem delay 100ms limit 2000"), "with a delay of 400 ms"),
        (run("sleep 1"), "with a delay of 400 ms"),
        (
            run(src="h2", dst="h1"),
            "One UDP flow must go from h1 to h2. Seen: command on h1, udp h2 to h1 at",
        ),
        (run(payload_bytes=1000), "in datagrams of 1470 bytes"),
        (
            run(start_s=0),
            "must start at 0.5 s or later, after the command, and send for 2 s or more. Seen: from 0 s, for 5 s.",
        ),
        (run(duration_s=1), "send for 2 s or more. Seen: from 0.5 s, for 1 s."),
        (run(start_s=3.5, duration_s=2), "send for 2 s or more. Seen: from 3.5 s, for 1.5 s."),
        (run(netem("delay 400ms 50ms limit 2000")), "limit 2000; a second number after the delay lets it vary. It has"),
        (run(netem("delay 400ms rate 200mbit limit 2000")), "limit 2000; not asked for: rate 200mbit. It has the form"),
        (run(netem("delay 400ms limit 2000 loss 5%")), "not asked for: loss 5%."),
        (run(netem("delay 400ms loss random 5% limit 2000")), "not asked for: loss, random 5%."),
        (run(netem("delay 400ms loss")), "not asked for: loss."),
        (run(netem("delay 400ms buffer 2000")), "not asked for: buffer 2000."),
        (
            run(netem("delay 400 limit 2000")),
            "without a unit tc counts microseconds, so this delay is 0.4 ms. It has the",
        ),
        (run(netem("delay 400000ms limit 2000")), "with a delay of 400 ms"),
        (run(netem("delay 400000 limit 2k")), "The limit may be at most a quarter larger than needed."),
        (
            run(link=Link("h1", "h2", delay_ms=100)),
            "one link without any limits and without a delay of its own. Seen: h1-h2 with delay_ms=100.",
        ),
        (run(link=Link("h1", "h2", rate_mbps=70, queue_packets=100)), "one link without any limits"),
        (run(netem("delay 400ms limit 2306")), "larger than needed. Seen: limit 2306."),
        (run(delay_ms=0.1), "The datagrams must be delayed by 400 ms. Seen: 0.1 ms on average."),
        (run(loss_rate=0.01), "No datagram may be lost. Seen: 1 % of them were."),
        (
            run(f"tc qdisc add dev h1-eth0 root netem delay {own.wait_ms}ms limit 100000"),
            "larger than needed. Seen: limit 100000.",
        ),
        (3, "expected what nl.run(...) returns"),
    ],
)
def test_incomplete_measurement_is_reported_with_the_missing_part(answer: object, sentence: str) -> None:
    assert sentence in failure_text(judging_checks(chapter)["buffer"], answer)


@pytest.mark.parametrize("segment_bytes", [1460, 1500, 1514])
def test_a_larger_segment_is_found_in_spite_of_whole_rounds(segment_bytes: int) -> None:
    def larger(goodput_mbps: float, rtt_s: float) -> float:
        return fill(goodput_mbps * 1448 / segment_bytes, rtt_s)

    assert "a full segment has 1448 bytes of it" in failure_text(judging_checks(chapter)["fill"], larger)


def test_a_sum_of_windows_is_not_only_told_to_round_up() -> None:
    def summed(goodput_mbps: float, rtt_s: float) -> float:
        rounds, total = 0, 10
        while total < goodput_mbps * 1e6 * rtt_s / 8 / 1448:
            rounds += 1
            total += 10 * 2**rounds
        return rounds * rtt_s

    assert "look at the window of one round alone" in failure_text(judging_checks(chapter)["fill"], summed)


def test_losses_are_not_taken_for_a_flow_that_is_too_short() -> None:
    told = failure_text(judging_checks(chapter)["buffer"], run(netem("delay 400ms"), loss_rate=0.46))
    assert "1 of 8 conditions" in told and "Either the limit is too small" in told


def test_a_wrong_delay_is_reported_once() -> None:
    told = failure_text(judging_checks(chapter)["buffer"], run(netem("delay 400 limit 2000"), delay_ms=0.4))
    assert "1 of 8 conditions does not hold yet. (1 more" in told and "must be delayed" not in told
