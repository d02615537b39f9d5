"""The statements in the chapter's prose, measured again."""

from __future__ import annotations

import random

import pytest

import netlab as nl
from netlab import theory
from netlab_course.chapters.wifi import experiments
from netlab_course.chapters.wifi.settings import MAX_PAYLOAD_BYTES, air
from tests.agreement import agrees

pytestmark = pytest.mark.pocket


AT_11 = {"protection": "rts", "protection_rate_mbps": 11, "protect_above_bytes": 250}


def test_the_possible_settings_of_the_lab_lie_around_its_figure() -> None:
    here_mbps = []
    for options in (
        {},
        {"protection": "rts", "protect_above_bytes": 250},
        {"protection": "cts", "protection_rate_mbps": 11},
        {**AT_11, "short_preamble": True},
        AT_11,
    ):
        run = nl.run(air(**options), [nl.Tcp("h1", "h2")], duration_s=2)
        per_ack = experiments.segments_per_ack(run)
        limit_mbps = theory.wifi_tcp_limit_mbps(options=options, segments_per_ack=per_ack)
        here_mbps.append(float(run.goodput_mbps(0.5).iloc[0]))
        agrees(f"{options} (Mbit/s)", here_mbps[-1], limit_mbps, relative=0.02)
    assert here_mbps[-1] < 14.4 < here_mbps[-2]


def simulated_mbps(*, stops: bool) -> float:
    """Return the goodput of two saturated senders by 802.11's rules; with `stops` false, a busy medium counts as a slot
    of the other's backoff.
    """
    chance = random.Random(1)  # noqa: S311 (no secret)
    bits = 8 * MAX_PAYLOAD_BYTES
    exchange_us = bits / theory.wifi_udp_limit_mbps(MAX_PAYLOAD_BYTES) - 7.5 * 9
    slots, left = [16, 16], [chance.randrange(16), chance.randrange(16)]
    time_us, sent = 0.0, 0
    for _ in range(200_000):
        waited = min(left)
        time_us += 9 * waited + exchange_us
        left = [count - waited for count in left]
        sends = [place for place in (0, 1) if left[place] == 0]
        sent += len(sends) == 1
        for place in (0, 1):
            if place in sends:
                slots[place] = 16 if len(sends) == 1 else min(1024, 2 * slots[place])
                left[place] = chance.randrange(slots[place])
            elif not stops:
                left[place] -= 1
    return bits * sent / time_us


def test_difference_from_bianchi_is_mostly_the_frozen_backoff() -> None:
    agrees("by the rules (Mbit/s)", simulated_mbps(stops=True), 30.2, absolute=0.05)
    agrees("without a stop (Mbit/s)", simulated_mbps(stops=False), 30.6, absolute=0.05)
