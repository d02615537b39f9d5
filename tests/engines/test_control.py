"""A user's own congestion control: what it is asked, what it decides, and what becomes of its mistakes."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import numpy as np
import pytest

import netlab as nl
from netlab.base.errors import RunError
from tests.engines.controls import Control, LinuxsVegas, Reno, Vegas, Window, path, run

pytestmark = pytest.mark.library


@pytest.mark.parametrize("control", [Control, Reno])
@pytest.mark.parametrize(
    ("words", "sysctls"),
    [
        ({}, {}),
        ({"queue_packets": 5}, {}),
        ({"duplicate_rate": 0.02}, {}),
        ({"loss_rate": 0.01}, {}),
        ({"loss_rate": 0.08}, {}),
        ({"aqm": "codel", "queue_packets": None}, {}),
        ({"aqm": "codel", "queue_packets": None, "aqm_options": {"ecn": True}}, {"net.ipv4.tcp_ecn": 1}),
        ({}, {"net.ipv4.tcp_sack": 0}),
    ],
    ids=["full queue", "short queue", "duplicates", "losses", "timeouts", "CoDel", "marks", "no SACK"],
)
def test_reno_in_a_class_is_linuxs_own_to_the_byte(control: Any, words: Any, sysctls: Any) -> None:
    same(*(run(each, path(**words), 10.0, sysctls=sysctls) for each in (control, "reno")))


@pytest.mark.parametrize(
    "words",
    [{}, {"rate_mbps": 2}, {"rate_mbps": 30, "queue_packets": 400, "delay_ms": 10}, {"delay_ms": 5}, {"jitter_ms": 4}],
    ids=str,
)
def test_vegas_in_a_class_is_linuxs_own_to_the_byte_while_nothing_is_lost(words: Any) -> None:
    """After a loss it is not: Linux's waits for the end of the recovery, and a class does not hear of it."""
    ours, linuxs, reno = (run(each, path(**words), 10.0) for each in (LinuxsVegas, "vegas", "reno"))
    same(ours, linuxs)
    assert ours.flows.retransmits[0] == 0
    assert not ours.intervals.cwnd_segments.equals(reno.intervals.cwnd_segments)


def same(ours: nl.Run, linuxs: nl.Run) -> None:
    for name in ("received_bytes", "sent_bytes", "retransmits", "timeouts", "marks", "goodput_mbps", "rtt_ms"):
        assert ours.flows[name][0] == linuxs.flows[name][0], name
    for name in ("cwnd_segments", "ssthresh_segments", "rtt_ms", "goodput_mbps"):
        assert ours.intervals[name].equals(linuxs.intervals[name]), name


def test_a_control_that_looks_at_delay_keeps_the_queue_as_short_as_linuxs_vegas() -> None:
    ours, linuxs, reno = (run(each, duration_s=10.0) for each in (Vegas, "vegas", "reno"))
    late, linuxs_late, renos_late = (each.intervals[each.intervals.t_s > 5] for each in (ours, linuxs, reno))
    # Both full, and within a segment's 1.2 ms of each other; how they got there is not the same.
    assert late.goodput_mbps.mean() == pytest.approx(linuxs_late.goodput_mbps.mean(), rel=0.001)
    assert late.rtt_ms.mean() == pytest.approx(linuxs_late.rtt_ms.mean(), abs=1.3)
    assert late.rtt_ms.mean() < 0.7 * renos_late.rtt_ms.mean()
    assert ours.flows.retransmits[0] == 0


def test_a_fixed_window_gives_a_window_each_rtt() -> None:
    measured = run(Window, duration_s=10.0)
    rtt_s = measured.flows.rtt_ms[0] / 1000
    assert measured.flows.goodput_mbps[0] == pytest.approx(12 * 1448 * 8 / rtt_s / 1e6, rel=0.02)
    assert set(measured.intervals.cwnd_segments) == {12}


