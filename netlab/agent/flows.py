"""Run the traffic: every socket of every host in this one process, a thread per endpoint.

A socket stays in the namespace in which it was made, so one process can be all hosts. Switching between threads of one
process is what the guest does cheaply; switching between processes is not.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any, cast

from netlab.agent.echo import Pinger
from netlab.agent.namespaces import visit
from netlab.agent.network import Network
from netlab.errors import RunError, ThroughputError
from netlab.plan import AgentPlan, DatagramInterval, StreamSample, StreamState
from netlab.sockets import options, tcp_info
from netlab.sockets.streams import TcpReceiver, TcpSender, UdpReceiver, UdpSender

FIRST_PORT = 5001
TIMESTAMP_OPTION_BYTES = 12
IP_TCP_HEADER_BYTES = 20 + 20 + TIMESTAMP_OPTION_BYTES
IP_UDP_HEADER_BYTES = 28
UDP_SEND_BUFFER_BYTES = 1 << 28
CONNECT_PATIENCE_S = 60.0
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Flow:
    """What all kinds of traffic share: a start, an end, a thread, and figures.

    Parameters
    ----------
    item : dict
        The scenario's words for this flow, with its `label`.
    """

    def __init__(self, item: Any, duration_s: float) -> None:
        self.item = item
        self.label: str = item["label"]
        own_s = item.get("duration_s")
        self.start_s: float = item["start_s"]
        self.end_s = duration_s if own_s is None else min(duration_s, self.start_s + own_s)
        self.errors: list[str] = []
        self._threads: list[threading.Thread] = []

    def launch(self, origin_s: float) -> None:
        """Start in a thread; traffic begins at `origin_s` + `start_s` on the monotonic clock."""
        raise NotImplementedError

    def sample(self, at_s: float) -> list[StreamSample]:
        """Cumulative figures of each stream now; `at_s` is for the books only."""
        return []

    def finish(self, until_s: float) -> None:
        """Let what is under way arrive, at most until `until_s` (monotonic), then stop."""

    def summary(self) -> Any:
        """The flow's totals."""
        raise NotImplementedError

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        def guarded() -> None:
            try:
                target(*args)
            except (OSError, ThroughputError) as error:
                self.errors.append(str(error))

        thread = threading.Thread(target=guarded, daemon=True)
        self._threads.append(thread)
        thread.start()


class TcpStream:
    """One connection: both of its sockets are ours."""

    def __init__(self, src_pid: int, dst_pid: int, address: str, port: int, item: Any) -> None:
        mss_bytes = item["mss_bytes"]
        tuning = {
            "congestion": item["congestion"],
            "window_bytes": item["window_bytes"],
            "mss_bytes": None if mss_bytes is None else mss_bytes + TIMESTAMP_OPTION_BYTES,
        }
        self.address = (address, port)
        with visit(dst_pid):
            self.listener = socket.socket()
        options.tune_tcp(self.listener, **tuning)
        self.listener.bind(self.address)
        self.listener.listen(1)
        with visit(src_pid):
            self.source = socket.socket()
        options.tune_tcp(self.source, **tuning)
        self.sink: socket.socket | None = None
        self.sender: TcpSender | None = None
        self.receiver: TcpReceiver | None = None
        self.last_info: StreamState = {}

    def connect(self) -> None:
        """Handshake; both ends are in this process, so the listener's side is taken right after."""
        self.source.settimeout(CONNECT_PATIENCE_S)
        self.source.connect(self.address)
        self.sink, _ = self.listener.accept()
        self.listener.close()

    def read(self) -> StreamState | None:
        """Cumulative counters and present state of both ends."""
        if self.sink is None or self.receiver is None:
            return None
        try:
            ours, theirs = tcp_info.read(self.source), tcp_info.read(self.sink)
        except OSError:
            return None
        self.last_info = {
            # The receiver's own count costs a third system call; it differs only once the stream has ended (by its FIN).
            "received_bytes": self.receiver.received_bytes if self.receiver.finished else theirs.bytes_received,
            "cwnd_segments": ours.cwnd_segments,
            "ssthresh_segments": ours.ssthresh_segments,
            "rtt_ms": ours.rtt_ms,
            "rtt_min_ms": ours.rtt_min_ms,
            "retransmits": ours.retransmits,
            "delivery_rate_mbps": ours.delivery_rate_mbps,
            "sent_bytes": ours.bytes_sent,
            "segments_out": ours.data_segments_out,
            "segments_in": theirs.data_segments_in,
            "marks": ours.delivered_ce_segments,
            "timeouts": ours.timeouts,
        }
        return self.last_info

    def close(self) -> None:
        """End both sides at once: a reset drops what the sender still holds, so nothing runs on after the flow's end."""
        for end in (self.source, self.sink, self.listener):
            if end is not None:
                try:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                    end.close()
                except OSError:
                    continue


