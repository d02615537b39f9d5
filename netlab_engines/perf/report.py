"""Combine the counters of both sides to a report, and format reports as text."""

import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netlab.base.tables import text_table
from netlab.base.units import BITS_PER_MEGABIT, rate_mbps
from netlab_engines.perf.protocol import TestRequest

Record = dict[str, Any]

FORMATS = {"B": 1, "KB": 1_000, "MB": 1_000_000}
"""The number of bytes in each unit of --format and --num; units are decimal, as for rates."""

COLUMNS_PER_LINE = 8
MIN_SENT_SHARE = 0.95
"""The fraction of the offered rate below which a sender was too slow."""
FAR_BEYOND_SHARE = 0.5
"""The fraction of the offered rate below which the user probably gave the rate in another unit."""
_SUMMED_FIELDS = (
    "sent_bytes", "received_bytes", "retransmits", "datagrams", "received_datagrams", "lost", "reordered", "duplicates", "buffer_drops",
)  # fmt: skip
_OVER_STREAMS = (
    "rtt_min_ms", "rtt_max_ms", "delay_min_ms", "delay_max_ms", "rtt_mean_ms", "delay_mean_ms", "jitter_ms",
)  # fmt: skip
_OF_A_STREAM = {
    ("tcp", "up"): [("retransmits", "retransmits"), ("cwnd_segments", "cwnd (segm.)"), ("rtt_ms", "RTT (ms)")],
    ("tcp", "down"): [],
    ("udp", "up"): [("datagrams", "datagrams")],
    ("udp", "down"): [("datagrams", "datagrams"), ("lost", "lost"), ("jitter_ms", "jitter (ms)")],
}
"""Further columns of a test with one stream: names in the client's samples and titles, by protocol and direction."""


def describe(request: TestRequest) -> str:
    """Return one line of text about a test: protocol, number of streams, direction, its time or number of bytes, and
    for UDP the size of datagrams and the rate.
    """
    way = {"up": "client to server", "down": "server to client", "both": "both ways"}[request.direction]
    length = f"{request.duration_s:g} s" if request.duration_s is not None else f"{request.num_bytes} bytes each"
    rate = ""
    if request.protocol == "udp":
        speed = f"{request.rate_bps / BITS_PER_MEGABIT:.10g} Mbit/s each" if request.rate_bps else "as fast as possible"
        rate = f", {request.payload_bytes}-byte datagrams, {speed}"
    count = f"{request.parallel} stream{'s' if request.parallel > 1 else ''}"
    return f"{request.protocol.upper()}, {count}, {way}, {length}{rate}"


def combine(
    request: TestRequest, client: Mapping[int, Record], server: Mapping[int, Record], *, same_clock: bool = True
) -> tuple[Record, list[Record]]:
    """Return the record (a dict) of all streams together and a list with a record for each stream, from the counters of
    the client's and the server's ends by the stream's index (from 0). A record has the counters of both ends, "stream"
    (from 1), "direction", "error", "goodput_mbps" and, for UDP, "lost", "loss_rate", "offered_mbps" and "sent_mbps";
    the sum has no "stream", "direction" and "error". One-way delays of a stream become None unless `same_clock`, that
    is, both sides are on the same machine.

    Goodput is the receiver's data over the receiver's own time. The loss rate is ``1 - received / sent``, which
    includes losses after the last datagram that arrived.

    Returns
    -------
    tuple of dict and list of dict
        The sum over all streams, and a record for each stream, numbered from 1.
    """
    streams = []
    for index in range(request.streams):
        up = request.client_sends(index)
        sender, receiver = (client, server) if up else (server, client)
        record: Record = {"stream": index + 1, "direction": "client→server" if up else "server→client"}
        errors = [part.get(index, {}).get("error") for part in (sender, receiver)]
        for part in (sender, receiver):
            record.update({name: value for name, value in part.get(index, {}).items() if name != "error"})
        record["error"] = "; ".join(error for error in errors if error) or None
        record.setdefault("sent_bytes", 0)
        record.setdefault("received_bytes", 0)
        record.setdefault("seconds", 0.0)
        record["goodput_mbps"] = _mbps(record["received_bytes"], record["seconds"])
        if request.protocol == "udp":
            _add_loss(record)
            record["offered_mbps"] = request.rate_bps / BITS_PER_MEGABIT if request.rate_bps else None
            record["sent_mbps"] = _sent_mbps(request, record)
            if not same_clock:
                for name in ("delay_min_ms", "delay_mean_ms", "delay_max_ms"):
                    record[name] = None
        streams.append(record)
    return _sum(request, streams), streams


