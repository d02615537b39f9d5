"""A guest that is booted ahead: a run takes it and does not wait for the boot.

A guest that waits in its gate uses no processor and some 70 MB. There is at most one in a process, made ready after a run in a
notebook and after the second run elsewhere; it goes when it has not been needed for a while, and with its process.
It is for those who ask for it with `NETLAB_WARM=1`: a run behind the gate draws other random numbers than one that boots
with its seed, so a figure that chance decides is another one.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading

from netlab.engines.guests import Guest
from netlab.errors import NetlabError
from netlab.kernel import Kernel

IDLE_S = 600.0


def wanted() -> bool:
    """Whether runs go behind the gate."""
    return os.environ.get("NETLAB_WARM") == "1"


class _Spare:
    """The one guest that waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._guest: Guest | None = None
        self._making: threading.Thread | None = None
        self._timer: threading.Timer | None = None
        self._runs = 0

    def take(self, kernel: Kernel) -> Guest:
        """The guest that waits, if it runs this kernel, else a new one."""
        with self._lock:
            making = self._making
        if making is not None:
            making.join()
        guest = self._pop()
        if guest is not None and (guest.kernel.path == kernel.path and guest.process.poll() is None):
            return guest
        if guest is not None:
            guest.close()
        return Guest(kernel)

    def prepare(self, kernel: Kernel) -> None:
        """Boot the next guest in the background, unless one waits already or a single run is all that is likely."""
        self._runs += 1
        if not wanted() or (self._runs < 2 and "ipykernel" not in sys.modules):
            return
        with self._lock:
            if self._guest is not None or self._making is not None:
                return
            self._making = threading.Thread(target=self._make, args=(kernel,), daemon=True)
            self._making.start()

    def _make(self, kernel: Kernel) -> None:
        try:
            guest = Guest(kernel)
        except (NetlabError, OSError, RuntimeError):
            # The next run boots its own and says what is wrong. (RuntimeError: this Python is about to end.)
            guest = None
        with self._lock:
            self._guest, self._making = guest, None
            if guest is not None:
                self._timer = threading.Timer(IDLE_S, self.drop)
                self._timer.daemon = True
                self._timer.start()

    def _pop(self) -> Guest | None:
        with self._lock:
            guest, self._guest = self._guest, None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        return guest

    def drop(self) -> None:
        """End the guest that waits."""
        guest = self._pop()
        if guest is not None:
            guest.close()


_spare = _Spare()


def take(kernel: Kernel) -> Guest:
    """A booted guest for one run; whoever takes it closes it."""
    return _spare.take(kernel)


def prepare(kernel: Kernel) -> None:
    """Boot a guest for the next run in the background."""
    _spare.prepare(kernel)


def drop() -> None:
    """End the guest that waits, if there is one."""
    _spare.drop()


def _forget() -> None:
    # The guest belongs to the process that forked; its threads and locks are not in this one.
    global _spare  # noqa: PLW0603
    _spare = _Spare()


os.register_at_fork(after_in_child=_forget)
atexit.register(drop)
