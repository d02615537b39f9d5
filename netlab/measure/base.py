"""The interface of each kind of traffic to its counters: the time of its first data, and its rows in the tables of a run."""

from typing import Any, Generic, TypeVar, cast

from netlab.base.units import rate_mbps
from netlab.protocol.plan import DatagramInterval, FlowItem, Item, Plan, StreamSample, Totals

Row = dict[str, Any]
Tables = dict[str, list[Row]]
"""Rows by the name of their table: those of `netlab.measure.results.TABLES`, or one of a kind's own."""

ItemType = TypeVar("ItemType", bound=Item)
TotalsType = TypeVar("TotalsType", bound=Totals)


class Measure(Generic[ItemType, TotalsType]):
    """The numbers of one item of traffic: `samples` are those of its own connections in time's order, `arrivals` its own."""

    def __init__(
        self,
        item: ItemType,
        totals: TotalsType,
        plan: Plan,
        samples: list[StreamSample],
        arrivals: list[DatagramInterval],
    ) -> None:
        self.item, self.totals, self.plan = item, totals, plan
        self.samples, self.arrivals = samples, arrivals

    @property
    def first_s(self) -> float | None:
        """When the first of its data arrived; None when none did, or when it is not data that it delivers."""
        return None

    @property
    def end_s(self) -> float:
        """When it was to end."""
        own_s = cast("float | None", self.item.get("duration_s"))
        whole_s = self.plan["duration_s"]
        return whole_s if own_s is None else min(whole_s, self.item["start_s"] + own_s)

    def tables(self, begin_s: float) -> Tables:
        """Its rows.

        Parameters
        ----------
        begin_s : float
            When the first data arrived of any flow that started together with this one, in s after the run's start.
        """
        raise NotImplementedError

    def flow_row(self, **numbers: object) -> Row:
        """Its row in `flows`, for traffic between two nodes."""
        item = cast("FlowItem", self.item)
        return {
            "flow": item["label"],
            "kind": item["kind"],
            "src": item["src"],
            "dst": item["dst"],
            "start_s": item["start_s"],
            "duration_s": self.end_s - item["start_s"],
            "error": self.totals.get("error"),
            **numbers,
        }


def goodput_mbps(volume_bytes: float, active_s: float) -> float:
    """Rate in Mbit/s; 0 where the flow's time was over when its first data came."""
    return rate_mbps(volume_bytes, active_s) if active_s > 0 else 0.0


def mean(values: list[float | None]) -> float | None:
    """Mean of those that are known; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def total(values: list[float | None]) -> float | None:
    """Sum of those that are known; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