def _sum(request: TestRequest, streams: Sequence[Record]) -> Record:
    """Return the record of all streams together: sums of counts, the longest time ("seconds"), the smallest of minima,
    the largest of maxima, the means of means and of the jitter, and the rates in Mbit/s and the loss rate that follow;
    values that no stream has are left out.
    """
    total: Record = {
        name: sum(s.get(name) or 0 for s in streams) for name in _SUMMED_FIELDS if any(name in s for s in streams)
    }
    total["seconds"] = max((s["seconds"] for s in streams), default=0.0)
    total["goodput_mbps"] = _mbps(total["received_bytes"], total["seconds"])
    for name in _OVER_STREAMS:
        values = [s[name] for s in streams if s.get(name) is not None]
        if values:
            total[name] = (
                min(values) if "_min_" in name else max(values) if "_max_" in name else sum(values) / len(values)
            )
    if request.protocol == "udp":
        _add_loss(total)
        for name in ("offered_mbps", "sent_mbps"):
            values = [s[name] for s in streams if s[name] is not None]
            total[name] = sum(values) if values else None
    return total


def _sent_mbps(request: TestRequest, record: Record) -> float | None:
    """Return the rate of payload in Mbit/s at which the stream of `record` sent, over the planned time of the test or,
    if that was longer, over the time that sending took; None if no time is known.
    """
    return _mbps(record["sent_bytes"], max(record.get("sending_seconds") or 0.0, request.duration_s or 0.0))


def _add_loss(record: Record) -> None:
    """Add "lost", the number of lost datagrams, and "loss_rate" (0 to 1; None if none was sent) to a record, from its
    "datagrams" and "received_datagrams", which become 0 if they are missing.
    """
    sent = record.setdefault("datagrams", 0)
    received = record.setdefault("received_datagrams", 0)
    record["lost"] = sent - received
    record["loss_rate"] = (sent - received) / sent if sent else None


def _mbps(volume_bytes: int, seconds: float) -> float | None:
    """Return the rate in Mbit/s of `volume_bytes` bytes in `seconds` s; None if the time is 0."""
    return rate_mbps(volume_bytes, seconds) if seconds > 0 else None


