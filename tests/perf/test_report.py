"""The final table of `netlab perf`: what was offered, what was sent."""

from __future__ import annotations

from typing import Any

import pytest

from netlab_engines.perf.protocol import TestRequest
from netlab_engines.perf.report import combine, describe, summary


def report(rate_bps: int, sent_bytes: int, **more: Any) -> tuple[dict[str, Any], list[dict[str, Any]], list[str]]:
    """Counters of a test of 2 s, changed by `more`, in which all data arrived during the test."""
    request = TestRequest(**{"protocol": "udp", "duration_s": 2.0, "rate_bps": rate_bps, **more})
    sent = {"sent_bytes": sent_bytes, "datagrams": sent_bytes // 1000, "sending_seconds": 1.9}
    received = {"received_bytes": sent_bytes, "received_datagrams": sent_bytes // 1000, "seconds": 2.0}
    client = {index: sent if request.client_sends(index) else received for index in range(request.streams)}
    server = {index: received if request.client_sends(index) else sent for index in range(request.streams)}
    total, streams = combine(request, client, server)
    return total, streams, summary(request, total, streams, "MB")


@pytest.mark.parametrize("direction", ["up", "down"])
def test_the_offered_and_the_sent_rate_are_in_the_table_and_in_the_numbers(direction: str) -> None:
    """12 Mbit/s for 2 s are 3 MB: the time counts, not that the last datagram leaves a moment before its end."""
    total, (stream,), lines = report(12_000_000, 3_000_000, direction=direction)
    assert (stream["offered_mbps"], stream["sent_mbps"]) == (12, 12) == (total["offered_mbps"], total["sent_mbps"])
    text = "\n".join(lines)
    assert "offered (Mbit/s)" in text and "sent (Mbit/s)" in text and "Offered:" not in text


def test_a_sender_that_is_too_slow_is_named_with_how_iperf3_reads_the_number() -> None:
    _, _, lines = report(20_000 * 10**6, 500_000_000)
    assert "Offered: 20000 Mbit/s; sent: 2000 Mbit/s. The sending computer or its link cannot send faster;" in lines[-2]
    assert lines[-1] == (
        "-b is in Mbit/s here. iperf3 reads -b 20000 as 20000 bit/s, which is 20 kbit/s: that is -b 0.02 here."
    )
    _, _, lines = report(10**12, 500_000_000)
    assert "iperf3 reads -b 1000000 as 1000000 bit/s, which is 1 Mbit/s: that is -b 1 here." in lines[-1]


def test_nearly_reached_rate_reports_its_shortfall_only() -> None:
    _, _, lines = report(2_500 * 10**6, 500_000_000)
    assert lines[-1].startswith("Offered: 2500 Mbit/s; sent: 2000 Mbit/s.") and "iperf3" not in lines[-1]


def test_both_ways_the_slowest_stream_decides_and_the_sum_adds_up() -> None:
    total, _, lines = report(10**12, 500_000_000, direction="both")
    assert (total["offered_mbps"], total["sent_mbps"]) == (2_000_000, 4000)
    assert "Offered: 1000000 Mbit/s for each stream; sent: 2000 Mbit/s or more." in lines[-2]


def test_as_fast_as_it_goes_offers_nothing() -> None:
    total, (stream,), lines = report(0, 500_000_000)
    assert stream["offered_mbps"] is None is total["offered_mbps"] and stream["sent_mbps"] == 2000
    assert not any("Offered" in line or "offered" in line for line in lines)


def test_a_large_rate_is_written_out() -> None:
    assert "1000000 Mbit/s each" in describe(TestRequest(protocol="udp", duration_s=1.0, rate_bps=10**12))
