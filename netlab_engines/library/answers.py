"""Convert the output of the library kernel's program to the counters that the agent would return."""

import math
import os
import struct
from collections.abc import Iterable, Mapping
from typing import Any, cast

from netlab.base.errors import RunError
from netlab.base.units import NS_PER_MS, NS_PER_S, US_PER_MS, rate_mbps
from netlab.plan import Plan
from netlab.traffic.udp import UdpTotals
from netlab_engines.agent.artifacts import MAX_BYTES
from netlab_engines.ip_bytes import tcp_ip_bytes, udp_ip_bytes
from netlab_engines.kernels.builds import REBUILD_HINT
from netlab_engines.library import wire_format
from netlab_engines.library.kernel_program import QuestionHandler
from netlab_engines.library.program_pair import ProgramPair
from netlab_engines.library.wire_format import Answer
from netlab_engines.sockets import tcp_info

NO_VALUE = 2**64 - 1
ETIMEDOUT = 110

Row = dict[str, Any]

COUNTER_FIELDS = ("backlog_bytes", "backlog_packets", "drops", "marks", "sent_packets", "sent_bytes")
"""The counters of a queue, in the order of protocol.h."""
_HEAD = struct.Struct("<II")
_BLOCK = struct.Struct("=II")
_TIME = struct.Struct("<QQ")
OTHER_VERSION = f"The library kernel was built by another version of netlab. {REBUILD_HINT}"


