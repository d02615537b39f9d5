"""A user's own congestion control: what it is asked, what it decides, and what becomes of its mistakes."""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import numpy as np
import pytest

import netlab as nl
from netlab.base.errors import NotHereError, RunError, ScenarioError
from netlab.runs.sweeps import SweepError
from netlab.traffic import own_calls as own
from netlab.traffic.delivery import ProgramInterface
from netlab_engines.library.control import Ack, FlowInterface, Loss

pytestmark = pytest.mark.library


def path(**words: Any) -> nl.Topology:
    bottleneck = nl.Link("r1", "h2", **{"rate_mbps": 10, "delay_ms": 20, "queue_packets": 50, **words})
    return nl.Topology(["h1", "h2"], ["r1"], links=[nl.Link("h1", "r1"), bottleneck])


def run(control: Any, network: nl.Topology | None = None, duration_s: float = 3.0, **words: Any) -> nl.Run:
    flow = nl.Tcp("h1", "h2", congestion=control)
    return nl.run(network or path(), [flow], duration_s, engine="library", progress=False, **words)


class Control:
    def on_start(self, flow: Any) -> None:
        self.flow = flow


class Reno(Control):
    """RFC 5681, counted in whole segments as Linux counts them."""

    counted = 0

    def on_ack(self, ack: Any) -> None:
        flow, delivered = self.flow, ack.delivered_segments
        if not ack.may_grow:
            return
        window = flow.cwnd_segments
        if window < flow.ssthresh_segments:
            flow.cwnd_segments = min(window + delivered, flow.ssthresh_segments)
            delivered -= flow.cwnd_segments - window
            window = flow.cwnd_segments
            if not delivered:
                return
        if self.counted >= window:
            self.counted = 0
            flow.cwnd_segments += 1
        self.counted += delivered
        flow.cwnd_segments += self.counted // window
        self.counted %= window

    def on_loss(self, loss: Any) -> None:
        self.counted = 0
        self.flow.ssthresh_segments = self.flow.cwnd_segments = max(self.flow.cwnd_segments // 2, 2)


class Window(Control):
    """A window that nothing changes."""

    segments = 12

    def on_start(self, flow: Any) -> None:
        flow.cwnd_segments = self.segments

    def on_ack(self, ack: Any) -> None:
        pass

    on_loss = on_timeout = on_ack


class Vegas(Control):
    """Keeps from 2 to 4 segments in the queue, decided once an RTT."""

    until_s = 0.0
    seen_ms = math.inf

    def on_ack(self, ack: Any) -> None:
        flow = self.flow
        self.seen_ms = min(self.seen_ms, ack.rtt_ms or math.inf)
        if ack.now_s < self.until_s or self.seen_ms == math.inf:
            return
        queued = flow.cwnd_segments * (1 - ack.rtt_min_ms / self.seen_ms)
        if flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments *= 2
            if queued > 1:
                flow.cwnd_segments = flow.ssthresh_segments = max(2, flow.cwnd_segments / 2 - queued)
        elif queued < 2:
            flow.cwnd_segments += 1
        elif queued > 4:
            flow.cwnd_segments = max(2, flow.cwnd_segments - 1)
        self.until_s, self.seen_ms = ack.now_s + ack.rtt_min_ms / 1000, math.inf


class LinuxsVegas(Reno):
    """net/ipv4/tcp_vegas.c in its own whole numbers, while nothing is lost."""

    never_us = 2**31 - 1
    base_us = least_us = never_us
    acked = until = samples = 0

    def on_ack(self, ack: Any) -> None:
        flow, new = self.flow, ack.delivered_segments
        if not new:
            return
        if ack.rtt_ms is not None:
            sample_us = round(1000 * ack.rtt_ms) + 1
            self.base_us, self.least_us = min(self.base_us, sample_us), min(self.least_us, sample_us)
            self.samples += 1
        self.acked += new
        if self.acked <= self.until:
            if flow.cwnd_segments < flow.ssthresh_segments:
                flow.cwnd_segments = min(flow.cwnd_segments + new, flow.ssthresh_segments)
            return
        self.until = self.acked + ack.in_flight_segments
        if self.samples <= 2:
            super().on_ack(ack)
        else:
            self.decide(new)
        self.samples, self.least_us = 0, self.never_us

    def decide(self, new: int) -> None:
        flow, window = self.flow, int(self.flow.cwnd_segments)
        queued = window * (self.least_us - self.base_us) // self.base_us
        slow_start, threshold = window < flow.ssthresh_segments, flow.ssthresh_segments
        if slow_start and queued > 1:
            window = min(window, window * self.base_us // self.least_us + 1)
            threshold = min(threshold, window)
        elif slow_start:
            window = min(window + new, threshold)
        elif queued > 4:
            window -= 1
            threshold = min(threshold, window)
        elif queued < 2:
            window += 1
        flow.cwnd_segments = window = max(2, window)
        flow.ssthresh_segments = max(threshold, window // 2 + window // 4)


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


def test_each_connection_of_two_classes_beside_cubic_has_its_own_object() -> None:
    made = []

    class Counting(Reno):
        def __init__(self) -> None:
            made.append(self)

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
    assert len(made) == 2
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
    told: list[Any] = []
    losses: list[Any] = []

    class Noting(Reno):
        def on_start(self, flow: Any) -> None:
            super().on_start(flow)
            assert (flow.mss_bytes, flow.cwnd_segments, flow.ssthresh_segments) == (1448, 10, math.inf)
            assert flow.pacing_mbps is None

        def on_ack(self, ack: Any) -> None:
            told.append(ack)
            super().on_ack(ack)

        def on_loss(self, loss: Any) -> None:
            losses.append(loss)
            super().on_loss(loss)

    row = run(Noting).flows.iloc[0]
    assert sum(ack.delivered_segments for ack in told) * 1448 == pytest.approx(row.received_bytes, rel=0.02)
    rtts_ms = [ack.rtt_ms for ack in told if ack.rtt_ms is not None]
    assert min(rtts_ms) >= row.rtt_min_ms - 0.001 >= 40
    assert np.median([ack.delivery_rate_mbps for ack in told]) == pytest.approx(9.56, rel=0.05)
    assert all(0 <= ack.in_flight_segments <= 200 and ack.marked_segments == 0 for ack in told)
    assert [ack.now_s for ack in told] == sorted(ack.now_s for ack in told)
    assert losses
    assert all(loss.lost_segments >= 1 and loss.is_new for loss in losses)


def test_every_mark_is_reported_once() -> None:
    told: list[Any] = []

    class Noting(Reno):
        def on_ack(self, ack: Any) -> None:
            told.append(ack.marked_segments)
            super().on_ack(ack)

    marking = path(aqm="codel", queue_packets=None, aqm_options={"ecn": True})
    measured = run(Noting, marking, sysctls={"net.ipv4.tcp_ecn": 1})
    assert sum(told) == measured.flows.marks[0] > 10


def test_marks_are_counted_exactly_with_accurate_ecn_and_too_often_without_it() -> None:
    """RFC 3168 repeats ECE until the sender answers with CWR; RFC 9768 (tcp_ecn=3) returns the number of marks."""

    def reported_and_marked(tcp_ecn: int) -> tuple[int, int]:
        told: list[Any] = []

        class Noting(Reno):
            def on_ack(self, ack: Any) -> None:
                told.append(ack.marked_segments)
                super().on_ack(ack)

        marking = path(aqm="codel", queue_packets=None, aqm_options={"ecn": True})
        measured = run(Noting, marking, sysctls={"net.ipv4.tcp_ecn": tcp_ecn})
        return sum(told), int(measured.queues.marks.max())

    told, marked = reported_and_marked(3)
    assert told == marked > 10
    told, marked = reported_and_marked(1)
    assert told > 1.5 * marked


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


def test_scalable_control_is_fair_beside_cubic_with_ecn_only_with_ect_1() -> None:
    """With ECT(0) and a queue that takes any ECN for L4S, both are in the queue of L4S, and CUBIC starves (RFC 9331)."""
    both = [nl.Tcp("h1", "h2", congestion=Scalable), nl.Tcp("h1", "h2", congestion="cubic")]
    shares = []
    for any_ecn in (False, True):
        network = path(rate_mbps=20, delay_ms=10, aqm="dualpi2", queue_packets=None, aqm_options={"any_ecn": any_ecn})
        found = nl.run(network, both, 20.0, sysctls={"net.ipv4.tcp_ecn": 3}, engine="library", progress=False)
        shares.append(found.goodput_mbps(after_s=5.0).iloc[1] / found.goodput_mbps(after_s=5.0).sum())
    assert shares[0] > 0.25 and shares[1] < 0.15


@pytest.mark.parametrize(
    ("codepoint", "settings", "message"),
    [
        (1, {}, "ect = 1 needs a connection with accurate ECN"),
        (1, {"net.ipv4.tcp_ecn": 1}, 'tcp_ecn": 3'),
        (2, {"net.ipv4.tcp_ecn": 3}, r"ect must be 0 for ECT\(0\) or 1 for ECT\(1\), got 2"),
    ],
)
def test_a_codepoint_that_cannot_be_sent_is_refused(codepoint: int, settings: dict[str, Any], message: str) -> None:
    class Marked(Control):
        def on_start(self, flow: Any) -> None:
            flow.ect = codepoint

    with pytest.raises(RunError, match=message):
        run(Marked, sysctls=settings)


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
    told: list[str] = []

    class Notes(Control):
        def on_start(self, flow: Any) -> None:
            super().on_start(flow)
            told.append(f"start {flow.cwnd_segments:g} {flow.ssthresh_segments:g}")

        def on_ack(self, ack: Any) -> None:
            told.append("ack")
            self.flow.cwnd_segments = 10

        def on_timeout(self, loss: Any) -> None:
            told.append("timeout")

    found = run(Notes, path(loss_rate=1.0), changes=[nl.Change(at_s=0.5, link=("r1", "h2"), loss_rate=0.0)])
    assert told[0].startswith("start") and told[0].endswith("inf") and told[1] == "ack" and "timeout" not in told, told[
        :4
    ]
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


@pytest.mark.parametrize("seen", [0, -3, math.nan, math.inf, 1e6, "12", None, True, [12]])
def test_invalid_window_is_reported_and_ignored(seen: Any) -> None:
    class Wrong(Control):
        def on_ack(self, ack: Any) -> None:
            self.flow.cwnd_segments = seen

    with pytest.raises(RunError) as told:
        run(Wrong)
    assert "h1-h2 Wrong: Wrong.on_ack ended the run at 0.0" in str(told.value)
    assert "cwnd_segments must be a number of segments from 1 to 100000, got" in str(told.value)
    assert str(told.value).endswith("self.flow.cwnd_segments = seen")


@pytest.mark.parametrize(
    ("name", "seen"), [("ssthresh_segments", 0), ("ssthresh_segments", None), ("pacing_mbps", -1), ("pacing_mbps", "2")]
)
def test_so_are_a_threshold_and_a_pace(name: str, seen: Any) -> None:
    class Wrong(Control):
        def on_start(self, flow: Any) -> None:
            setattr(flow, name, seen)

    with pytest.raises(RunError, match=f"{name} must be a number of"):
        run(Wrong)


def test_an_error_in_a_class_ends_the_run_with_its_line() -> None:
    class Wrong(Control):
        def on_loss(self, loss: Any) -> None:
            self.flow.cwnd_segments = self.window / 2  # type: ignore[attr-defined]

    with pytest.raises(
        RunError, match=r"Wrong\.on_loss ended the run at .* s: AttributeError: .* has no attribute 'window'"
    ) as told:
        run(Wrong)
    assert "self.flow.cwnd_segments = self.window / 2" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda flow: setattr(flow, "cwnd", 5), r"flow.cwnd is unknown: .*ect; did you mean cwnd_segments\?"),
        (lambda flow: flow.window, r"flow.window is unknown: got 'window'; allowed: now_s, .*, ect\."),
        (lambda flow: sys.exit(), r"SystemExit\."),
    ],
)
def test_unknown_field_and_exit_are_reported(wrong: Any, told: str) -> None:
    class Wrong(Control):
        def on_start(self, flow: Any) -> None:
            wrong(flow)

    with pytest.raises(RunError, match=rf"Wrong\.on_start ended the run at .*{told} In line \d+: "):
        run(Wrong)


