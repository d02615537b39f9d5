"""Reports of background programs that fail within a second of their start, and of programs that fail because the kernel
lacks a feature or a link cannot have it.

The pocket kernel records such processes (`netlab_kernel/recipe/early_exits.c`). A record becomes a report if the process ran
in the background of a node: a command with `&`, Mininet's `popen` or `sendCmd`, or `start` of a live host. Mininet's
nodes are in another process, which notes what they start (`mininet_starts.py`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from netlab_engines.agent.replacements import BINARIES, HOME
from netlab_engines.distributions import PACKAGES, packages_of
from netlab_engines.kernels import features

DEVICE = "/dev/netlab_exits"
STARTS = f"{HOME}/starts"
RECORD = struct.Struct("=IiiiQ6I512s2048s512s")
READ_BYTES = 1 << 16
IN_BACKGROUND, NO_PROGRAM = 1, 2
INIT = 1
"""The parent of a daemon, which has forked and whose first process has exited."""
MAX_REPORTS = 10
UNREPORTED_EXITS = f"More background programs failed; only the first {MAX_REPORTS} are reported."
MAX_COMMAND, MAX_REASON = 120, 240
GRACE_NS = 10_000_000
"""Network time in which a script may read the error output of a program that has failed; what it reads is not reported."""
CRASHES = {getattr(signal, f"SIG{name}") for name in ("SEGV", "BUS", "ILL", "FPE", "ABRT", "SYS", "TRAP")}
"""Signals that a program causes itself. Any other was sent by somebody who wanted the program to end."""
ENDED_BY_OTHERS = {128 + getattr(signal, f"SIG{name}") for name in ("HUP", "INT", "QUIT", "KILL", "PIPE", "TERM")}
"""Exit statuses of a shell whose last program was ended by such a signal."""
LIST_OF_COMMANDS = re.compile(r"[;&|\n]")
NOT_FOUND = re.compile(r"(?:.*: )?(?P<program>[^:]+): (?:command )?not found")
NOT_FOUND_BY_MNEXEC = re.compile(r"mnexec: (?P<program>.+): No such file or directory")


@dataclass(frozen=True)
class EarlyExit:
    """A process that failed within a second of its start: the fields of the kernel's `struct early_exit`, and
    `read_ns`, the time at which its record was read. Times are in ns on the monotonic clock; `network` is the inode of
    its network namespace, `status` that of wait(2), `words` its command.
    """

    read_ns: int
    started_ns: int
    pid: int
    parent: int
    status: int
    network: int
    flags: int
    words: list[str]
    error: str
    printed: str

    @classmethod
    def unpack(cls, data: bytes, read_ns: int) -> EarlyExit:
        """Return the process that one record of the kernel's device of failed processes describes; `data` is the
        record's bytes, and `read_ns` the time of its reading in ns on the monotonic clock.
        """
        _, pid, parent, status, started_ns, network, flags, *sizes, _, command, error, output = RECORD.unpack(data)
        texts = zip((command, error, output), sizes, strict=True)
        words, *written = (text[:size].decode(errors="replace") for text, size in texts)
        return cls(read_ns, started_ns, pid, parent, status, network, flags, words.rstrip("\0").split("\0"), *written)

    def is_daemon(self) -> bool:
        """Return whether the process was a daemon: a program forked it, and the program's first process has exited."""
        return self.flags & (NO_PROGRAM | IN_BACKGROUND) == NO_PROGRAM and self.parent == INIT

    def was_ended_by_others(self) -> bool:
        """Return True if a signal that programs do not cause themselves (any but SIGSEGV and the like) ended the
        process, or if the process is a shell whose exit status says so of its last program.
        """
        number = self.status & 0x7F
        return number not in CRASHES if number else self.status >> 8 in ENDED_BY_OTHERS

    def end_description(self) -> str:
        """Return how the process ended, as the end of a sentence, such as "exited with status 1" or "was ended by
        SIGSEGV".
        """
        number = self.status & 0x7F
        return f"was ended by {signal.Signals(number).name}" if number else f"exited with status {self.status >> 8}"


