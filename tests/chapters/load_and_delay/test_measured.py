"""The chapter's measurements against theory, with stated tolerances."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import netlab as nl
from netlab import theory
from netlab_course.chapters import load_and_delay
from netlab_course.chapters.load_and_delay import experiments, settings
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import right_number
from tests.agreement import agrees

pytestmark = pytest.mark.library
CAPTURES = [nl.Capture("h1", "r1"), nl.Capture("r1", "h2")]


@pytest.mark.parametrize(("kind", "load"), [("one size", 0.5), ("one size", 0.8), ("mixed sizes", 0.5)])
def test_the_mean_delay_is_pollaczeks_and_khinchines(kind: str, load: float) -> None:
    """A run of 40 s is hundreds of relaxation times, so its scatter is 3 % at most."""
    run = nl.run(experiments.KINDS[kind][0](load, 40))
    agrees("mean delay (ms)", experiments.mean_delay_ms(run.flows), experiments.theory_ms(kind, load), relative=0.08)
    assert run.flows["loss_rate"].max() < 0.001, "only what is on its way at the end"


def test_a_capture_has_the_delays_that_the_receiver_counts_and_an_exponential_tail() -> None:
    run = nl.run(replace(settings.one_size(0.8, 30), captures=CAPTURES))
    delays_ms = experiments.delays_ms(run)
    agrees("mean delay (ms)", delays_ms.mean(), run.flows["delay_ms"].iloc[0], relative=0.002)
    for wait_ms in (2.0, 6.0):
        expected = theory.late_share(0.8, settings.SERVICE_MS, wait_ms)
        agrees("share", (delays_ms - settings.SERVICE_MS > wait_ms).mean(), expected, relative=0.15)


def test_five_runs_show_the_tails_of_theory() -> None:
    """Each share's interval, or twice it, holds theory's; nothing is left of rounding at a wait of 0."""
    scenarios = {
        (load, seed): replace(settings.one_size(load, 50), captures=CAPTURES, seed=seed)
        for load in (0.5, 0.8)
        for seed in (1, 2, 3, 4, 5)
    }
    found = nl.sweep(scenarios)
    for load in (0.5, 0.8):
        waits = [experiments.queue_waits_ms(found[load, seed]) for seed in (1, 2, 3, 4, 5)]
        for wait_ms in (0.0, 2.0, 5.0):
            share = experiments.late_share(waits, wait_ms)
            expected = float(theory.late_share(load, settings.SERVICE_MS, wait_ms))
            agrees(f"{load}, {wait_ms} ms", share.mean, expected, absolute=2 * share.half_width)
    tenfold = experiments.tenfold_ms(waits)
    agrees("a tenth of the late packets (ms)", tenfold.mean, 8.9, absolute=tenfold.half_width)


def calls(own: Any, number: int, spacing: str = "random", duration_s: float = 30) -> nl.Scenario:
    """A scenario of calls over a copy's line, as the notebook makes it; calls with a clock start at random moments."""
    starts_s = np.random.default_rng(1).uniform(0, 1 / 50, number).round(6) * (spacing == "even")
    rate_mbps = 50 * 8 * own.call_bytes / 1e6
    flows = [
        nl.Udp("h1", "h2", rate_mbps=rate_mbps, payload_bytes=own.call_bytes, spacing=spacing, start_s=start_s)
        for start_s in starts_s
    ]
    return nl.Scenario(settings.network(own.line_rate_mbps), flows, duration_s=duration_s, captures=CAPTURES)


@pytest.mark.parametrize(("line_rate_mbps", "call_bytes"), [(1, 92), (0.8, 252), (1.3, 132)])
def test_no_call_that_keeps_time_takes_20_ms(line_rate_mbps: float, call_bytes: int) -> None:
    own = SimpleNamespace(line_rate_mbps=line_rate_mbps, call_bytes=call_bytes)
    most = int(1000 / (50 * settings.call_service_ms(own)))  # type: ignore[arg-type]
    assert experiments.late_percent(nl.run(calls(own, most, "even", 5)), 20) == 0


def test_the_calls_that_fit_are_in_time_and_one_more_is_not() -> None:
    chapter = load_and_delay.begin("anna")
    number = int(right_number(judging_checks(chapter)["calls"]))
    late = [experiments.late_percent(nl.run(calls(chapter.own, number + more)), chapter.own.late_ms) for more in (0, 1)]
    assert late[0] < 1 < late[1]


