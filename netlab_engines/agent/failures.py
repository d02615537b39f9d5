"""Record exceptions in the agent's threads; the next request that the agent answers fails with them."""

import threading
import traceback

from netlab.base.errors import RunError


class Failures:
    """A collection of the unexpected exceptions of the agent's parts and threads, each of which is reported once."""

    def __init__(self) -> None:
        """Start with no exceptions."""
        self._unreported: list[str] = []
        self._seen: set[tuple[str, str]] = set()

    def watch_threads(self) -> None:
        """Record exceptions that end threads from now on; Python itself only prints them to the guest's console."""
        threading.excepthook = self._note_thread

    def note(self, what: str, error: BaseException) -> None:
        """Record an exception of the part of the agent with the name `what`, for the next `check`; an equal exception
        of the same part is recorded once.
        """
        head = f"{type(error).__name__}: {error}"
        if (what, head) not in self._seen:
            self._seen.add((what, head))
            self._unreported.append(f"{what} failed in the guest: {head}\n{''.join(traceback.format_exception(error))}")

    def check(self) -> None:
        """Raise RunError with the texts of all exceptions that were recorded since the last call, if there are any."""
        unreported, self._unreported = self._unreported, []
        if unreported:
            raise RunError("\n".join(unreported))

    def _note_thread(self, ended: threading.ExceptHookArgs) -> None:
        """Record the exception that ended a thread."""
        if ended.exc_value is not None:
            self.note("A thread" if ended.thread is None else ended.thread.name, ended.exc_value)
