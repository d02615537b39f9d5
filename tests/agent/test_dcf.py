"""The medium's arithmetic, without a network: times go in and come out."""

from __future__ import annotations

import pytest

from netlab import theory
from netlab.network.media import MAX_ATTEMPTS, MIN_WINDOW, Wifi
from netlab_engines.agent.dcf import Dcf
from tests.agreement import agrees

FRAME = bytes(1514)
SMALL_FRAME = bytes(66)
LONG_AGO_NS = -(10**9)


def saturated_medium(
    wifi: Wifi, senders: int, *, frames: int = 20_000, frame: bytes = FRAME, last: Wifi | None = None
) -> tuple[Dcf, float]:
    """A medium on which each of the senders always has a frame, and the time in us that so many frames took; the last
    sender may have settings of its own.
    """
    wifis = [wifi] * max(2, senders)
    wifis[-1] = last or wifi
    dcf = Dcf(wifis, [2] * len(wifis), "1", LONG_AGO_NS)
    passed = 0
    while passed < frames:
        for number in range(senders):
            while len(dcf.stations[number].waiting) < 2:
                dcf.arrive(number, frame, 0)
        sent = dcf.begin()
        if sent.winner is not None:
            dcf.take(sent.winner)
            passed += 1
    return dcf, sent.idle_ns / 1000


@pytest.mark.parametrize("options", [{}, {"rate_mbps": 6}, {"protection": "rts"}, {"short_slot": False}])
def test_one_sender_takes_the_time_of_the_standard(options: dict[str, object]) -> None:
    """The mean of 20 000 backoffs of sd 4.6 slots is known to 0.03 slots, three times which is 0.9 (2) us."""
    _, took_us = saturated_medium(Wifi(**options), 1)
    slot_us = 9 if options.get("short_slot", True) else 20
    agrees("time of a frame (us)", took_us / 20_000, theory.wifi_exchange_us(1500, options), absolute=0.1 * slot_us)


@pytest.mark.parametrize(("stations", "relative"), [(2, 0.03), (5, 0.03), (10, 0.03)])
def test_saturated_stations_get_bianchis_throughput(stations: int, relative: float) -> None:
    dcf, took_us = saturated_medium(Wifi(), stations)
    expected = theory.wifi_saturation(stations, 1472)
    agrees("goodput (Mbit/s)", 20_000 * 1472 * 8 / took_us, expected.goodput_mbps, relative=relative)
    collided = sum(station.collisions for station in dcf.stations)
    agrees("collision probability", collided / (20_000 + collided), expected.collision_probability, relative=0.15)


def test_stations_share_equally() -> None:
    dcf, _ = saturated_medium(Wifi(), 2)
    first, second = (station.frames for station in dcf.stations)
    agrees("share", first / (first + second), 0.5, absolute=0.02)


def heusse_us(fast: Wifi, slow: Wifi, senders: int) -> float:
    """The time in us in which each of the senders, of which one is slow, gets a frame of 1500 bytes through (after
    Heusse and others, 2003): a turn of each, and the collisions, each as long as the slower of its frames. A backoff has
    half of MIN_WINDOW slots on average, and all senders count theirs at the same time.
    """
    collision = 1 - (1 - 1 / MIN_WINDOW) ** (senders - 1)
    contention_us = fast.slot_us * (1 + collision) / (2 * senders) * MIN_WINDOW
    fast_us, slow_us = (wifi.difs_us + contention_us + wifi.exchange_us(1500) for wifi in (fast, slow))
    jam_us = 2 / senders * slow_us + (1 - 2 / senders) * fast_us
    return (senders - 1) * fast_us + slow_us + collision * jam_us * senders


@pytest.mark.parametrize(("senders", "slow_mbps"), [(2, 6), (2, 24), (3, 6)])
def test_one_slow_station_slows_down_all_others(senders: int, slow_mbps: int) -> None:
    """The anomaly: as many frames for each. 54 and 6 Mbit/s: 4.1 Mbit/s for both, where two fast ones get 15."""
    fast, slow = Wifi(), Wifi(rate_mbps=slow_mbps)
    dcf, took_us = saturated_medium(fast, senders, last=slow)
    for station in dcf.stations:
        agrees("share of the frames", station.frames / 20_000, 1 / senders, absolute=0.02)
    each_mbps = 20_000 / senders * 1472 * 8 / took_us
    agrees("goodput of each (Mbit/s)", each_mbps, 1472 * 8 / heusse_us(fast, slow, senders), relative=0.02)


def test_a_frame_on_an_idle_medium_goes_at_once() -> None:
    dcf = Dcf([Wifi()] * 2, [10, 10], "1", LONG_AGO_NS)
    dcf.arrive(0, FRAME, 5_000)
    assert dcf.next_start_ns() == 5_000
    sent = dcf.begin()
    assert (sent.winner, sent.arrival_ns, sent.idle_ns) == (0, 5_000 + 254_000, 5_000 + 298_000)


def test_a_frame_on_a_busy_medium_waits_for_difs_and_its_backoff() -> None:
    waits = set()
    for seed in range(200):
        dcf = Dcf([Wifi()] * 2, [10, 10], str(seed), LONG_AGO_NS)
        dcf.arrive(0, FRAME, 0)
        sent = dcf.begin()
        dcf.arrive(1, SMALL_FRAME, sent.arrival_ns)
        dcf.take(0)
        start_ns = dcf.next_start_ns()
        assert start_ns is not None
        waits.add(start_ns - sent.idle_ns)
    assert waits == {28_000 + slots * 9_000 for slots in range(16)}


def test_a_collision_costs_both_and_doubles_their_windows() -> None:
    dcf = Dcf([Wifi()] * 2, [10, 10], "1", LONG_AGO_NS)
    for number in (0, 1):
        dcf.arrive(number, FRAME, 0)
    sent = dcf.begin()
    assert sent.winner is None
    assert sent.idle_ns == 298_000
    assert [station.window for station in dcf.stations] == [31, 31]
    assert [len(station.waiting) for station in dcf.stations] == [1, 1]


def test_errors_are_repaired_until_the_last_attempt() -> None:
    dcf, _ = saturated_medium(Wifi(error_rate=0.5), 1, frames=20_000)
    station = dcf.stations[0]
    tried = station.frames + station.given_up
    agrees("frames given up", station.given_up / tried, 0.5**MAX_ATTEMPTS, relative=0.25)
    agrees(
        "attempts for a frame", (station.frames + station.errors) / tried, 2 * (1 - 0.5**MAX_ATTEMPTS), relative=0.03
    )


def test_full_queue_drops_arrivals() -> None:
    dcf = Dcf([Wifi()] * 2, [3, 3], "1", LONG_AGO_NS)
    for _ in range(5):
        dcf.arrive(0, FRAME, 0)
    station = dcf.stations[0]
    assert (len(station.waiting), station.drops, station.waiting_bytes) == (3, 2, 3 * 1514)


def test_an_idle_station_is_listened_to_only_while_it_could_be_first() -> None:
    dcf = Dcf([Wifi()] * 2, [10, 10], "1", 0)
    dcf.arrive(0, FRAME, 0)
    dcf.stations[0].slots, dcf.stations[1].slots = 3, 4
    assert dcf.could_be_first(dcf.next_start_ns()) == []
    dcf.stations[1].slots = 3
    assert dcf.could_be_first(dcf.next_start_ns()) == [1]
    assert dcf.could_be_first(None) == [0, 1]
