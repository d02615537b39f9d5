"""The measurements of a user's programs."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from netlab.base.units import rate_mbps
from netlab.measure.base import Measure, Row, Tables, goodput_mbps
from netlab.measure.columns import flow_row
from netlab.traffic.program import ProgramItem, ProgramTotals


def equal_deliveries(flows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each of `flows`, totals by name, whose deliveries count as duplicates by equal bytes."""
    return [
        f"{row['flow']}: {row['duplicates']} deliveries count as duplicates. This sender does not use program.read(), so a delivery is "
        f"found by its content, and {row['equal_datagrams']} of its {row['sent_datagrams']} datagrams equal an earlier one. Give each "
        "datagram bytes of its own, such as a number that is delivered with it, or send what program.read() returns."
        for row in flows
        if row.get("equal_datagrams") is not None and row["duplicates"]
    ]


class ProgramMeasure(Measure[ProgramItem, ProgramTotals]):
    """The conversion of the totals of two programs of the user's own."""

    def tables(self, begin_s: float) -> Tables:
        """Return the flow's row under "flows", and its rows under "intervals"; `begin_s` has no effect."""
        del begin_s
        counted, start_s = self.totals, self.item["start_s"]
        last_s = counted["last_s"]
        is_complete = last_s is not None and counted["delivered_bytes"] == self.item["num_bytes"]
        active_s = (last_s if is_complete and last_s is not None else self.end_s) - start_s
        row = flow_row(
            self,
            completion_s=active_s if is_complete else math.nan,
            received_bytes=counted["delivered_bytes"],
            goodput_mbps=goodput_mbps(counted["delivered_bytes"], active_s),
            delay_ms=counted["delay_mean_ms"],
            missing_bytes=counted["missing_bytes"],
            wrong_bytes=counted["wrong_bytes"],
        )
        return {"flows": [row], "intervals": self._intervals()}

    def _intervals(self) -> list[Row]:
        """Return a row (flow, t_s at its end, goodput_mbps) for each interval from the flow's start to its end."""
        step_s = self.plan["interval_s"]
        arrived = {row["interval"]: row["bytes"] for row in self.arrivals}
        first, last = math.floor(self.item["start_s"] / step_s), math.ceil(round(self.end_s / step_s, 6))
        return [
            {
                "flow": self.item["label"],
                "t_s": round((number + 1) * step_s, 9),
                "goodput_mbps": rate_mbps(arrived.get(number, 0), step_s),
            }
            for number in range(first, max(first + 1, last))
        ]
