"""The numbers of pings."""

import itertools
import math

from netlab.measure.base import Measure, Tables
from netlab.measure.columns import flow_row
from netlab.traffic.ping import PingItem, PingTotals


class PingMeasure(Measure[PingItem, PingTotals]):
    """The conversion of the totals of a sequence of echo requests."""

    def tables(self, begin_s: float) -> Tables:
        """Return the ping's row under "flows", and a row under "pings" for each request; `begin_s` has no effect."""
        del begin_s
        echoes = self.totals["echoes"]
        rtts_ms = [echo["rtt_ms"] for echo in echoes if echo["rtt_ms"] is not None]
        row = flow_row(
            self,
            sent_datagrams=len(echoes),
            received_datagrams=len(rtts_ms),
            loss_rate=1 - len(rtts_ms) / len(echoes) if echoes else math.nan,
            rtt_ms=sum(rtts_ms) / len(rtts_ms) if rtts_ms else math.nan,
            rtt_min_ms=min(rtts_ms, default=math.nan),
            rtt_max_ms=max(rtts_ms, default=math.nan),
            jitter_ms=sum(abs(b - a) for a, b in itertools.pairwise(rtts_ms)) / (len(rtts_ms) - 1)
            if len(rtts_ms) > 1
            else math.nan,
        )
        return {"flows": [row], "pings": [{"flow": self.item["label"], **echo} for echo in echoes]}
