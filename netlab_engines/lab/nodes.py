"""The nodes of a live network: run commands in their shells, start background processes, read and write files."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from netlab.base.errors import RunError
from netlab_engines.lab.session import GuestSession

if TYPE_CHECKING:
    from netlab_engines.lab.terminal import Terminal

PATIENCE_S = 5.0
"""The wall-clock time in s after which a running command is reported; by then an hour of virtual time may have passed."""


class Output(str):
    """The output of a command as text, both streams together; `exit_code` is its exit status, 0 for success, negative
    for a signal.
    """

    __slots__ = ("exit_code",)
    exit_code: int

    def __new__(cls, text: str, exit_code: int) -> Output:
        """Return a new string with the output `text` of a command and the attribute `exit_code`."""
        output = super().__new__(cls, text)
        output.exit_code = exit_code
        return output


class Host:
    """A node of a live network with its shell, which keeps its directory and variables from one command to the next.

    Attributes
    ----------
    name : str
        The node's name.
    address : str
        The node's IPv4 address.
    """

    def __init__(self, session: GuestSession, name: str, address: str) -> None:
        """Make the object for the node with the name `name` and the IPv4 address `address` in the live network of a
        session; nothing is run.
        """
        self._session = session
        self.name = name
        self.address = address

    def __repr__(self) -> str:
        """Return a text with the node's name, for display."""
        return f"Host({self.name!r})"

    def run(self, command: str, *, on_text: Callable[[str], None] | None = None) -> Output:
        """Run a command in the node's shell until it ends, and return its output, which has the exit code as an
        attribute; a command that fails raises no error. Network time passes meanwhile; after PATIENCE_S s of wall-clock
        time a hint is printed once.

        Parameters
        ----------
        command : str
            One or more lines for bash. Names of nodes can be used as addresses.
        on_text : callable, optional
            Called with each piece of output while the command runs.

        Raises
        ------
        RunError
            If the command took longer than the lab's wall-clock limit.
        KeyboardInterrupt
            If Ctrl-C was pressed; the command was interrupted too, and you can go on using the lab.
        """
        parts: list[str] = []
        notice_s = time.monotonic() + PATIENCE_S

        def keep_output(text: str) -> None:
            """Keep a piece of the command's output, and pass it to the caller's `on_text`."""
            parts.append(text)
            if on_text is not None:
                on_text(text)

        def wait() -> None:
            """Write a line to the standard error output that the command is still running, once, after PATIENCE_S s of
            wall-clock time; called again and again while it runs.
            """
            nonlocal notice_s
            if time.monotonic() >= notice_s:
                notice_s = math.inf
                sys.stderr.write(
                    f"{command!r} on {self.name} is still running; to stop it press Ctrl-C, or in a notebook the stop button.\n"
                )

        answer = self._session.request(keep_output, wait).run(node=self.name, command=command)
        return Output("".join(parts), answer["code"])

    def start(self, command: str) -> Process:
        """Start a command in the node's shell in the background, where it runs whenever network time passes, and return
        it as a Process after 10 ms of network time. A command that fails raises nothing.
        """
        pid = self._session.request().background(node=self.name, command=command)["pid"]
        return Process(self._session, self.name, command, pid)

    def read(self, path: str) -> bytes:
        """Return the content of the file at `path` as the node sees it; a relative path starts in the node's home
        directory. Raises RunError if it cannot be read.
        """
        return bytes.fromhex(self._session.request().read(node=self.name, path=path)["hex"])

    def write(self, path: str, data: bytes | str) -> None:
        """Write `data`, bytes or text (as UTF-8), to the file at `path` in place of its content; a relative path starts
        in the node's home directory. Raises RunError if that fails.
        """
        raw = data.encode() if isinstance(data, str) else data
        self._session.request().write(node=self.name, path=path, hex=raw.hex())

    def terminal(self) -> Terminal:
        """Return a new terminal of this node for JupyterLab or a shell, on a Unix socket; its display in a notebook
        tells how to open it. Raises NotHereError on an engine without terminals.
        """
        # This request raises the right error on an engine whose hosts have no programs, and so no terminals.
        self.read("/dev/null")
        # Imported here, because it needs modules that only Linux has.
        from netlab_engines.lab import terminal

        return terminal.Terminal(self._session, self.name)


class Process:
    """A command that runs in the background of a node whenever network time passes."""

    def __init__(self, session: GuestSession, node: str, command: str, pid: int) -> None:
        """Make the object for the process with the id `pid` that runs `command` in the background of the node with the
        name `node`; nothing is started.
        """
        self._session = session
        self._pid = pid
        self.node = node
        self.command = command
        self._offset = 0
        self._text = ""
        self._code: int | None = None

    def __repr__(self) -> str:
        """Return a text with the node's name, the command and its last known exit code, for display; the network is not
        asked.
        """
        return f"Process({self.node!r}, {self.command!r}, exit_code={self._code})"

    def _update(self, wait_s: float = 0.0) -> None:
        """Let network time pass until the process ends, at most `wait_s` s of it, then ask for its new output and its
        exit code and keep them.
        """
        found = self._session.request().process(pid=self._pid, offset=self._offset, wait_s=wait_s)
        self._text += found["text"]
        self._offset, self._code = found["offset"], found["code"]

    @property
    def output(self) -> str:
        """The command's output so far as text, standard output and error output together; reading it asks the
        network.
        """
        self._update()
        return self._text

    @property
    def exit_code(self) -> int | None:
        """The command's exit status (negative: the signal that ended it), or None while it runs; reading it asks the
        network.
        """
        self._update()
        return self._code

    def wait(self, limit_s: float = 60.0) -> Output:
        """Let network time pass until the command ends, at most `limit_s` s of it, and return its output with its exit
        code.

        Raises
        ------
        RunError
            If the command has not ended by then.
        """
        self._update(limit_s)
        if self._code is None:
            raise RunError(
                f"{self.command!r} on {self.node} has not ended after {limit_s:g} s of network time. "
                "Set a larger limit_s, or end it with stop()."
            )
        return Output(self._text, self._code)

    def stop(self, number: int = signal.SIGINT) -> Output:
        """Send the command the signal with this number, by default that of Ctrl-C, then SIGTERM and SIGKILL, each if it
        has not ended within 1 s of network time after the one before; return its output with its exit code (that of
        SIGKILL if it still runs). Nothing is sent if it has ended.
        """
        for each in (number, signal.SIGTERM, signal.SIGKILL):
            self._update()
            if self._code is None:
                self._session.request().signal(pid=self._pid, number=int(each))
                self._update(1.0)
        return Output(self._text, -signal.SIGKILL if self._code is None else self._code)