class Starts:
    """The notes of what Mininet's nodes have started, read from the file at `path` to which `mininet_starts` writes
    them. `shells` has the node's name by its shell's pid, `networks` that by the inode of a network namespace.
    """

    def __init__(self, path: str = STARTS) -> None:
        """Start without notes; `read` reads them from the file at `path`, which need not exist."""
        self._path = path
        self._read_bytes = 0
        self._popen: dict[int, tuple[int, str]] = {}
        self._sent_commands: dict[int, tuple[int, str]] = {}
        self._output_read: set[int] = set()
        self.shells: dict[int, str] = {}
        self.networks: dict[int, str] = {}

    def have_notes(self) -> bool:
        """Return whether the file of notes exists, that is, whether Mininet's nodes run in this guest and write
        notes.
        """
        return os.path.exists(self._path)

    def read(self) -> None:
        """Read the notes that were appended to the file since the last call, whole lines only, each a JSON list for
        `_take`; nothing happens if there is no file.
        """
        if not self.have_notes():
            return
        with open(self._path, "rb") as file:
            file.seek(self._read_bytes)
            data = file.read()
        lines = data[: data.rfind(b"\n") + 1]
        self._read_bytes += len(lines)
        for line in lines.splitlines():
            self._take(*json.loads(line))

    def _take(self, kind: str, pid: int, *more: object) -> None:
        """Record one note. `kind` and `more` are "shell" with the node's name and the inode of its network namespace;
        "popen" with the time of the start (ns on the monotonic clock) and the node's name; "sent" with that time and
        the command; or "read" if the script read the output. `pid` is that of the node's shell ("shell", "sent") or of
        the process.
        """
        match kind, more:
            case "shell", (str(name), int(network)):
                self.shells[pid] = name
                self.networks.setdefault(network, name)
            case "popen", (int(time_ns), str(name)):
                self._popen[pid] = (time_ns, name)
                self._output_read.discard(pid)
            case "sent", (int(time_ns), str(command)):
                self._sent_commands[pid] = (time_ns, command)
                self._output_read.discard(pid)
            case _:
                self._output_read.add(pid)

    def node_of(self, process: EarlyExit) -> str | None:
        """Return the name of the Mininet node whose `popen` or `sendCmd` started a failed process. None if neither did,
        if the script has read the output and thus can know of the failure, or if a command that `sendCmd` started is a
        list of commands, such as `a; b`.
        """
        time_ns, node = self._popen.get(process.pid, (0, ""))
        # Numbers of processes are given out again.
        if node and 0 <= process.started_ns - time_ns < GRACE_NS:
            return None if process.pid in self._output_read else node
        time_ns, command = self._sent_commands.get(process.parent, (0, ""))
        if not command or process.started_ns < time_ns or process.parent in self._output_read:
            return None
        # Only the shell knows whether a list of commands has failed.
        return None if LIST_OF_COMMANDS.search(command) else self.shells[process.parent]


