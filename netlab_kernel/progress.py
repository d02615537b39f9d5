"""Report the progress of a build: the phases with their usual durations, and an estimate of the remaining time."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

QUIET_INTERVAL_S = 5.0
TTY_INTERVAL_S = 0.2
ENOUGH_TO_JUDGE = 0.03


@dataclass(frozen=True)
class BuildProgress:
    """The state of a build at some time."""

    phase: str
    fraction: float
    """The fraction of all work that is done, in [0, 1]."""
    remaining_s: float
    """The estimated remaining time in s."""
    detail: str = ""
    """The present work, such as the name of a file."""

    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"kernel: {self.fraction:4.0%}, about {self.remaining_s:3.0f} s left: {self.phase}{detail}"


Listener = Callable[[BuildProgress], None]


def usual_phases(kinds: Sequence[str] = ("pocket", "library")) -> dict[str, float]:
    """Return the duration of each phase in s on an ordinary machine with this number of processors, for some kinds of kernel."""
    count = len(os.sched_getaffinity(0))
    phases = {"fetch": 12.0, "unpack": 7.0}
    if "library" in kinds:
        phases["library"] = 10.0 + 150.0 / count
    if "pocket" in kinds:
        phases |= {"configure": 8.0, "compile": 12.0 + 225.0 / count, "install": 1.0}
    return phases


class Meter:
    """Converts the progress within a phase to the progress of the whole build and its remaining time."""

    def __init__(
        self,
        listener: Listener | None,
        phases: dict[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener = listener
        self._phases = phases or usual_phases()
        self._clock = clock
        self._phase = next(iter(self._phases))
        self._started_s = clock()

    def at(self, phase: str, share: float = 0.0, detail: str = "") -> None:
        """Report that a fraction `share`, in [0, 1], of a phase is done."""
        now = self._clock()
        if phase != self._phase:
            self._phase, self._started_s = phase, now
        share = min(max(share, 0.0), 1.0)
        names = list(self._phases)
        usual = self._phases[phase]
        before = sum(self._phases[name] for name in names[: names.index(phase)])
        after = sum(self._phases[name] for name in names[names.index(phase) + 1 :])
        rest = usual * (1 - share)
        if share >= ENOUGH_TO_JUDGE:
            # Weight this machine's measured speed by the part of the phase that is done.
            measured = (now - self._started_s) * (1 - share) / share
            trust = min(1.0, share * 4)
            rest = trust * measured + (1 - trust) * rest
        if self._listener:
            total = before + usual + after
            self._listener(BuildProgress(phase, (before + usual * share) / total, rest + after, detail))


class ProgressLine:
    """A progress line on a stream: rewritten in place on a terminal, else printed every few seconds."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream or sys.stderr
        self._tty = self._stream.isatty()
        self._clock = clock
        self._last_s = float("-inf")
        self._phase = ""

    def show(self, text: str, phase: str) -> None:
        """Show a text, unless a text of the same phase was shown a moment ago."""
        now_s = self._clock()
        if phase == self._phase and now_s - self._last_s < (TTY_INTERVAL_S if self._tty else QUIET_INTERVAL_S):
            return
        self._last_s, self._phase = now_s, phase
        width = shutil.get_terminal_size().columns
        self._stream.write(f"\r\x1b[K{text[: width - 1]}" if self._tty else text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Clear the line on a terminal."""
        if self._tty:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
