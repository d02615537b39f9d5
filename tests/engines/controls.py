"""Congestion controls as students write them, and a run with one."""

from __future__ import annotations

import math
from typing import Any

import netlab as nl


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
