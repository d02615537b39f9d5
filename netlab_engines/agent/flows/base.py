"""The base class of all kinds of traffic in the guest: a flow opens its sockets, starts, is sampled, ends and returns totals."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from netlab.base.errors import ThroughputError
from netlab.base.units import NS_PER_S
from netlab.plan import DatagramInterval, Item, StreamSample, Totals
from netlab_engines.agent.artifacts import ArtifactStore
from netlab_engines.agent.network import Network
from netlab_engines.protocol.requests import AgentPlan
from netlab_engines.sockets.moments import sleep_until_ns

ItemType = TypeVar("ItemType", bound=Item)


@dataclass(frozen=True)
class FlowContext:
    """The plan and the running network in which one item of traffic runs, with its number and its ports."""

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
        """Return the id of the thread or process that keeps the network namespace of the node with the name `node`
        open.
        """
        return self.network.pid(node)


class RunningFlow(Generic[ItemType]):
    """An item of traffic in the guest: its sockets, its threads and its counters. Subclasses add the kind of traffic;
    times are in s, `start_s` and `end_s` from the start of the run.
    """

    ports = 0
    """The number of ports that the flow uses."""

    def __init__(self, item: ItemType, place: FlowContext) -> None:
        """Prepare the flow of one item of the plan's traffic, whose end is at most the end of the run; `place` has the
        plan, the running network and the flow's number and ports. Subclasses also open its sockets, and raise OSError
        if that fails.
        """
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
        """Start the flow's threads and return at once. `origin_s` is the run's start in s on the monotonic clock;
        traffic begins at `origin_s` + `start_s`.
        """
        raise NotImplementedError

    def sample(self, at_s: float) -> list[StreamSample]:
        """Return one row (a dict with "flow", "stream", "t_s" and counters) for each of the flow's TCP connections with
        its counters since its start, read now; `at_s`, the present time in s from the run's start, is copied into each
        row. [] for kinds of traffic without TCP connections of netlab's.
        """
        del at_s
        return []

    def finish(self, until_s: float) -> None:
        """Wait until all packets in flight have arrived, but not longer than until `until_s` in s on the monotonic
        clock, then end the flow. The base class does nothing.
        """

    def intervals(self) -> list[DatagramInterval]:
        """Return one row (a dict: "flow", "interval", "bytes" and "datagrams") for each interval of the run in which
        datagrams of the flow arrived, in the order of time; [] for kinds of traffic without datagram counters.
        """
        return []

    def totals(self) -> Totals:
        """Return the flow's totals after its end, a dict: its label ("flow") and its errors, joined by "; " ("error",
        None if there are none). Each kind of traffic adds its own counters, in a type that extends `Totals`.
        """
        return {"flow": self.label, "error": "; ".join(self.errors) or None}

    def totals_so_far(self) -> Totals:
        """Return the totals, in the form of `totals`, that the flow would have if it ended now; the flow goes on."""
        return self.totals()

    def stop(self) -> None:
        """End the flow now, before its planned end. The base class does nothing: a kind of traffic without a method of
        its own goes on.
        """

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        """Start a thread of the flow that calls `target` with the arguments `args`, and keep it in `_threads`; a
        network error there becomes one of the flow's errors, any other exception also stops the flow, marks it as
        failed and ends the thread, which fails the run.
        """
        thread = self._thread(target, *args)
        self._threads.append(thread)
        thread.start()

    def _thread(self, target: Callable[..., None], *args: Any) -> threading.Thread:
        """Return a thread, not yet started, that calls `target` with the arguments `args`. A network error there
        becomes one of the flow's errors; any other exception, a defect of netlab, also stops the flow, marks it as
        failed and is raised again in the thread, which fails the run.
        """

        def run_target() -> None:
            """Call `target` with its arguments. A network error (OSError or ThroughputError) becomes an error of the
            flow; any other exception also stops the flow, marks it as failed and is raised again.
            """
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

        return threading.Thread(target=run_target, name=self.label, daemon=True)


def sleep_until(when_s: float) -> None:
    """Sleep until the time `when_s` of the monotonic clock in s; return at once if it has passed."""
    sleep_until_ns(round(when_s * NS_PER_S))
