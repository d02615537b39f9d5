"""The opponents on the networks: no control is the best on all of them."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab_classroom.contest import networks, scoring
from netlab_classroom.contest.opponents import OPPONENTS

BEST = {"deep": "DelayBased", "lossy": "RateBased", "cubic": "LossBased"}


@pytest.mark.library
def test_no_opponent_is_the_best_in_all_networks() -> None:
    trials = [trial for trial in networks.draw("1") if trial.key in BEST]
    found = {}
    for trial in trials:
        runs = {
            name: nl.run(trial.scenario(each), engine="library", progress=False) for name, each in OPPONENTS.items()
        }
        points = {name: scoring.score(trial, run).points for name, run in runs.items()}
        assert all(0 < each <= 100 for each in points.values())
        found[trial.key] = max(points, key=lambda name: points[name])
    assert found == BEST


def test_a_seed_draws_its_networks_and_no_others() -> None:
    one, again, other = ([trial.scenario("cubic").to_dict() for trial in networks.draw(word)] for word in "aab")
    assert one == again and all(own != others for own, others in zip(one, other, strict=True))
    for word in "abcdefgh":
        assert not [problem for trial in networks.draw(word) for problem in trial.network.problems()]
