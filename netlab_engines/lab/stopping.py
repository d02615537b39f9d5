"""End a running script on Ctrl-C or a signal: first with an interrupt, so that its own clean-up runs, then by force."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

from netlab.base.errors import RunError
from netlab.base.exit_signals import handle_signals
from netlab_engines.files import ENDING_FILE
from netlab_engines.protocol import session as protocol

GRACE_S = 10.0
"""The wall-clock time in s that a script's own `finally` and `atexit` have."""
FINISH_S = 3.0
KILL_EVERY_S = 1.0
HINT_AFTER_S = 1.0
MAX_KILLS = 5
SAME_PRESS_S = 0.5
"""Two interrupts within this time in s count as one: a program that starts others may forward an interrupt that they get anyway."""
ENDING_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")

Reason = signal.Signals | Literal["limit", "output"]


def print_notice(text: str) -> None:
    """Print a line of netlab's own, with the prefix "netlab: ", to the standard error."""
    write_error(f"netlab: {text}")


def write_error(line: str) -> None:
    """Print a line to the standard error, also on a terminal in raw mode; nothing happens if the standard error is
    closed.
    """
    try:
        end = "\r\n" if sys.stderr.isatty() else "\n"
        sys.stderr.write(line + end)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        # sys.stderr is None after `2>&-`.
        return


class Stopping:
    """The end of a running script: it turns Ctrl-C, SIGTERM, SIGHUP, a wall-clock limit and a closed output into
    interrupts of the guest, and then into kills.

    The script gets an interrupt, and is killed after GRACE_S of wall-clock time or at a second Ctrl-C. The user of this
    class calls `check` several times a second.

    Attributes
    ----------
    reason : signal.Signals, "limit", "output" or None
        The first reason to end the script, or None if there is none yet.
    killed : bool
        True if the script was killed.
    failed_output : OSError or None
        The error of the output that was closed or full.
    """

    def __init__(self, guest: protocol.LabSession, limit_s: float) -> None:
        """Begin to time the script of `guest`, which may take `limit_s` s of wall-clock time from now."""
        self._guest = guest
        self._limit_s = limit_s
        self._finishing = False
        self.failed_output: OSError | None = None
        self.reset()

    def reset(self) -> None:
        """Forget earlier interrupts and let the wall-clock limit begin again; to be called when the user is back at
        Mininet's prompt.
        """
        self.reason: Reason | None = None
        self.killed = False
        self._hint_shown = self._interrupted_twice = False
        self._kills = 0
        self._asked_s = 0.0
        self._next_s = time.monotonic() + self._limit_s
        self._file().unlink(missing_ok=True)

    def handle_signals(self) -> AbstractContextManager[None]:
        """Return a context manager in whose block SIGINT, SIGTERM and SIGHUP to this process ask the script to end; in
        other threads than the main one it does nothing.
        """
        # An exception in the middle of a message would leave half of it in the channel to the guest.
        return handle_signals(ENDING_SIGNALS, lambda number, _frame: self.ask(signal.Signals(number)))

    def _file(self) -> Path:
        """Return the path of the file in the guest's folder in which the host writes the name of the signal that ends
        the script.
        """
        return self._guest.folder / ENDING_FILE

    def ask(self, reason: Reason) -> None:
        """Ask the script to end by an interrupt, and keep `reason` (a signal, "limit" for the wall-clock limit or
        "output" for a closed output), whose signal (SIGINT for the latter two) is written to the guest's folder. If it
        was asked before and `reason` is a second Ctrl-C more than SAME_PRESS_S s later, kill it. Nothing happens after
        `finish`.
        """
        now_s = time.monotonic()
        if self._finishing:
            return
        if self.reason is None:
            self.reason = reason
            self._asked_s = now_s
            self._next_s = now_s + GRACE_S
            self._file().write_text(reason.name if isinstance(reason, signal.Signals) else signal.SIGINT.name)
            self._guest.interrupt()
        elif reason == signal.SIGINT and now_s - self._asked_s > SAME_PRESS_S:
            self._interrupted_twice |= not self.killed
            self._kill()

    def _kill(self) -> None:
        """Kill the script's program in the guest, count that, and set `killed` unless the script has ended; the next
        kill is due KILL_EVERY_S s later.
        """
        self.killed |= not self._finishing
        self._kills += 1
        self._next_s = time.monotonic() + KILL_EVERY_S
        self._guest.interrupt(kill=True)

    def finish(self) -> None:
        """Note that the script has ended: later signals are ignored, and the requests that remain may take FINISH_S s
        of wall-clock time before the guest is killed.
        """
        self._finishing = True
        self._kills = 0
        self._next_s = time.monotonic() + FINISH_S

    def check(self) -> None:
        """Send the guest the interrupt or kill that is due now, and print how to end a script that takes long to end;
        to be called several times a second. Raises RunError, and closes the guest, if it does not react to kills.
        """
        now_s = time.monotonic()
        if (
            self.reason is not None
            and not (self._hint_shown or self.killed or self._finishing)
            and now_s - self._asked_s > HINT_AFTER_S
        ):
            self._hint_shown = True
            print_notice(f"the script has {GRACE_S:g} s to end; press Ctrl-C to end it at once.")
        if now_s < self._next_s:
            return
        if self.reason is None and not self._finishing:
            self.ask("limit")
        elif self._kills < MAX_KILLS:
            self._kill()
        else:
            self._guest.close()
            raise RunError("The script's guest did not respond and was closed. The script's files are kept.")

    def guard_output(self, write: Callable[[str], Any]) -> Callable[[str], None]:
        """Return a function that calls `write` with its text. If the output is closed or full, it asks the script to end,
        as SIGPIPE would end a program, and discards this and all later texts; the error is kept in `failed_output`.
        """

        def write_unless_closed(text: str) -> None:
            """Write a text by the caller's `write`; if that fails, ask the script to end, and discard this text and all
            later ones.
            """
            if self.failed_output is None:
                try:
                    write(text)
                except OSError as error:
                    self.failed_output = error
                    self.ask("output")

        return write_unless_closed

    def status(self, code: int) -> int:
        """Return the exit status of the netlab command whose script ended with `code`, an exit status or the negative
        number of a signal: 128 plus the number of the signal that asked the script to end (SIGINT for other reasons) if
        an interrupt or a kill ended it then; else the code, or 128 plus the signal's number.
        """
        number = self.reason if isinstance(self.reason, signal.Signals) else signal.SIGINT
        if self.reason is not None and code in (-signal.SIGINT, -signal.SIGKILL, 128 + signal.SIGINT):
            return 128 + number
        return code if code >= 0 else 128 - code

    def report(self) -> str | None:
        """Return a sentence saying when and why the script was killed, for the user; None if it was not killed."""
        if self.reason is None or not self.killed:
            return None
        if self._interrupted_twice:
            when = "at the second Ctrl-C"
        elif isinstance(self.reason, signal.Signals):
            when = f"{GRACE_S:g} s after {'Ctrl-C' if self.reason == signal.SIGINT else self.reason.name}"
        else:
            when = f"{GRACE_S:g} s after {'its time limit' if self.reason == 'limit' else 'its output had failed'}"
        return f"the script was killed {when}; its files are kept."
