"""A guest that is booted ahead: a run takes it and does not wait for the boot.

A guest that waits in its gate uses no processor and some 70 MB. There is at most one in a process, made ready when a run has
ended in a notebook, and elsewhere from the second run on, but never while other runs go on; it goes when it has not been needed
for a while, and with its process. `NETLAB_WARM=0` turns this off; numbers are the same either way, for a guest
that is booted for a run does just what one that waited does.
"""

import atexit
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Iterator

from netlab.base.errors import NetlabError
from netlab.base.progress_bar import in_a_page
from netlab_engines.guests import Guest
from netlab_kernel import Kernel

IDLE_S = 600.0


class Spare:
    """The one guest that waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._maker = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="netlab-spare")
        self._made: concurrent.futures.Future[Guest | None] | None = None
        self._timer: threading.Timer | None = None
        self._runs = 0
        self._under_way = 0

    @contextlib.contextmanager
    def guest(self, kernel: Kernel) -> Iterator[Guest]:
        """A booted guest for one run, which ends with it; then the next is made ready."""
        with self._lock:
            self._under_way += 1
        try:
            guest = self._take(kernel)
            try:
                yield guest
            finally:
                guest.close()
        finally:
            with self._lock:
                self._under_way -= 1
                self._runs += 1
                ahead = self._under_way == 0 and (self._runs > 1 or in_a_page())
            if ahead:
                self.prepare(kernel)

    def _take(self, kernel: Kernel) -> Guest:
        waiting = self._pop()
        if waiting is not None:
            try:
                if waiting.kernel.path == kernel.path:
                    waiting.wait_until_ready()
                    waiting.pin()
                    return waiting
            except NetlabError:
                # The waiting guest has died; boot a new one.
                pass
            waiting.close()
        guest = Guest(kernel, pin=True)
        guest.wait_until_ready()
        return guest

    def prepare(self, kernel: Kernel) -> None:
        """Boot the next guest in the background, unless one waits already or it is not wanted."""
        if os.environ.get("NETLAB_WARM") == "0":
            return
        with self._lock:
            if self._made is not None:
                return
            # RuntimeError: this Python is about to end.
            with contextlib.suppress(RuntimeError):
                self._made = self._maker.submit(_boot, kernel)
                self._timer = threading.Timer(IDLE_S, self.drop)
                self._timer.daemon = True
                self._timer.start()

    def _pop(self) -> Guest | None:
        with self._lock:
            made, self._made = self._made, None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        return None if made is None else made.result()

    def drop(self) -> None:
        """End the guest that waits."""
        guest = self._pop()
        if guest is not None:
            guest.close()


def _boot(kernel: Kernel) -> Guest | None:
    try:
        return Guest(kernel)
    except (NetlabError, OSError, RuntimeError):
        # The next run boots its own and says what is wrong.
        return None


_spare = Spare()


def guest(kernel: Kernel) -> contextlib.AbstractContextManager[Guest]:
    """A booted guest for one run."""
    return _spare.guest(kernel)


def _forget() -> None:
    # The guest belongs to the process that forked; its threads and locks are not in this one.
    global _spare  # noqa: PLW0603
    _spare = Spare()


os.register_at_fork(after_in_child=_forget)
atexit.register(lambda: _spare.drop())  # noqa: PLW0108 (a forked process has another one)
