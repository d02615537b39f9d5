"""Apply the planned changes of links while a network runs."""

import itertools
import socket
import threading
from collections.abc import Iterable

from netlab.base.errors import RunError
from netlab.base.units import NS_PER_S
from netlab.plan import PlannedChange, PlannedHop
from netlab_engines.agent.namespaces import enter_namespace
from netlab_engines.agent.netlink_socket import NetlinkSocket
from netlab_engines.agent.network import Network
from netlab_engines.netlink.ip_lines import Interfaces
from netlab_engines.planning.schedule import Schedule, Step
from netlab_engines.sockets.moments import sleep_until_ns


class LinkChanger:
    """Applies the planned changes of a running network's links, each at its time, and changes that are requested
    meanwhile.

    Parameters
    ----------
    network : Network
        The running network.
    directions : list of PlannedHop
        The directions of its links; each change updates this list.
    clock : str
        "virtual" or "real".
    seed : int
        The run's seed, from which the random draws of each link follow.
    """

    def __init__(self, network: Network, directions: list[PlannedHop], clock: str, seed: int) -> None:
        """Prepare changes of the links of a running network; nothing is applied before `start` or `apply_now`.
        `directions` are the two directions of each link, a list that each change updates; `clock` is "virtual" or
        "real"; the random draws of the links follow from the run's `seed`.
        """
        self.schedule = Schedule(directions, clock, seed)
        self._network = network
        self._sockets: dict[str, NetlinkSocket] = {}
        self._error: RunError | None = None
        self._lock = threading.Lock()
        self._origin_s = 0.0

    def apply_now(self, changes: list[PlannedChange], now_ns: int) -> None:
        """Add changes whose times count from now, and apply at once those that are due. Later ones are applied by the
        thread of `start`, which is started again if one of the changes is a rate that follows a trace. `now_ns` is the
        present time in ns from the run's start. Raises RunError if the kernel refuses a change.
        """
        with self._lock:
            self.schedule.add(changes, now_ns)
            self.apply_due(now_ns)
        if any(isinstance(change["shape"].get("rate_mbps"), dict) for change in changes):
            # The thread of the other changes may already sleep until a later time.
            self.start(self._origin_s)

    def start(self, origin_s: float) -> None:
        """Start a thread that applies all later changes at their times, and return at once; the times count from
        `origin_s`, the run's start in s on the monotonic clock. If the kernel refuses a change, the thread ends and
        `check` raises the error.
        """
        self._origin_s = origin_s
        threading.Thread(
            target=self._apply_planned, args=(round(origin_s * NS_PER_S),), name="The change of a link", daemon=True
        ).start()

    def check(self) -> None:
        """Raise the RunError of a planned change that the kernel refused in the thread of `start`; return if there was
        none.
        """
        if self._error is not None:
            raise self._error

    def _apply_planned(self, origin_ns: int) -> None:
        """Apply the changes, each at its time, until none is left or one fails; runs in a thread. `origin_ns` is the
        run's start in ns on the monotonic clock. The error of a change that failed is kept for `check`.
        """
        try:
            while (next_ns := self.schedule.next_ns) is not None:
                sleep_until_ns(origin_ns + next_ns)
                with self._lock:
                    self.apply_due(next_ns)
        except RunError as error:
            self._error = error

    def apply_due(self, now_ns: int) -> None:
        """Apply all changes whose time is at most `now_ns`, in ns from the run's start, and remove them from the
        schedule. Raises RunError if the kernel refuses one.
        """
        while self.schedule.next_ns is not None and self.schedule.next_ns <= now_ns:
            self.apply(self.schedule.pop())

    def apply(self, steps: Iterable[Step]) -> None:
        """Send the message of each step, in the order given, to the kernel in the namespace of the step's node, and
        wait for the kernel's answers. Raises RunError if the kernel refuses one.
        """
        for node, own in itertools.groupby(steps, lambda step: step.node):
            pid = self._network.pid(node)
            if node not in self._sockets:
                self._sockets[node] = NetlinkSocket(pid)
            with enter_namespace(pid):
                for step in own:
                    # Send each step alone: a device has its number only after the step that adds it.
                    self._sockets[node].send([(step.line, step.message(_KernelInterfaces()))])


class _KernelInterfaces(Interfaces):
    """The interfaces of the current network namespace by name, with the numbers that the kernel gave them."""

    def make(self, name: str) -> int:  # noqa: ARG002 (the kernel chooses the number)
        """Return 0 for a new interface, whatever its `name`, which tells the kernel to choose the number."""
        return 0

    def __call__(self, name: str) -> int:
        """Return the number that the kernel gave the existing interface `name` in the network namespace of the calling
        thread. Raises OSError if there is none.
        """
        return socket.if_nametoindex(name)