class Answers:
    """The answers of the library kernel's program to one lab, collected frame by frame, and their conversion to
    counters.

    Parameters
    ----------
    plan : Plan
        The plan; traffic that is started later is added to it.
    queues : list of str
        The interfaces of the queues, by their numbers in samples.
    own : mapping, optional
        The handlers of the kernel's questions to the user's own Python, by port.

    Attributes
    ----------
    failure : str or None
        The program's error, if it failed.
    outputs : dict of str to str
        The output of commands by their labels.
    packets : dict of int to bytearray
        The captured packets by the number of the tap, in the format of `netlab.captures.read_ring`.
    """

    def __init__(self, plan: Plan, queues: list[str], own: Mapping[int, QuestionHandler] | None = None) -> None:
        """Start without answers for a lab of `plan`. `queues` are the names of the interfaces whose queues are sampled,
        by their numbers (from 0) in samples; `own` has the handlers of the kernel's questions to the user's own Python
        by the connection's port (None: none).
        """
        self._plan = plan
        self._own = {} if own is None else own
        self._items = cast("list[Row]", plan["traffic"])
        self._queue_names = queues
        self._streams: list[Row] = []
        self._queues: list[Row] = []
        self._tcp: dict[int, list[bytes]] = {}
        self._udp: dict[int, Any] = {}
        self._datagrams: list[Row] = []
        self._echoes: dict[int, list[Row]] = {}
        self._responses: dict[int, list[Row]] = {}
        self._errors: dict[int, list[str]] = {}
        self._captured_bytes = 0
        self.packets: dict[int, bytearray] = {}
        self.outputs: dict[str, str] = {}
        self.failure: str | None = None
        self.progress_s = 0.0
        self.now_ns = 0
        self.origin_ns = 0

    def forget_totals(self) -> None:
        """Discard the totals, the errors and the rows of datagrams that have arrived, for all flows, because the
        program will send new ones; the samples of connections and queues, the packets and the outputs stay.
        """
        for totals in (self._tcp, self._udp, self._echoes, self._responses, self._errors):
            totals.clear()
        self._datagrams.clear()

    def take(self, kind: int, data: bytes) -> None:
        """Process one answer of the program: its number `kind` (of `enum answer` in protocol.h) and its bytes `data`
        after the header. Samples, totals and packets are kept in this object; a failure, or another version of the wire
        format, sets `failure`; unknown kinds are ignored. Raises RunError if the captures become too large.
        """
        if kind == Answer.STREAMS:
            self._take_streams(data)
        elif kind == Answer.QUEUES:
            self._take_queues(data)
        elif kind == Answer.PROGRESS:
            self.progress_s = self._t_s(int.from_bytes(data[:8], "little"))
        elif kind == Answer.TCP:
            item, _stream = _HEAD.unpack_from(data)
            self._tcp.setdefault(item, []).append(data)
        elif kind == Answer.UDP:
            self._take_udp(data)
        elif kind == Answer.ECHOES:
            item, _zero = _HEAD.unpack_from(data)
            self._echoes[item] = [
                {"seq": number, "t_s": sent_ns / NS_PER_S, "rtt_ms": None if rtt_ns == NO_VALUE else rtt_ns / NS_PER_MS}
                for number, sent_ns, rtt_ns in wire_format.ECHO.struct.iter_unpack(data[_HEAD.size :])
            ]
        elif kind == Answer.RESPONSES:
            self._take_responses(data)
        elif kind == Answer.ERROR:
            item, number = _HEAD.unpack_from(data)
            # The wording of Python's sockets.
            sentence = "timed out" if number == ETIMEDOUT else str(OSError(number, os.strerror(number)))
            self._errors.setdefault(item, []).append(sentence)
        elif kind == Answer.PACKETS:
            self._take_packets(data)
        elif kind == Answer.FAILED:
            self.failure = data.decode(errors="replace").strip()
        elif kind == Answer.FORMAT:
            if data != wire_format.HASH:
                self.failure = OTHER_VERSION
        elif kind == Answer.NOW:
            self.now_ns, self.origin_ns = _TIME.unpack_from(data)

    def counters(self) -> Row:
        """Return four lists of rows (dicts) by name: "flows" has the totals of each item of traffic in the plan's
        order, "streams" and "queues" the samples of TCP connections and of queues, "datagrams" the bytes and datagrams
        that each UDP flow or pair of users' programs received in each interval.
        """
        delivered = [row for each in self._program_pairs() for row in each.log.rows(self._plan["interval_s"])]
        return {
            "flows": [self.totals(number) for number in range(len(self._items))],
            "streams": self._streams,
            "datagrams": [*self._datagrams, *delivered],
            "queues": self._queues,
        }

    def totals(self, number: int) -> Row:
        """Return the totals so far of the item with this number (from 0) in the plan's traffic, a dict: its label as
        "flow", and the keys of its kind: "streams" and "error" for "tcp", with "responses" and "ends" for "requests",
        "echoes" and "error" for "ping", output and exit code for "command", counters and "error" for other kinds.
        """
        return {"flow": self._items[number]["label"], **self._summary(number)}

    def _program_pairs(self) -> list[ProgramPair]:
        """Return the handlers of the kernel's questions about those flows whose sender and receiver are the user's own
        programs.
        """
        return [each for each in self._own.values() if isinstance(each, ProgramPair)]

    def _t_s(self, step: int) -> float:
        """Return the time in s from the run's start at the end of interval number `step`, counted from 1."""
        return float(round(step * self._plan["interval_s"], 9))

    def _take_streams(self, data: bytes) -> None:
        """Append a row for each sample of a TCP connection (`struct stream_sample`) in the bytes of an answer to the
        samples: "flow" (the label), "stream" (the connection's number), "t_s" (s from the run's start) and the columns
        of `_reading_columns`.
        """
        labels, rows, t_s = [item["label"] for item in self._items], self._streams, self._t_s
        for sample in wire_format.STREAM_SAMPLE.iter_unpack(data):
            rows.append(
                {
                    "flow": labels[sample.item],
                    "stream": sample.stream,
                    "t_s": t_s(sample.step),
                    **_reading_columns(sample),
                }
            )

    def _take_queues(self, data: bytes) -> None:
        """Append a row for each sample of a queue (`struct queue_sample`) in the bytes of an answer to the samples:
        "t_s" (s from the run's start), "interface", and the counters in COUNTER_FIELDS.
        """
        names, rows, t_s = self._queue_names, self._queues, self._t_s
        for sample in wire_format.QUEUE_SAMPLE.iter_unpack(data):
            counted = {name: getattr(sample, name) for name in COUNTER_FIELDS}
            rows.append({"t_s": t_s(sample.step), "interface": names[sample.queue], **counted})

    def _take_udp(self, data: bytes) -> None:
        """Keep the totals of a UDP flow in the bytes of an answer (a `struct udp_total`), and append a row for each of
        the intervals that follow it: "flow" (the label), "interval" (its number), and the "bytes" and "datagrams"
        received in it.
        """
        total = wire_format.UDP_TOTAL.unpack(data)
        self._udp[total.item] = total
        label = self._items[total.item]["label"]
        for number, size, datagrams in wire_format.UDP_INTERVAL.iter_unpack(data[wire_format.UDP_TOTAL.size :]):
            self._datagrams.append({"flow": label, "interval": number, "bytes": size, "datagrams": datagrams})

    def _take_responses(self, data: bytes) -> None:
        """Append a row for each request and its response in the bytes of an answer, all of one connection, to the rows
        of the connection's item: "number", "stream" (the connection), "start_s" and "end_s" (s from the run's start;
        the end is None without a complete response), "retransmits" and "timeouts".
        """
        item, stream = _HEAD.unpack_from(data)
        rows = self._responses.setdefault(item, [])
        for response in wire_format.RESPONSE.iter_unpack(data[_HEAD.size :]):
            rows.append(
                {
                    "number": response.number,
                    "stream": stream,
                    "start_s": response.start_ns / NS_PER_S,
                    "end_s": None if response.end_ns == NO_VALUE else response.end_ns / NS_PER_S,
                    "retransmits": response.retransmits,
                    "timeouts": response.timeouts,
                }
            )

    def _take_packets(self, data: bytes) -> None:
        """Append the block of captured packets in the bytes of an answer to `packets` under the number of its tap,
        after a header with the number of packets and of bytes. Raises RunError if all captures together have more than
        MAX_BYTES bytes.
        """
        tap, packets = _HEAD.unpack_from(data)
        self._captured_bytes += len(data)
        if self._captured_bytes > MAX_BYTES:
            raise RunError(
                f"The captures have more than {MAX_BYTES} bytes, the limit. Capture fewer links, for a shorter time, or with "
                "fewer bytes of each packet (snap_bytes)."
            )
        block = data[_HEAD.size :]
        self.packets.setdefault(tap, bytearray()).extend(_BLOCK.pack(packets, len(block)) + block)

    def _summary(self, number: int) -> Row:
        """Return the totals so far, without the label, of the item with this number (from 0) in the plan's traffic, a
        dict with the keys of its kind: "streams" and "error" for "tcp", with "responses" and "ends" for "requests",
        output and exit code for "command", counters and "error" for "udp" and "program", "echoes" and "error" for
        "ping". An error is None if there was none. Raises KeyError if no totals of the item have arrived.
        """
        kind = self._items[number]["kind"]
        errors = list(self._errors.get(number, []))
        if kind == "tcp":
            return self._tcp_summary(number, self._items[number]["streams"], errors)
        if kind == "requests":
            return self._requests_summary(number, errors)
        if kind == "command":
            return self._command_summary(number)
        error = "; ".join(errors) or None
        if kind == "udp":
            return {**self._udp_summary(number), "error": error}
        if kind == "program":
            (own,) = (each for each in self._program_pairs() if each.label == self._items[number]["label"])
            return {**own.log.totals(), "error": error}
        return {"echoes": self._echoes.get(number, []), "error": error}

    def _command_summary(self, number: int) -> Row:
        """Return the result of the command with this number (from 0) in the plan's traffic, a dict: "stdout", "stderr"
        (always ""), "exit_code" (0, or None if it has not run; "stdout" is then ""), "t_s" (its planned start, s from
        the run's start) and "error" (None).
        """
        text = self.outputs.get(self._items[number]["label"])
        code = None if text is None else 0
        return {
            "stdout": text or "",
            "stderr": "",
            "exit_code": code,
            "t_s": self._items[number]["start_s"],
            "error": None,
        }

    def _tcp_summary(self, number: int, streams: int, errors: list[str]) -> Row:
        """Return the totals of the item with this number (from 0), which has `streams` TCP connections: "streams" has a
        row (`_tcp_row`) for each connection that delivered data, "error" the texts in `errors`, joined, or None. If
        others delivered nothing and there is no other error, a sentence with their number is appended to `errors`.
        """
        rows = [_tcp_row(total) for total in self._tcp_totals(number) if total.first_ns != NO_VALUE]
        if len(rows) < streams and not errors:
            errors.append(f"{streams - len(rows)} of {streams} connections delivered nothing before the flow's end")
        return {"streams": rows, "error": "; ".join(errors) or None}

    def _tcp_totals(self, number: int) -> list[Any]:
        """Return a named tuple with the fields of `struct tcp_total` for each connection whose totals have arrived, of
        the item with this number (from 0) in the plan's traffic.
        """
        return [wire_format.TCP_TOTAL.unpack(data) for data in self._tcp.get(number, [])]

    def _requests_summary(self, number: int, errors: list[str]) -> Row:
        """Return the totals of the flow of requests with this number (from 0), a dict: "streams" and "error" as for
        TCP, "responses" with a row for each request in the order of their numbers, and "ends" with the received bytes,
        retransmits and timeouts of each connection ("stream") at its end.
        """
        ends = [
            {
                "stream": total.stream,
                "received_bytes": total.received_bytes,
                "retransmits": total.retransmits,
                "timeouts": total.timeouts,
            }
            for total in self._tcp_totals(number)
        ]
        return {
            **self._tcp_summary(number, self._items[number]["connections"], errors),
            "responses": sorted(self._responses.get(number, []), key=lambda row: row["number"]),
            "ends": ends,
        }

    def _udp_summary(self, number: int) -> Row:
        """Return the counters of the UDP flow with this number (from 0) in the plan's traffic by the names of its
        columns, such as "sent_bytes" (payload), "received_datagrams", "delay_mean_ms" (delays are NaN if nothing
        arrived), "jitter_ms", "first_s" and "last_s" (s from the run's start, None if nothing arrived); "timely" ones
        count only what arrived in time, and "throughput_bytes" includes IP headers. Raises KeyError if no totals have
        arrived.
        """
        total = self._udp[number]
        received = total.received_datagrams
        payload_bytes = self._items[number]["payload_bytes"]
        mean_ms = total.delay_sum_ns / received / NS_PER_MS if received else math.nan
        delays_ms = {} if received else {"delay_min_ms": math.nan, "delay_max_ms": math.nan}
        return {
            **_counters(total, UdpTotals.__annotations__),
            **delays_ms,
            "delay_mean_ms": mean_ms,
            "receiver_drops": total.drops,
            "throughput_bytes": udp_ip_bytes(total.received_bytes, received, total.duplicates, payload_bytes),
            "timely_throughput_bytes": udp_ip_bytes(
                total.timely_bytes, total.timely_datagrams, total.timely_duplicates, payload_bytes
            ),
        }