def test_each_connection_of_two_classes_with_cubic_has_its_own_object() -> None:
    created = []

    class Counting(Reno):
        def __init__(self) -> None:
            created.append(self)

    small = Window()
    small.segments = 4
    network = nl.topologies.dumbbell(pairs=3, rate_mbps=10, delay_ms=20, queue_packets=50)
    flows = [
        nl.Tcp("h1", "h4", congestion=Counting, streams=2),
        nl.Tcp("h2", "h5", congestion=small),
        nl.Tcp("h3", "h6", congestion="cubic"),
    ]
    found = nl.run(network, flows, duration_s=5, engine="library", progress=False)
    assert list(found.flows.flow) == ["h1-h4 Counting ×2", "h2-h5 Window", "h3-h6 cubic"]
    assert list(found.flows.congestion) == ["Counting", "Window", "cubic"]
    assert (found.flows.goodput_mbps > 0.2).all()
    assert found.flows.goodput_mbps.sum() == pytest.approx(9.5, rel=0.05)
    assert len(created) == 2
    assert not hasattr(small, "flow")


def test_no_network_time_passes_while_a_class_thinks() -> None:
    class Slow(Reno):
        def on_loss(self, loss: Any) -> None:
            end_s = time.monotonic() + 0.1
            while time.monotonic() < end_s:
                pass
            super().on_loss(loss)

    slow, usual = (run(each).intervals.drop(columns="flow") for each in (Slow, Reno))
    assert slow.equals(usual)


def test_class_gets_the_measured_values() -> None:
    messages: list[Any] = []
    losses: list[Any] = []

    class Noting(Reno):
        def on_start(self, flow: Any) -> None:
            super().on_start(flow)
            assert (flow.mss_bytes, flow.cwnd_segments, flow.ssthresh_segments) == (1448, 10, math.inf)
            assert flow.pacing_mbps is None

        def on_ack(self, ack: Any) -> None:
            messages.append(ack)
            super().on_ack(ack)

        def on_loss(self, loss: Any) -> None:
            losses.append(loss)
            super().on_loss(loss)

    row = run(Noting).flows.iloc[0]
    assert sum(ack.delivered_segments for ack in messages) * 1448 == pytest.approx(row.received_bytes, rel=0.02)
    rtts_ms = [ack.rtt_ms for ack in messages if ack.rtt_ms is not None]
    assert min(rtts_ms) >= row.rtt_min_ms - 0.001 >= 40
    assert np.median([ack.delivery_rate_mbps for ack in messages]) == pytest.approx(9.56, rel=0.05)
    assert all(0 <= ack.in_flight_segments <= 200 and ack.marked_segments == 0 for ack in messages)
    assert [ack.now_s for ack in messages] == sorted(ack.now_s for ack in messages)
    assert losses
    assert all(loss.lost_segments >= 1 and loss.is_new for loss in losses)


def test_every_mark_is_reported_once() -> None:
    messages: list[Any] = []

    class Noting(Reno):
        def on_ack(self, ack: Any) -> None:
            messages.append(ack.marked_segments)
            super().on_ack(ack)

    marking = path(aqm="codel", queue_packets=None, aqm_options={"ecn": True})
    measured = run(Noting, marking, sysctls={"net.ipv4.tcp_ecn": 1})
    assert sum(messages) == measured.flows.marks[0] > 10


def test_marks_are_counted_exactly_with_accurate_ecn_and_too_often_without_it() -> None:
    """RFC 3168 repeats ECE until the sender answers with CWR; RFC 9768 (tcp_ecn=3) returns the number of marks."""

    def reported_and_marked(tcp_ecn: int) -> tuple[int, int]:
        messages: list[Any] = []

        class Noting(Reno):
            def on_ack(self, ack: Any) -> None:
                messages.append(ack.marked_segments)
                super().on_ack(ack)

        marking = path(aqm="codel", queue_packets=None, aqm_options={"ecn": True})
        measured = run(Noting, marking, sysctls={"net.ipv4.tcp_ecn": tcp_ecn})
        return sum(messages), int(measured.queues.marks.max())

    messages, marked = reported_and_marked(3)
    assert messages == marked > 10
    messages, marked = reported_and_marked(1)
    assert messages > 1.5 * marked


