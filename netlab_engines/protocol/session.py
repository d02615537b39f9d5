"""The interface of engines that open labs, and of a session: an open lab that takes requests, in this or another process."""

import functools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, cast

from netlab.engines import Engine
from netlab.plan import Clock, Plan
from netlab_engines.protocol.messages import Message
from netlab_engines.protocol.requests import AllRequests, names

OnMessage = Callable[[Message], None]
OnWait = Callable[[], None]


class LabSession(Protocol):
    """An open lab of an engine, in this or another process, which takes requests."""

    @property
    def name(self) -> str:
        """The name of the engine, such as "pocket"."""

    @property
    def clock(self) -> Clock:
        """The clock of the lab: "virtual" if network time stands still between requests, else "real"."""

    @property
    def directory(self) -> Path:
        """The path of the lab's directory on this machine, which is removed with the session."""

    @property
    def folder(self) -> Path:
        """The path of the folder, in the lab's directory, in which the lab leaves files."""

    @property
    def settings(self) -> dict[str, Any]:
        """The properties of the lab by name, such as `seeded` (True if a seed makes it repeatable) and `confined`."""

    @property
    def closed(self) -> bool:
        """True if the lab has ended."""

    def request(self, on_message: OnMessage | None = None, on_wait: OnWait | None = None) -> AllRequests:
        """Return an object with a method for each request, which makes it and waits for its answer, as in
        `session.request().tables(0, 0)`. Until the answer comes, `on_message` gets each message of the lab, and
        `on_wait` is called several times a second; None omits either. A request raises EngineError if the engine does
        not support it, and RunError if it fails or the lab has ended.

        If `on_wait` raises an exception, the session must be closed.
        """

    def interrupt(self, kill: bool = False) -> None:
        """Interrupt the request that is under way, as Ctrl-C does; if `kill`, kill its program and the one that is
        computing now.
        """

    def computed_only(self) -> bool:
        """Return whether, since the last call, a program that can be paused has computed and the network has done
        nothing.
        """

    def pause_program(self) -> None:
        """Let the program that is computing now sleep for 0.1 s of network time."""

    def close(self) -> None:
        """End the lab and all its programs; a second call does nothing."""


class LabEngine(Engine, Protocol):
    """An engine that also opens labs for interactive requests."""

    def open(self, plan: Plan | None) -> LabSession:
        """Open a lab and return its session; the session's request `build` then builds the plan, and None is for a
        script that builds its own network. Raises EngineError if something is missing or the engine does not support
        the plan or scripts.
        """


def requests_via(ask: Callable[..., Any]) -> AllRequests:
    """Return an object with a method for each request, which returns `ask(name, **arguments)` for the request's name
    and its arguments.
    """
    return cast("AllRequests", SimpleNamespace(**{name: functools.partial(ask, name) for name in names(AllRequests)}))
