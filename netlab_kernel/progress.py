"""Report the progress of a build: the phases with their usual durations, and an estimate of the remaining time."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import TextIO

from netlab_engines.kernels.background_build import BuildProgress

QUIET_INTERVAL_S = 5.0
TTY_INTERVAL_S = 0.2
MIN_FRACTION = 0.03


Listener = Callable[[BuildProgress], None]


def usual_phases(kinds: Sequence[str] = ("pocket", "library")) -> dict[str, float]:
    """Return the usual duration in s of each phase, such as "fetch" or "compile", of a build of some kinds of kernel
    ("pocket", "library") on a machine with as many processors as this process may use, by the phase's name and in the
    order of the phases.
    """
    count = len(os.sched_getaffinity(0))
    phases = {"fetch": 12.0, "unpack": 7.0}
    if "library" in kinds:
        phases["library"] = 10.0 + 150.0 / count
    if "pocket" in kinds:
        phases |= {"configure": 8.0, "compile": 12.0 + 330.0 / count, "install": 1.0}
    return phases


class Meter:
    """Converts the progress within a phase to the progress of the whole build and its remaining time, and reports these
    to a listener.
    """

    def __init__(
        self,
        listener: Listener | None,
        phases: dict[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the clock of a build. `listener` is called with each BuildProgress (None: no listener), `phases` has the
        usual duration of each phase in s in their order (None: `usual_phases()`), and `clock` returns the present time
        in s.
        """
        self._listener = listener
        self._phases = phases or usual_phases()
        self._clock = clock
        self._phase = next(iter(self._phases))
        self._started_s = clock()

    def at(self, phase: str, share: float = 0.0, detail: str = "") -> None:
        """Report to the listener that a fraction `share`, in [0, 1] (other values are cut to it), of the build's phase
        of this name is done; `detail` is the present work, such as a file's name. The listener gets the fraction of the
        whole build and the estimated remaining time. Raises KeyError if there is no such phase.
        """
        now = self._clock()
        if phase != self._phase:
            self._phase, self._started_s = phase, now
        share = min(max(share, 0.0), 1.0)
        names = list(self._phases)
        usual = self._phases[phase]
        before = sum(self._phases[name] for name in names[: names.index(phase)])
        after = sum(self._phases[name] for name in names[names.index(phase) + 1 :])
        rest = usual * (1 - share)
        if share >= MIN_FRACTION:
            # Weight this machine's measured speed by the part of the phase that is done.
            measured = (now - self._started_s) * (1 - share) / share
            trust = min(1.0, share * 4)
            rest = trust * measured + (1 - trust) * rest
        if self._listener:
            total = before + usual + after
            self._listener(BuildProgress(phase, (before + usual * share) / total, rest + after, detail))


class ProgressLine:
    """A line on a stream that shows the progress of a build: rewritten in place on a terminal, else printed every few
    seconds if it has changed.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare the line on a stream (None: the standard error stream); `clock` returns the present time in s.
        Nothing is written yet.
        """
        self._stream = stream or sys.stderr
        self._tty = self._stream.isatty()
        self._clock = clock
        self._last_s = float("-inf")
        self._phase = ""
        self._text = ""

    def show(self, text: str, phase: str) -> None:
        """Write a text, cut to the terminal's width on a terminal, unless it equals the last written text, or a text of
        the same phase (a name such as "compile") was written less than TTY_INTERVAL_S (on a terminal) or
        QUIET_INTERVAL_S (elsewhere) ago.
        """
        if text == self._text:
            return
        now_s = self._clock()
        if phase == self._phase and now_s - self._last_s < (TTY_INTERVAL_S if self._tty else QUIET_INTERVAL_S):
            return
        self._last_s, self._phase, self._text = now_s, phase, text
        width = shutil.get_terminal_size().columns
        self._stream.write(f"\r\x1b[K{text[: width - 1]}" if self._tty else text + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Clear the progress line if the stream is a terminal; lines that were printed to another stream stay."""
        if self._tty:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
