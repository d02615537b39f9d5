"""Requests to the guest of a live network, one at a time; Ctrl-C and a wall-clock limit stop a request."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

from netlab.base.errors import Interrupted, RunError
from netlab.base.exit_signals import handle_signals
from netlab_engines.lab.endless_programs import EndlessPrograms
from netlab_engines.lab.stopping import Stopping, print_notice, write_error
from netlab_engines.protocol import session as protocol
from netlab_engines.protocol.messages import Message
from netlab_engines.protocol.requests import AllRequests
from netlab_engines.protocol.session import OnMessage, OnWait, requests_via

GRACE_S = 3.0
"""The wall-clock time in s that an interrupted program has to end before it is killed."""
MAX_INTERRUPTS = 5

OnText = Callable[[str], None]


class GuestSession:
    """A session with a guest, whose requests are made one at a time and can be stopped by Ctrl-C and by a wall-clock
    limit.

    Lines about background programs that failed are printed to the standard error.

    Parameters
    ----------
    guest : protocol.LabSession
        The guest.
    wall_limit_s : float
        The longest wall-clock time of a request in s.
    stopping : Stopping, optional
        Decides when a request is interrupted, in place of the limit.

    Attributes
    ----------
    now_s : float
        The network time in s since the network was built, as of the last answer.
    """

    def __init__(self, guest: protocol.LabSession, wall_limit_s: float, stopping: Stopping | None = None) -> None:
        """Make requests of `guest`, each of which may take `wall_limit_s` s of wall-clock time and can be interrupted
        by Ctrl-C. If `stopping` is not None, it decides when a request is interrupted, in place of both.
        """
        self.guest = guest
        self.stopping = stopping
        self.wall_limit_s = wall_limit_s
        self.now_s = 0.0
        self._lock = threading.RLock()

    @property
    def closed(self) -> bool:
        """True if the guest has ended; requests then raise RunError."""
        return self.guest.closed

    def request(
        self,
        on_text: OnText | None = None,
        on_wait: OnWait | None = None,
        on_error_text: OnText | None = None,
    ) -> AllRequests:
        """Return the object with a method for each request, which sends it and waits for its answer. Meanwhile
        `on_text` gets each piece of output of programs, `on_error_text` of a script's error output, and `on_wait` is
        called several times a second; None omits each. A request raises RunError if it fails or takes longer than the
        wall-clock limit, and KeyboardInterrupt after Ctrl-C, once the guest has stopped it.
        """

        def handle_message(message: Message) -> None:
            """Handle a message of the guest that comes before the answer: print a report of a failed program to the
            standard error, or pass a piece of output on.
            """
            if "report" in message:
                write_error(message["report"])
            if on_text is not None and "text" in message:
                on_text(message["text"])
            if on_error_text is not None and "error_text" in message:
                on_error_text(message["error_text"])

        return requests_via(functools.partial(self._ask, handle_message, on_wait))

    def _ask(self, handle_message: OnMessage, on_wait: OnWait | None, do: str, **words: Any) -> Any:
        """Make the request with the name `do` and the arguments `words`, keep its network time in `now_s`, and return
        its answer, a dict; `handle_message` gets each message before the answer, and `on_wait` is called several times
        a second meanwhile. Raises RunError if the lab is closed, the request failed or the wall-clock limit passed, and
        Interrupted after Ctrl-C; with `stopping`, neither of the last two.
        """

        def call_on_wait() -> None:
            """Call the caller's `on_wait`, and send the guest an interrupt or a kill that is due. If it has not reacted
            to any, close it and raise RunError.
            """
            if on_wait is not None:
                on_wait()
            endless_programs.check()
            if not interrupts.guest_reacts():
                self.guest.close()
                raise RunError("The lab did not respond and was closed. Open another with netlab.live(...).") from None

        with self._lock:
            if self.closed:
                raise RunError("This lab is closed; open another with netlab.live(...).")
            if self.stopping is not None:
                return self._ask_stoppable(self.stopping, handle_message, on_wait, do, words)
            endless_programs = EndlessPrograms(self.guest, print_notice)
            interrupts = _Interrupts(self.guest, self.wall_limit_s)
            with interrupts.handle_ctrl_c():
                answer = getattr(self.guest.request(handle_message, call_on_wait), do)(**words)
            self.now_s = answer["now_s"]
            if interrupts.limit_passed:
                reason = (
                    "The guest was busy all the time: does a flow cross only links without a rate_mbps, or does a program "
                    "never end? "
                    if self.guest.clock == "virtual"
                    else ""
                )
                raise RunError(
                    f"Stopped after {self.wall_limit_s:g} s of wall-clock time, at {self.now_s:.3f} s of network time. "
                    f"{reason}You can go on using the lab; a larger wall_limit_s allows longer commands."
                )
            if interrupts.user_interrupted:
                raise Interrupted(f"interrupted at {self.now_s:.3f} s of network time.")
            return answer

    def _ask_stoppable(
        self, stopping: Stopping, handle_message: OnMessage, on_wait: OnWait | None, do: str, words: dict[str, Any]
    ) -> Any:
        """Make the request with the name `do` and the arguments `words`, keep its network time in `now_s`, and return
        its answer, a dict; `handle_message` gets each message before the answer, and `on_wait` is called several times
        a second meanwhile (None: not). `stopping` decides when the guest is interrupted, and an interrupt raises no
        error.
        """

        def check_and_handle(message: Message) -> None:
            """Send the guest interrupts that are due, and handle a message that comes before the answer."""
            stopping.check()
            handle_message(message)

        def call_on_wait() -> None:
            """Call the caller's `on_wait`, and send the guest interrupts that are due."""
            if on_wait is not None:
                on_wait()
            endless_programs.check()
            stopping.check()

        endless_programs = EndlessPrograms(self.guest, print_notice)
        stopping.check()
        answer = getattr(self.guest.request(check_and_handle, call_on_wait), do)(**words)
        self.now_s = answer["now_s"]
        return answer


