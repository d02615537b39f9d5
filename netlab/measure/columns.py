"""The columns of `run.flows`: the one table of which the data frame, its rows and its help are made."""

import math
import textwrap
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from netlab.measure.base import Measure, Row

ALL = ("tcp", "udp", "requests", "ping", "program")


class Column(NamedTuple):
    """A column of the table `flows`, with its meaning in a sentence."""

    name: str
    meaning: str
    kinds: tuple[str, ...] = ALL
    """The kinds of traffic that fill it; it is NaN or None for all others."""
    value: Callable[[Any, Row], object] | None = None
    """Return the value from an item's `Measure`, its totals and its module's numbers (NaN for others); None if one of them has it."""


FLOWS = (
    Column("flow", "The label of the flow."),
    Column("kind", "The kind of traffic.", value=lambda flow, _row: flow.item["kind"]),
    Column("src", "The sending host; of requests the client.", value=lambda flow, _row: flow.item["src"]),
    Column("dst", "The receiving host; of requests the server.", value=lambda flow, _row: flow.item["dst"]),
    Column("congestion", "The congestion control.", ("tcp", "requests"), lambda flow, _row: flow.item["congestion"]),
    Column("streams", "The number of parallel connections.", ("tcp", "requests"), lambda flow, _row: flow.connections),
    Column("start_s", "The start in s after the start of the run.", value=lambda flow, _row: flow.item["start_s"]),
    Column(
        "duration_s",
        "The length in s that the flow was given, or that the run left to it.",
        value=lambda flow, _row: flow.end_s - flow.item["start_s"],
    ),
    Column(
        "completion_s",
        "The time in s from the call of connect to the arrival of the last of `num_bytes`, or of `count` responses; NaN if they "
        "did not all arrive.",
        ("tcp", "requests", "program"),
    ),
    Column(
        "sent_bytes",
        "Application bytes sent; TCP's include those that were sent again.",
        ("tcp", "udp", "requests", "program"),
    ),
    Column(
        "received_bytes",
        "Application bytes delivered once; of requests those of whole responses.",
        ("tcp", "udp", "requests", "program"),
    ),
    Column(
        "goodput_mbps",
        "Application data delivered once, over a time that begins when the first data of any flow with the same `start_s` arrives "
        "(for UDP its own first data; for TCP with `num_bytes` and for requests the call of connect) and ends with the flow, so "
        "that the rates of flows with the same start and end can be added.",
        ("tcp", "udp", "requests", "program"),
    ),
    Column(
        "throughput_mbps",
        "The same with IP and transport headers, retransmissions and duplicates.",
        ("tcp", "udp", "requests"),
    ),
    Column(
        "loss_rate",
        "A fraction: for UDP 1 - (received + receiver_drops) / sent, for TCP segments sent again / segments sent, for a ping "
        "1 - replies / requests.",
        ("tcp", "udp", "requests", "ping"),
    ),
    Column("retransmits", "Segments sent again.", ("tcp", "requests")),
    Column("timeouts", "Expiries of the retransmission timer.", ("tcp", "requests")),
    Column("marks", "Segments that came with an ECN mark, as the receiver reported them.", ("tcp", "requests")),
    Column(
        "rtt_ms",
        "The mean round-trip time; for TCP the mean of its smoothed value over the flow's intervals.",
        ("tcp", "requests", "ping"),
    ),
    Column("rtt_min_ms", "The smallest round-trip time.", ("tcp", "requests", "ping")),
    Column("rtt_max_ms", "The largest round-trip time.", ("tcp", "requests", "ping")),
    Column(
        "jitter_ms",
        "For UDP the jitter of RFC 3550; for a ping the mean difference between successive round trips.",
        ("udp", "ping"),
    ),
    Column("delay_ms", "The mean one-way delay of the datagrams received.", ("udp", "program")),
    Column("delay_min_ms", "The smallest one-way delay.", ("udp", "program")),
    Column("delay_max_ms", "The largest one-way delay.", ("udp", "program")),
    Column("sent_datagrams", "Datagrams or echo requests sent.", ("udp", "ping", "program")),
    Column(
        "received_datagrams", "Datagrams received, without duplicates; replies of a ping.", ("udp", "ping", "program")
    ),
    Column("duplicates", "Datagrams, or pieces of data, received once more.", ("udp", "program")),
    Column("reordered", "Datagrams that arrived after a later one.", ("udp",)),
    Column("receiver_drops", "Datagrams that crossed the network and found the receiver's socket full.", ("udp",)),
    Column("error", "The reason why a flow failed; None if it did not."),
)


def flow_row(flow: Measure[Any, Any], **numbers: object) -> Row:
    """Return the row of a flow in `flows`: `numbers`, which its module computed, the totals that columns of its kind name, and the
    columns with a `value`. A kind that no column names has those that all kinds fill.
    """
    kind = flow.item["kind"]
    columns = [each for each in FLOWS if kind in each.kinds or each.kinds is ALL]
    totals = {each.name: flow.totals[each.name] for each in columns if each.name in flow.totals}
    known: Row = defaultdict(lambda: math.nan, {**totals, **numbers})
    values = {each.name: each.value(flow, known) for each in columns if each.value}
    return {**totals, **values, **numbers}


def help_text(columns: tuple[Column, ...], indent: str) -> str:
    """Return a list for a docstring with a line for each column, after `indent` spaces given as text: its name, its
    meaning, and the kinds of traffic that fill it if not all do.
    """
    lines = []
    for column in columns:
        kinds = "" if column.kinds == ALL else f" ({', '.join(column.kinds)})"
        lines.append(
            textwrap.fill(
                f"- `{column.name}`{kinds}: {column.meaning}",
                120,
                initial_indent=indent,
                subsequent_indent=f"{indent}  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return "\n".join(lines)
