"""The base of all kinds of traffic in the guest: a flow opens its sockets, starts, is sampled, ends and returns its totals."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from netlab.agent.artifacts import ArtifactStore
from netlab.agent.network import Network
from netlab.base.errors import ThroughputError
from netlab.base.units import NS_PER_S
from netlab.protocol.plan import AgentPlan, DatagramInterval, Item, StreamSample, Totals
from netlab.sockets.moments import sleep_until_ns

ItemType = TypeVar("ItemType", bound=Item)


@dataclass(frozen=True)
class FlowContext:
    """The place in which an item of traffic runs."""

    plan: AgentPlan
    network: Network
    """Running."""
    keeper: ArtifactStore
    """Takes the files that a flow leaves."""
    number: int
    """The item's place in the traffic, from 1."""
    port: int
    """The first of the ports that are its own; as many as its flow's `ports` says."""

    def pid(self, node: str) -> int:
        """Process that holds the namespace of a node."""
        return self.network.pid(node)


class Flow(Generic[ItemType]):
    """An item of traffic at work, which takes so many `ports`."""

    ports = 0

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
        """Start in a thread; traffic begins at `origin_s` + `start_s` on the monotonic clock."""
        raise NotImplementedError

    def sample(self, at_s: float) -> list[StreamSample]:
        """Cumulative numbers of each TCP connection now; `at_s` is for the books only."""
        del at_s
        return []

    def finish(self, until_s: float) -> None:
        """Let what is in flight arrive, at most until `until_s` (monotonic), then stop."""

    def intervals(self) -> list[DatagramInterval]:
        """Return the data that arrived in each interval, if datagrams are counted."""
        return []

    def totals(self) -> Totals:
        """Return the totals at the flow's end; a kind's own totals are in the type that extends this one."""
        return {"flow": self.label, "error": "; ".join(self.errors) or None}

    def so_far(self) -> Totals:
        """Return the totals that the flow would have if it ended now."""
        return self.totals()

    def stop(self) -> None:
        """End now instead of at its end."""

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = self._thread(target, *args)
        self._threads.append(thread)
        thread.start()

    def _thread(self, target: Callable[..., None], *args: Any) -> threading.Thread:
        """Return a thread, not started, whose exceptions are the flow's errors.

        An exception that is no error of the network, but of netlab, stops the flow and ends the run (see `agent.failures`).
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
    """Sleep to a moment of the monotonic clock; not at all when it is past."""
    sleep_until_ns(round(when_s * NS_PER_S))
