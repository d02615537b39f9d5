"""The interface of each kind of traffic to its counters: the time of its first data, and its rows in the tables of a run."""

from typing import Any, Generic, TypeVar, cast

from netlab.base.units import rate_mbps
from netlab.plan import DatagramInterval, Item, Plan, StreamSample, Totals

Row = dict[str, Any]
Tables = dict[str, list[Row]]
"""Rows by the name of their table: one of `netlab.measure.results.TABLES`, or a table of one kind of traffic."""

ItemType = TypeVar("ItemType", bound=Item)
TotalsType = TypeVar("TotalsType", bound=Totals)


class Measure(Generic[ItemType, TotalsType]):
    """The conversion of one item of traffic: from its plan, its totals, the `samples` of its connections in order of
    time, and its datagrams by interval (`arrivals`) to rows of the run's tables.
    """

    def __init__(
        self,
        item: ItemType,
        totals: TotalsType,
        plan: Plan,
        samples: list[StreamSample],
        arrivals: list[DatagramInterval],
    ) -> None:
        """Take an item of a plan's traffic, its totals, the plan, its samples, and its datagrams by interval."""
        self.item, self.totals, self.plan = item, totals, plan
        self.samples, self.arrivals = samples, arrivals

    @property
    def first_s(self) -> float | None:
        """The time in s after the run's start at which the item's first data arrived; None if none did."""
        return None

    @property
    def end_s(self) -> float:
        """The scheduled end of the traffic in s after the run's start."""
        own_s = cast("float | None", self.item.get("duration_s"))
        whole_s = self.plan["duration_s"]
        return whole_s if own_s is None else min(whole_s, self.item["start_s"] + own_s)

    def tables(self, begin_s: float) -> Tables:
        """Return the item's rows by the name of the run's table; rates count from `begin_s`, the time in s after the
        run's start at which the first data arrived of any flow with the same start.
        """
        raise NotImplementedError


def goodput_mbps(volume_bytes: float, active_s: float) -> float:
    """Return the mean rate in Mbit/s of `volume_bytes` over `active_s` seconds; 0 unless that time is above 0."""
    return rate_mbps(volume_bytes, active_s) if active_s > 0 else 0.0


def mean(values: list[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def total(values: list[float | None]) -> float | None:
    """Return the sum of the values that are not None; None if there are none."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None