class TcpFlow(Flow):
    """One or more connections with the same ends."""

    def __init__(self, item: Any, duration_s: float, network: Network, port: int, address: str) -> None:
        super().__init__(item, duration_s)
        src, dst = network.pid(item["src"]), network.pid(item["dst"])
        self.streams = [TcpStream(src, dst, address, port + k, item) for k in range(item["streams"])]
        self.totals: list[dict[str, Any]] = [{} for _ in self.streams]
        self._told_end: set[int] = set()

    def launch(self, origin_s: float) -> None:
        """Start every stream in a thread of its own."""
        self._origin_s = origin_s
        for number, stream in enumerate(self.streams):
            self._start(self._run, number, stream)

    def _run(self, number: int, stream: TcpStream) -> None:
        _sleep_until(self._origin_s + self.start_s)
        end_s = self._origin_s + self.end_s
        stream.connect()
        assert stream.sink is not None
        num_bytes = self.item["num_bytes"]
        if num_bytes is not None:
            share, rest = divmod(num_bytes, len(self.streams))
            num_bytes = share + (number < rest)
        stream.receiver = TcpReceiver(stream.sink, window_bytes=self.item["window_bytes"])
        stream.sender = TcpSender(stream.source, end_s=end_s, num_bytes=num_bytes)
        reading = threading.Thread(target=stream.receiver.run, daemon=True)
        reading.start()
        stream.sender.run()
        if num_bytes is not None:
            reading.join(max(0.0, end_s - time.monotonic()))
        else:
            _sleep_until(end_s)
        info = stream.read() or stream.last_info
        finished_s = stream.receiver.last_s if stream.receiver.finished else time.monotonic()
        self.totals[number] = {
            **info,
            "first_s": stream.receiver.first_s,
            "last_s": finished_s,
        }
        stream.close()

    def sample(self, at_s: float) -> list[StreamSample]:
        """The state of each connection that is open."""
        found: list[StreamSample] = []
        for number, stream in enumerate(self.streams):
            # The last reading of a stream that has just ended is its total; after that there is nothing to tell.
            reading = self.totals[number] or stream.read()
            if number in self._told_end:
                continue
            if self.totals[number]:
                self._told_end.add(number)
            if reading:
                found.append(cast("StreamSample", {"flow": self.label, "stream": number, "t_s": at_s, **reading}))
        return found

    def finish(self, until_s: float) -> None:
        """TCP ends by itself at the flow's end."""
        for thread in self._threads:
            thread.join(max(0.1, until_s - time.monotonic()))

    def summary(self) -> Any:
        """Totals over the streams, and each stream's own under `streams`."""
        own = [total for total in self.totals if total.get("first_s") is not None]
        rows = [self._row(number, total) for number, total in enumerate(self.totals) if total in own]
        missing = len(self.streams) - len(own)
        if missing and not self.errors:
            self.errors.append(f"{missing} of {len(self.streams)} connections delivered nothing before the flow's end")
        return {"streams": rows, "error": "; ".join(self.errors) or None}

    def _row(self, number: int, total: dict[str, Any]) -> dict[str, Any]:
        segments_out = total.get("segments_out") or 0
        segment_bytes = (total.get("sent_bytes") or 0) / segments_out if segments_out else 0.0
        return {
            **total,
            "stream": number,
            "first_s": total["first_s"] - self._origin_s,
            "last_s": (total["last_s"] or total["first_s"]) - self._origin_s,
            "throughput_bytes": (total.get("segments_in") or 0) * (segment_bytes + IP_TCP_HEADER_BYTES),
        }


