"""The measurements of flows over TCP and of their connections: bulk data, and requests with their responses."""

import math
from collections import Counter, defaultdict
from typing import TypeVar, cast

from netlab.base.units import rate_mbps
from netlab.measure.base import Measure, Row, Tables, goodput_mbps, mean, total
from netlab.measure.columns import flow_row
from netlab.plan import FlowItem
from netlab.traffic.requests import RequestsItem, RequestsTotals
from netlab.traffic.tcp import StreamTotals, TcpItem, TcpTotals

ItemType = TypeVar("ItemType", bound=FlowItem)
TotalsType = TypeVar("TotalsType", bound=TcpTotals)


class ConnectionsMeasure(Measure[ItemType, TotalsType]):
    """The conversion of a flow of TCP connections; subclasses know when its data begin and when they are complete."""

    @property
    def connections(self) -> int:
        """The number of connections that the flow was given."""
        raise NotImplementedError

    def streams(self) -> list[StreamTotals]:
        """Return the totals of each connection that delivered data."""
        return self.totals["streams"]

    def begin_s(self, shared_s: float) -> float:
        """Return the time in s after the run's start from which rates count: by subclass `shared_s`, the arrival of the
        first data of any flow with the same start, or the call of connect.
        """
        raise NotImplementedError

    def completion_s(self, streams: list[Row]) -> float:
        """Return the time in s from connect to arrival of all data, from the connections' rows; NaN if some lack."""
        raise NotImplementedError

    @property
    def first_s(self) -> float | None:
        """The time in s after the run's start at which the first bytes of any connection arrived; None if none did."""
        return min((stream["first_s"] for stream in self.totals["streams"]), default=None)

    def tables(self, begin_s: float) -> Tables:
        """Return rows of flows, intervals, streams and stream_intervals; rates count from `self.begin_s(begin_s)`."""
        rtts_ms: dict[int, list[float]] = defaultdict(list)
        for sample in self.samples:
            rtt_ms = sample["rtt_ms"]
            if rtt_ms is not None:
                rtts_ms[sample["stream"]].append(rtt_ms)
        streams = [self._stream(own, rtts_ms[own["stream"]], begin_s) for own in self.streams()]
        stream_intervals = self._stream_intervals()
        return {
            "flows": [self._flow(streams, begin_s)],
            "intervals": _flow_intervals(stream_intervals),
            "streams": streams,
            "stream_intervals": stream_intervals,
        }

    def _flow(self, streams: list[Row], begin_s: float) -> Row:
        """Return the flow's row from its connections' (none: rates are 0); rates count from `self.begin_s(begin_s)`."""
        if not streams:
            return flow_row(self, received_bytes=0, goodput_mbps=0.0, throughput_mbps=0.0)
        # All streams of a flow share one active time, so that their rates add up to the rate of the flow.
        active_s = max(s["last_s"] for s in streams) - self.begin_s(begin_s)
        retransmits = sum(s["retransmits"] or 0 for s in streams)
        segments_out = sum(s["segments_out"] or 0 for s in streams)
        return flow_row(
            self,
            sent_bytes=sum(s["sent_bytes"] or 0 for s in streams),
            received_bytes=sum(s["received_bytes"] for s in streams),
            completion_s=self.completion_s(streams),
            goodput_mbps=goodput_mbps(sum(s["received_bytes"] for s in streams), active_s),
            throughput_mbps=goodput_mbps(sum(s["throughput_bytes"] for s in streams), active_s),
            retransmits=retransmits,
            timeouts=sum(s["timeouts"] or 0 for s in streams),
            marks=sum(s["marks"] or 0 for s in streams),
            loss_rate=retransmits / segments_out if segments_out else math.nan,
            rtt_ms=mean([s["rtt_ms"] for s in streams]),
            rtt_min_ms=min((s["rtt_min_ms"] for s in streams if s["rtt_min_ms"] is not None), default=math.nan),
            rtt_max_ms=max((s["rtt_max_ms"] for s in streams if s["rtt_max_ms"] is not None), default=math.nan),
        )

    def _stream(self, own: StreamTotals, rtts_ms: list[float], begin_s: float) -> Row:
        """Return a connection's totals, its flow, rates from `self.begin_s(begin_s)` on, mean and largest RTT in ms."""
        active_s = own["last_s"] - self.begin_s(begin_s)
        return {
            **own,
            "flow": self.item["label"],
            "goodput_mbps": goodput_mbps(own["received_bytes"] or 0, active_s),
            "throughput_mbps": goodput_mbps(own["throughput_bytes"], active_s),
            "rtt_ms": sum(rtts_ms) / len(rtts_ms) if rtts_ms else own["rtt_ms"],
            "rtt_max_ms": max(rtts_ms) if rtts_ms else own["rtt_ms"],
        }

    def _stream_intervals(self) -> list[Row]:
        """Return a row for each sample of a connection, with its goodput in Mbit/s since the previous sample."""
        last_bytes: dict[int, int] = defaultdict(int)
        rows = []
        for sample in self.samples:
            received_bytes = sample["received_bytes"] or 0
            fresh_bytes = received_bytes - last_bytes[sample["stream"]]
            last_bytes[sample["stream"]] = received_bytes
            rows.append({**sample, "goodput_mbps": rate_mbps(fresh_bytes, self.plan["interval_s"])})
        return rows


