"""The requests to a lab and their answers; these classes have a method for each request.

The agent has these methods, a session has the same ones for its user, and mypy compares both with these classes. All data is
plain JSON. Times are network time in s since the lab's start, unless a name says otherwise; nodes, directions of links and labels
are those of the plan.
"""

import functools
from typing import Protocol, TypedDict

from netlab.plan import Counters, Item, Plan, Shape, Totals


class AgentPlan(Plan):
    """The plan that the engine passes to the agent, with the properties of the guest."""

    clock: str
    """"virtual" or "real"."""
    machine_sysctls: dict[str, str]
    """Settings of the whole guest."""


class TimeReply(TypedDict):
    """An answer with the network time in s at which it was given; every answer extends this one."""

    now_s: float


class BuildReply(TimeReply):
    """The answer after the network was built; `origin_ns` is the real-time clock at the lab's start, which may be in the future."""

    origin_ns: int


class StartReply(TimeReply):
    """The answer after traffic was set up, which begins at `start_s`."""

    start_s: float


class Tables(Counters, TimeReply):
    """All counters so far; `items` is all traffic that was started, with its start times."""

    items: list[Item]


class TotalsReply(TimeReply):
    """The traffic item of a flow, and its totals so far, or None if it has not begun."""

    item: Item
    totals: Totals | None


class CaptureReply(TimeReply):
    """The answer after a capture has ended; `lost` is the number of packets that its ring could not hold."""

    lost: int


class ExitReply(TimeReply):
    """The exit code of a program that has ended."""

    code: int


class ProcessReply(TimeReply):
    """The pid of a program that was started."""

    pid: int


class OutputReply(TimeReply):
    """The output of a background program up to byte `offset`; `code` is its exit code, or None while it runs."""

    text: str
    offset: int
    code: int | None


class TerminalOutput(TypedDict):
    """The output of a terminal; `ended` is true if its program has ended, `code` is the exit code if known."""

    text: str
    ended: bool
    code: int | None


class TerminalReply(TerminalOutput, TimeReply):
    """The output of a terminal with the time."""


class FileReply(TimeReply):
    """The bytes of a file in hexadecimal digits."""

    hex: str


class FilesReply(TimeReply):
    """The paths of files that were copied from the guest's own directories, and the reasons for others that were not."""

    files: list[str]
    lost: dict[str, str]


class LabRequests(Protocol):
    """The requests that every lab supports; all return an answer with the time, and raise an error if they fail."""

    def build(self, plan: AgentPlan, programs: bool) -> BuildReply:
        """Build the network of a plan, whose traffic and captures begin at the lab's start, which may be in the future;
        return the start in ns on the lab's real-time clock ("origin_ns") and the time ("now_s"). With `programs`, the
        nodes can also run a user's commands.
        """

    def advance(self, until_s: float, progress_s: float | None) -> TimeReply:
        """Let network time pass until `until_s`, in s from the lab's start, with a progress message every `progress_s`
        s of it (None: none); return at once if that time has passed.
        """

    def finish(self, until_s: float) -> TimeReply:
        """End all traffic and captures; packets in flight may arrive until the network time `until_s`, in s from the
        lab's start.
        """

    def tables(self, streams: int, queues: int) -> Tables:
        """Return all counters so far, as lists of rows by the name of their table ("flows", "streams", "queues",
        "datagrams"), and the traffic that was started ("items"); of the samples, leave out the first `streams` rows of
        connections and the first `queues` rows of queues, which the caller has already.
        """

    def totals(self, label: str, until_s: float) -> TotalsReply:
        """Let network time pass until `until_s`, as `advance` does, and return the item of traffic with this label and
        its totals so far, which takes less time than `tables`; the totals are None if it has not begun.
        """

    def start(self, item: Item) -> StartReply:
        """Start one more item of traffic, whose `start_s` counts from now; the answer has its start in s from the lab's
        start.
        """

    def stop(self, label: str) -> TimeReply:
        """End the item of traffic with this label now, before its planned end; its counters stay in the tables."""

    def change(self, directions: list[int], shape: Shape | None, up: bool | None) -> TimeReply:
        """Change the directions with these numbers (positions in the plan's list, from 0) from now on: set the fields
        of `shape` (None: none; the others stay), and switch them on or off as `up` says (None: leave). Return the
        network time.

        `rate_mbps` may be `TraceSteps`, which begin now. Queues and wires that stay keep their packets. A link that is switched off
        loses its packets; routes stay as they are.
        """

    def capture(self, name: str, directions: list[int], snap_bytes: int) -> TimeReply:
        """Record every packet at both ends of the directions with these numbers (positions in the plan's list, from 0)
        from now on, each packet's first `snap_bytes` bytes, as the capture with the name `name`.
        """

    def stop_capture(self, name: str) -> CaptureReply:
        """End the capture with the name `name`; the answer has the number of packets that were lost because its buffers
        were full.
        """


