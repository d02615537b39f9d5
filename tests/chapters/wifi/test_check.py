"""The chapter's checks: right answers pass."""

from __future__ import annotations

import pytest

from netlab_course.chapters import wifi
from netlab_course.chapters.opening import judging_checks
from tests.chapters.checking import failure_text, passes


def ceiling(payload_bytes: int, rate_mbps: int) -> float:
    symbols = -(-(8 * (payload_bytes + 64) + 22) // (4 * rate_mbps))
    return 8 * payload_bytes / (28 + 67.5 + 26 + 4 * symbols + 44)


@pytest.mark.parametrize(("key", "answer"), [("air", ceiling), ("payload", 704), ("airtime", 92)])
def test_right_answers_pass(key: str, answer: object) -> None:
    passes(judging_checks(wifi.begin())[key], answer)


@pytest.mark.parametrize("token", ["", "anna", "ben", "chris"])
def test_each_copy_has_a_payload_that_just_gets_enough(token: str) -> None:
    opened = wifi.begin(token)
    payload = next(p for p in range(1, 1473) if ceiling(p, opened.own.air_mbps) >= opened.own.target_mbps)
    passes(judging_checks(opened)["payload"], payload)
    assert 100 < payload < 1400


@pytest.mark.parametrize("payload_bytes", [700, 703, 705])
def test_a_payload_that_does_not_get_enough_or_is_not_the_smallest_fails(payload_bytes: int) -> None:
    assert "got" in failure_text(judging_checks(wifi.begin())["payload"], payload_bytes)


def test_payload_one_byte_off_is_reported() -> None:
    check = judging_checks(wifi.begin())["payload"]
    assert "One byte less does it, too." in failure_text(check, 705)
    assert "This payload just misses it." in failure_text(check, 703)


@pytest.mark.parametrize("headers_bytes", [28, 36])
def test_some_headers_of_64_bytes_are_reported(headers_bytes: int) -> None:
    told = failure_text(
        judging_checks(wifi.begin())["air"],
        lambda payload_bytes, rate_mbps: (
            payload_bytes * 8 / (165.5 + 4 * -(-(8 * (payload_bytes + headers_bytes) + 22) // (4 * rate_mbps)))
        ),
    )
    assert "the wireless frame has 36 bytes of them, UDP and IP have 28" in told


def exchange_us(payload_bytes: int, rate_mbps: int) -> int:
    ack_us = {6: 50, 9: 50, 12: 38, 18: 38, 54: 34}[rate_mbps]
    return 26 + 4 * -(-(8 * (payload_bytes + 64) + 22) // (4 * rate_mbps)) + 10 + ack_us


@pytest.mark.parametrize("token", ["", *"abcdefgh"])
def test_each_copy_has_a_payload_for_the_same_time_on_the_air(token: str) -> None:
    opened = wifi.begin(token)
    slow_mbps = opened.own.slow_mbps
    fitting = [p for p in range(1, 1473) if exchange_us(p, slow_mbps) <= exchange_us(1472, 54)]
    passes(judging_checks(opened)["airtime"], fitting[-1])
    check = judging_checks(opened)["airtime"]
    assert "takes no longer" in failure_text(check, fitting[-1] - 1)
    assert "one symbol too many" in failure_text(check, fitting[-1] + 1)
    assert "64 of them are headers" in failure_text(check, fitting[-1] + 64)
    with_backoff = max(p for p in range(1, 1473) if exchange_us(p, slow_mbps) <= 95.5 + exchange_us(1472, 54))
    assert "DIFS and backoff" in failure_text(check, with_backoff)


def test_copies_have_different_slow_stations() -> None:
    assert {wifi.begin(token).own.slow_mbps for token in "abcdefghijklmnop"} == {6, 9, 12, 18}


def test_copies_have_different_half_widths_and_statements_on_both_sides_of_the_mean() -> None:
    """Two senders get about 30.3 Mbit/s, which lies between the numbers of the statements, clearly for each width."""
    own = [wifi.begin(token).own for token in ["", *"abcdefghijklmnop"]]
    assert {each.wanted_mbps for each in own} == {0.18, 0.2, 0.22}
    assert {each.stated_mbps > 30.3 for each in own} == {True, False}
    assert all(abs(each.stated_mbps - 30.3) > 2 * each.wanted_mbps for each in own)
    # A class of four has both verdicts.
    assert {wifi.begin(token).own.stated_mbps > 30.3 for token in ("", "anna", "ben", "carla")} == {True, False}
