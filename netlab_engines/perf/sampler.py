"""Samples of the ends of a test's streams on one side, at the end of each interval."""

import threading
import time
from collections.abc import Callable, Sequence

from netlab.base.units import rate_mbps
from netlab_engines.perf.endpoints import Counters, Endpoint
from netlab_engines.perf.protocol import TestRequest


class Sampler:
    """A thread that samples all ends of this side at the end of each interval, and once more at `stop` or at the end of
    a `with` block; `rows` has all samples.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        request: TestRequest,
        start_s: float,
        on_rows: Callable[[list[Counters]], None] | None = None,
    ) -> None:
        """Prepare to sample these ends of streams during a test that starts at `start_s` in s on the monotonic clock,
        with the intervals of `request`. `on_rows` is called in the sampler's thread with the rows of each interval, one
        for each end that is still connected (None: nothing is called).
        """
        self.rows: list[Counters] = []
        self._endpoints = endpoints
        self._interval_s = request.interval_s
        self._omit_s = request.omit_s
        self._start_s = start_s
        self._sampled_s = start_s
        self._on_rows = on_rows
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def __enter__(self) -> "Sampler":
        """Start the thread that samples, and return this sampler."""
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Take the last sample and end the thread; an exception in the block is raised on."""
        self.stop()

    def stop(self) -> None:
        """Take the last sample and end the thread; a second call does nothing."""
        if not self._stopping.is_set():
            self._stopping.set()
            self._thread.join()

    def _run(self) -> None:
        """Sample all ends at the end of each interval, and tell them when the omitted time ends, until `stop`; then
        sample once more unless that follows the last sample at once. Intervals through which the machine slept are
        skipped. Runs in the thread.
        """
        marked = self._omit_s == 0
        number = 1
        while True:
            next_s = self._start_s + number * self._interval_s
            omit_s = self._start_s + self._omit_s
            until_s = next_s if marked else min(next_s, omit_s)
            if self._stopping.wait(max(0.0, until_s - time.monotonic())):
                break
            if not marked and until_s == omit_s:
                for endpoint in self._endpoints:
                    endpoint.mark_omitted()
                marked = True
            if until_s == next_s:
                self._sample()
                # If the machine slept through intervals, skip them.
                number = max(number + 1, int((time.monotonic() - self._start_s) / self._interval_s))
        if time.monotonic() - self._sampled_s > min(0.05, self._interval_s / 10):
            self._sample()

    def _sample(self) -> None:
        """Append a row to `rows` for each end of a stream, for the time since the last sample, and pass the rows to
        `on_rows`; an end whose connection is gone has none. A row has "stream" (from 1), "t_s" (s from the test's
        start), "seconds" (its length), "goodput_mbps", "omitted" (whether it does not count), and the counters of the
        end's `sample`.
        """
        from_s, self._sampled_s = self._sampled_s, time.monotonic()
        length_s = max(self._sampled_s - from_s, 1e-9)
        rows = []
        for endpoint in self._endpoints:
            try:
                counters = endpoint.sample()
            except OSError:
                continue
            rows.append(
                {
                    "stream": endpoint.index + 1,
                    "t_s": self._sampled_s - self._start_s,
                    "seconds": length_s,
                    "goodput_mbps": rate_mbps(counters["bytes"], length_s),
                    "omitted": self._sampled_s - self._start_s <= self._omit_s,
                    **counters,
                }
            )
        self.rows += rows
        if self._on_rows is not None and rows:
            self._on_rows(rows)