class IntervalTable:
    """The table that a client prints during a test: a row for each interval, with a column for each stream and one for
    the sum.

    With more than eight streams a row has several lines, with eight streams per line.
    """

    def __init__(self, request: TestRequest, unit: str) -> None:
        """Prepare the table of the test `request`, which shows volumes in `unit`, "B", "KB" or "MB"; nothing is
        printed.
        """
        self._request = request
        self._unit = unit
        self._labels = [
            f"{index + 1}{'' if request.direction != 'both' else '↑' if request.client_sends(index) else '↓'}"
            for index in range(request.streams)
        ]

    def header(self) -> list[str]:
        """Return the lines above the first row of the table: for one stream the titles of its columns, for several what
        the numbers mean and the labels of the streams, in several lines if there are many.
        """
        request = self._request
        if request.streams == 1:
            return [f"{'interval (s)':>17}" + "".join(f"{title:>17}" for _, title in self._columns())]
        lines = [
            f"{self._meaning()} of each stream"
            + (", ↑ sent by the client, ↓ by the server" if request.direction == "both" else "")
        ]
        for line, labels in enumerate(_chunks(self._labels)):
            head = f"{'interval (s)':>17}" if line == 0 else " " * 17
            tail = f"{'sum':>11}" if line == 0 else ""
            lines.append(head + tail + (" " * (11 - len(tail))) + " |" + "".join(f"{label:>9}" for label in labels))
        return lines

    def rows(self, samples: Sequence[Record]) -> list[str]:
        """Return the lines of the table for one interval, from the samples of its streams (at least one; a stream
        without a sample is shown as "-"); a star marks an interval that does not count.
        """
        by_stream = {sample["stream"]: sample for sample in samples}
        first = samples[0]
        span = f"{first['t_s'] - first['seconds']:.2f}-{first['t_s']:.2f}"
        head = f"{span + ('*' if first['omitted'] else ' '):>17}"
        if self._request.streams == 1:
            return [head + "".join(f"{_cell_text(first, key, self._unit):>17}" for key, _ in self._columns())]
        total = f"{number(sum(sample['goodput_mbps'] for sample in samples)):>11}"
        values = [
            number(by_stream[i + 1]["goodput_mbps"]) if i + 1 in by_stream else "-" for i in range(len(self._labels))
        ]
        return [
            (head if line == 0 else " " * 17)
            + (total if line == 0 else " " * 11)
            + " |"
            + "".join(f"{v:>9}" for v in chunk)
            for line, chunk in enumerate(_chunks(values))
        ]

    def _columns(self) -> list[tuple[str, str]]:
        """Return the columns of the table of a test with one stream, from left to right, as pairs of the name in
        samples and the title: "bytes", "goodput_mbps", and those that _OF_A_STREAM has for the protocol and the
        direction.
        """
        own = _OF_A_STREAM[self._request.protocol, self._request.direction]
        return [("bytes", f"moved ({self._unit})"), ("goodput_mbps", self._meaning()), *own]

    def _meaning(self) -> str:
        """Return the title of the rate that the client measures: "acked (Mbit/s)" if it sends over TCP, "sent (Mbit/s)"
        over UDP, "got (Mbit/s)" if it receives, "Mbit/s" if it does both.
        """
        request = self._request
        if request.direction == "up":
            return "acked (Mbit/s)" if request.protocol == "tcp" else "sent (Mbit/s)"
        return "Mbit/s" if request.direction == "both" else "got (Mbit/s)"


def summary(request: TestRequest, total: Record, streams: Sequence[Record], unit: str) -> list[str]:
    """Return the lines of the final table of a test (without a sum for a single stream), and sentences about problems
    after it: full buffers, slow senders and streams that ended early. `streams` has the record of each stream, `total`
    the one of all together; volumes are in `unit`, "B", "KB" or "MB".

    The table has a row or a column per stream, whichever fits the terminal better.
    """
    columns: list[tuple[str, str]] = [
        ("sent_bytes", f"sent ({unit})"),
        ("received_bytes", f"received ({unit})"),
        ("seconds", "time (s)"),
        ("goodput_mbps", "goodput (Mbit/s)"),
    ]
    if request.protocol == "tcp":
        columns += [("retransmits", "retransmits"), ("rtt", "RTT min/mean/max (ms)"), ("cwnd_segments", "cwnd (segm.)")]
    else:
        columns += [
            *([("offered_mbps", "offered (Mbit/s)")] if request.rate_bps else []),
            ("sent_mbps", "sent (Mbit/s)"),
            ("datagrams", "sent dgrams"),
            ("received_datagrams", "received dgrams"),
            ("lost", "lost dgrams"),
            ("loss_rate", "loss rate"),
            ("reordered", "reordered"),
            ("duplicates", "duplicated"),
            ("jitter_ms", "jitter (ms)"),
            ("delay", "delay min/mean/max (ms)"),
        ]
    table = [["stream", *(title for _, title in columns)]]
    for record in [*streams, total] if len(streams) > 1 else streams:
        name = f"{record['stream']} {record['direction']}" if "stream" in record else "sum"
        table.append([name, *(_cell_text(record, key, unit) for key, _ in columns)])
    by_stream, by_number = (
        text_table(cells[0], cells[1:]).split("\n") for cells in (table, list(zip(*table, strict=True)))
    )
    lines = min(by_stream, by_number, key=lambda way: max(0, len(way[1]) - shutil.get_terminal_size().columns))
    drops = total.get("buffer_drops")
    if drops:
        what = "trains of the lost datagrams" if request.batch else "of the lost datagrams"
        lines.append(
            f"{drops} {what} reached the receiver's socket when its buffer was full: the receiving computer lost "
            f"them, not the network."
        )
    lines += _slower_than_offered(request, streams)
    lines += [f"Stream {s['stream']} ended early: {s['error']}." for s in streams if s.get("error")]
    return lines


