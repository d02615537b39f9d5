"""The measurements of UDP flows."""

import math

from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT, rate_mbps
from netlab.measure.base import Measure, Row, Tables
from netlab.measure.columns import flow_row
from netlab.traffic.udp import UdpItem, UdpTotals


class UdpMeasure(Measure[UdpItem, UdpTotals]):
    """The conversion of the totals of a UDP flow."""

    @property
    def first_s(self) -> float | None:
        """The time in s after the run's start at which the first datagram arrived; None if none did."""
        return self.totals.get("first_s")

    def tables(self, begin_s: float) -> Tables:
        """Return the flow's row under "flows", and its rows under "intervals"; `begin_s` has no effect."""
        del begin_s
        return {"flows": [flow_row(self, **self._numbers())], "intervals": self._intervals()}

    def _numbers(self) -> Row:
        """Return the columns of the flow's row that are no counters of this name; empty if the flow did not start."""
        counted = self.totals
        if "sent_bytes" not in counted:
            return {}
        received, sent = counted["received_datagrams"], counted["sent_datagrams"]
        # Datagrams that a full socket dropped did cross the network. Some received ones may be duplicates made by the network.
        crossed = min(sent, received + counted["receiver_drops"])
        active_s, timely_bytes, timely_throughput_bytes = self._timely_volumes()
        delays = ("jitter_ms", "delay_ms", "delay_min_ms", "delay_max_ms")
        return {
            "goodput_mbps": rate_mbps(timely_bytes, active_s),
            "throughput_mbps": rate_mbps(timely_throughput_bytes, active_s),
            "loss_rate": 1 - crossed / sent if sent else math.nan,
            "delay_ms": counted["delay_mean_ms"],
            **({} if received else dict.fromkeys(delays, math.nan)),
        }

    def _timely_volumes(self) -> tuple[float, int, int]:
        """Return the duration in s for the flow's rates, and the bytes that count in it for goodput and throughput."""
        counted = self.totals
        duration_s = self.end_s - self.item["start_s"]
        first_s, last_s, timely_last_s = counted["first_s"], counted["last_s"], counted["timely_last_s"]
        if first_s is None or last_s is None or timely_last_s is None or last_s - first_s <= duration_s:
            return duration_s, counted["received_bytes"], counted["throughput_bytes"]
        # The queue continued to send after the sender had stopped. Later arrivals do not count; and n datagrams at a
        # constant rate take n intervals, not the n - 1 between the first and the last arrival, which is slightly longer
        # than the duration.
        timely = counted["timely_datagrams"]
        active_s = (timely_last_s - first_s) * timely / (timely - 1) if timely > 1 else duration_s
        return max(duration_s, active_s), counted["timely_bytes"], counted["timely_throughput_bytes"]

    def _intervals(self) -> list[Row]:
        """Return rows (flow, t_s, goodput_mbps, loss_rate or None) of the intervals with sending time or arrivals."""
        item = self.item
        arrived = {row["interval"]: row for row in self.arrivals}
        step_s, whole_s = self.plan["interval_s"], self.plan["duration_s"]
        datagram_bits = item["payload_bytes"] * BITS_PER_BYTE
        found = []
        for number in range(max(1, round(whole_s / step_s))):
            begin_s, end_s = number * step_s, (number + 1) * step_s
            overlap_s = min(end_s, self.end_s) - max(begin_s, item["start_s"])
            row = arrived.get(number)
            if overlap_s <= 0 and row is None:
                continue
            received = row["datagrams"] if row else 0
            due = item["rate_mbps"] * BITS_PER_MEGABIT * overlap_s / datagram_bits
            found.append(
                {
                    "flow": item["label"],
                    "t_s": round(end_s, 9),
                    "goodput_mbps": rate_mbps(row["bytes"] if row else 0, step_s),
                    "loss_rate": max(0.0, 1 - received / due) if due >= 1 else None,
                }
            )
        return found
