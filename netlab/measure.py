"""From the agent's counters to the rates, ratios and series of a `Run`."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from typing import Any

from netlab import results
from netlab.plan import Counters, Plan
from netlab.results import Run
from netlab.units import rate_mbps

Row = Any


def to_run(raw: Counters, plan: Plan, settings: dict[str, Any]) -> Run:
    """Turn what the agent counted into a `Run`.

    Parameters
    ----------
    raw : Counters
        The agent's.
    plan : Plan
        What it was asked for.
    settings : dict
        To be kept with the run.
    """
    items: dict[str, Row] = {item["label"]: item for item in plan["traffic"]}
    counted: dict[str, Row] = {row["flow"]: row for row in raw["flows"]}
    stream_intervals = _stream_intervals(raw["streams"], plan)
    intervals = _tcp_intervals(stream_intervals) + _udp_intervals(raw["datagrams"], items, plan)
    order = {label: number for number, label in enumerate(items)}
    intervals.sort(key=lambda row: (order[row["flow"]], row["t_s"]))
    rtts_ms: dict[tuple[str, int], list[float]] = defaultdict(list)
    for sample in stream_intervals:
        if sample["rtt_ms"] is not None:
            rtts_ms[sample["flow"], sample["stream"]].append(sample["rtt_ms"])
    streams = [
        _stream(row, own, rtts_ms[row["flow"], own["stream"]])
        for row in counted.values()
        for own in row.get("streams", [])
    ]
    flows = [
        _flow(item, counted[label], [s for s in streams if s["flow"] == label], plan)
        for label, item in items.items()
        if item["kind"] != "command"
    ]
    tables = {
        "flows": flows,
        "intervals": intervals,
        "streams": streams,
        "stream_intervals": stream_intervals,
        "queues": raw["queues"],
        "pings": [{"flow": label, **echo} for label, row in counted.items() for echo in row.get("echoes", [])],
        "commands": [
            {**counted[label], "host": item["host"], "command": item["command"]}
            for label, item in items.items()
            if item["kind"] == "command"
        ],
    }
    frames = {name: results.frame(rows, results.TABLES[name]) for name, rows in tables.items()}
    return Run(**frames, settings=settings)


def _end_s(item: Row, plan: Row) -> float:
    own_s = item.get("duration_s")
    return float(plan["duration_s"] if own_s is None else min(plan["duration_s"], item["start_s"] + own_s))


def _stream(counted: Row, own: Row, rtts: list[float]) -> Row:
    # From the first byte's arrival to the flow's end (or to its last byte, where a number of bytes was asked for).
    active_s = own["last_s"] - own["first_s"]
    return {
        **own,
        "flow": counted["flow"],
        "goodput_mbps": rate_mbps(own["received_bytes"], active_s),
        "throughput_mbps": rate_mbps(own["throughput_bytes"], active_s),
        "rtt_ms": sum(rtts) / len(rtts) if rtts else own["rtt_ms"],
        "rtt_max_ms": max(rtts) if rtts else own["rtt_ms"],
    }


def _flow(item: Row, counted: Row, streams: list[Row], plan: Row) -> Row:
    row = {
        "flow": item["label"],
        "kind": item["kind"],
        "src": item["src"],
        "dst": item["dst"],
        "start_s": item["start_s"],
        "duration_s": _end_s(item, plan) - item["start_s"],
        "error": counted.get("error"),
    }
    if item["kind"] == "tcp":
        return row | _tcp_totals(item, streams)
    if item["kind"] == "udp":
        return row | _udp_totals(row, counted)
    rtts = [echo["rtt_ms"] for echo in counted["echoes"] if echo["rtt_ms"] is not None]
    requests = len(counted["echoes"])
    return row | {
        "sent_datagrams": requests,
        "received_datagrams": len(rtts),
        "loss_rate": 1 - len(rtts) / requests if requests else math.nan,
        "rtt_ms": sum(rtts) / len(rtts) if rtts else math.nan,
        "rtt_min_ms": min(rtts, default=math.nan),
        "rtt_max_ms": max(rtts, default=math.nan),
        "jitter_ms": sum(abs(b - a) for a, b in itertools.pairwise(rtts)) / (len(rtts) - 1)
        if len(rtts) > 1
        else math.nan,
    }


def _tcp_totals(item: Row, streams: list[Row]) -> Row:
    row: Row = {"congestion": item["congestion"], "streams": item["streams"]}
    if not streams:
        return row | {"received_bytes": 0, "goodput_mbps": 0.0, "throughput_mbps": 0.0}
    # One time for all streams of a flow, so that their sum is the flow's.
    active_s = max(s["last_s"] for s in streams) - min(s["first_s"] for s in streams)
    retransmits = sum(s["retransmits"] or 0 for s in streams)
    segments_out = sum(s["segments_out"] or 0 for s in streams)
    return row | {
        "sent_bytes": sum(s["sent_bytes"] or 0 for s in streams),
        "received_bytes": sum(s["received_bytes"] for s in streams),
        "goodput_mbps": rate_mbps(sum(s["received_bytes"] for s in streams), active_s),
        "throughput_mbps": rate_mbps(sum(s["throughput_bytes"] for s in streams), active_s),
        "retransmits": retransmits,
        "timeouts": sum(s["timeouts"] or 0 for s in streams),
        "marks": sum(s["marks"] or 0 for s in streams),
        "loss_rate": retransmits / segments_out if segments_out else math.nan,
        "rtt_ms": _mean([s["rtt_ms"] for s in streams]),
        "rtt_min_ms": min((s["rtt_min_ms"] for s in streams if s["rtt_min_ms"] is not None), default=math.nan),
        "rtt_max_ms": max((s["rtt_max_ms"] for s in streams if s["rtt_max_ms"] is not None), default=math.nan),
    }


def _udp_totals(row: Row, counted: Row) -> Row:
    if "sent_bytes" not in counted:
        return {}
    received, sent = counted["received_datagrams"], counted["sent_datagrams"]
    # What a queue delivers after the sender has stopped lengthens the time instead of raising the rate; then the time is
    # that of N service intervals, not of the N - 1 between first and last arrival.
    active_s = row["duration_s"]
    if received > 1 and counted["last_s"] - counted["first_s"] > active_s:
        active_s = (counted["last_s"] - counted["first_s"]) * received / (received - 1)
    return {
        "sent_bytes": counted["sent_bytes"],
        "received_bytes": counted["received_bytes"],
        "goodput_mbps": rate_mbps(counted["received_bytes"], active_s),
        "throughput_mbps": rate_mbps(counted["throughput_bytes"], active_s),
        "loss_rate": 1 - received / sent if sent else math.nan,
        "jitter_ms": counted["jitter_ms"] if received else math.nan,
        "delay_ms": counted["delay_mean_ms"] if received else math.nan,
        "sent_datagrams": sent,
        "received_datagrams": received,
        "duplicates": counted["duplicates"],
        "reordered": counted["reordered"],
    }


def _stream_intervals(samples: list[Row], plan: Row) -> list[Row]:
    before: dict[tuple[str, int], int] = defaultdict(int)
    rows = []
    for sample in samples:
        key = (sample["flow"], sample["stream"])
        fresh_bytes = sample["received_bytes"] - before[key]
        before[key] = sample["received_bytes"]
        rows.append(
            {
                "flow": sample["flow"],
                "stream": sample["stream"],
                "t_s": sample["t_s"],
                "goodput_mbps": rate_mbps(fresh_bytes, plan["interval_s"]),
                "cwnd_segments": sample["cwnd_segments"],
                "ssthresh_segments": sample["ssthresh_segments"],
                "rtt_ms": sample["rtt_ms"],
                "retransmits": sample["retransmits"],
                "delivery_rate_mbps": sample["delivery_rate_mbps"],
            }
        )
    return rows


def _tcp_intervals(rows: list[Row]) -> list[Row]:
    groups: dict[tuple[str, float], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["flow"], row["t_s"]].append(row)
    # What a stream had sent again when it ended stays in its flow's count.
    retransmits: dict[str, dict[int, float | None]] = defaultdict(dict)
    found = []
    for (flow, t_s), group in groups.items():
        total = {
            name: _sum([row[name] for row in group])
            for name in ("goodput_mbps", "cwnd_segments", "ssthresh_segments", "delivery_rate_mbps")
        }
        retransmits[flow].update((row["stream"], row["retransmits"]) for row in group)
        found.append(
            {
                "flow": flow,
                "t_s": t_s,
                **total,
                "retransmits": _sum(list(retransmits[flow].values())),
                "rtt_ms": _mean([row["rtt_ms"] for row in group]),
            }
        )
    return found


def _udp_intervals(datagrams: list[Row], items: dict[str, Row], plan: Row) -> list[Row]:
    arrived = {(row["flow"], row["interval"]): row for row in datagrams}
    step_s = plan["interval_s"]
    found = []
    for label, item in items.items():
        if item["kind"] != "udp":
            continue
        interval_bits = item["payload_bytes"] * 8
        for number in range(max(1, round(plan["duration_s"] / step_s))):
            begin_s, end_s = number * step_s, (number + 1) * step_s
            overlap_s = min(end_s, _end_s(item, plan)) - max(begin_s, item["start_s"])
            row = arrived.get((label, number))
            if overlap_s <= 0 and row is None:
                continue
            received = row["datagrams"] if row else 0
            due = item["rate_mbps"] * 1e6 * overlap_s / interval_bits
            found.append(
                {
                    "flow": label,
                    "t_s": round(end_s, 9),
                    "goodput_mbps": rate_mbps(row["bytes"] if row else 0, step_s),
                    "loss_rate": max(0.0, 1 - received / due) if due >= 1 else None,
                }
            )
    return found


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