class EarlyExits:
    """Finds background programs that have failed early, and sends one line of text for each of the first MAX_REPORTS.

    `networks` returns the names of nodes by the inode of their network namespace.
    """

    def __init__(self, send: Callable[[str], None], networks: Callable[[], Mapping[int, str]] = dict) -> None:
        """Open the kernel's device of failed processes; without such a device, nothing is ever reported. `send` is
        called with each line of text; `networks` returns the names of nodes by the inodes of their network namespaces.
        """
        self._send = send
        self._networks = networks
        self._starts = Starts()
        self._own: dict[int, tuple[str, str]] = {}
        self._pending: list[EarlyExit] = []
        self._recent: deque[EarlyExit] = deque(maxlen=64)
        self._count = 0
        self._reported_features: set[str] = set()
        self._config: dict[str, str] | None = None
        try:
            self._device = os.open(DEVICE, os.O_RDONLY)
        except FileNotFoundError:
            # An older kernel, or the machine's own.
            self._device = -1

    def descriptors(self) -> list[int]:
        """Return the file descriptors, as a list, that become readable when a process has failed, for a caller that
        waits for them and then calls `report`; [] if the kernel has no such device.
        """
        return [] if self._device < 0 else [self._device]

    def wait_s(self) -> float | None:
        """Return the time in s of network time after which `report` is to be called even if no other process has
        failed, because a failure waits to be reported; None if none waits.
        """
        return GRACE_NS / 1e9 if self._pending else None

    def note_start(self, pid: int, node: str, command: str) -> None:
        """Note that the process with the id `pid` runs the shell command `command` in the background of the node with
        the name `node`; a line about its failure then has these two texts.
        """
        self._own[pid] = (node, command)

    def report(self, *, at_end: bool = False) -> None:
        """Send one line for each background process that has failed and was not reported, unless another process ended
        it by a signal, and for the first process that failed for lack of a feature of the kernel or a link. After MAX_REPORTS
        lines about background processes, send only one more that there are others. A failure that Mininet's script may
        still notice waits for a later call, up to GRACE_NS ns of network time, unless `at_end`.
        """
        now_ns = time.monotonic_ns()
        records = [*self._records(now_ns)]
        if not records and not self._pending:
            return
        self._starts.read()
        self._pending += [process for process in records if not self._report_missing_features(process)]
        waits = self._starts.have_notes() and not at_end
        waiting = []
        for process in self._pending:
            found = self._node_and_command(process)
            if found is None and waits and now_ns - process.read_ns < GRACE_NS:
                waiting.append(process)
                continue
            if found is None and (node := self._starts.node_of(process)) is not None:
                found = node, self._command(process)
            if found is not None and not process.was_ended_by_others():
                self._send_line(process, *found)
        self._pending = waiting

    def _records(self, now_ns: int) -> Iterable[EarlyExit]:
        """Yield the processes that the kernel has recorded since the last call, each with `now_ns` (ns on the monotonic
        clock) as the time of reading, and keep the last 64 for `_child`. If the records have another format, because
        another version of netlab built the kernel, close the device and yield none.
        """
        while self._device >= 0 and (data := os.read(self._device, READ_BYTES)):
            if len(data) % RECORD.size or int.from_bytes(data[:4], sys.byteorder) != RECORD.size:
                # Another version of netlab built this kernel.
                os.close(self._device)
                self._device = -1
                return
            for at in range(0, len(data), RECORD.size):
                self._recent.append(EarlyExit.unpack(data[at : at + RECORD.size], now_ns))
                yield self._recent[-1]

    def _node_and_command(self, process: EarlyExit) -> tuple[str, str] | None:
        """Return the name of the node ("" if it is not known) and the command of a process that certainly ran in the
        background: one of `note_start`, one that a shell started with `&`, or a daemon. None for any other process.
        """
        if process.pid in self._own:
            return self._own[process.pid]
        if not (process.flags & IN_BACKGROUND or process.is_daemon()):
            return None
        node = self._starts.shells.get(process.parent) or self._starts.networks.get(process.network)
        return node or self._networks().get(process.network, ""), self._command(process)

    def _report_missing_features(self, process: EarlyExit) -> bool:
        """Send one line if a failed process, also one in the foreground, asked for features that this kernel lacks, or
        that it refuses for a known reason, and that was not reported; return whether a line was sent.
        """
        words = _without_interpreter(process.words)
        program = os.path.basename(words[0])
        if process.flags & NO_PROGRAM or not any(features.requested(program, words[1:])):
            return False
        if self._config is None:
            self._config = features.running_config()
        sentences = [
            *features.missing(program, words[1:], self._config),
            *features.refused(program, words[1:], process.error),
        ]
        found = [text for text in sentences if text not in self._reported_features]
        if found:
            self._reported_features.update(found)
            node = self._starts.networks.get(process.network) or self._networks().get(process.network, "")
            line = self._line(process, node, self._command(process))
            self._send(" ".join([line if line.endswith(".") else f"{line}.", *found]))
        return bool(found)

    def _send_line(self, process: EarlyExit, node: str, command: str) -> None:
        """Send the line about a failed process, with the name of its node ("" if it is not known) and its command.
        After MAX_REPORTS lines, send one line that there are more, and then none.
        """
        self._count += 1
        if self._count <= MAX_REPORTS:
            self._send(self._line(process, node, command))
        elif self._count == MAX_REPORTS + 1:
            self._send(UNREPORTED_EXITS)

    def _line(self, process: EarlyExit, node: str, command: str) -> str:
        """Return the line about a failed process, such as "h1: iperf -s exited with status 1: bind failed". `node` is
        the name of its node ("" leaves it out), `command` its command, shortened to MAX_COMMAND characters; the reason
        comes from the output of the process or of a child with the same exit status.
        """
        written = [each for each in (process, self._child(process)) if each is not None]
        # A shell's `echo >&2` writes to descriptor 1. The shell of a live host also writes its variables there.
        printed = [each for each in written if each.pid not in self._own]
        texts = [*((each.error, each) for each in written), *((each.printed, each) for each in printed)]
        text, source = next(((text, each) for text, each in texts if text.strip()), ("", process))
        reason = reason_in(text, os.path.basename(without_mnexec(source.words)[0]))
        named = f"{node}: " if node else ""
        return f"{named}{shorten(command, MAX_COMMAND)} {process.end_description()}{reason and f': {reason}'}"

    def _child(self, process: EarlyExit) -> EarlyExit | None:
        """Return the latest recorded process that failed with the same status and whose parent is `process`, as the
        program of a shell is; None if there is none.
        """
        recent = reversed(self._recent)
        return next((each for each in recent if each.parent == process.pid and each.status == process.status), None)

    def _command(self, process: EarlyExit) -> str:
        """Return the command of a failed process as a user typed it. If the process is a shell that was to run the
        command, it is the command of its last failed child (which may be such a shell, too), else the name of the
        program that the shell did not find, else "a command in the background".
        """
        if not process.flags & NO_PROGRAM or process.is_daemon():
            return command_line(process.words)
        if (child := self._child(process)) is not None:
            return self._command(child)
        missing = NOT_FOUND.fullmatch(last_line(process.error))
        return missing["program"] if missing else "a command in the background"


