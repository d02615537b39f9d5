"""The contest of congestion controls: each runs in networks that nobody has seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from netlab.measure.results import Run
from netlab.runs import experiment
from netlab_classroom.contest import networks, scoring
from netlab_classroom.contest.drawing import Plane
from netlab_classroom.contest.game import Game, TrialResult, Wording
from netlab_classroom.contest.networks import NetworkTrial
from netlab_classroom.contest.opponents import OPPONENTS
from netlab_classroom.contest.scoring import Score
from netlab_classroom.grading.callee import CONTROL_METHODS
from netlab_classroom.grading.helper import stop_requested

REFERENCES = ("cubic", "bbr", "vegas", "reno")


class Controls(Game):
    """The game of congestion controls, whose trials are networks."""

    key = "controls"
    methods = CONTROL_METHODS
    unfinished_score = Score(0.0, 0.0, 1.0, 0.0).to_dict()
    displayed_trial = "walk"
    reference = "cubic"
    wording = Wording(
        heading="Rate and delay",
        about="Mean over the networks in which it was alone. Good is right and below.",
        x_label="Goodput over the most that the network carries",
        y_label="RTT, 95th percentile, over the shortest",
        series="window",
        series_label="Window (segments)",
    )

    def draw(self, seed: str) -> list[NetworkTrial]:
        """Return the networks that follow from a seed (any text), in the order of the board."""
        return networks.draw(seed)

    def references(self) -> dict[str, object]:
        """Return the congestion controls that compete with the students', by name: Linux's as their names, netlab's
        opponents as classes.
        """
        return {**{name: name for name in REFERENCES}, **OPPONENTS}

    def is_own(self, reference: str) -> bool:
        """Return whether the congestion control of this name is one of netlab's opponents, not Linux's."""
        return reference in OPPONENTS

    def play(self, trial: NetworkTrial, competitor: object) -> TrialResult:
        """Run a network with a congestion control (a Linux name, a class, or a proxy for a student's), and return its
        score ("points", "rate", "delay" and "fairness") and its first flow's window over time, pairs of s and segments.
        Raises KeyboardInterrupt when the contest is stopped, RunError when the run fails.
        """
        run = run_control(trial, competitor)
        return TrialResult(scoring.score(trial, run).to_dict(), _windows(run))

    def spot(
        self, trials: Sequence[NetworkTrial], scores: Mapping[str, Mapping[str, float]]
    ) -> tuple[float, float] | None:
        """Return a congestion control's place in the figure, over the networks in which it is alone: the mean share of
        the rate (0 to 1), and the geometric mean of the delay as a multiple of the shortest RTT; None if nothing
        arrived in any.
        """
        alone = [scores[trial.key] for trial in trials if trial.rule == "power"]
        if not any(each["rate"] for each in alone):
            return None
        delay = math.exp(sum(math.log(each["delay"]) for each in alone) / len(alone))
        return sum(each["rate"] for each in alone) / len(alone), delay

    def plane(self, spots: Sequence[tuple[float, float]]) -> Plane:
        """Return the axes of the figure for these places: the share of the rate from 0 to 1, and the delay,
        logarithmic, from 1 to a little above the longest.
        """
        return Plane((0.0, 1.0), (1.0, max([2.0, *(delay for _, delay in spots)]) * 1.05), log_y=True)

    def spot_in_words(self, x: float, y: float) -> str:
        """Return a place in the figure as text: the share `x` of the rate in per cent, and the delay `y` as a multiple
        of the shortest RTT.
        """
        return f"{100 * x:.0f} % of the rate, {y:.2f} times the shortest RTT"


def run_control(trial: NetworkTrial, control: object) -> Run:
    """Run a trial's scenario with a congestion control (a Linux name, a class, or a proxy for a student's) in the
    library engine. Raises KeyboardInterrupt when the contest was stopped before, RunCancelled when it is stopped
    meanwhile, and RunError when the run fails.
    """
    if stop_requested.is_set():
        raise KeyboardInterrupt
    return experiment.run(trial.scenario(control), engine="library", progress=False, cancel=stop_requested)


def _windows(run: Run) -> list[list[float]]:
    """Return the window of a run's first flow over time: pairs of the time in s and the window in segments (the last
    known one; 0 before the first sample).
    """
    first: Any = run.intervals[run.intervals["flow"] == run.flows["flow"].iloc[0]]
    pairs = zip(first["t_s"], first["cwnd_segments"].ffill().fillna(0), strict=True)
    return [[round(float(t_s), 3), float(segments)] for t_s, segments in pairs]