def _counters(total: Any, names: Iterable[str]) -> Row:
    """Return those of the counters with these names that `total`, a named tuple, has under the same name, or with a
    time in ns for a time in ms or in s; a time in s that is NO_VALUE is None.
    """
    row, found = total._asdict(), {}
    for name in names:
        stem, _, unit = name.rpartition("_")
        time_ns = row.get(f"{stem}_ns")
        if name in row:
            found[name] = row[name]
        elif unit == "ms" and time_ns is not None:
            found[name] = time_ns / NS_PER_MS
        elif unit == "s" and time_ns is not None:
            found[name] = None if time_ns == NO_VALUE else time_ns / NS_PER_S
    return found


def _reading_columns(reading: Any) -> Row:
    """Return the columns of a row of the table of streams for `reading`, a named tuple with the fields of `struct
    reading` (the kernel's counters of a TCP connection): bytes, segments, retransmissions, marks, timeouts, windows in
    segments, times in ms, "delivery_rate_mbps" and "ca_state" (a name); an infinite "ssthresh_segments" and an unknown
    "rtt_min_ms" are None.
    """
    return {
        "received_bytes": reading.received_bytes,
        "cwnd_segments": reading.cwnd,
        "ssthresh_segments": None if reading.ssthresh >= tcp_info.INFINITE_SSTHRESH else reading.ssthresh,
        "rtt_ms": reading.rtt_us / US_PER_MS,
        "rtt_min_ms": None if reading.rtt_min_us == tcp_info.UNKNOWN_U32 else reading.rtt_min_us / US_PER_MS,
        "retransmits": reading.retransmits,
        "delivery_rate_mbps": rate_mbps(reading.delivery_rate, 1.0),
        "sent_bytes": reading.sent_bytes,
        "segments_out": reading.segments_out,
        "segments_in": reading.segments_in,
        "marks": reading.marks,
        "timeouts": reading.timeouts,
        "ca_state": tcp_info.ca_state_name(reading.ca_state),
    }


def _tcp_row(total: Any) -> Row:
    """Return the row of totals of a TCP connection that delivered data from `total`, a named tuple with the fields of
    `struct tcp_total`: "stream" (its number), "connect_s", "first_s" and "last_s" (s from the run's start),
    "throughput_bytes" (with IP headers), and the columns of `_reading_columns` if the kernel's counters could be read.
    """
    row = _reading_columns(total) if total.has_reading else {}
    return {
        **row,
        "stream": total.stream,
        "connect_s": total.connect_ns / NS_PER_S,
        "first_s": total.first_ns / NS_PER_S,
        "last_s": total.last_ns / NS_PER_S,
        "throughput_bytes": tcp_ip_bytes(row.get("segments_in"), row.get("sent_bytes"), row.get("segments_out")),
    }
