from __future__ import annotations

import random

import pytest

from netlab import theory
from netlab.theory.wifi import collisions_per_ack


def test_the_time_of_a_full_packet_by_hand() -> None:
    """DIFS 28, 7.5 slots of 9, 57 symbols and 26 around them, SIFS 10, acknowledgement 34."""
    assert theory.wifi_exchange_us(1500) == 28 + 67.5 + 254 + 10 + 34
    assert theory.wifi_exchange_us(52) == 28 + 67.5 + 42 + 10 + 34


def test_tcp_is_two_segments_and_an_acknowledgement() -> None:
    assert theory.wifi_tcp_limit_mbps(contention=False) == pytest.approx(2 * 1448 * 8 / (2 * 393.5 + 181.5))


def test_with_contention_every_idle_slot_is_the_senders() -> None:
    """By hand: 2 * 298 + 86 busy, c collisions of 298, 3 + c times DIFS, 15 + 15.5 c slots."""
    c = collisions_per_ack()
    took_us = 2 * 298 + 86 + c * 298 + (3 + c) * 28 + (15 + 15.5 * c) * 9
    assert theory.wifi_tcp_limit_mbps() == pytest.approx(2 * 1448 * 8 / took_us)


def test_drawing_it_many_times_gives_as_many_collisions_per_acknowledgement() -> None:
    draw = random.Random(1).randint  # noqa: S311 (a seeded draw is what is wanted)
    collisions, acks = 0, 50_000
    for _ in range(acks):
        sender, receiver = draw(0, 15), draw(0, 15)
        window = 15
        while receiver >= sender:
            if receiver == sender:
                collisions += 1
                window = 2 * window + 1
                sender, receiver = draw(0, window), draw(0, window)
            else:
                receiver -= sender
                sender = draw(0, 15)
    assert collisions_per_ack() == pytest.approx(collisions / acks, rel=0.03)


def test_udp_approaches_the_rate_of_the_slowest_medium_and_half_of_the_fastest() -> None:
    """The parts of a frame's time that do not depend on the rate are 8 % at 6 Mbit/s and 45 % at 54."""
    assert theory.wifi_udp_limit_mbps(1472, {"rate_mbps": 6}) / 6 == pytest.approx(0.877, abs=0.005)
    assert theory.wifi_udp_limit_mbps(1472) / 54 == pytest.approx(0.554, abs=0.005)


def test_single_station_never_collides() -> None:
    alone = theory.wifi_saturation(1, 1000)
    assert alone.collision_probability == 0
    assert alone.goodput_mbps == pytest.approx(theory.wifi_udp_limit_mbps(1000))


def test_bianchis_fixed_point_solves_both_of_its_equations() -> None:
    """Both with W = 16 and m = 6, put in by themselves."""
    for stations in (2, 5, 50):
        p = theory.wifi_saturation(stations, 1472).collision_probability
        tau = 2 * (1 - 2 * p) / ((1 - 2 * p) * 17 + p * 16 * (1 - (2 * p) ** 6))
        assert p == pytest.approx(1 - (1 - tau) ** (stations - 1), rel=1e-6)


def test_more_stations_collide_more() -> None:
    chances = [theory.wifi_saturation(n, 1472).collision_probability for n in (2, 3, 10, 100)]
    assert chances == sorted(chances)
    assert chances[-1] < 1


def test_rts_pays_only_where_collisions_are_many() -> None:
    rts = {"protection": "rts"}
    assert theory.wifi_udp_limit_mbps(1472, rts) < theory.wifi_udp_limit_mbps(1472)
    assert theory.wifi_saturation(60, 1472, rts).goodput_mbps > theory.wifi_saturation(60, 1472).goodput_mbps


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.wifi_exchange_us(10),
        lambda: theory.wifi_udp_limit_mbps(1473),
        lambda: theory.wifi_tcp_limit_mbps(1449),
        lambda: theory.wifi_saturation(0, 100),
        lambda: theory.wifi_udp_limit_mbps(100, {"rate_mbps": 11}),
    ],
)
def test_value_out_of_range_is_refused(call: object) -> None:
    with pytest.raises(theory.TheoryError):
        call()
