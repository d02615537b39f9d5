"""Moments to the nanosecond, and roots that every processor computes alike."""

import random
import time

import pytest

from netlab_engines.sockets.moments import nth_root, sleep_until_ns


def test_a_root_is_right_to_fifteen_digits() -> None:
    chance = random.Random(1)  # noqa: S311 (no secret)
    for n in (1, 2, 3, 10, 1000, 1_000_000):
        for value in [0.0, 2**-53, 1 - 2**-53, *(chance.random() for _ in range(300))]:
            assert nth_root(value, n) == pytest.approx(value ** (1 / n), rel=1e-15, abs=0)
            assert 0 <= nth_root(value, n) <= 1


def test_known_roots_keep_their_bits() -> None:
    """The library kernel's program has the same steps in C; what these give is in what was measured."""
    found = [nth_root(value, n).hex() for value, n in ((0.3, 7), (0.9, 1000), (2**-53, 3))]
    assert found == ["0x1.af1852ac8937ap-1", "0x1.fff230dfbcec7p-1", "0x1.428a2f98d728ep-18"]


def test_a_sleep_ends_at_its_moment_at_the_earliest() -> None:
    when_ns = time.monotonic_ns() + 1_000_001
    sleep_until_ns(when_ns)
    assert time.monotonic_ns() >= when_ns
    sleep_until_ns(when_ns)
