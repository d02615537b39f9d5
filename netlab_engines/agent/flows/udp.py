"""UDP flows: datagrams at a constant rate."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, cast

from netlab.base.units import mbps_to_bps
from netlab.plan import DatagramInterval
from netlab_engines.agent.flows.base import FlowContext, RunningFlow, sleep_until
from netlab_engines.agent.namespaces import enter_namespace
from netlab_engines.ip_bytes import udp_ip_bytes
from netlab_engines.sockets import options
from netlab_engines.sockets.constants import UDP_SEND_BUFFER_BYTES
from netlab_engines.sockets.udp_receiver import UdpReceiver
from netlab_engines.sockets.udp_sender import UdpSender

if TYPE_CHECKING:
    from netlab.traffic.udp import UdpItem, UdpTotals


class UdpFlow(RunningFlow["UdpItem"]):
    """A UDP flow at a constant rate from a host to an address, as an item of traffic."""

    ports = 1

    def __init__(self, item: UdpItem, place: FlowContext) -> None:
        """Open the sender's and the receiver's UDP socket of the item in the namespaces of the two hosts, and set the
        sender's buffer to the item's size, or so large that it never blocks; nothing is sent before `launch`. `place`
        has the plan, the running network and the port of the receiver. Raises OSError if that fails.
        """
        super().__init__(item, place)
        self._seed = place.plan["seed"]
        address, port = item["address"], place.port
        with enter_namespace(place.pid(item["dst"])):
            self.sink = socket.socket(type=socket.SOCK_DGRAM)
        self.sink.bind((address, port))
        with enter_namespace(place.pid(item["src"])):
            self.source = socket.socket(type=socket.SOCK_DGRAM)
        # Packets in the queue of the sender's interface count in the socket's send buffer. With a small buffer the socket would
        # block and send late, where the queue should drop.
        # The kernel doubles the requested size.
        self._waits = "send_buffer_bytes" in item
        options.set_buffer(self.source, socket.SO_SNDBUF, item.get("send_buffer_bytes", 2 * UDP_SEND_BUFFER_BYTES) // 2)
        self.address = (address, port)
        self.stream_id = port
        self._interval_s = place.plan["interval_s"]
        self.sender: UdpSender | None = None
        self.receiver: UdpReceiver | None = None

    def launch(self, origin_s: float) -> None:
        """Start the receiver's and the sender's thread and return at once. `origin_s` is the run's start in s on the
        monotonic clock; datagrams are sent from `origin_s` + `start_s` on.
        """
        self._origin_s = origin_s
        self.receiver = UdpReceiver(
            self.sink,
            stream_ids=[self.stream_id],
            interval_s=self._interval_s,
            origin_s=origin_s,
            timely_s=self.end_s - self.start_s,
        )
        self._start(self.receiver.run)
        self._start(self._send)

    def _send(self) -> None:
        """Wait until the flow's start and send datagrams until its end; nothing is sent if the flow has failed by then.
        A sender with a small send buffer, which may block, is stopped at the end. Runs in a thread.
        """
        sleep_until(self._origin_s + self.start_s)
        if self.failed:
            return
        self.sender = UdpSender(
            self.source,
            self.address,
            rate_bps=mbps_to_bps(self.item["rate_mbps"]),
            payload_bytes=self.item["payload_bytes"],
            stream_id=self.stream_id,
            end_s=self._origin_s + self.end_s,
            spread_seed=self._seed + self.stream_id if self.item["spacing"] == "random" else None,
        )
        if self._waits:
            self._start(self._stop_at_end)
        self.sender.run()

    def _stop_at_end(self) -> None:
        """Stop the sender at the flow's end; a sender that blocked would send its late datagrams long after that. Runs
        in a thread of its own.
        """
        sleep_until(self._origin_s + self.end_s)
        if self.sender is not None:
            self.sender.stop()

    def finish(self, until_s: float) -> None:
        """Wait until all sent datagrams have arrived, at most until `until_s` in s on the monotonic clock, then stop
        the receiver; nothing happens if the flow has not started.
        """
        if self.receiver is None or self.sender is None:
            return
        counters = self.receiver.streams[self.stream_id]
        pause_s = 0.01
        while True:
            self.receiver.read_now()
            left_s = until_s - time.monotonic()
            if counters.received_datagrams >= self.sender.sent_datagrams or left_s <= 0:
                break
            time.sleep(min(pause_s, left_s))
            pause_s *= 1.5
        self.receiver.stop()

    def intervals(self) -> list[DatagramInterval]:
        """Return one row (a dict) for each interval of the run in which datagrams arrived, in the order of time: the
        flow's label ("flow"), the interval's number (from 0 at the run's start), the payload "bytes" and the number of
        "datagrams", which are different ones. The flow must have been launched.
        """
        assert self.receiver is not None
        counters = self.receiver.streams[self.stream_id]
        return [
            {"flow": self.label, "interval": number, "bytes": part.bytes, "datagrams": part.datagrams}
            for number, part in sorted(counters.intervals.items())
        ]

    def totals_so_far(self) -> UdpTotals:
        """Return the totals, in the form of `totals`, of the datagrams that were sent and have arrived so far; the flow
        goes on.
        """
        if self.receiver is not None:
            self.receiver.read_now()
        return self.totals()

    def stop(self) -> None:
        """Stop the sender; the receiver goes on for datagrams in flight. If the flow failed before it had a sender,
        stop the receiver.
        """
        if self.sender is not None:
            self.sender.stop()
        elif self.receiver is not None and self.failed:
            self.receiver.stop()

    def totals(self) -> UdpTotals:
        """Return the flow's totals, a dict: the label ("flow"), "error" and the counters of both ends by the names of
        their columns, such as "sent_bytes" (payload), "received_datagrams", "delay_mean_ms" and "jitter_ms" (delays are
        NaN if nothing arrived), "first_s" and "last_s" (s from the run's start, None if nothing arrived). If the flow
        did not start, only the label and an error.
        """
        if self.receiver is None or self.sender is None:
            self.errors = self.errors or ["the flow did not start"]
            return cast("UdpTotals", super().totals())
        counters, payload_bytes = self.receiver.streams[self.stream_id], self.item["payload_bytes"]
        for part in (self.sender, self.receiver):
            if part.error is not None:
                self.errors.append(str(part.error))
        return {
            **super().totals(),
            "sent_bytes": self.sender.sent_bytes,
            "sent_datagrams": self.sender.sent_datagrams,
            "received_bytes": counters.received_bytes,
            "received_datagrams": counters.received_datagrams,
            "duplicates": counters.duplicates,
            "reordered": counters.reordered,
            "jitter_ms": counters.jitter_ms,
            "delay_min_ms": counters.delay_min_ms,
            "delay_mean_ms": counters.delay_mean_ms,
            "delay_max_ms": counters.delay_max_ms,
            "receiver_drops": self.receiver.buffer_drops,
            "first_s": self._since_origin(counters.first_s),
            "last_s": self._since_origin(counters.last_s),
            "throughput_bytes": udp_ip_bytes(
                counters.received_bytes, counters.received_datagrams, counters.duplicates, payload_bytes
            ),
            "timely_bytes": counters.timely_bytes,
            "timely_datagrams": counters.timely_datagrams,
            "timely_throughput_bytes": udp_ip_bytes(
                counters.timely_bytes, counters.timely_datagrams, counters.timely_duplicates, payload_bytes
            ),
            "timely_last_s": self._since_origin(counters.timely_last_s),
        }

    def _since_origin(self, at_s: float | None) -> float | None:
        """Return a time of the monotonic clock in s as the time from the run's start in s; None for None."""
        return None if at_s is None else round(at_s - self._origin_s, 9)
