"""Traces, networks, rules and own numbers of the chapter "Adaptive video", without answers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import netlab
from netlab.base.errors import RunError
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.network.trace import Trace
from netlab.traffic import Tcp
from netlab_course.chapters.adaptive_video.player import LADDER_MBPS, Player
from netlab_course.own_numbers import OwnNumbers
from netlab_user_code.method_calls import RemoteObject

DELAY_MS, QUEUE_PACKETS, RTT_MS = 10, 150, 40.0
STEP_S, MIN_MBPS = 2.0, 0.1
SCALE = 0.25
RESERVOIR_S, CUSHION_S = 5.0, 10.0
LIMIT_S = 1000.0
CHUNKS, SHORT_CHUNKS = 75, 30
OTHER_TRACE, OTHER_SCALE = "walk_4g", 0.3

BEGINS_S = {
    0.33: (0, 10, 20, 30, 40, 50, 60, 80, 90, 100, 110),
    0.34: (0, 10, 20, 30, 50, 60, 80, 90, 100, 110),
    0.35: (10, 20, 30, 50, 80, 110),
    0.36: (10, 20, 30, 40, 50, 60, 70, 80),
}
"""The scales of the students' traces, and the beginnings in s at which the solution's rule was better than the given two
and than each constant quality, by at least 0.05 Mbit/s, when all were played. At lower scales (0.25, such as the page's
train) it is often no better than the best constant."""


def _begins_as_known(own: Any) -> bool:
    """Return whether the beginning of the trace in a student's numbers is one of `BEGINS_S` for the trace's scale."""
    return own.begin_s in BEGINS_S[own.scale]


def _derived_numbers(own: Any) -> dict[str, float]:
    """Return the stall in s of the worked example, `worked_s`, which follows from a student's numbers."""
    return {"worked_s": own.worked_mbit / own.worked_rate_mbps - 10}


NUMBERS = OwnNumbers(
    {
        "scale": tuple(BEGINS_S),
        "begin_s": tuple(range(0, 120, 10)),
        "worked_mbit": (30, 24, 26, 28, 32),
        "worked_rate_mbps": (1.6, 1.2, 1.5, 2.0),
        "chunk_kb": (300, 280, 320, 340, 360),
        # At 24 Mbit/s the throughput of a chunk hardly depends on headers.
        "path_mbps": (20, 16, 18, 22, 17),
    },
    holds=_begins_as_known,
    derive=_derived_numbers,
)


def mobile(name: str = "train", scale: float = SCALE, begin_s: float = 0.0) -> Trace:
    """Return netlab's trace `name` as means of 2 s, with all rates multiplied by `scale` and raised to at least 0.1
    Mbit/s; it starts at `begin_s` (in s, a multiple of 2), and its beginning follows its end.
    """
    whole = Trace.named(name)
    starts_s = [number * STEP_S for number in range(int(whole.duration_s / STEP_S))]
    rates = [max(MIN_MBPS, round(scale * whole.mean_mbps(at_s, at_s + STEP_S), 3)) for at_s in starts_s]
    first = int(begin_s / STEP_S) % len(rates)
    return Trace(list(zip(starts_s, [*rates[first:], *rates[:first]], strict=True)), duration_s=whole.duration_s)


def path(rate_mbps: float | Trace) -> Topology:
    """Return a network of a server, a router and a phone behind a link with this rate in Mbit/s, or with a trace;
    the round trip takes 40 ms.
    """
    last_mile = Link("r1", "phone", rate_mbps=rate_mbps, delay_ms=DELAY_MS, queue_packets=QUEUE_PACKETS)
    return Topology(["server", "phone"], ["r1"], links=[Link("server", "r1", delay_ms=DELAY_MS), last_mile])


def watch(rule: Any, trace: float | Trace, chunks: int = CHUNKS) -> Player:
    """Play a video of `chunks` chunks by a rule (a class or an object with `on_chunk`, or a grader's proxy of one) over
    a path whose rate is fixed (in Mbit/s) or follows a trace, and return the player. Raises RunError if a chunk takes
    longer than 1000 s.
    """
    if isinstance(rule, RemoteObject):
        with closing(rule.caller("video", "rule")) as called:
            return watch(called, trace, chunks)
    video = Player(rule, chunks)
    with netlab.live(path(trace), seed=1, engine="library") as lab:
        while not video.is_done:
            lab.advance(video.wait_s)
            flow = lab.start(Tcp("server", "phone", num_bytes=video.ask(lab.now_s)))
            arrived_s = lab.advance_until(flow, limit_s=LIMIT_S)
            if arrived_s is None:
                raise RunError(f"A chunk did not arrive in {LIMIT_S:g} s; give the link a higher rate.")
            video.arrive(arrived_s)
    return video


class Throughput:
    """The rule that takes the highest quality whose rate is not above the throughput of the chunk before."""

    def on_chunk(self, _buffer_s: float, throughput_mbps: float, _sizes: Sequence[int]) -> int:
        """Return the quality of the next chunk, from 0: the highest whose rate is not above the throughput in Mbit/s of
        the chunk before, or 0.
        """
        return max([quality for quality, rate in enumerate(LADDER_MBPS) if rate <= throughput_mbps], default=0)


def buffer_quality(buffer_s: float) -> int:
    """Return the quality (from 0) to which the buffer-based rule maps the seconds of video in the buffer: the highest
    whose rate is not above a line, which is at the lowest rate up to the reservoir of 5 s and at the highest from 15 s
    on.

    Source: T.-Y. Huang and others, A buffer-based approach to rate adaptation, SIGCOMM 2014, section 4 (rate map), without
    the hysteresis of their BBA-0, which keeps a rate until the line reaches the next one.
    """
    part = min(1.0, max(0.0, (buffer_s - RESERVOIR_S) / CUSHION_S))
    # The small number keeps a rate of the ladder that is on the line.
    allowed_mbps = LADDER_MBPS[0] + part * (LADDER_MBPS[-1] - LADDER_MBPS[0]) + 1e-9
    return max(quality for quality, rate in enumerate(LADDER_MBPS) if rate <= allowed_mbps)


class Buffer:
    """The rule that goes by the buffer alone, by the rate map of BBA-0 without its hysteresis."""

    def on_chunk(self, buffer_s: float, _throughput_mbps: float, _sizes: Sequence[int]) -> int:
        """Return the quality of the next chunk, from 0, by the seconds of video in the buffer alone; see
        `buffer_quality`.
        """
        return buffer_quality(buffer_s)


class Always:
    """The rule that takes the same quality for each chunk."""

    def __init__(self, quality: int) -> None:
        """Take this quality, from 0."""
        self.quality = quality

    def on_chunk(self, _buffer_s: float, _throughput_mbps: float, _sizes: Sequence[int]) -> int:
        """Return the quality of the next chunk, from 0."""
        return self.quality


def stall_s(left_mbit: float, rate_mbps: float, buffer_s: float) -> float:
    """Return how long in s the picture stands still until the rest of a chunk has come: `left_mbit` Mbit at
    `rate_mbps`, with `buffer_s` seconds of video in the buffer. Holds for one chunk and a rate that stays.
    """
    return max(0.0, left_mbit / rate_mbps - buffer_s)