def without_mnexec(words: list[str]) -> list[str]:
    """Return the words of a command without `mnexec` (Mininet's program that enters a node's namespaces) and its
    options, if it begins with them; `words` must not be empty.
    """
    if os.path.basename(words[0]) != "mnexec":
        return words
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at][-1] in "agr" else 1
    return words[at:] or words


def _without_interpreter(words: list[str]) -> list[str]:
    """Return the words of a command without `mnexec`, and without the interpreter of one of netlab's replacements of
    programs.
    """
    words = without_mnexec(words)
    if len(words) > 1 and words[1].startswith(BINARIES):
        return [os.path.basename(words[1]), *words[2:]]
    return words


def command_line(words: list[str]) -> str:
    """Return the command line that a user typed for a program with these words (its name and its arguments): without
    Mininet's `mnexec`, without the interpreter of one of netlab's replacements of programs, and without the `sh -c`
    that runs it.

    >>> command_line(["mnexec", "-da", "27", "iperf", "-s"])
    'iperf -s'
    >>> command_line(["/bin/bash", "-c", "iperf -s -w 16m"])
    'iperf -s -w 16m'
    """
    words = _without_interpreter(words)
    if len(words) == 3 and os.path.basename(words[0]) in ("sh", "bash", "dash") and words[1] == "-c":
        return words[2]
    return shlex.join(words)


def reason_in(error: str, program: str) -> str:
    """Return the line of `error`, a program's error output, that says why the program failed, without the program's
    name `program` and in at most MAX_REASON characters: the last one that begins with that name (of several, the last
    with the word error), else the last line. If a program was not found, return "command not found" and the name of its
    package, if it is known. "" if the output is empty.

    That is the last line with the program's name before it, of several one with the word error; without such a line,
    the last one.

    >>> reason_in("iperf3: unrecognized option '--bogus'\\nUsage: iperf3 [-s|-c host] [options]\\n", "iperf3")
    "unrecognized option '--bogus'"
    >>> reason_in("bash: line 1: server: command not found\\n", "bash")
    'command not found'
    """
    last = last_line(error)
    if (missing := NOT_FOUND.fullmatch(last) or NOT_FOUND_BY_MNEXEC.fullmatch(last)) is not None:
        name = missing["program"]
        return f"command not found; its package is {packages_of(name)}" if name in PACKAGES else "command not found"
    own = [line for line in error.splitlines() if line.startswith(f"{program}: ")]
    best = [line for line in own if "error" in line.lower()] or own
    return shorten(best[-1].removeprefix(f"{program}: ") if best else last, MAX_REASON)


def last_line(text: str) -> str:
    """Return the last line of `text` that is not blank, without white space at its ends and without characters that
    cannot be printed; "" if there is none.
    """
    lines = ["".join(filter(str.isprintable, line)).strip() for line in text.splitlines()]
    return next((line for line in reversed(lines) if line), "")


def shorten(text: str, limit: int) -> str:
    """Return the text in one line (each run of white space is one space), without characters that cannot be printed. If
    that has more than `limit` characters, it is cut and "..." ends it, within the limit.
    """
    line = " ".join("".join(filter(str.isprintable, text.replace("\n", " "))).split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."