class Scalable(Control):
    """A window that shrinks with the share of marked segments, as DCTCP's and Prague's do (RFC 8257)."""

    ect = 1

    def on_start(self, flow: Any) -> None:
        super().on_start(flow)
        flow.ect = self.ect
        self.alpha, self.delivered, self.marked, self.next_s = 1.0, 0, 0, 0.0

    def on_ack(self, ack: Any) -> None:
        flow = self.flow
        self.delivered += ack.delivered_segments
        self.marked += ack.marked_segments
        if ack.marked_segments:
            flow.ssthresh_segments = min(flow.ssthresh_segments, flow.cwnd_segments)
        slow_start = flow.cwnd_segments < flow.ssthresh_segments
        unmarked = ack.delivered_segments - ack.marked_segments
        flow.cwnd_segments += ack.delivered_segments if slow_start else max(0, unmarked) / flow.cwnd_segments
        if ack.rtt_ms and ack.now_s >= self.next_s:
            self.next_s = ack.now_s + ack.rtt_ms / 1000
            self.alpha += (self.marked / max(1, self.delivered) - self.alpha) / 16
            if self.marked:
                flow.cwnd_segments = max(2, flow.cwnd_segments * (1 - self.alpha / 2))
            self.delivered = self.marked = 0

    def on_loss(self, loss: Any) -> None:
        if loss.lost_segments:
            self.flow.ssthresh_segments = self.flow.cwnd_segments = max(2, self.flow.cwnd_segments / 2)


class ScalableInTheClassicQueue(Scalable):
    ect = 0


def test_ect_1_brings_a_control_into_the_queue_of_l4s() -> None:
    """Its queue marks at 1 ms of delay (RFC 9332), the other one holds 15 ms."""
    marking = path(rate_mbps=20, delay_ms=10, aqm="dualpi2", queue_packets=None)
    accurate = {"net.ipv4.tcp_ecn": 3}
    low, classic = (run(each, marking, 10.0, sysctls=accurate) for each in (Scalable, ScalableInTheClassicQueue))
    waits_ms = [each.intervals.rtt_ms[each.intervals.t_s > 3].mean() - 20 for each in (low, classic)]
    assert 0 < waits_ms[0] < 3
    assert waits_ms[1] > 8
    assert low.flows.marks[0] > 3 * classic.flows.marks[0]
    assert low.flows.goodput_mbps[0] > 0.85 * 20 * 1448 / 1514


def test_scalable_control_is_fair_to_cubic_with_ecn_only_with_ect_1() -> None:
    """With ECT(0) and a queue that takes any ECN for L4S, both are in the queue of L4S, and CUBIC starves (RFC 9331)."""
    both = [nl.Tcp("h1", "h2", congestion=Scalable), nl.Tcp("h1", "h2", congestion="cubic")]
    shares = []
    for any_ecn in (False, True):
        network = path(rate_mbps=20, delay_ms=10, aqm="dualpi2", queue_packets=None, aqm_options={"any_ecn": any_ecn})
        found = nl.run(network, both, 20.0, sysctls={"net.ipv4.tcp_ecn": 3}, engine="library", progress=False)
        shares.append(found.goodput_mbps(after_s=5.0).iloc[1] / found.goodput_mbps(after_s=5.0).sum())
    assert shares[0] > 0.25 and shares[1] < 0.15


