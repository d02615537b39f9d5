"""Exceptions in the threads of the agent: they are kept, and end the request that is answered next."""

import threading
import traceback

from netlab.base.errors import RunError


class Failures:
    """The exceptions that no part of the agent expected, each to be told once."""

    def __init__(self) -> None:
        self._untold: list[str] = []
        self._seen: set[tuple[str, str]] = set()

    def watch_threads(self) -> None:
        """Keep what ends a thread from now on; Python would only print it where nobody looks."""
        threading.excepthook = self._note_thread

    def note(self, what: str, error: BaseException) -> None:
        """Keep an exception of a part of the agent; an equal one of that part counts once."""
        head = f"{type(error).__name__}: {error}"
        if (what, head) not in self._seen:
            self._seen.add((what, head))
            self._untold.append(f"{what} failed in the guest: {head}\n{''.join(traceback.format_exception(error))}")

    def check(self) -> None:
        """Raise RunError with the exceptions that have not been told yet, if there are any."""
        untold, self._untold = self._untold, []
        if untold:
            raise RunError("\n".join(untold))

    def _note_thread(self, ended: threading.ExceptHookArgs) -> None:
        if ended.exc_value is not None:
            self.note("A thread" if ended.thread is None else ended.thread.name, ended.exc_value)
