"""The nodes of a live network: commands in their shells, programs in the background, files."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from netlab.base.errors import RunError
from netlab.lab.session import Session

if TYPE_CHECKING:
    from netlab.lab.terminal import Terminal

PATIENCE_S = (
    5.0  # of wall-clock time, after which a command that goes on is told; virtual time may be an hour further by then
)


class Output(str):
    """What a command printed; `exit_code` is its status, 0 when all went well."""

    __slots__ = ("exit_code",)
    exit_code: int

    def __new__(cls, text: str, exit_code: int) -> Output:
        """Text with an exit code."""
        made = super().__new__(cls, text)
        made.exit_code = exit_code
        return made


class Host:
    """A node of a lab, and its shell: directory and variables last from one command to the next.

    Attributes
    ----------
    address : str
        The IPv4 address at which the others reach it.
    """

    def __init__(self, session: Session, name: str, address: str) -> None:
        self._session = session
        self.name = name
        self.address = address

    def __repr__(self) -> str:
        return f"Host({self.name!r})"

    def run(self, command: str, *, on_text: Callable[[str], None] | None = None) -> Output:
        """Run a command until it ends, and return what it printed.

        Parameters
        ----------
        command : str
            One or more lines for bash. Names of nodes can be used as addresses.
        on_text : callable, optional
            Called with each piece of text as it comes.

        Raises
        ------
        RunError
            When it took longer than the lab's wall limit.
        KeyboardInterrupt
            After Ctrl-C; the command got it too, and the lab can be used on.
        """
        parts: list[str] = []
        told_s = time.monotonic() + PATIENCE_S

        def heard(text: str) -> None:
            parts.append(text)
            if on_text is not None:
                on_text(text)

        def wait() -> None:
            nonlocal told_s
            if time.monotonic() >= told_s:
                told_s = math.inf
                sys.stderr.write(
                    f"{command!r} on {self.name} is still running; Ctrl-C, in a notebook the square, ends it.\n"
                )

        answer = self._session.request(heard, wait).run(node=self.name, command=command)
        return Output("".join(parts), answer["code"])

    def start(self, command: str) -> Process:
        """Start a command in the background; it goes on whenever network time passes."""
        pid = self._session.request().background(node=self.name, command=command)["pid"]
        return Process(self._session, self.name, command, pid)

    def read(self, path: str) -> bytes:
        """The content of a file of the host's; relative paths begin in its home directory."""
        return bytes.fromhex(self._session.request().read(node=self.name, path=path)["hex"])

    def write(self, path: str, data: bytes | str) -> None:
        """Write a file of the host's."""
        raw = data.encode() if isinstance(data, str) else data
        self._session.request().write(node=self.name, path=path, hex=raw.hex())

    def terminal(self) -> Terminal:
        """A terminal of this host for JupyterLab or a shell; shown in a notebook, it says how to open it."""
        # An engine without programs has neither files nor terminals in hosts, and says so here.
        self.read("/dev/null")
        # Its modules are Linux's, and a live network without programs needs none of them.
        from netlab.lab import terminal

        return terminal.Terminal(self._session, self.name)


class Process:
    """A command in the background."""

    def __init__(self, session: Session, node: str, command: str, pid: int) -> None:
        self._session = session
        self._pid = pid
        self.node = node
        self.command = command
        self._offset = 0
        self._text = ""
        self._code: int | None = None

    def __repr__(self) -> str:
        return f"Process({self.node!r}, {self.command!r}, exit_code={self._code})"

    def _look(self, wait_s: float = 0.0) -> None:
        found = self._session.request().process(pid=self._pid, offset=self._offset, wait_s=wait_s)
        self._text += found["text"]
        self._offset, self._code = found["offset"], found["code"]

    @property
    def output(self) -> str:
        """What it has printed so far."""
        self._look()
        return self._text

    @property
    def exit_code(self) -> int | None:
        """Its status, or None while it runs."""
        self._look()
        return self._code

    def wait(self, limit_s: float = 60.0) -> Output:
        """Let network time pass until it ends, at most `limit_s`.

        Raises
        ------
        RunError
            When it has not ended by then.
        """
        self._look(limit_s)
        if self._code is None:
            raise RunError(
                f"{self.command!r} on {self.node} has not ended after {limit_s:g} s of network time. "
                "Wait longer with limit_s, or end it with stop()."
            )
        return Output(self._text, self._code)

    def stop(self, number: int = signal.SIGINT) -> Output:
        """Send it a signal (Ctrl-C's, unless another is named) and return all that it printed."""
        for how in (number, signal.SIGTERM, signal.SIGKILL):
            self._look()
            if self._code is None:
                self._session.request().signal(pid=self._pid, number=int(how))
                self._look(1.0)
        return Output(self._text, -signal.SIGKILL if self._code is None else self._code)
