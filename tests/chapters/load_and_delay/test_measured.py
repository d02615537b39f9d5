"""The chapter's measurements against theory, with stated tolerances."""

from __future__ import annotations

from dataclasses import replace

import pytest

import netlab as nl
from netlab import theory
from netlab.chapters import load_and_delay
from netlab.chapters.load_and_delay import experiments, settings
from tests.figures import agrees

pytestmark = pytest.mark.library


@pytest.mark.parametrize(("kind", "load"), [("one size", 0.5), ("one size", 0.8), ("mixed sizes", 0.5)])
def test_the_mean_delay_is_pollaczeks_and_khinchines(kind: str, load: float) -> None:
    """One run of 40 s: hundreds of relaxation times, so a scatter of 3 % at most."""
    run = nl.run(experiments.KINDS[kind][0](load, 40))
    agrees("mean delay (ms)", experiments.mean_delay_ms(run), experiments.theory_ms(kind, load), relative=0.08)
    assert run.flows["loss_rate"].max() < 0.001, "only what is on its way at the end"


def test_a_capture_has_the_delays_that_the_receiver_counts_and_an_exponential_tail() -> None:
    run = nl.run(replace(settings.one_size(0.8, 30), captures=settings.CAPTURES))
    delays_ms = experiments.delays_ms(run)
    agrees("mean delay (ms)", delays_ms.mean(), run.flows["delay_ms"].iloc[0], relative=0.002)
    for wait_ms in (2.0, 6.0):
        expected = theory.late_share(0.8, settings.SERVICE_MS, wait_ms)
        agrees("share", (delays_ms - settings.SERVICE_MS > wait_ms).mean(), expected, relative=0.15)


def test_the_calls_that_fit_are_in_time_and_one_more_is_not() -> None:
    chapter = load_and_delay.begin("anna")
    number = int(chapter.check.calls.figure())
    late = [experiments.late_percent(nl.run(settings.calls(chapter.own, number + more))) for more in (-1, 2)]
    assert late[0] < 1 < late[1]