def test_timeouts_are_reported_and_reset_the_window_without_a_method() -> None:
    timeouts: list[Any] = []

    class Noting(Control):
        def on_timeout(self, loss: Any) -> None:
            timeouts.append(loss)
            self.flow.cwnd_segments = 1

    cut = [nl.Change(at_s=1, link=("r1", "h2"), up=False), nl.Change(at_s=2, link=("r1", "h2"), up=True)]
    measured, usual = (run(each, changes=cut, interval_s=0.02) for each in (Noting, Control))
    assert len(timeouts) == measured.flows.timeouts[0] >= 2
    assert [loss.is_new for loss in timeouts[:2]] == [True, False]
    assert usual.intervals.cwnd_segments[usual.intervals.t_s.between(1.5, 1.9)].unique() == [1]
    assert usual.flows.received_bytes[0] == run("reno", changes=cut, interval_s=0.02).flows.received_bytes[0]


def test_lost_syn_is_not_reported_before_the_connection_is_established() -> None:
    """Linux counts a SYN's timeout too, before `on_start`."""
    messages: list[str] = []

    class Notes(Control):
        def on_start(self, flow: Any) -> None:
            super().on_start(flow)
            messages.append(f"start {flow.cwnd_segments:g} {flow.ssthresh_segments:g}")

        def on_ack(self, ack: Any) -> None:
            messages.append("ack")
            self.flow.cwnd_segments = 10

        def on_timeout(self, loss: Any) -> None:
            messages.append("timeout")

    found = run(Notes, path(loss_rate=1.0), changes=[nl.Change(at_s=0.5, link=("r1", "h2"), loss_rate=0.0)])
    assert (
        messages[0].startswith("start")
        and messages[0].endswith("inf")
        and messages[1] == "ack"
        and "timeout" not in messages
    ), messages[:4]
    assert found.flows["goodput_mbps"].iloc[0] > 0


def test_a_pace_is_kept() -> None:
    class Paced(Window):
        segments = 100

        def on_start(self, flow: Any) -> None:
            super().on_start(flow)
            flow.pacing_mbps = np.float64(2)

    measured = run(Paced, duration_s=5.0)
    # Linux paces the frames' bytes, headers of TCP and IP among them.
    assert measured.flows.throughput_mbps[0] == pytest.approx(2, rel=0.05)
    assert measured.queues.backlog_packets.max() <= 2


def test_a_sweep_asks_the_class_again_each_time() -> None:
    calls = []

    class Counting(Control):
        def on_start(self, flow: Any) -> None:
            calls.append(flow)

    scenario = nl.Scenario(path(), [nl.Tcp("h1", "h2", congestion=Counting)], 1.0)
    first = nl.sweep({"a": scenario, "b": scenario}, progress=False)
    again = nl.sweep({"a": scenario, "b": scenario}, progress=False)
    assert len(calls) == 4
    assert first["a"].intervals.equals(again["b"].intervals)
    assert again["a"].settings["engine"] == "library"


def test_a_class_may_run_another_network_with_a_class() -> None:
    found: list[float] = []

    class Outer(Window):
        def on_start(self, flow: Any) -> None:
            super().on_start(flow)
            found.append(run(Window, duration_s=0.5).flows.goodput_mbps[0])

    assert run(Outer, duration_s=0.5).flows.goodput_mbps[0] == found[0]


def test_a_live_network_asks_too_and_ends_with_a_class_that_fails() -> None:
    class Wrong(Reno):
        def on_ack(self, ack: Any) -> None:
            if ack.now_s > 1:
                raise ValueError("enough")
            super().on_ack(ack)

    with nl.live(path(), engine="library") as lab:
        lab.start(nl.Tcp("h1", "h2", congestion=Reno))
        lab.advance(1)
        assert lab.run.flows.goodput_mbps[0] > 5
        assert '"congestion": "Reno"' in json.dumps(lab.run.settings)
        lab.start(nl.Tcp("h1", "h2", congestion=Wrong))
        with pytest.raises(RunError, match=r"Wrong\.on_ack ended the run at 1\.\d+ s: ValueError: enough"):
            lab.advance(1)
        assert lab.closed
