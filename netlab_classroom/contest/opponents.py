"""Three controls of netlab's own, against which every hand-in competes. Each is short, and each has a network that it is bad at."""

from typing import Any

MIN_SEGMENTS = 4


class LossBased:
    """A congestion control that uses only loss: it adds a segment per RTT and takes away a quarter after a loss. It
    takes its share next to any flow, and fills any queue.
    """

    def on_start(self, flow: Any) -> None:
        """Store the flow, an object of the library engine whose window in segments the other methods set."""
        self.flow = flow

    def on_ack(self, ack: Any) -> None:
        """Enlarge the flow's window after an acknowledgement, if it allows that (`may_grow`): by the delivered segments
        in slow start, else by one segment per RTT.
        """
        flow = self.flow
        if not ack.may_grow:
            return
        if flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments
        else:
            flow.cwnd_segments += ack.delivered_segments / flow.cwnd_segments

    def on_loss(self, _loss: Any) -> None:
        """Set the flow's window and slow-start threshold to three quarters of the window, but at least
        MIN_SEGMENTS.
        """
        flow = self.flow
        flow.ssthresh_segments = max(MIN_SEGMENTS, 0.75 * flow.cwnd_segments)
        flow.cwnd_segments = flow.ssthresh_segments


class DelayBased:
    """A congestion control that uses delay: it holds a few segments in the queue. Its queues are short, and CUBIC takes
    most of its rate.
    """

    QUEUED_SEGMENTS = 4.0

    def on_start(self, flow: Any) -> None:
        """Store the flow, an object of the library engine whose window in segments the other methods set, and forget
        the smoothed RTT.
        """
        self.flow, self.rtt_ms = flow, None

    def on_ack(self, ack: Any) -> None:
        """Move the flow's window after an acknowledgement by one segment per RTT (to at least MIN_SEGMENTS), towards
        the window with which QUEUED_SEGMENTS segments wait in the queue by the smoothed RTT; in slow start grow by the
        delivered segments until that many wait. Nothing happens without a sample of the RTT.
        """
        flow = self.flow
        if ack.rtt_ms is None:
            return
        self.rtt_ms = ack.rtt_ms if self.rtt_ms is None else self.rtt_ms + (ack.rtt_ms - self.rtt_ms) / 8
        queued = flow.cwnd_segments * (1 - ack.rtt_min_ms / self.rtt_ms)
        if flow.cwnd_segments < flow.ssthresh_segments:
            if queued < self.QUEUED_SEGMENTS:
                flow.cwnd_segments += ack.delivered_segments
                return
            flow.ssthresh_segments = flow.cwnd_segments
        step = ack.delivered_segments / flow.cwnd_segments
        flow.cwnd_segments = max(MIN_SEGMENTS, flow.cwnd_segments + (step if queued < self.QUEUED_SEGMENTS else -step))

    def on_loss(self, _loss: Any) -> None:
        """Set the flow's window and slow-start threshold to four fifths of the window, but at least MIN_SEGMENTS."""
        flow = self.flow
        flow.ssthresh_segments = flow.cwnd_segments = max(MIN_SEGMENTS, 0.8 * flow.cwnd_segments)


class RateBased:
    """A congestion control that multiplies the largest recent delivery rate by the shortest RTT: random losses do not
    matter to it. Two of it are slow to become fair.
    """

    KEPT_RTTS, GAIN = 10, 1.1

    def on_start(self, flow: Any) -> None:
        """Store the flow, an object of the library engine whose window in segments the other methods set, and forget
        all measured rates.
        """
        self.flow, self.rates, self.round_ends_s, self.best = flow, [0.0], 0.0, 0.0

    def on_ack(self, ack: Any) -> None:
        """Measure the delivery rate of an acknowledgement, and set the flow's window (at least MIN_SEGMENTS) and pacing
        rate about a tenth above its maximum over the last KEPT_RTTS RTTs; in slow start only grow by the delivered
        segments until twice the rate times the RTT. Nothing happens without a sample of rate and RTT.
        """
        flow = self.flow
        if ack.rtt_min_ms is None or not ack.delivery_rate_mbps:
            return
        if ack.now_s > self.round_ends_s:
            self.rates = [*self.rates[-self.KEPT_RTTS :], 0.0]
            self.round_ends_s = ack.now_s + ack.rtt_min_ms / 1e3
        self.rates[-1] = max(self.rates[-1], ack.delivery_rate_mbps)
        rate_mbps = max(self.rates)
        bdp = rate_mbps * 1e3 * ack.rtt_min_ms / 8 / flow.mss_bytes
        if flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments
            if flow.cwnd_segments > 2 * bdp + MIN_SEGMENTS:
                flow.ssthresh_segments = MIN_SEGMENTS
            return
        flow.cwnd_segments = max(MIN_SEGMENTS, self.GAIN * bdp + 2)
        flow.pacing_mbps = max(0.1, self.GAIN * rate_mbps)

    def on_loss(self, _loss: Any) -> None:
        """End the flow's slow start; the window is not changed by a loss."""
        self.flow.ssthresh_segments = MIN_SEGMENTS


OPPONENTS: dict[str, type[Any]] = {each.__name__: each for each in (LossBased, DelayBased, RateBased)}
