"""Record exceptions in the agent's threads; the next request that the agent answers fails with them."""

import threading
import traceback

from netlab.base.errors import RunError


class Failures:
    """A collection of the unexpected exceptions of the agent's parts and threads, each of which is reported once."""

    def __init__(self) -> None:
        """Start without recorded exceptions; `watch_threads` and `note` record them."""
        self._reports: list[str] = []
        self._known_errors: set[tuple[str, str]] = set()

    def watch_threads(self) -> None:
        """Record each exception that ends a thread of this process from now on (instead of Python's printing of it), so
        that `check` raises it.
        """
        threading.excepthook = self._note_thread

    def note(self, name: str, error: BaseException) -> None:
        """Record `error`, which `name` (the name of a thread or another part of the agent, at the beginning of a
        sentence) raised, with its traceback for the next `check`; an exception with the same name, class and text as an
        earlier one is ignored, even after a `check`.
        """
        head = f"{type(error).__name__}: {error}"
        if (name, head) not in self._known_errors:
            self._known_errors.add((name, head))
            self._reports.append(f"{name} failed in the guest: {head}\n{''.join(traceback.format_exception(error))}")

    def check(self) -> None:
        """Raise one RunError with the texts and tracebacks of all exceptions that were recorded since the last call;
        return if there are none.
        """
        reports, self._reports = self._reports, []
        if reports:
            raise RunError("\n".join(reports))

    def _note_thread(self, thread_error: threading.ExceptHookArgs) -> None:
        """Record the exception that ended a thread, under the thread's name, or "A thread" if it is not known; Python
        calls this as `threading.excepthook`, with an object that has the exception and the thread.
        """
        if thread_error.exc_value is not None:
            self.note("A thread" if thread_error.thread is None else thread_error.thread.name, thread_error.exc_value)
