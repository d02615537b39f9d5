"""Notes of what Mininet's nodes start in the background, for reports of programs that fail (`early_exits.py`).

Each note is a line of JSON: what, the process's number, and more. The methods of nodes do what they did.
"""

import json
import os
import subprocess
import time
from typing import Any

import mininet.node

from netlab_engines.agent.early_exits import STARTS


class Notes:
    """The file with notes, one line of JSON each, about processes that Mininet's nodes start; every process of a script
    appends to it.
    """

    def __init__(self, path: str = STARTS) -> None:
        """Open the file at `path` for appending; it is created if it does not exist."""
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def write(self, what: str, pid: int, *more: Any) -> None:
        """Append one note to the file: `what` happened ("shell", "popen", "sent" or "read"), the process's `pid`, and
        `more` entries that depend on it.
        """
        os.write(self._file, json.dumps([what, pid, *more]).encode() + b"\n")


def install() -> None:
    """Change Mininet's nodes so that they write notes to STARTS; to be called before a script makes any node."""
    notes = Notes()
    mininet.node.Popen = popen_with_notes(notes)
    note_shells(notes)
    note_sent_commands(notes)
    node_class = mininet.node.Node
    plain_popen = node_class.popen

    def popen(self: Any, *words: Any, **named: Any) -> Any:
        """Start a program in a node as Mininet does, note it with the time, and return its process."""
        started_ns = time.monotonic_ns()
        process = plain_popen(self, *words, **named)
        notes.write("popen", process.pid, started_ns, self.name)
        return process

    node_class.popen = popen


def popen_with_notes(notes: Notes) -> type[subprocess.Popen[Any]]:
    """Return a subclass of `subprocess.Popen` that writes a note when somebody takes the pipe with the program's error
    output.
    """

    class Popen(subprocess.Popen[Any]):
        """A process that writes a note when its error output is first read."""

        def __init__(self, *words: Any, **named: Any) -> None:
            """Start a program as `subprocess.Popen` does, with the same arguments."""
            self._errors = "stdout" if named.get("stderr") == subprocess.STDOUT else "stderr"
            self._pipes: dict[str, Any] = {}
            super().__init__(*words, **named)

        def _take(self, name: str) -> Any:
            """Return the pipe "stdout" or "stderr", and note it at the first time if it has the error output."""
            pid = getattr(self, "pid", None)
            if pid is not None and name == self._errors and self._pipes[name] is not None:
                self._errors = ""
                notes.write("read", pid)
            return self._pipes[name]

        @property
        def stdout(self) -> Any:
            return self._take("stdout")

        @stdout.setter
        def stdout(self, pipe: Any) -> None:
            self._pipes["stdout"] = pipe

        @property
        def stderr(self) -> Any:
            return self._take("stderr")

        @stderr.setter
        def stderr(self, pipe: Any) -> None:
            self._pipes["stderr"] = pipe

    return Popen


def note_shells(notes: Notes) -> None:
    """Change Mininet's nodes so that they write a note with the pid, name and network namespace of each shell they
    start.
    """
    own_network = os.stat("/proc/self/ns/net").st_ino
    node_class = mininet.node.Node
    plain_start = node_class.startShell

    def start_shell(self: Any, *words: Any, **named: Any) -> None:
        """Start the node's shell as Mininet does, and note it; the first namespace, which several nodes may share, is
        noted as 0.
        """
        plain_start(self, *words, **named)
        network = os.stat(f"/proc/{self.pid}/ns/net").st_ino
        # Several nodes may be in the first namespace.
        notes.write("shell", self.pid, self.name, 0 if network == own_network else network)

    node_class.startShell = start_shell


def note_sent_commands(notes: Notes) -> None:
    """Change Mininet's nodes so that they write a note for each command of `sendCmd`, and another when a script reads
    what it prints; `cmd`, which waits for its command, is not noted.
    """
    node_class = mininet.node.Node
    plain_cmd, plain_send, plain_monitor = node_class.cmd, node_class.sendCmd, node_class.monitor
    waiting: set[int] = set()
    unread: set[int] = set()

    def cmd(self: Any, *words: Any, **named: Any) -> Any:
        """Run a command as Mininet does, without notes, because the script waits for its output."""
        waiting.add(self.pid)
        try:
            return plain_cmd(self, *words, **named)
        finally:
            waiting.discard(self.pid)

    def send_cmd(self: Any, *words: Any, **named: Any) -> None:
        """Send a command to the node's shell as Mininet does, and note it with the time."""
        sent_ns = time.monotonic_ns()
        plain_send(self, *words, **named)
        if self.pid not in waiting:
            unread.add(self.pid)
            notes.write("sent", self.pid, sent_ns, self.lastCmd)

    def monitor(self: Any, *words: Any, **named: Any) -> Any:
        """Return output of the node's shell as Mininet does, and note the first read after a command."""
        if self.pid in unread:
            unread.discard(self.pid)
            notes.write("read", self.pid)
        return plain_monitor(self, *words, **named)

    node_class.cmd, node_class.sendCmd, node_class.monitor = cmd, send_cmd, monitor