class _Interrupts:
    """The interrupts of one request, after Ctrl-C or the wall-clock limit: first an interrupt, then kills, GRACE_S
    apart.
    """

    def __init__(self, guest: protocol.LabSession, limit_s: float) -> None:
        """Begin to count the time of one request of `guest`, which may take `limit_s` s of wall-clock time from now."""
        self._guest = guest
        self._next_s = time.monotonic() + limit_s
        self._count = 0
        self.limit_passed = False
        self.user_interrupted = False

    def handle_ctrl_c(self) -> AbstractContextManager[None]:
        """Return a context manager in whose block Ctrl-C interrupts the guest's command in place of this program; in
        other threads than the main one it does nothing.
        """
        # A KeyboardInterrupt in the middle of a message would leave half of it in the channel to the guest.
        return handle_signals(("SIGINT",), self._ctrl_c)

    def _ctrl_c(self, _number: int, _frame: FrameType | None) -> None:
        """Note that the user pressed Ctrl-C, and send the guest an interrupt, or a kill if it has had one; the handler
        of SIGINT, whose arguments are not used.
        """
        self.user_interrupted = True
        self._send()

    def _send(self) -> None:
        """Send the guest an interrupt, or a kill if it has had one in this request; the next is due GRACE_S s later."""
        self._guest.interrupt(kill=self._count > 0)
        self._count += 1
        self._next_s = time.monotonic() + GRACE_S

    def guest_reacts(self) -> bool:
        """Send the guest the next interrupt or kill if the wall-clock limit or GRACE_S s after the last one have
        passed, note in `limit_passed` if it was the limit, and return True. Return False if MAX_INTERRUPTS of them had
        no effect.
        """
        if time.monotonic() < self._next_s:
            return True
        if not self._count:
            self.limit_passed = True
        if self._count >= MAX_INTERRUPTS:
            return False
        self._send()
        return True
