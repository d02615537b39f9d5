"""Record exceptions in the agent's threads; the next request that the agent answers fails with them."""

import threading
import traceback

from netlab.base.errors import RunError


class Failures:
    """A collection of the unexpected exceptions of the agent's parts and threads, each of which is reported once."""

    def __init__(self) -> None:
        """Start without recorded exceptions; `watch_threads` and `note` record them."""
        self._unreported: list[str] = []
        self._seen: set[tuple[str, str]] = set()

    def watch_threads(self) -> None:
        """Record each exception that ends a thread of this process from now on (instead of Python's printing of it), so
        that `check` raises it.
        """
        threading.excepthook = self._note_thread

    def note(self, what: str, error: BaseException) -> None:
        """Record `error`, which `what` (the name of a thread or another part of the agent, at the beginning of a
        sentence) raised, for the next `check`; an equal exception of the same name is recorded once.
        """
        head = f"{type(error).__name__}: {error}"
        if (what, head) not in self._seen:
            self._seen.add((what, head))
            self._unreported.append(f"{what} failed in the guest: {head}\n{''.join(traceback.format_exception(error))}")

    def check(self) -> None:
        """Raise one RunError with the texts and tracebacks of all exceptions that were recorded since the last call;
        return if there are none.
        """
        unreported, self._unreported = self._unreported, []
        if unreported:
            raise RunError("\n".join(unreported))

    def _note_thread(self, ended: threading.ExceptHookArgs) -> None:
        """Record the exception that ended a thread, under the thread's name; Python calls this as
        `threading.excepthook`, with an object that has the exception and the thread.
        """
        if ended.exc_value is not None:
            self.note("A thread" if ended.thread is None else ended.thread.name, ended.exc_value)