class UdpFlow(Flow):
    """Datagrams at a constant rate."""

    def __init__(
        self, item: Any, duration_s: float, network: Network, port: int, address: str, plan: AgentPlan
    ) -> None:
        super().__init__(item, duration_s)
        self._seed: int = plan["seed"]
        with visit(network.pid(item["dst"])):
            self.sink = socket.socket(type=socket.SOCK_DGRAM)
        self.sink.bind((address, port))
        with visit(network.pid(item["src"])):
            self.source = socket.socket(type=socket.SOCK_DGRAM)
        # What stands in the sender's own interface counts against its socket: with a small one the socket would wait,
        # and send late, where the queue should drop.
        options.set_buffer(self.source, socket.SO_SNDBUF, UDP_SEND_BUFFER_BYTES)
        self.address = (address, port)
        self.stream_id = port
        self._interval_s: float = plan["interval_s"]
        self.sender: UdpSender | None = None
        self.receiver: UdpReceiver | None = None

    def launch(self, origin_s: float) -> None:
        """Start the receiver, and the sender at its time."""
        self._origin_s = origin_s
        self.receiver = UdpReceiver(
            self.sink, stream_ids=[self.stream_id], interval_s=self._interval_s, origin_s=origin_s
        )
        self._start(self.receiver.run)
        self._start(self._send)

    def _send(self) -> None:
        _sleep_until(self._origin_s + self.start_s)
        self.sender = UdpSender(
            self.source,
            self.address,
            rate_bps=round(self.item["rate_mbps"] * 1e6),
            payload_bytes=self.item["payload_bytes"],
            stream_id=self.stream_id,
            end_s=self._origin_s + self.end_s,
            spread_seed=self._seed + self.stream_id if self.item["spacing"] == "random" else None,
        )
        self.sender.run()

    def finish(self, until_s: float) -> None:
        """Wait until every datagram has come or can come no more."""
        if self.receiver is None or self.sender is None:
            return
        account = self.receiver.streams[self.stream_id]
        pause_s = 0.01
        while time.monotonic() < until_s:
            self.receiver.read_now()
            if account.received_datagrams >= self.sender.sent_datagrams:
                break
            time.sleep(min(pause_s, max(0.0, until_s - time.monotonic())))
            pause_s *= 1.5
        self.receiver.stop()

    def intervals(self) -> list[DatagramInterval]:
        """Bytes and datagrams that arrived in each interval."""
        assert self.receiver is not None
        account = self.receiver.streams[self.stream_id]
        return [
            {"flow": self.label, "interval": number, "bytes": part.bytes, "datagrams": part.datagrams}
            for number, part in sorted(account.intervals.items())
        ]

    def summary(self) -> Any:
        """Totals of sender and receiver."""
        if self.receiver is None or self.sender is None:
            return {"error": "; ".join(self.errors) or "the flow did not start"}
        account = self.receiver.streams[self.stream_id]
        for part in (self.sender, self.receiver):
            if part.error is not None:
                self.errors.append(str(part.error))
        return {
            "sent_bytes": self.sender.sent_bytes,
            "sent_datagrams": self.sender.sent_datagrams,
            "received_bytes": account.received_bytes,
            "received_datagrams": account.received_datagrams,
            "duplicates": account.duplicates,
            "reordered": account.reordered,
            "jitter_ms": account.jitter_ms,
            "delay_min_ms": account.delay_min_ms,
            "delay_mean_ms": account.delay_mean_ms,
            "delay_max_ms": account.delay_max_ms,
            "receiver_drops": self.receiver.buffer_drops,
            "first_s": None if account.first_s is None else account.first_s - self._origin_s,
            "last_s": None if account.last_s is None else account.last_s - self._origin_s,
            "throughput_bytes": account.received_bytes
            + (account.received_datagrams + account.duplicates) * IP_UDP_HEADER_BYTES
            + account.duplicates * self.item["payload_bytes"],
            "error": "; ".join(self.errors) or None,
        }