@pytest.mark.parametrize("given", [Ack, Loss, FlowInterface, ProgramInterface])
def test_unknown_field_is_reported_with_the_known_fields(given: Any) -> None:
    names = own.NAMES[given.__name__]
    assert names == getattr(given, "_fields", names)
    assert all(hasattr(given, name) for name in names)


@pytest.mark.parametrize(
    ("on_ack", "advice"),
    [
        (lambda _ack: None, r"; write def on_ack\(self, ack\)"),
        (lambda _self, ack: setattr(ack, "rtt_ms", 5), "of an acknowledgement or a loss can be read, not set"),
        (lambda _self, ack: ack.delivered, "'delivered'; allowed: now_s, .*; did you mean delivered_segments"),
    ],
)
def test_a_slip_of_python_comes_with_advice(on_ack: Any, advice: str) -> None:
    with pytest.raises(RunError, match=advice):
        run(type("Wrong", (), {"on_ack": on_ack, "__module__": "student"}))


def test_class_that_needs_arguments_is_reported_before_the_run() -> None:
    class Wrong(Control):
        def __init__(self, window: int) -> None:
            self.window = window

    with pytest.raises(RunError, match=r"Wrong\.__init__ ended the run before it began: TypeError"):
        run(Wrong)
    assert run(Wrong(5)).flows.goodput_mbps[0] > 1


