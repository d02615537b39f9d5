"""The interface of a session: an open lab that takes requests, in this or another process."""

import functools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, cast

from netlab.protocol.messages import Message
from netlab.protocol.plan import Clock
from netlab.protocol.requests import AllRequests, names

OnMessage = Callable[[Message], None]
OnWait = Callable[[], None]


class Session(Protocol):
    """An open lab; `close` ends it, and all that runs in it.

    Attributes
    ----------
    clock : {"virtual", "real"}
        Whether network time stands still between requests.
    directory : Path
        The lab's own on this machine; it goes with the session.
    folder : Path
        The part of it in which the lab leaves files.
    settings : dict
        What is to be known of how it runs: whether a seed repeats it (`seeded`), whether it is `confined`, ...
    """

    @property
    def name(self) -> str: ...  # noqa: D102 (see above)
    @property
    def clock(self) -> Clock: ...  # noqa: D102 (see above)
    @property
    def directory(self) -> Path: ...  # noqa: D102 (see above)
    @property
    def folder(self) -> Path: ...  # noqa: D102 (see above)
    @property
    def settings(self) -> dict[str, Any]: ...  # noqa: D102 (see above)
    @property
    def closed(self) -> bool: ...  # noqa: D102 (see above)

    def request(self, on_message: OnMessage | None = None, on_wait: OnWait | None = None) -> AllRequests:
        """Return the object that makes one request: `session.request().advance(until_s=5, progress_s=None)`.

        `on_message` gets each message that comes before the answer. `on_wait` is called some times a second until that
        comes; it may raise, and the session is to be closed then. The request raises EngineError where the engine has
        no such one, RunError where it cannot be done or the lab has ended.
        """

    def interrupt(self, kill: bool = False) -> None:
        """Interrupt what a request waits for, as Ctrl-C does; or kill it, and whatever program computes just now."""

    def close(self) -> None:
        """End the lab; a second time does nothing."""


def asking(ask: Callable[..., Any]) -> AllRequests:
    """The requests as calls of `ask` with a request's name and its arguments by name."""
    return cast("AllRequests", SimpleNamespace(**{name: functools.partial(ask, name) for name in names(AllRequests)}))
