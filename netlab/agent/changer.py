"""The changes of a running network, each at its moment."""

import itertools
import socket
import threading
from collections.abc import Iterable

from netlab.agent.namespaces import visit
from netlab.agent.network import Network
from netlab.agent.routing import Routing
from netlab.agent.schedule import Schedule, Step
from netlab.base.errors import RunError
from netlab.base.units import NS_PER_S
from netlab.netlink.ip_lines import Interfaces
from netlab.protocol.plan import Change, Hop
from netlab.sockets.moments import sleep_until_ns


class Changer:
    """Makes the changes of a running network, each at its moment; the list `directions` is brought up to date with
    each.
    """

    def __init__(self, network: Network, directions: list[Hop], clock: str, seed: int) -> None:
        self.schedule = Schedule(directions, clock, seed)
        self._network = network
        self._told: dict[str, Routing] = {}
        self._refused: RunError | None = None
        self._lock = threading.Lock()
        self._origin_s = 0.0

    def make_now(self, changes: list[Change], now_ns: int) -> None:
        """Make changes at this moment of the run, `now_ns` after its start."""
        with self._lock:
            self.schedule.add(changes, now_ns)
            self.make_due(now_ns)
        if any(isinstance(change["shape"].get("rate_mbps"), dict) for change in changes):
            # The thread that follows other changes already sleeps to their next moment.
            self.start(self._origin_s)

    def start(self, origin_s: float) -> None:
        """Make all others at their moments after `origin_s` (monotonic), in a thread."""
        self._origin_s = origin_s
        threading.Thread(
            target=self._follow, args=(round(origin_s * NS_PER_S),), name="The change of a link", daemon=True
        ).start()

    def check(self) -> None:
        """Raise RunError when a change could not be made."""
        if self._refused is not None:
            raise self._refused

    def _follow(self, origin_ns: int) -> None:
        try:
            while (next_ns := self.schedule.next_ns) is not None:
                sleep_until_ns(origin_ns + next_ns)
                with self._lock:
                    self.make_due(next_ns)
        except RunError as error:
            self._refused = error

    def make_due(self, now_ns: int) -> None:
        """Make those up to a moment of the run, in ns after its start."""
        while self.schedule.next_ns is not None and self.schedule.next_ns <= now_ns:
            self.apply(self.schedule.pop())

    def apply(self, steps: Iterable[Step]) -> None:
        """Tell the kernel.

        Raises RunError when it refuses a line.
        """
        for node, own in itertools.groupby(steps, lambda step: step.node):
            pid = self._network.pid(node)
            if node not in self._told:
                self._told[node] = Routing(pid)
            with visit(pid):
                for step in own:
                    # One by one: a device that a line adds has its number only then.
                    self._told[node].tell([(step.line, step.message(_Named()))])


class _Named(Interfaces):
    """The interfaces of the present namespace by the kernel's own numbers."""

    def make(self, name: str) -> int:  # noqa: ARG002 (the kernel gives it a number)
        return 0

    def __call__(self, name: str) -> int:
        return socket.if_nametoindex(name)
