"""Echo requests of the traffic kind "ping"."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

from netlab_engines.agent.echo import Pinger
from netlab_engines.agent.flows.base import FlowContext, RunningFlow
from netlab_engines.agent.namespaces import enter_namespace

if TYPE_CHECKING:
    from netlab.traffic.ping import PingItem, PingTotals


class PingFlow(RunningFlow["PingItem"]):
    """A series of echo requests from a host to an address, as an item of traffic."""

    def __init__(self, item: PingItem, place: FlowContext) -> None:
        """Open the raw ICMP socket of the item's echo requests in the namespace of the sending host; nothing is sent
        before `launch`. `place` has the plan, the running network and the flow's number, which becomes the ICMP
        identifier. Raises OSError if that fails.
        """
        super().__init__(item, place)
        with enter_namespace(place.pid(item["src"])):
            raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self.pinger = Pinger(
            raw,
            item["address"],
            identifier=place.number,
            interval_s=item["interval_s"],
            payload_bytes=item["payload_bytes"],
        )

    def launch(self, origin_s: float) -> None:
        """Start the threads that send the requests and record the replies, and return at once. `origin_s` is the run's
        start in s on the monotonic clock; the first request goes at `origin_s` + `start_s`.
        """
        self._origin_s = origin_s
        self._start(self.pinger.receive)
        self._start(self.pinger.send, origin_s + self.start_s, self.item["count"], origin_s + self.end_s)

    def finish(self, until_s: float) -> None:
        """Wait until all requests are answered, at most until `until_s` in s on the monotonic clock, then stop the
        sending of requests and the recording of replies.
        """
        pinger = self.pinger
        while time.monotonic() < until_s and len(pinger.rtt_ms) < len(pinger.sent_s):
            time.sleep(min(0.05, max(0.0, until_s - time.monotonic())))
        pinger.stop()

    def stop(self) -> None:
        """Stop the sending of echo requests now; later replies are not recorded."""
        self.pinger.stop()

    def totals(self) -> PingTotals:
        """Return the flow's totals, a dict: the label ("flow"), "error", and "echoes", one row for each request that
        was sent, in the order of their numbers: "seq" (from 1), "t_s" (the time of sending in s from the run's start)
        and "rtt_ms" (None without a reply).
        """
        return {
            **super().totals(),
            "echoes": [
                {"seq": seq, "t_s": round(sent_s - self._origin_s, 9), "rtt_ms": self.pinger.rtt_ms.get(seq)}
                for seq, sent_s in sorted(self.pinger.sent_s.items())
            ],
        }
