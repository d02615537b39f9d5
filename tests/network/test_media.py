from __future__ import annotations

import pytest

from netlab.network import media
from netlab.network.media import Wifi


@pytest.mark.parametrize(
    ("options", "packet_bytes", "expected_us"),
    [
        ({}, 1500, 254),
        ({}, 40, 38),
        ({}, 52, 42),
        ({"rate_mbps": 6}, 1500, 20 + 4 * 513 + 6),
        ({"rate_mbps": 24}, 20, 20 + 4 * 5 + 6),
    ],
)
def test_a_frame_takes_whole_symbols_of_four_microseconds(
    options: dict[str, int], packet_bytes: int, expected_us: int
) -> None:
    """1500 and 40 bytes: 57 and 3 symbols, as M. Gast (2003) has them; the others by hand from 17.4.3."""
    assert Wifi(**options).data_us(packet_bytes) == expected_us


def test_gasts_transactions_of_2003_come_out() -> None:
    """2336, 1113 and 750 a second: a segment of 1500 bytes and its acknowledgement of 40, no backoff, and (unlike the rule
    that our acknowledgements follow) a MAC acknowledgement at 54 Mbit/s, 30 us.
    """
    ours_us, his_us = 34, 30

    def transactions(**options: object) -> float:
        wifi = Wifi(**options)
        assert wifi.ack_us == ours_us
        both_us = sum(wifi.difs_us + wifi.exchange_us(size) - ours_us + his_us for size in (1500, 40))
        return 1e6 / both_us

    assert int(transactions()) == 2336
    mixed = {"short_slot": False, "protection_rate_mbps": 11}
    assert int(transactions(protection="cts", **mixed)) == 1113
    assert int(transactions(protection="rts", **mixed)) == 750


def test_acknowledgements_take_the_fastest_mandatory_rate_below_the_data() -> None:
    assert [Wifi(rate_mbps=rate).ack_us for rate in (6, 9, 12, 18, 24, 54)] == [50, 50, 38, 38, 34, 34]


def test_small_frames_go_unprotected() -> None:
    wifi = Wifi(protection="rts", protect_above_bytes=250)
    assert wifi.protection_us(250 - 36) == 0
    assert wifi.protection_us(250 - 35) == 34 + 10 + 34 + 10
    assert wifi.collision_us(1500) == 34 + 10 + 34
    assert wifi.collision_us(100) == wifi.exchange_us(100)


def test_the_slots_of_11b_widen_difs_too() -> None:
    assert (Wifi().difs_us, Wifi(short_slot=False).difs_us) == (28, 50)


def test_a_full_frame_waits_for_half_the_window_in_the_mean() -> None:
    """By hand: DIFS 28, 7.5 slots of 9, 254 for the frame, SIFS 10, 34 for its acknowledgement."""
    assert Wifi().slowest_us == 28 + 7.5 * 9 + 254 + 10 + 34


@pytest.mark.parametrize(
    ("medium", "options", "sentence"),
    [
        (None, {"rate_mbps": 54}, "needs a medium"),
        ("802.11z", {}, "allowed: 802.11g"),
        ("802.11g", {"rate": 54}, "rate_mbps"),
        ("802.11g", {"rate_mbps": 11}, "6, 9, 12, 18, 24, 36, 48, 54"),
        ("802.11g", {"rate_mbps": True}, "got True"),
        ("802.11g", {"protection": "yes"}, "none, cts, rts"),
        ("802.11g", {"protection_rate_mbps": 54}, "6, 12, 24, 1, 2, 5.5, 11"),
        ("802.11g", {"protect_above_bytes": -1}, "0 or more"),
        ("802.11g", {"short_slot": 1}, "True or False, got 1; write short_slot=True"),
        ("802.11g", {"error_rate": 1}, "[0, 1)"),
        ("802.11g", [], "mapping"),
    ],
)
def test_a_mistake_gets_its_sentence(medium: object, options: object, sentence: str) -> None:
    (message,) = media.problems(medium, options)
    assert sentence in message


def test_valid_medium_gets_no_message() -> None:
    assert not list(media.problems(None, {}))
    assert not list(media.problems("802.11g", {"rate_mbps": 24, "protection": "cts", "protection_rate_mbps": 5.5}))