def _slower_than_offered(request: TestRequest, streams: Sequence[Record]) -> list[str]:
    """Return a sentence, in a list, if a sender had less than MIN_SENT_SHARE of the requested rate, and a second one
    about iperf3's unit of rates if it had less than FAR_BEYOND_SHARE; [] if none had, or the test has no requested
    rate.
    """
    sent_mbps = [s["sent_mbps"] or 0.0 for s in streams if s.get("offered_mbps")]
    offered_mbps = (request.rate_bps or 0) / BITS_PER_MEGABIT
    if not sent_mbps or min(sent_mbps) >= MIN_SENT_SHARE * offered_mbps:
        return []
    each = " for each stream" if len(sent_mbps) > 1 else ""
    batch = "" if request.batch else "; --batch sends many datagrams per system call"
    sent = f"{number(min(sent_mbps))} Mbit/s{' or more' if each else ''}"
    slower = f"The sending computer or its link cannot send faster{batch}."
    lines = [f"Offered: {offered_mbps:.10g} Mbit/s{each}; sent: {sent}. {slower}"]
    if min(sent_mbps) < FAR_BEYOND_SHARE * offered_mbps:
        lines.append(
            f"-b is in Mbit/s here. iperf3 reads -b {offered_mbps:.10g} as {offered_mbps:.10g} bit/s"
            f"{_in_larger_unit(offered_mbps)}: that is -b {offered_mbps / BITS_PER_MEGABIT:g} here."
        )
    return lines


def _in_larger_unit(bps: float) -> str:
    """Return a clause with the rate `bps`, in bit/s, converted to kbit/s or Mbit/s, for the end of a sentence; "" below
    1 kbit/s.

    >>> _in_larger_unit(20_000), _in_larger_unit(10**6), _in_larger_unit(500)
    (', which is 20 kbit/s', ', which is 1 Mbit/s', '')
    """
    if bps >= BITS_PER_MEGABIT:
        return f", which is {bps / BITS_PER_MEGABIT:g} Mbit/s"
    return f", which is {bps / 1000:g} kbit/s" if bps >= 1000 else ""


def amount(volume_bytes: float, unit: str) -> str:
    """Return the number `volume_bytes` of bytes as text in `unit`, "B", "KB" or "MB", without the unit's name; in B it
    is a whole number.
    """
    return f"{int(volume_bytes)}" if unit == "B" else number(volume_bytes / FORMATS[unit])


def number(value: float | None) -> str:
    """Return a number as text with about four digits (whole numbers with all); "-" for None, NaN and infinity.

    >>> number(4.78234), number(95.641), number(1234.5), number(17), number(None)
    ('4.782', '95.64', '1234', '17', '-')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, int) or value == 0:
        return str(int(value))
    digits = max(0, min(6, 3 - math.floor(math.log10(abs(value)))))
    return f"{value:.{digits}f}"


def _cell_text(record: Record, key: str, unit: str) -> str:
    """Return the text of a table's cell: the record's value under `key`, a volume in `unit` ("B", "KB" or "MB") if the
    name ends in bytes, "-" for a missing value that is not a volume. For "rtt" and "delay" it has minimum, mean and
    maximum in ms, with slashes between.
    """
    if key.endswith("bytes"):
        return amount(record[key], unit)
    if key in ("rtt", "delay"):
        return "/".join(number(record.get(f"{key}_{part}_ms")) for part in ("min", "mean", "max"))
    return number(record.get(key))


def _chunks(values: Sequence[str]) -> Iterable[Sequence[str]]:
    """Return the values in groups of COLUMNS_PER_LINE in their order; the last group may be shorter."""
    return (values[i : i + COLUMNS_PER_LINE] for i in range(0, len(values), COLUMNS_PER_LINE))
