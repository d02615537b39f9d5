"""Scores of runs; docs/how-to/contest.md describes the same rules."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from netlab.measure.results import Run
from netlab.theory import jain_index
from netlab_classroom.contest.networks import NetworkTrial

FULL_POINTS = 100.0
PERCENTILE = 95
DIGITS = 2


@dataclass(frozen=True)
class Score:
    """The score of a congestion control in a network, and the measurements from which it follows."""

    points: float
    """0 to 100."""
    rate: float
    """Goodput over the most that the network carries; with two of its own that of both."""
    delay: float
    """The 95th percentile of the RTT over that of a segment that meets nobody."""
    fairness: float
    """Jain's index of the two flows, if the control competes with another."""

    def to_dict(self) -> dict[str, float]:
        """Return the fields by name, rounded: points to 2 decimals, the others to 4."""
        return {name: round(value, DIGITS + 2 * (name != "points")) for name, value in asdict(self).items()}


def score(trial: NetworkTrial, run: Run) -> Score:
    """Return the score of the congestion control that was the first flow (by the rule "pair" both flows) of a run of a
    trial's scenario, with the points of the trial's rule: rate over delay for "power", the same times the fairness for
    "pair", and twice the slower flow's share of the capacity, at most 1, for "share", all times 100.
    """
    goodputs = run.flows["goodput_mbps"].fillna(0.0).to_numpy()
    own = goodputs if trial.rule == "pair" else goodputs[:1]
    labels = run.flows["flow"][: len(own)]
    rtts = run.intervals.loc[run.intervals["flow"].isin(labels), "rtt_ms"].dropna()
    rate = min(1.0, float(own.sum()) / trial.capacity_mbps)
    delay = max(1.0, float(np.percentile(rtts, PERCENTILE)) / trial.rtt_ms) if len(rtts) else 1.0
    fairness = float(jain_index(goodputs)) if goodputs.any() else 0.0
    if trial.rule == "share":
        points = min(1.0, 2 * float(goodputs.min()) / trial.capacity_mbps)
    else:
        points = rate / delay * (fairness if trial.rule == "pair" else 1.0)
    return Score(FULL_POINTS * points, rate, delay, fairness)


def total(scores: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the mean of the points, 0 to 100, of all trials, rounded to 2 decimals; 0 if there are none. `scores` has
    a score with "points" for each trial, by its key.
    """
    return round(sum(each["points"] for each in scores.values()) / len(scores), DIGITS) if scores else 0.0