def test_a_loop_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "MAX_CALL_S", 0.3)

    class Endless(Control):
        def on_ack(self, ack: Any) -> None:
            while True:
                pass

    told = r"Endless\.on_ack ended the run at 0\.\d+ s: it did not return within 0\.3 s of computing\. In line "
    with pytest.raises(RunError, match=told):
        run(Endless)
    # In a sweep's threads there is no alarm.
    with pytest.raises(SweepError, match=told):
        nl.sweep([nl.Scenario(path(), [nl.Tcp("h1", "h2", congestion=Endless)], 1.0)], progress=False)


def test_ctrl_c_in_a_class_ends_the_run() -> None:
    class Interrupted(Control):
        def on_ack(self, ack: Any) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Interrupted)
    assert run(Control).flows.goodput_mbps[0] > 1


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


def test_no_other_engine_takes_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    from netlab import engines
    from netlab_engines.native import NativeEngine

    plan = nl.Scenario(path(), [nl.Tcp("h1", "h2", congestion=Reno)], 1.0).plan()
    with pytest.raises(NotHereError, match=r"h1-h2 Reno: custom classes work only with engine='library'"):
        NativeEngine().refuse(plan)
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    assert engines.decide(None, [plan]) == "library"


def test_a_scenario_file_holds_no_class() -> None:
    document = nl.Scenario(path(), [nl.Tcp("h1", "h2", congestion=Reno)], 1.0).to_dict()
    with pytest.raises(
        ScenarioError, match="congestion: Reno is a class, which a file cannot hold; run it from Python"
    ):
        nl.Scenario.from_dict(document)
