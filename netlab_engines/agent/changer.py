"""Apply the planned changes of links while a network runs."""

import itertools
import socket
import threading
from collections.abc import Iterable

from netlab.base.errors import RunError
from netlab.base.units import NS_PER_S
from netlab.plan import Change, Hop
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
    directions : list of Hop
        The directions of its links; each change updates this list.
    clock : str
        "virtual" or "real".
    seed : int
        The run's seed, from which the random draws of each link follow.
    """

    def __init__(self, network: Network, directions: list[Hop], clock: str, seed: int) -> None:
        """Prepare changes of the running network's `directions`, a list that each change updates; nothing is applied
        before `start`. `clock` is "virtual" or "real", and random draws follow from the run's `seed`.
        """
        self.schedule = Schedule(directions, clock, seed)
        self._network = network
        self._sockets: dict[str, NetlinkSocket] = {}
        self._error: RunError | None = None
        self._lock = threading.Lock()
        self._origin_s = 0.0

    def apply_now(self, changes: list[Change], now_ns: int) -> None:
        """Add changes whose times count from now, which is `now_ns` after the start of the run, and apply all that are
        due. Raises RunError if the kernel refuses one.
        """
        with self._lock:
            self.schedule.add(changes, now_ns)
            self.apply_due(now_ns)
        if any(isinstance(change["shape"].get("rate_mbps"), dict) for change in changes):
            # The thread of the other changes may already sleep until a later time.
            self.start(self._origin_s)

    def start(self, origin_s: float) -> None:
        """Apply all later changes in a thread; their times count from `origin_s`, a time of the monotonic clock in s.
        An error in the thread is raised by `check`.
        """
        self._origin_s = origin_s
        threading.Thread(
            target=self._apply_planned, args=(round(origin_s * NS_PER_S),), name="The change of a link", daemon=True
        ).start()

    def check(self) -> None:
        """Raise the RunError of a planned change that the kernel refused, if there was one."""
        if self._error is not None:
            raise self._error

    def _apply_planned(self, origin_ns: int) -> None:
        """Apply the changes at their times, which count from `origin_ns` on the monotonic clock, until there are no
        more or one fails; runs in a thread.
        """
        try:
            while (next_ns := self.schedule.next_ns) is not None:
                sleep_until_ns(origin_ns + next_ns)
                with self._lock:
                    self.apply_due(next_ns)
        except RunError as error:
            self._error = error

    def apply_due(self, now_ns: int) -> None:
        """Apply all changes whose time is at most `now_ns` after the start of the run; `schedule` then has only later
        ones. Raises RunError if the kernel refuses one.
        """
        while self.schedule.next_ns is not None and self.schedule.next_ns <= now_ns:
            self.apply(self.schedule.pop())

    def apply(self, steps: Iterable[Step]) -> None:
        """Send the steps, in their order, to the kernel in the namespaces of their nodes, and wait for its answers.

        Raises RunError if the kernel refuses one.
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
        """Return 0 as the number of the new interface `name`, so that the kernel chooses the number."""
        return 0

    def __call__(self, name: str) -> int:
        """Return the number that the kernel gave the existing interface of this name. Raises
        OSError if there is none.
        """
        return socket.if_nametoindex(name)
