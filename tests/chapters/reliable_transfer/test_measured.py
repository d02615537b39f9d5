"""The chapter's transfers over the kernel's UDP, against theory with stated tolerances."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab_course.chapters.reliable_transfer import experiments, settings
from netlab_course.chapters.reliable_transfer.channel import Protocol
from netlab_course.chapters.reliable_transfer.programs import SelectiveReceiver, SelectiveSender
from tests.agreement import agrees

pytestmark = pytest.mark.library

WIDE_SPAN = 127


@pytest.mark.parametrize(
    ("name", "protocol", "window"),
    [
        ("go-back-N", experiments.STOP_AND_WAIT, 1),
        ("go-back-N", experiments.GO_BACK_N, 16),
        ("selective repeat", experiments.SELECTIVE_REPEAT, 4),
    ],
)
def test_a_transfer_delivers_all_once_at_the_formulas_rate(name: str, protocol: Protocol, window: int) -> None:
    """40 s with 2 % of loss: half of the time is spent after some 60 losses, so a scatter of a tenth."""
    flow = nl.run(settings.transfer(*protocol.ends(window), duration_s=40, seed=3)).flows.iloc[0]
    assert flow[["duplicates", "missing_bytes", "wrong_bytes"]].sum() == 0
    agrees("goodput (Mbit/s)", flow["goodput_mbps"], experiments.theory_mbps(name, float(window)), relative=0.25)


def test_without_losses_the_formula_holds_to_a_few_per_cent() -> None:
    ends = experiments.SELECTIVE_REPEAT.ends(8)
    flow = nl.run(settings.transfer(*ends, duration_s=5, topology=settings.network(loss_rate=0.0))).flows.iloc[0]
    agrees(
        "goodput (Mbit/s)", flow["goodput_mbps"], experiments.theory_mbps("selective repeat", 8.0, 0.0), relative=0.03
    )


def test_a_window_that_counts_packets_in_flight_keeps_moving() -> None:
    wide = SelectiveSender(32, WIDE_SPAN), SelectiveReceiver(WIDE_SPAN)
    narrow = experiments.SELECTIVE_REPEAT.ends(32)
    found = [nl.run(settings.transfer(*ends, duration_s=5)).flows["goodput_mbps"].iloc[0] for ends in (wide, narrow)]
    agrees("goodput (Mbit/s)", found[0], experiments.theory_mbps("selective repeat", 32.0), relative=0.05)
    assert found[1] < 0.8 * found[0]


def test_a_timer_shorter_than_the_round_trip_fills_a_shared_link_with_copies() -> None:
    cases: dict[str, list[nl.Tcp | nl.Program]] = {
        "a second TCP": [nl.Tcp("h1", "h2")],
        "selective repeat": [nl.Program("h1", "h2", *experiments.SELECTIVE_REPEAT.ends(32))],
    }
    scenarios = {
        (name, seed): nl.Scenario(
            settings.network(loss_rate=0.0),
            [nl.Tcp("h1", "h2", start_s=0.1 * seed), *others],
            duration_s=20,
            interval_s=1,
            seed=seed,
        )
        for name, others in cases.items()
        for seed in (1, 2, 3)
    }
    found = experiments.shared_goodputs(nl.sweep(scenarios)).groupby("beside").mean()
    both_mbps = found["tcp_mbps"] + found["other_mbps"]
    assert found.loc["selective repeat", "rtt_ms"] > settings.TIMEOUT_MS
    assert found.loc["selective repeat", "sent_for_each"] > 2
    assert both_mbps["selective repeat"] < 0.75 * both_mbps["a second TCP"]
