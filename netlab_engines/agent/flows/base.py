"""The base class of all kinds of traffic in the guest: a flow opens its sockets, starts, is sampled, ends and returns totals."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from netlab.base.errors import ThroughputError
from netlab.base.units import NS_PER_S
from netlab.protocol.plan import AgentPlan, DatagramInterval, Item, StreamSample, Totals
from netlab_engines.agent.artifacts import ArtifactStore
from netlab_engines.agent.network import Network
from netlab_engines.sockets.moments import sleep_until_ns

ItemType = TypeVar("ItemType", bound=Item)


@dataclass(frozen=True)
class FlowContext:
    """The surroundings of one item of traffic."""

    plan: AgentPlan
    network: Network
    """The running network."""
    artifacts: ArtifactStore
    """Receives the files that a flow saves."""
    number: int
    """The item's position in the traffic, from 1."""
    port: int
    """The first port of the flow, which has as many as its `ports` says."""

    def pid(self, node: str) -> int:
        """Return the id of the thread or process that keeps the namespace of a node open."""
        return self.network.pid(node)


class RunningFlow(Generic[ItemType]):
    """A running item of traffic."""

    ports = 0
    """The number of ports that the flow uses."""

    def __init__(self, item: ItemType, place: FlowContext) -> None:
        self.item = item
        self.label = item["label"]
        own_s = cast("float | None", item.get("duration_s"))
        whole_s = place.plan["duration_s"]
        self.start_s = item["start_s"]
        self.end_s = whole_s if own_s is None else min(whole_s, self.start_s + own_s)
        self.errors: list[str] = []
        self.failed = False
        """True after an exception that netlab did not expect."""
        self._origin_s = 0.0
        self._threads: list[threading.Thread] = []

    def launch(self, origin_s: float) -> None:
        """Start the flow's threads; traffic begins at `origin_s` + `start_s` on the monotonic clock."""
        raise NotImplementedError

    def sample(self, at_s: float) -> list[StreamSample]:
        """Return the cumulative counters of each TCP connection now; `at_s` is the time to enter in the rows."""
        del at_s
        return []

    def finish(self, until_s: float) -> None:
        """Wait until all packets in flight have arrived, at most until `until_s` (monotonic), then stop."""

    def intervals(self) -> list[DatagramInterval]:
        """Return the data that arrived in each interval, if datagrams are counted."""
        return []

    def totals(self) -> Totals:
        """Return the totals at the flow's end; each kind returns a type that extends `Totals`."""
        return {"flow": self.label, "error": "; ".join(self.errors) or None}

    def totals_so_far(self) -> Totals:
        """Return the totals that the flow would have if it ended now."""
        return self.totals()

    def stop(self) -> None:
        """End the flow before its planned end."""

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = self._thread(target, *args)
        self._threads.append(thread)
        thread.start()

    def _thread(self, target: Callable[..., None], *args: Any) -> threading.Thread:
        """Return a thread, not yet started, whose exceptions become errors of the flow.

        An exception that is not a network error but a defect of netlab stops the flow and ends the run (see `agent.failures`).
        """

        def guarded() -> None:
            try:
                target(*args)
            except (OSError, ThroughputError) as error:
                self.errors.append(str(error))
            except BaseException as error:
                self.failed = True
                self.errors.append(f"{type(error).__name__}: {error}")
                with suppress(Exception):
                    self.stop()
                raise

        return threading.Thread(target=guarded, name=self.label, daemon=True)


def sleep_until(when_s: float) -> None:
    """Sleep until a time of the monotonic clock in s; return at once if it has passed."""
    sleep_until_ns(round(when_s * NS_PER_S))
