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
        """Open the file of notes at `path` for appending; it is created if it does not exist. Raises OSError if that
        fails.
        """
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def write(self, what: str, pid: int, *more: Any) -> None:
        """Append one note, a JSON list, to the file: `what` is "shell" (a shell was started), "popen" (a program was
        started), "sent" (a command was sent to a shell) or "read" (its output was read), `pid` that of the process or
        of the shell, and `more` such entries as a name or a time in ns.
        """
        os.write(self._file, json.dumps([what, pid, *more]).encode() + b"\n")


def install() -> None:
    """Change Mininet's nodes so that they append notes to the file STARTS of their shells, of the programs of `popen`,
    of the commands of `sendCmd`, and of the first reading of the output of both; to be called before a script makes a
    node.
    """
    notes = Notes()
    mininet.node.Popen = popen_with_notes(notes)
    note_shells(notes)
    note_sent_commands(notes)
    node_class = mininet.node.Node
    plain_popen = node_class.popen

    def popen(self: Any, *words: Any, **named: Any) -> Any:
        """Start a program in the Mininet node `self` with Mininet's arguments, write a note with its pid, the time in
        ns on the monotonic clock and the node's name, and return the process.
        """
        started_ns = time.monotonic_ns()
        process = plain_popen(self, *words, **named)
        notes.write("popen", process.pid, started_ns, self.name)
        return process

    node_class.popen = popen


def popen_with_notes(notes: Notes) -> type[subprocess.Popen[Any]]:
    """Return a subclass of `subprocess.Popen` that writes a note to `notes` when a caller first takes the pipe with the
    program's error output.
    """

    class Popen(subprocess.Popen[Any]):
        """A process that writes a note when its error output is first read."""

        def __init__(self, *words: Any, **named: Any) -> None:
            """Start a program with the arguments of `subprocess.Popen`, and remember which of its pipes has the error
            output ("stdout" if both go there).
            """
            self._errors = "stdout" if named.get("stderr") == subprocess.STDOUT else "stderr"
            self._pipes: dict[str, Any] = {}
            super().__init__(*words, **named)

        def _take(self, name: str) -> Any:
            """Return the pipe of the program's "stdout" or "stderr", as `name` says (None if there is none); write a
            note at the first time if it has the program's error output.
            """
            pid = getattr(self, "pid", None)
            if pid is not None and name == self._errors and self._pipes[name] is not None:
                self._errors = ""
                notes.write("read", pid)
            return self._pipes[name]

        @property
        def stdout(self) -> Any:
            """The pipe of the program's standard output (None without one); the first reading writes a note if error
            output goes there too.
            """
            return self._take("stdout")

        @stdout.setter
        def stdout(self, pipe: Any) -> None:
            """Keep `pipe`, an open file or None, as the pipe of the program's standard output; `subprocess.Popen` sets
            it.
            """
            self._pipes["stdout"] = pipe

        @property
        def stderr(self) -> Any:
            """The pipe of the program's error output (None without one); the first reading writes a note."""
            return self._take("stderr")

        @stderr.setter
        def stderr(self, pipe: Any) -> None:
            """Keep `pipe`, an open file or None, as the pipe of the program's error output; `subprocess.Popen` sets
            it.
            """
            self._pipes["stderr"] = pipe

    return Popen


def note_shells(notes: Notes) -> None:
    """Change Mininet's nodes so that they write a note to `notes` for each shell that they start: its pid, the node's
    name and the inode of its network namespace (0 for the first namespace, which several nodes may share).
    """
    own_network = os.stat("/proc/self/ns/net").st_ino
    node_class = mininet.node.Node
    plain_start = node_class.startShell

    def start_shell(self: Any, *words: Any, **named: Any) -> None:
        """Start the shell of the node `self` with Mininet's arguments, and write a note with its pid, the node's name
        and the inode of its network namespace, which is 0 for the script's own.
        """
        plain_start(self, *words, **named)
        network = os.stat(f"/proc/{self.pid}/ns/net").st_ino
        # Several nodes may be in the first namespace.
        notes.write("shell", self.pid, self.name, 0 if network == own_network else network)

    node_class.startShell = start_shell


def note_sent_commands(notes: Notes) -> None:
    """Change Mininet's nodes so that they write a note to `notes` for each command of `sendCmd`, and another when a
    script first reads its output with `monitor`. Commands of `cmd`, which waits for their ends, have none.
    """
    node_class = mininet.node.Node
    plain_cmd, plain_send, plain_monitor = node_class.cmd, node_class.sendCmd, node_class.monitor
    waiting: set[int] = set()
    unread: set[int] = set()

    def cmd(self: Any, *words: Any, **named: Any) -> Any:
        """Run a command in the shell of the node `self` with Mininet's arguments and return its output; no note is
        written.
        """
        waiting.add(self.pid)
        try:
            return plain_cmd(self, *words, **named)
        finally:
            waiting.discard(self.pid)

    def send_cmd(self: Any, *words: Any, **named: Any) -> None:
        """Send a command to the shell of the node `self` with Mininet's arguments, and write a note with the shell's
        pid, the time in ns on the monotonic clock and the command, unless `cmd` sends it.
        """
        sent_ns = time.monotonic_ns()
        plain_send(self, *words, **named)
        if self.pid not in waiting:
            unread.add(self.pid)
            notes.write("sent", self.pid, sent_ns, self.lastCmd)

    def monitor(self: Any, *words: Any, **named: Any) -> Any:
        """Return output of the shell of the node `self` with Mininet's arguments; the first call after a command of
        `sendCmd` writes a note.
        """
        if self.pid in unread:
            unread.discard(self.pid)
            notes.write("read", self.pid)
        return plain_monitor(self, *words, **named)

    node_class.cmd, node_class.sendCmd, node_class.monitor = cmd, send_cmd, monitor