class ProgramRequests(Protocol):
    """The requests of a lab whose nodes have programs, if it was built with `programs=True`."""

    def run(self, node: str, command: str) -> ExitReply:
        """Run a shell command on the node with the name `node` until it ends, with a text message for each piece of its
        output; the answer has its exit code.
        """

    def background(self, node: str, command: str) -> ProcessReply:
        """Start a shell command in the background on the node with the name `node`, where it runs whenever network time
        passes; the answer has its pid.
        """

    def process(self, pid: int, offset: int, wait_s: float) -> OutputReply:
        """Wait for the end of the background command `pid`, at most `wait_s` s of network time; the answer has its
        output from the byte `offset` (from 0) on, the offset after that, and its exit code (None while it runs).
        """

    def signal(self, pid: int, number: int) -> TimeReply:
        """Send the signal with this number to the background command `pid` and all processes that it started."""

    def terminal(self, node: str, rows: int, columns: int) -> ProcessReply:
        """Open a shell of the node with the name `node` on a new terminal of `rows` by `columns` characters; the answer
        has its pid, by which later requests name the terminal.
        """

    def prompt(self, rows: int, columns: int) -> ProcessReply:
        """Open Mininet's prompt on a new terminal of `rows` by `columns` characters; the answer has its pid, by which
        later requests name the terminal.
        """

    def prompt_lines(self, lines: str) -> ExitReply:
        """Run commands of Mininet's prompt, one per line of the text `lines`, to their end, with a text message for
        each piece of output; the answer has the prompt's exit code.
        """

    def read(self, node: str, path: str) -> FileReply:
        """Return the content of a file as hexadecimal digits; a relative `path` starts in the home directory of the
        node with the name `node`.
        """

    def write(self, node: str, path: str, hex: str) -> TimeReply:  # noqa: A002 (what `bytes.fromhex` takes)
        """Write the bytes that the hexadecimal digits `hex` stand for to a file, in place of its content; a relative
        `path` starts in the home directory of the node with the name `node`.
        """


class TerminalRequests(Protocol):
    """The requests of a lab with terminals."""

    def turn(
        self,
        pid: int,
        keys: str = "",
        turn_s: float = 0.02,
        size: list[int] | None = None,
        close: bool = False,
        until_text: bool = False,
    ) -> TerminalReply:
        """Send `keys` to the terminal of the process `pid`, let `turn_s` s of network time pass (if `until_text`, only
        until there is output), and return the output ("text"), whether the process has ended ("ended"), its exit code
        ("code", None if not known) and the time ("now_s"). `size` is a new size, rows and columns (None: unchanged);
        `close` closes the terminal.
        """


class Scripts(Protocol):
    """The requests of a lab that runs a Mininet script instead of building a plan."""

    def script(self, words: list[str], directory: str, seed: int, home: str, input_text: str) -> ExitReply:
        """Run a Mininet script in the working directory `directory` to its end, with a text message for each piece of
        its output; return its exit code ("code") and the time ("now_s"). `words` are its path and arguments, `seed`
        seeds the random draws, `home` is its home directory, and `input_text` the text of its standard input.
        """

    def open_script(
        self, words: list[str], directory: str, seed: int, home: str, rows: int, columns: int
    ) -> ProcessReply:
        """Start a Mininet script on a new terminal of `rows` by `columns` characters, in the working directory
        `directory`; return its pid ("pid"), by which later requests name the terminal, and the time ("now_s"). `words`
        are its path and arguments, `seed` seeds the random draws, and `home` is its home directory.
        """

    def end_programs(self) -> TimeReply:
        """End all programs that outlive the script, by SIGINT and then SIGTERM, with some network time to write their
        last output.
        """

    def keep_files(self) -> FilesReply:
        """Copy files that the script wrote to the guest's own directories to the host's folder; the answer has their
        paths, and the reasons for those that could not be copied.
        """


class AllRequests(LabRequests, ProgramRequests, TerminalRequests, Scripts, Protocol):
    """The requests of all kinds of labs; a session of any engine has these methods."""


@functools.cache
def names(requests: type) -> frozenset[str]:
    """Return the names of the requests (public methods) of one of this module's classes, such as `Scripts`, and of its
    base classes.

    >>> sorted(names(Scripts))
    ['end_programs', 'keep_files', 'open_script', 'script']
    """
    return frozenset(name for part in requests.__mro__ for name in vars(part) if not name.startswith("_"))
