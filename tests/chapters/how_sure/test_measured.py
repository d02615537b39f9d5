"""What the chapter says of its measurements holds, with stated bounds."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab.chapters import how_sure
from netlab.chapters.how_sure import experiments
from tests.figures import agrees

pytestmark = pytest.mark.library

chapter = how_sure.begin()
settings = chapter.settings


def test_more_room_loses_less_of_the_same_arrivals_in_every_run() -> None:
    """The interval of paired differences is five times narrower than with other seeds, at least."""
    small, large = (100 * nl.repeat(settings.bursts(room), seeds=6).set_index("seed")["loss_rate"] for room in (20, 22))
    assert (small > large).all()
    paired, apart = nl.interval(small - large), nl.interval(small - large.iloc[::-1].to_numpy())
    assert paired.half_width < apart.half_width / 5


def test_a_flow_loses_what_its_link_says() -> None:
    """Sixty flows of 200 datagrams: the mean within three standard errors of 0.1."""
    run = nl.run(**_given(settings.known_loss(flows=60)))
    agrees("loss rate", run.flows["loss_rate"].mean(), 0.1, absolute=3 * (0.1 * 0.9 / 200 / 60) ** 0.5)


def test_a_clockwork_pair_gives_each_seed_the_same_and_each_start_another_result() -> None:
    table = experiments.clockwork_table([0, 0.1], seeds=2)
    assert (table["half width"] == 0).all()
    assert abs(table["loss rate"].diff().iloc[-1]) > 0.3


def _given(scenario: nl.Scenario) -> dict:
    return {
        "topology": scenario.topology,
        "traffic": scenario.traffic,
        "duration_s": scenario.duration_s,
        "interval_s": scenario.interval_s,
    }
