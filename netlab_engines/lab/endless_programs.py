"""Let network time pass while a program in a guest computes without end, such as `while :; do :; done`.

No network time passes while a program computes, so such a program would stop the network, and all others, for ever. Results
of other programs stay independent of the machine, because this begins only after COMPUTING_S s of wall-clock time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from netlab_engines.protocol import session as protocol

COMPUTING_S = 5.0
"""The wall-clock time in s for which a program may compute, without a system call, before network time passes."""
NOTICE = (
    f"a program has computed for {COMPUTING_S:g} s without a system call, and no network time has passed. From now on network time "
    "passes while a program computes, about as fast as wall-clock time, so results depend on this machine."
)


class EndlessPrograms:
    """Watches the programs of a guest during one request."""

    def __init__(self, guest: protocol.LabSession, notify: Callable[[str], None]) -> None:
        """Begin to watch the programs of `guest`. `notify` gets a sentence when network time begins to pass while a
        program computes.
        """
        self._guest = guest
        self._notify = notify
        self._since_s: float | None = None
        self._passes = False

    def check(self) -> None:
        """Let a program that computes sleep for a moment of network time, if one has computed for COMPUTING_S s; to be
        called several times a second.
        """
        if not self._guest.computed_only():
            self._since_s = None
            return
        now_s = time.monotonic()
        if self._since_s is None:
            self._since_s = now_s
        if not self._passes and now_s - self._since_s >= COMPUTING_S:
            self._passes = True
            self._notify(NOTICE)
        if self._passes:
            self._guest.pause_program()
