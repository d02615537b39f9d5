"""A link's rate over time: moments and rates, repeated at their end."""

from __future__ import annotations

import bisect
import functools
import itertools
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netlab.base.arguments import explain_bad_construction
from netlab.base.errors import ScenarioError, one_of
from netlab.base.units import BITS_PER_MEGABIT, MS_PER_S, rate_mbps
from netlab.base.values import is_number, short_repr, to_python
from netlab.plan import TraceSteps

MIN_RATE_MBPS = 0.001
MAX_RATE_MBPS = 100_000
MIN_STEP_S = 0.001
MAX_DURATION_S = 86_400.0
MAX_STEPS = 100_000
MAX_INTERVALS = 1_000_000
OPPORTUNITY_BYTES = 1500
"""The IP packet that a row of a mahimahi file stands for."""
FRAMINGS = ("tc", "ethernet", "ip")
"""Bytes that a rate counts besides IP packets: the 14 of the Ethernet header as tc does, the 38 of a real wire, or none."""
MAHIMAHI_INTERVAL_S = 0.1
MAX_LISTED = 5
TRACES_FOLDER = Path(__file__).parent / "traces"


@explain_bad_construction("nl.Trace([(0, 5), (10, 2)])")
class Trace:
    """A rate that changes at given moments and is repeated at its end.

    Between two moments the rate is constant. A rate of 0 is an outage: nothing is sent (more precisely, one kilobit per second).

    Parameters
    ----------
    steps : sequence of pairs
        Times in s, rising from 0, each with the rate in Mbit/s from then on: 0, or 0.001 to 100 000.
    duration_s : float, optional
        The time in s after which it is repeated; by default, the last step lasts as long as the one before it.
    framing : {"tc", "ethernet", "ip"}, optional
        Bytes that its rates count for each packet, as a link's `framing`; by default, that of the link.

    Notes
    -----
    Mistakes are reported with those of the scenario, all at once.

    Examples
    --------
    >>> trace = Trace([(0, 5), (10, 2)])
    >>> trace.duration_s, trace.at(12), trace.at(20), trace.mean_mbps()
    (20.0, 2.0, 5.0, 3.5)
    """

    def __init__(
        self, steps: Sequence[Sequence[float]], duration_s: float | None = None, framing: str | None = None
    ) -> None:
        """Describe a trace of `steps` (s, Mbit/s), repeated after `duration_s` (None: the last step is as long as the
        one before), whose rates count `framing` (None: the link's). `problems` returns the mistakes.
        """
        self._steps = to_python(steps)
        self._duration_s = to_python(duration_s)
        self.framing = framing

    @classmethod
    def from_mahimahi(
        cls, path: str | os.PathLike[str], *, interval_s: float = MAHIMAHI_INTERVAL_S, framing: str | None = "ip"
    ) -> Trace:
        """Return the trace in a file of mahimahi: rows of opportunities in ms to send an IP packet of 1500 bytes,
        repeated after the last.

        Parameters
        ----------
        path : str or path
        interval_s : float
            The opportunities in each interval of this length (in s, at least 0.001) become one rate: 1500 bytes each,
            over the interval. The total capacity is that of the file; the spacing within an interval is lost.
        framing : {"ip", "tc", "ethernet"} or None
            Framing of the 1500 bytes: "ip" is that of mahimahi, so that 12 Mbit/s carry 12 * 1472 / 1500 = 11.776
            Mbit/s in datagrams of 1472 bytes; None is the link's, usually 14 bytes more per packet (11.667 Mbit/s).

        Raises
        ------
        ScenarioError
            If the file cannot be read, or rows of it are not moments in ms; each of these is named.

        References
        ----------
        R. Netravali et al., Mahimahi: Accurate Record-and-Replay for HTTP, USENIX ATC 2015.
        """
        if not (is_number(interval_s) and MIN_STEP_S <= interval_s <= MAX_DURATION_S):
            raise ScenarioError(
                [f"interval_s must be from {MIN_STEP_S} to {MAX_DURATION_S:g}, got {short_repr(interval_s)}"]
            )
        moments_ms = _opportunities(path)
        duration_ms = moments_ms[-1]
        # Count in whole microseconds: 0.1 has no exact float.
        width_us, duration_us = round(interval_s * 1e6), duration_ms * 1000
        number = -(-duration_us // width_us)
        if number > MAX_INTERVALS:
            raise ScenarioError(
                [f"interval_s={interval_s:g} makes {number} intervals of {path}; {MAX_INTERVALS} is the most"]
            )
        counts = [0] * number
        for moment_ms in moments_ms:
            # Data that can be sent at a moment was sent in the ms before it, so the last moment belongs to the end.
            counts[(max(1, moment_ms) - 1) * 1000 // width_us] += 1
        steps: list[tuple[float, float]] = []
        for place, count in enumerate(counts):
            length_us = min(width_us, duration_us - place * width_us)
            mbps = rate_mbps(count * OPPORTUNITY_BYTES, length_us / 1e6)
            if not steps or steps[-1][1] != mbps:
                steps.append((place * width_us / 1e6, mbps))
        return cls(steps, duration_ms / MS_PER_S, framing)

    @classmethod
    def named(cls, name: str) -> Trace:
        """Return a trace that netlab includes: walk_4g, train or crowded_wifi. Raises ScenarioError for another name.

        They are synthetic: `tools/traces.py` generates them with a seed, so that they look like a walk with 4G (60 s),
        a train with tunnels (120 s) and Wi-Fi in a full room (60 s). None was measured.
        """
        names = sorted(path.stem for path in TRACES_FOLDER.glob("*.json"))
        if name not in names:
            raise ScenarioError([f"trace: {one_of(name, names)}"])
        return cls.from_dict(json.loads((TRACES_FOLDER / f"{name}.json").read_text()))

    @classmethod
    def from_dict(cls, words: Mapping[str, Any]) -> Trace:
        """Return the trace from the dict that `to_dict` returned, also with mistakes, which `problems` finds."""
        return cls(words["trace"], words.get("duration_s"), words.get("framing"))

    def to_dict(self) -> dict[str, Any]:
        """Return the dict for a scenario file, `{"trace": [[0, 5]]}`, with `duration_s` and `framing` if given."""
        steps = self._steps
        if isinstance(steps, (list, tuple)):
            steps = [list(step) if isinstance(step, (list, tuple)) else step for step in steps]
        options = {"duration_s": self._duration_s, "framing": self.framing}
        return {"trace": steps, **{name: value for name, value in options.items() if value is not None}}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        """Return a hash of the steps, the duration and the framing; the same one for all steps without a hash."""
        # Not of a text: 5 and 5.0 are equal.
        try:
            return hash((*map(tuple, self._steps), self._duration_s, self.framing))
        except TypeError:
            # The steps of a trace with problems can be anything.
            return hash(Trace)

    def __repr__(self) -> str:
        if self.problems():
            return f"Trace({short_repr(self._steps)})"
        low, high = self.range_mbps
        return f"Trace({len(self._steps)} steps in {self.duration_s:g} s, {low:g} to {high:g} Mbit/s)"

    def problems(self) -> list[str]:
        """Return a message for each mistake in the trace; an empty list if it is valid."""
        return list(self._problems)

    @functools.cached_property
    def _problems(self) -> list[str]:
        """The messages for the first five mistakes in the trace, and one with the number of the others."""
        found = []
        if not isinstance(self._steps, (list, tuple)) or not self._steps:
            return [f"trace must be a list such as [[0, 5], [10, 2]] (s, Mbit/s), got {short_repr(self._steps)}"]
        if len(self._steps) > MAX_STEPS:
            found.append(f"trace has {len(self._steps)} steps; {MAX_STEPS} is the most. Sum it into longer ones")
        before_s: float | None = None
        for number, step in enumerate(self._steps, start=1):
            where = f"trace, step {number}"
            if not (
                isinstance(step, (list, tuple)) and len(step) == 2 and all(is_number(to_python(part)) for part in step)
            ):
                found.append(f"{where} must be a time in s and a rate in Mbit/s, got {short_repr(step)}")
                continue
            at_s, mbps = step
            if number == 1 and at_s != 0:
                found.append(f"{where} must begin at 0 s, got {at_s:g}")
            elif before_s is not None and at_s - before_s < MIN_STEP_S * (1 - 1e-6):
                found.append(
                    f"{where} must begin at least {MIN_STEP_S} s after the one before ({before_s:g} s), got {at_s:g}"
                )
            elif at_s > MAX_DURATION_S:
                found.append(f"{where} must begin at {MAX_DURATION_S:g} s at the latest, got {at_s:g}")
            if mbps != 0 and not MIN_RATE_MBPS <= mbps <= MAX_RATE_MBPS:
                found.append(f"{where} must have a rate of 0 or from {MIN_RATE_MBPS} to {MAX_RATE_MBPS}, got {mbps:g}")
            before_s = at_s
        if self._duration_s is not None:
            least_s = (before_s or 0) + MIN_STEP_S
            if not (is_number(self._duration_s) and least_s * (1 - 1e-6) <= self._duration_s <= MAX_DURATION_S):
                found.append(
                    f"trace: duration_s must be from {least_s:g} (after its last step) to {MAX_DURATION_S:g}, "
                    f"got {short_repr(self._duration_s)}"
                )
        if self.framing is not None and self.framing not in FRAMINGS:
            found.append(f"trace: framing: {one_of(self.framing, FRAMINGS)}")
        if not found and not any(mbps for _, mbps in self._steps):
            found.append("trace has a rate of 0 all the time; a link that never sends is taken down with up=False")
        return found[:MAX_LISTED] + (
            [f"trace has {len(found) - MAX_LISTED} more such mistakes"] if len(found) > MAX_LISTED else []
        )

    @functools.cached_property
    def steps(self) -> list[tuple[float, float]]:
        """The times in s, each with the rate in Mbit/s from then on; ScenarioError if the trace has a mistake."""
        if self._problems:
            raise ScenarioError(self._problems)
        return [(float(at_s), float(mbps)) for at_s, mbps in self._steps]

    @functools.cached_property
    def duration_s(self) -> float:
        """The time in s of a repetition: by default, the last step is as long as the one before (if alone, 1 s)."""
        steps = self.steps
        if self._duration_s is not None:
            return float(self._duration_s)
        return 2 * steps[-1][0] - steps[-2][0] if len(steps) > 1 else 1.0

    @property
    def range_mbps(self) -> tuple[float, float]:
        """The lowest and the highest rate in Mbit/s."""
        rates = [mbps for _, mbps in self.steps]
        return min(rates), max(rates)

    def at(self, t_s: float) -> float:
        """Return the rate in Mbit/s at the moment `t_s`, in s after the trace's start; repetitions included."""
        steps = self.steps
        place = bisect.bisect_right([at_s for at_s, _ in steps], t_s % self.duration_s)
        return steps[place - 1][1]

    def mean_mbps(self, start_s: float = 0.0, end_s: float | None = None) -> float:
        """Return the mean rate in Mbit/s between two moments in s; without `end_s`, over one length of the trace.
        Raises ScenarioError when the end is not after the start.
        """
        end_s = start_s + self.duration_s if end_s is None else end_s
        if not (is_number(start_s) and is_number(end_s) and 0 <= start_s < end_s):
            raise ScenarioError(
                [f"start_s must be at least 0 and before end_s, got {short_repr(start_s)} and {short_repr(end_s)}"]
            )
        return (self._volume_mbit(end_s) - self._volume_mbit(start_s)) / (end_s - start_s)

    def slowest_s(self, bits: float) -> float:
        """Return the longest time in s that `bits` bits can take, over all moments at which they may begin."""
        mbit, (starts_s, sums) = bits / BITS_PER_MEGABIT, self._volumes
        rounds = math.ceil(mbit / sums[-1])
        # The time is linear between the beginnings at which either end falls on a step.
        from_step_s = max(self._time_of_volume_s(done + mbit) - at_s for at_s, done in zip(starts_s, sums, strict=True))
        to_step_s = max(
            at_s + rounds * self.duration_s - self._time_of_volume_s(done + rounds * sums[-1] - mbit)
            for at_s, done in zip(starts_s, sums, strict=True)
        )
        return max(from_step_s, to_step_s)

    @functools.cached_property
    def _volumes(self) -> tuple[list[float], list[float]]:
        """The beginning of each step and the end in s, and the volume in Mbit that can be sent until each."""
        steps = self.steps
        moments_s = [*(at_s for at_s, _ in steps), self.duration_s]
        lengths_s = (end - start for start, end in itertools.pairwise(moments_s))
        volumes = (length * mbps for length, (_, mbps) in zip(lengths_s, steps, strict=True))
        return moments_s, [0.0, *itertools.accumulate(volumes)]

    def _volume_mbit(self, until_s: float) -> float:
        """Return the volume in Mbit that can be sent from 0 s to a moment in s."""
        moments_s, sums = self._volumes
        rounds, rest_s = divmod(until_s, self.duration_s)
        place = bisect.bisect_right(moments_s, rest_s) - 1
        partial_mbit = (rest_s - moments_s[place]) * self.steps[place][1] if place < len(self._steps) else 0.0
        return rounds * sums[-1] + sums[place] + partial_mbit

    def _time_of_volume_s(self, mbit: float) -> float:
        """Return the first moment in s until which a volume in Mbit can be sent."""
        moments_s, sums = self._volumes
        rounds = max(0, math.ceil(mbit / sums[-1]) - 1)
        left_mbit = mbit - rounds * sums[-1]
        place = max(0, min(bisect.bisect_left(sums, left_mbit), len(sums) - 1) - 1)
        rate = self.steps[place][1]
        return rounds * self.duration_s + moments_s[place] + ((left_mbit - sums[place]) / rate if rate else 0.0)

    def to_plan(self) -> TraceSteps:
        """Return the trace in the plan's form; an outage is the lowest rate."""
        return {"steps": [(at_s, max(mbps, MIN_RATE_MBPS)) for at_s, mbps in self.steps], "duration_s": self.duration_s}


TWO_NUMBERS = re.compile(r"\s*[0-9.]+\s*[\s,;]\s*[0-9.]+\s*")


def _opportunities(path: str | os.PathLike[str]) -> list[int]:
    """Return the moments in a file of mahimahi, in ms and in order. Raises ScenarioError with its first mistakes."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ScenarioError([f"{path} cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise ScenarioError([f"{path} is not a text file"]) from None
    if row := next(filter(TWO_NUMBERS.fullmatch, lines), ""):
        hint = "if they are times in s and rates in Mbit/s, use nl.Trace([(0, 5.2), (1, 3.1)])"
        raise ScenarioError([f"{path} has rows of two numbers ({short_repr(row)}), so it is not of mahimahi; {hint}"])
    problems: list[str] = []
    found: list[int] = []
    for number, line in enumerate(lines, start=1):
        word = line.strip()
        if not word:
            continue
        if not (word.isascii() and word.isdigit()) or len(word) > len(str(int(MAX_DURATION_S * MS_PER_S))):
            problems.append(f"{path}, line {number}: {short_repr(word)} is not a moment in whole ms")
        elif found and int(word) < found[-1]:
            problems.append(f"{path}, line {number}: {word} ms is before the {found[-1]} ms of an earlier line")
        else:
            found.append(int(word))
    if not problems and (not found or not found[-1]):
        problems.append(f"{path} has no moment after 0 ms; each line of a mahimahi file is one, in ms")
    if not problems and found[-1] > MAX_DURATION_S * MS_PER_S:
        problems.append(f"{path} lasts {found[-1] / MS_PER_S:g} s; {MAX_DURATION_S:g} s is the most")
    if problems:
        more = len(problems) - MAX_LISTED
        raise ScenarioError(problems[:MAX_LISTED] + ([f"{path} has {more} more such lines"] if more > 0 else []))
    return found