class PingFlow(Flow):
    """Echo requests."""

    def __init__(self, item: Any, duration_s: float, network: Network, number: int, address: str) -> None:
        super().__init__(item, duration_s)
        with visit(network.pid(item["src"])):
            raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self.pinger = Pinger(
            raw, address, identifier=number, interval_s=item["interval_s"], payload_bytes=item["payload_bytes"]
        )

    def launch(self, origin_s: float) -> None:
        """Start sender and receiver."""
        self._origin_s = origin_s
        self._start(self.pinger.receive)
        self._start(self.pinger.send, origin_s + self.start_s, self.item["count"], origin_s + self.end_s)

    def finish(self, until_s: float) -> None:
        """Wait for the replies that can still come."""
        echoes = self.pinger.echoes
        while time.monotonic() < until_s and len(echoes.rtt_ms) < len(echoes.sent_s):
            time.sleep(min(0.05, max(0.0, until_s - time.monotonic())))
        self.pinger.stop()

    def summary(self) -> Any:
        """Each echo: its number, time and RTT (None when no reply came)."""
        echoes = self.pinger.echoes
        return {
            "echoes": [
                {"seq": seq, "t_s": sent_s - self._origin_s, "rtt_ms": echoes.rtt_ms.get(seq)}
                for seq, sent_s in sorted(echoes.sent_s.items())
            ],
            "error": "; ".join(self.errors) or None,
        }


class CommandFlow(Flow):
    """A command in a node's shell."""

    def __init__(self, item: Any, duration_s: float, network: Network) -> None:
        super().__init__(item, duration_s)
        self._node = network.nodes[item["host"]]
        self._result: dict[str, Any] = {"stdout": "", "stderr": "", "exit_code": None}

    def launch(self, origin_s: float) -> None:
        """Start it at its time."""
        self._origin_s = origin_s
        self._start(self._run)

    def _run(self) -> None:
        _sleep_until(self._origin_s + self.start_s)
        stdout, stderr, code = self._node.pexec(["sh", "-c", self.item["command"]])
        self._result = {"stdout": stdout, "stderr": stderr, "exit_code": code}

    def finish(self, until_s: float) -> None:
        """Wait for its end."""
        for thread in self._threads:
            thread.join(max(5.0, until_s - time.monotonic()))

    def summary(self) -> Any:
        """What it printed and its exit code (None when it has not ended)."""
        return {**self._result, "t_s": self.start_s, "error": "; ".join(self.errors) or None}


def make_flows(plan: AgentPlan, network: Network) -> list[Flow]:
    """One object for each item of the plan's traffic, with its sockets open."""
    made: list[Flow] = []
    port = FIRST_PORT
    duration_s = plan["duration_s"]
    item: Any
    for number, item in enumerate(plan["traffic"], start=1):
        kind = item["kind"]
        try:
            if kind == "command":
                made.append(CommandFlow(item, duration_s, network))
                continue
            address = plan["primary"][item["dst"]]
            if kind == "tcp":
                made.append(TcpFlow(item, duration_s, network, port, address))
                port += item["streams"]
            elif kind == "udp":
                made.append(UdpFlow(item, duration_s, network, port, address, plan))
                port += 1
            else:
                made.append(PingFlow(item, duration_s, network, number, address))
        except (OSError, ThroughputError) as error:
            raise RunError(f"{item['label']} could not be set up: {error}") from None
    return made


def _sleep_until(when_s: float) -> None:
    left_s = when_s - time.monotonic()
    if left_s > 0:
        time.sleep(left_s)
