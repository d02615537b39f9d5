from __future__ import annotations

import numpy as np
import pytest

from netlab import theory

SERVICE_MS = 2.0


def waits_ms(load: float, seed: int, sizes: np.ndarray) -> np.ndarray:
    """Waits of packets that come at random moments, by Lindley's recursion, without netlab."""
    came_ms = np.cumsum(np.random.default_rng(seed).exponential(sizes.mean() / load, len(sizes)))
    before = np.concatenate([[0.0], np.cumsum(sizes)[:-1]])
    found: np.ndarray = np.maximum.accumulate(came_ms - before) + before - came_ms
    return found


@pytest.mark.parametrize(("load", "variation"), [(0.5, 0.0), (0.8, 0.0), (0.8, 1.0)])
def test_the_mean_wait_is_what_a_simulated_queue_has(load: float, variation: float) -> None:
    draw = np.random.default_rng(1)
    number = 300_000
    sizes = draw.exponential(SERVICE_MS, number) if variation else np.full(number, SERVICE_MS)
    expected = theory.mean_wait_ms(load, SERVICE_MS, variation)
    assert waits_ms(load, 2, sizes).mean() == pytest.approx(expected, rel=0.03)


def test_the_waits_of_the_textbook() -> None:
    """M/M/1: load / (mu - lambda); M/D/1 waits half as long (Bertsekas and Gallager, chapter 3)."""
    mm1 = theory.mean_wait_ms(0.8, SERVICE_MS, 1.0)
    assert mm1 == pytest.approx(0.8 / (1 / SERVICE_MS - 0.8 / SERVICE_MS))
    assert theory.mean_wait_ms(0.8, SERVICE_MS) == pytest.approx(mm1 / 2)


@pytest.mark.parametrize(("load", "packets"), [(0.3, 1), (0.5, 0.5), (0.5, 3), (0.8, 0), (0.8, 3.9), (0.8, 8)])
def test_the_tail_is_that_of_a_simulated_queue(load: float, packets: float) -> None:
    waits = waits_ms(load, 3, np.full(400_000, SERVICE_MS))
    expected = theory.late_share(load, SERVICE_MS, packets * SERVICE_MS)
    assert (waits > packets * SERVICE_MS).mean() == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("load", [0.2, 0.5, 0.8, 0.95])
def test_erlangs_sum_and_its_limit_meet(load: float) -> None:
    near = theory.late_share(load, SERVICE_MS, SERVICE_MS * np.array([3.999999, 4.000001]))
    assert near[0] == pytest.approx(near[1], rel=0.01)


def test_near_full_load_the_tail_falls_with_the_mean_wait() -> None:
    wait = theory.mean_wait_ms(0.99, SERVICE_MS)
    assert theory.late_share(0.99, SERVICE_MS, 5 * wait) == pytest.approx(np.exp(-5), rel=0.03)


def test_means_scatter_by_the_relaxation_time() -> None:
    """100 runs at 90 %, of 200 relaxation times each: the root of 2 / 200."""
    packets = round(200 * theory.relaxation_ms(0.9, SERVICE_MS) * 0.9 / SERVICE_MS)
    means = [waits_ms(0.9, seed, np.full(packets, SERVICE_MS)).mean() for seed in range(100)]
    assert np.std(means) / np.mean(means) == pytest.approx(0.1, rel=0.25)


def scatter_in_relaxations(sizes: str, number: str, seed: int = 1) -> float:
    """Return the relative variance of the mean wait of 400 runs at 90 %, times their length in relaxation times, which
    is 2 for packets at random moments. `sizes` is "equal" or "exponential"; of `number`, "any" is a Poisson number of
    packets, "fixed" the same number, and "work" the same number with the same work in all.
    """
    draw, runs, length, load = np.random.default_rng(seed), 400, 100, 0.9
    time = length * theory.relaxation_ms(load, 1.0, 0.0 if sizes == "equal" else 1.0)
    packets = int(load * time)
    numbers = draw.poisson(packets, runs) if number == "any" else np.full(runs, packets)
    gaps = draw.exponential(1 / load, size=(numbers.max() + 1, runs))
    if number != "any":
        gaps *= time / gaps.sum(axis=0)
    services = np.ones_like(gaps) if sizes == "equal" else draw.exponential(size=gaps.shape)
    if number == "work":
        services *= packets / services[:packets].sum(axis=0)
    wait, total = np.zeros(runs), np.zeros(runs)
    for place in range(1, numbers.max()):
        wait = np.maximum(0, wait + services[place - 1] - gaps[place])
        total += np.where(place < numbers, wait, 0)
    means = total / numbers
    return float(length * means.var(ddof=1) / means.mean() ** 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "number", "left"), [("equal", "fixed", 0.5), ("exponential", "fixed", 0.75), ("exponential", "work", 0.5)]
)
def test_the_same_work_and_not_the_same_number_takes_half_of_the_scatter_away(
    sizes: str, number: str, left: float
) -> None:
    """The same number of different sizes takes away 1 / (2 * (1 + variation)), a quarter for exponential sizes.

    Each of the two variances of 400 runs is known to 7 % of itself or worse, so their ratio to about 0.1.
    """
    assert scatter_in_relaxations(sizes, number) / scatter_in_relaxations(sizes, "any", seed=2) == pytest.approx(
        left, abs=0.15
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.mean_wait_ms(1, 2), "below 1"),
        (lambda: theory.mean_wait_ms(95, 2), "for 95 % write 0.95"),
        (lambda: theory.mean_wait_ms(0.5, 0), "service_ms"),
        (lambda: theory.relaxation_ms(0.5, 2, -1), "variation"),
        (lambda: theory.late_share(0, 2, 1), "load"),
        (lambda: theory.late_share(0.5, 2, -1), "wait_ms"),
    ],
)
def test_value_out_of_range_is_refused(call: object, words: str) -> None:
    with pytest.raises(theory.TheoryError, match=words):
        call()