def test_captures_have_the_delays_of_calls_during_a_download_and_of_nothing_else() -> None:
    """Open exercise 1: a fair queue lets calls overtake the download, so packets do not arrive in the order of leaving."""
    line = nl.topologies.chain([None, 2], [0, 0], 10_000, aqm="fq")
    call = nl.Udp("h1", "h2", rate_mbps=0.0688, payload_bytes=172, spacing="random")
    run = nl.run(line, [*[call] * 8, nl.Tcp("h1", "h2")], duration_s=10, captures=CAPTURES)
    delays_ms = run.flows.loc[run.flows["kind"] == "udp", "delay_ms"]
    agrees("mean delay (ms)", experiments.delays_ms(run).mean(), delays_ms.mean(), relative=0.002)


def test_a_call_during_a_download_waits_for_what_has_left_the_fair_queue() -> None:
    """Open exercise 1: the frame that the shaper has taken, what its bucket of 2018 bytes holds beyond a frame, and the rest
    of the frame on the line.
    """
    line = nl.topologies.chain([None, 2], [0, 0], 10_000, aqm="fq_codel")
    call = nl.Udp("h1", "h2", rate_mbps=0.0688, payload_bytes=172, spacing="random")
    delays_ms = experiments.delays_ms(nl.run(line, [call, nl.Tcp("h1", "h2")], duration_s=20, captures=CAPTURES))
    frame_ms, own_ms, bucket_ms = (theory.transmission_delay_ms(size, 2) for size in (1514, 214, 2018 - 1514))
    agrees("smallest delay (ms)", delays_ms.min(), frame_ms + bucket_ms + own_ms, relative=0.01)
    agrees("median delay (ms)", float(np.median(delays_ms)), 1.5 * frame_ms + bucket_ms + own_ms, relative=0.03)


@pytest.mark.slow
def test_sixty_runs_of_8_s_are_too_short_on_average() -> None:
    mean, half = nl.interval(nl.repeat(settings.one_size(0.95, 8), seeds=60)["delay_ms"])
    agrees("mean delay (ms)", mean, 16.1, absolute=0.05)
    agrees("half width (ms)", half, 0.9, absolute=0.05)
    assert mean + half < experiments.theory_ms("one size", 0.95)


def simulated_ms(*, empty: bool, same_number: bool, reps: int = 1500) -> float:
    """Mean delay of the first 2 s at 95 %, in a queue of which nothing is real."""
    rng = np.random.default_rng(1)
    load, service_ms, length_ms = 0.95, settings.SERVICE_MS, 2000.0

    def work_ms(arrivals_ms: NDArray[np.float64], before_ms: float = 0.0) -> NDArray[np.float64]:
        """Return the work in the queue when each packet comes (Lindley's recursion)."""
        steps = np.concatenate([[0.0], np.cumsum(service_ms - np.diff(arrivals_ms))])
        return np.asarray(np.maximum(steps - np.minimum.accumulate(steps), steps + before_ms))

    long_run_ms = work_ms(np.cumsum(rng.exponential(service_ms / load, 1_000_000)))[50_000::50]
    means_ms = []
    for _ in range(reps):
        packets = load * length_ms / service_ms
        arrivals_ms = np.sort(rng.uniform(0, length_ms, round(packets) if same_number else rng.poisson(packets)))
        means_ms.append(work_ms(arrivals_ms, 0.0 if empty else rng.choice(long_run_ms)).mean() + service_ms)
    return float(np.mean(means_ms))


def test_an_empty_beginning_and_the_same_number_each_lower_the_mean_of_short_runs() -> None:
    """The means that the chapter quotes, to within three standard errors of 1500 runs."""
    agrees("neither (ms)", simulated_ms(empty=False, same_number=False), 17.3, absolute=0.8)
    agrees("the empty beginning (ms)", simulated_ms(empty=True, same_number=False), 14.8, absolute=0.6)
    agrees("the same number (ms)", simulated_ms(empty=False, same_number=True), 15.6, absolute=0.5)
    agrees("both (ms)", simulated_ms(empty=True, same_number=True), 13.5, absolute=0.3)
