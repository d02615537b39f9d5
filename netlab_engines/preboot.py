"""Boot a guest in advance, so that the next run need not wait for the boot.

A waiting guest uses some 70 MB of memory and no processor. A process has at most one. It is booted after each run in a
notebook, and elsewhere from the second run on, but never while other runs go on. It is ended after some time without a
run, and with its process. `NETLAB_WARM=0` turns this off; results are the same either way.
"""

import atexit
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Iterator

from netlab.base.errors import NetlabError
from netlab.base.progress_bar import is_in_notebook
from netlab_engines.guests import Guest
from netlab_engines.kernels.pocket_kernel import PocketKernel

IDLE_S = 600.0


class PrebootedGuest:
    """The holder of the one guest that this process has booted in advance, if there is one; it can be used from several
    threads.
    """

    def __init__(self) -> None:
        """Start without a guest; `prepare` boots one."""
        self._lock = threading.Lock()
        self._executor = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="netlab-preboot")
        self._future: concurrent.futures.Future[Guest | None] | None = None
        self._timer: threading.Timer | None = None
        self._runs = 0
        self._active_runs = 0

    @contextlib.contextmanager
    def guest(self, kernel: PocketKernel) -> Iterator[Guest]:
        """Return a context manager that yields a booted guest with this kernel for one run and ends it after its block;
        then it boots the next guest in the background if no other run goes on and this is a notebook or not the first
        run. Raises RunError if the guest does not start.
        """
        with self._lock:
            self._active_runs += 1
        try:
            guest = self._take(kernel)
            try:
                yield guest
            finally:
                guest.close()
        finally:
            with self._lock:
                self._active_runs -= 1
                self._runs += 1
                boots_next = self._active_runs == 0 and (self._runs > 1 or is_in_notebook())
            if boots_next:
                self.prepare(kernel)

    def _take(self, kernel: PocketKernel) -> Guest:
        """Return a booted guest with this kernel, reserved for the caller: the one that was booted in advance, moved to
        a free CPU, if it has this kernel and is alive; otherwise that one, if any, is ended, and a new one booted.
        Raises RunError if it does not start.
        """
        booted = self._pop()
        if booted is not None:
            try:
                if booted.kernel.path == kernel.path:
                    booted.wait_until_ready()
                    booted.pin()
                    return booted
            except NetlabError:
                # The waiting guest has died; boot a new one.
                pass
            booted.close()
        guest = Guest(kernel, pin=True)
        guest.wait_until_ready()
        return guest

    def prepare(self, kernel: PocketKernel) -> None:
        """Boot a guest with this kernel in the background, unless one is there already or $NETLAB_WARM is 0; it is
        ended after IDLE_S s without a run. Returns at once.
        """
        if os.environ.get("NETLAB_WARM") == "0":
            return
        with self._lock:
            if self._future is not None:
                return
            # RuntimeError: this Python is about to end.
            with contextlib.suppress(RuntimeError):
                self._future = self._executor.submit(_boot, kernel)
                self._timer = threading.Timer(IDLE_S, self.drop)
                self._timer.daemon = True
                self._timer.start()

    def _pop(self) -> Guest | None:
        """Remove the guest that was booted in advance from this holder and return it, after waiting for the start of
        its process; None if there is none or it could not be started.
        """
        with self._lock:
            future, self._future = self._future, None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        return None if future is None else future.result()

    def drop(self) -> None:
        """End the guest that was booted in advance, after waiting for the start of its process; nothing happens if
        there is none.
        """
        guest = self._pop()
        if guest is not None:
            guest.close()


def _boot(kernel: PocketKernel) -> Guest | None:
    """Start to boot a guest with this kernel and return it; None if that fails."""
    try:
        return Guest(kernel)
    except (NetlabError, OSError, RuntimeError):
        # The next run boots a guest itself and reports the error.
        return None


_guest = PrebootedGuest()


def guest(kernel: PocketKernel) -> contextlib.AbstractContextManager[Guest]:
    """Return a context manager that yields a booted guest with this kernel for one run and ends it after its block;
    then it may boot the next guest in the background, as `PrebootedGuest.guest` says. Raises RunError if the guest does
    not start.
    """
    return _guest.guest(kernel)


def _replace_after_fork() -> None:
    """Replace this process's holder of a prebooted guest by an empty one; called in a forked process, whose parent owns
    the guest.
    """
    # The guest belongs to the parent process, whose threads and locks do not exist in this one.
    global _guest  # noqa: PLW0603
    _guest = PrebootedGuest()


os.register_at_fork(after_in_child=_replace_after_fork)
atexit.register(lambda: _guest.drop())  # noqa: PLW0108 (a forked process has another one)
