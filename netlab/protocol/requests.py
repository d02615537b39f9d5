"""The requests to a lab and their answers: these classes have a method for each request, for host and guest.

The agent has the methods, a session gives its user the same ones, and mypy holds both against these classes. What crosses
is plain JSON. Times are network time in s since the lab's start, unless a name says otherwise; nodes, links' directions and
labels are those of the plan.
"""

import functools
from typing import Protocol, TypedDict

from netlab.protocol.plan import AgentPlan, Counters, Item, Shape


class Moment(TypedDict):
    """Every answer says when it was given."""

    now_s: float


class Built(Moment):
    """The network stands; `origin_ns` is the real-time clock at the lab's start, which may still be ahead."""

    origin_ns: int


class Began(Moment):
    """Traffic was set up and begins at `start_s`."""

    start_s: float


class Tables(Counters, Moment):
    """All that was counted so far; `items` is the traffic that was ever started, with the times at which it began."""

    items: list[Item]


class Captured(Moment):
    """A capture has ended; `lost` packets came faster than its ring holds."""

    lost: int


class Ended(Moment):
    """A program has ended with this exit code."""

    code: int


class Process(Moment):
    """A program was started."""

    pid: int


class Printed(Moment):
    """The output of a background program from some byte up to byte `offset`; `code` is None while it runs."""

    text: str
    offset: int
    code: int | None


class Shown(TypedDict):
    """The output of a terminal; `ended` is true if its program has ended, `code` is the exit code if known."""

    text: str
    ended: bool
    code: int | None


class Turn(Shown, Moment):
    """The same at its moment."""


class Content(Moment):
    """The bytes of a file, as hexadecimal digits."""

    hex: str


class Kept(Moment):
    """Paths of the files that a script wrote in the guest's own directories, and why others could not be copied."""

    files: list[str]
    lost: dict[str, str]


class Requests(Protocol):
    """The requests that every lab supports."""

    def build(self, plan: AgentPlan, programs: bool) -> Built:
        """Build the network; the plan's traffic and captures begin at the lab's start, which may still be ahead.

        With `programs` the nodes get what a person's commands need: home directories, names of hosts, shells.
        """

    def advance(self, until_s: float, progress_s: float | None) -> Moment:
        """Let network time pass until a moment, with a `Progress` message each `progress_s`; a moment that is past is no wait."""

    def finish(self, until_s: float) -> Moment:
        """End all traffic and captures; what is in flight may arrive, at most until a moment."""

    def tables(self, streams: int, queues: int) -> Tables:
        """All counters so far; of the samples, those after the first `streams` and `queues` rows."""

    def start(self, item: Item) -> Began:
        """Start traffic; its `start_s` counts from now."""

    def stop(self, label: str) -> Moment:
        """End an item of traffic now."""

    def change(self, directions: list[int], shape: Shape | None, up: bool | None) -> Moment:
        """Give directions of links these fields of a shape, or cut (`up` false) or mend them; None leaves as it is.

        `rate_mbps` may be `TraceSteps`, which begin now. Queues and wires that go on keep what they hold. A link that goes down loses
        what is on it; routes stay as they are.
        """

    def capture(self, name: str, directions: list[int], snap_bytes: int) -> Moment:
        """Write down every packet of these directions from now on."""

    def stop_capture(self, name: str) -> Captured:
        """End a capture."""


class Programs(Protocol):
    """The requests of a lab whose nodes have programs, if it was built with `programs=True`."""

    def run(self, node: str, command: str) -> Ended:
        """Run a command in a node's shell until it ends, with a `Text` message for each piece that it prints."""

    def background(self, node: str, command: str) -> Process:
        """Start a command that goes on whenever network time passes."""

    def process(self, pid: int, offset: int, wait_s: float) -> Printed:
        """Return the output of such a command from byte `offset` on, after at most `wait_s`."""

    def signal(self, pid: int, number: int) -> Moment:
        """Send a signal to such a command and all that it started."""

    def terminal(self, node: str, rows: int, columns: int) -> Process:
        """Open a node's shell on a terminal."""

    def prompt(self, rows: int, columns: int) -> Process:
        """Open Mininet's prompt on a terminal."""

    def prompt_lines(self, lines: str) -> Ended:
        """Run lines of Mininet's prompt, with a `Text` message for each piece that it prints."""

    def read(self, node: str, path: str) -> Content:
        """The content of a file, as the node's shell would name it."""

    def write(self, node: str, path: str, hex: str) -> Moment:  # noqa: A002 (what `bytes.fromhex` takes)
        """Write a file."""


class Terminals(Protocol):
    """The requests of a lab with terminals."""

    def turn(
        self,
        pid: int,
        keys: str = "",
        turn_s: float = 0.02,
        size: list[int] | None = None,
        close: bool = False,
        until_text: bool = False,
    ) -> Turn:
        """Give a terminal keys and let `turn_s` pass, or less where `until_text` and it shows something before.

        `size` is that of its window from now on, rows and columns; `close` hangs it up.
        """


class Scripts(Protocol):
    """The requests of a lab that runs a Mininet script instead of building a plan."""

    def script(self, words: list[str], directory: str, seed: int, home: str, keys: str) -> Ended:
        """Run a script to its end with these lines as its input, with a `Text` message for each piece that it prints."""

    def open_script(self, words: list[str], directory: str, seed: int, home: str, rows: int, columns: int) -> Process:
        """Run a script on a terminal."""

    def end_programs(self) -> Moment:
        """End all programs that outlive the script, after they had a chance to write what they hold back."""

    def keep_files(self) -> Kept:
        """Copy what the script wrote in the guest's own directories to where the host finds it."""


class AllRequests(Requests, Programs, Terminals, Scripts, Protocol):
    """Every request."""


@functools.cache
def names(requests: type) -> frozenset[str]:
    """The names of the requests of such a class.

    >>> sorted(names(Scripts))
    ['end_programs', 'keep_files', 'open_script', 'script']
    """
    return frozenset(name for part in requests.__mro__ for name in vars(part) if not name.startswith("_"))