class TcpMeasure(ConnectionsMeasure[TcpItem, TcpTotals]):
    """The conversion of the totals and samples of a flow of bulk data over TCP."""

    @property
    def connections(self) -> int:
        """The number of connections that the flow was given."""
        return self.item["streams"]

    def begin_s(self, shared_s: float) -> float:
        """Return the time in s from which rates count: `shared_s`, or of a flow with `num_bytes` the call of connect,
        so that one whose bytes arrive all at once has a rate.
        """
        if self.item["num_bytes"] is None:
            return shared_s
        return min(stream["connect_s"] for stream in self.totals["streams"])

    def completion_s(self, streams: list[Row]) -> float:
        """Return the time in s from the call of connect until the last of `num_bytes` arrived; NaN if it did not."""
        num_bytes = self.item["num_bytes"]
        if num_bytes is None or sum(s["received_bytes"] for s in streams) < num_bytes:
            return math.nan
        return float(max(s["last_s"] for s in streams) - self.begin_s(math.nan))


class RequestsMeasure(ConnectionsMeasure[RequestsItem, RequestsTotals]):
    """The conversion of the totals and samples of a flow of requests: data are the responses, which the server sends."""

    @property
    def connections(self) -> int:
        """The number of connections that the flow was given."""
        return self.item["connections"]

    def tables(self, begin_s: float) -> Tables:
        """Return rows by table as of any TCP flow, and one per request in "requests"; `begin_s` has no effect."""
        return {**super().tables(begin_s), "requests": self._requests()}

    def streams(self) -> list[StreamTotals]:
        """Return the totals of each connection; only responses that arrived whole count as received."""
        complete, size = self._complete_responses(), self.item["response_bytes"]
        return [
            cast("StreamTotals", {**own, "received_bytes": complete[own["stream"]] * size})
            for own in self.totals["streams"]
        ]

    def begin_s(self, shared_s: float) -> float:
        """Return the time in s of the run from which rates count: the first call of connect, whatever `shared_s` is."""
        del shared_s
        return min(stream["connect_s"] for stream in self.totals["streams"])

    def completion_s(self, streams: list[Row]) -> float:
        """Return the time in s from the call of connect until the last of `count` responses arrived; NaN if it did not."""
        arrived = sum(row["end_s"] is not None for row in self.totals["responses"])
        if self.item["count"] is None or arrived < self.item["count"]:
            return math.nan
        return float(max(s["last_s"] for s in streams) - self.begin_s(math.nan))

    def _requests(self) -> list[Row]:
        """Return a row (flow, request, connection, start_s, completion_s or NaN, response_bytes, retransmits, timeouts)
        per request, by number; its losses are the server's connection's until its next request, or the end.
        """
        following: dict[int, Row] = {end["stream"]: cast("Row", end) for end in self.totals["ends"]}
        rows = []
        for response in reversed(self.totals["responses"]):
            stream, end_s = response["stream"], response["end_s"]
            after = following[stream]
            rows.append(
                {
                    "flow": self.item["label"],
                    "request": response["number"],
                    "connection": stream,
                    "start_s": response["start_s"],
                    "completion_s": math.nan if end_s is None else round(end_s - response["start_s"], 9),
                    "response_bytes": self._partial_bytes(stream) if end_s is None else self.item["response_bytes"],
                    "retransmits": after["retransmits"] - response["retransmits"],
                    "timeouts": after["timeouts"] - response["timeouts"],
                }
            )
            following[stream] = cast("Row", response)
        return rows[::-1]

    def _complete_responses(self) -> Counter[int]:
        """Return the number of responses that arrived whole, by connection."""
        return Counter(row["stream"] for row in self.totals["responses"] if row["end_s"] is not None)

    def _partial_bytes(self, stream: int) -> int:
        """Return how many bytes of the last response of connection `stream`, which is not complete, have arrived."""
        (arrived,) = (end["received_bytes"] for end in self.totals["ends"] if end["stream"] == stream)
        return arrived - self._complete_responses()[stream] * self.item["response_bytes"]


def _flow_intervals(rows: list[Row]) -> list[Row]:
    """Return the rows of a flow's intervals from those of its connections: sums of rates, windows and retransmissions,
    mean RTTs, and the state of the connection if it is the only one.
    """
    groups: dict[float, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["t_s"]].append(row)
    # The count of a flow includes retransmissions of connections that have ended.
    retransmits: dict[int, float | None] = {}
    found = []
    for t_s, group in groups.items():
        sums = {
            name: total([row[name] for row in group])
            for name in ("goodput_mbps", "cwnd_segments", "ssthresh_segments", "delivery_rate_mbps")
        }
        retransmits.update((row["stream"], row["retransmits"]) for row in group)
        found.append(
            {
                "flow": group[0]["flow"],
                "t_s": t_s,
                **sums,
                "retransmits": total(list(retransmits.values())),
                "rtt_ms": mean([row["rtt_ms"] for row in group]),
                # Several connections may be in different states.
                "ca_state": group[0].get("ca_state") if len(group) == 1 else None,
            }
        )
    return found
