"""Checks of the chapter "Your own congestion control", which run the student's classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from netlab import theory
from netlab.base.errors import NetlabError
from netlab.base.headers import FRAME_BYTES, MSS_BYTES
from netlab.base.units import BITS_PER_BYTE, MS_PER_S
from netlab.measure.results import Run
from netlab.runs import experiment
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab.traffic.own import is_own, own_name
from netlab.traffic.tcp import CONTROL_METHODS
from netlab_course.answers import answer_in_words, with_unit
from netlab_course.chapters.own_control import experiments, settings, windows
from netlab_course.checks import Number, Result, Status
from netlab_course.conditions import Build, Condition, kept_for_a_proxy
from netlab_course.function_checks import Function
from netlab_course.misconceptions import formula_slips, slips
from netlab_course.output_limit import last_lines
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement
from netlab_user_code.method_calls import has_method

Runs = dict[str, Any]
BEST_WINDOW_TOLERANCE, BEST_WINDOW_SEGMENTS = 0.06, 2
IN_FLIGHT_SEGMENTS, UNUSED_S = 20, 3
MIN_J, MIN_TIMES, MIN_PART, MAX_QUEUE_MS = 0.8, 1.5, 0.6, 30


@dataclass(kw_only=True, repr=False)
class Control(Build):
    """A check of a congestion control class, whose behaviour in some runs must fulfil conditions."""

    kind: type = dict
    runs: Callable[[Any], Runs]
    """Takes the class and returns the results of its runs."""
    methods: Sequence[str]
    """Methods that the class must define; netlab does what Linux's Reno does for missing ones."""

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a congestion control's class: its methods, that its flows share no attribute of the
        class, then the conditions on its runs, which are made here; without methods of its own it is not attempted.
        """
        if not is_own(answer) or (callable(answer) and not isinstance(answer, type)):
            said = f"expected a class, got {answer_in_words(answer)}; pass its name, without brackets."
            return self._result(Status.FAILED, said)
        if not any(hasattr(answer, method) for method in CONTROL_METHODS):
            given = [name for name, value in _class_state(answer).items() if callable(value[0])]
            if not given:
                return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
            said = f"nothing calls {', '.join(given)}; a run calls {', '.join(CONTROL_METHODS)}."
            return self._result(Status.FAILED, said)
        try:
            with last_lines():
                measured = self.runs(answer)
        except NetlabError as error:
            return self._result(Status.FAILED, f"a run with it ended: {error}")
        if measured["shared"]:
            name, own = measured["shared"][0], own_name(answer)
            said = f"{own}.{name} changed during a run: what a class holds all of its flows share. Keep it on the object: self.{name}."
            return self._result(Status.FAILED, said)
        missing = [name for name in self.methods if not has_method(answer, name)]
        if missing:
            said = f"it must have {' and '.join(self.methods)} of its own: without {' and '.join(missing)} Linux's Reno does that part."
            return self._result(Status.FAILED, said)
        return super()._judge(measured)


def _with_shared_attributes(make: Callable[[Any], Runs]) -> Callable[[Any], Runs]:
    """Return a function that makes the runs of a class by `make` and adds under "shared" the names of the class's own
    attributes that changed meanwhile.
    """

    def made(answer: Any) -> Runs:
        """Return the results of the runs of a class, by name, with the names of its changed attributes."""
        before = _class_state(answer)
        found = make(answer)
        return {**found, "shared": [name for name, state in _class_state(answer).items() if before.get(name) != state]}

    return made


def _class_state(answer: object) -> dict[str, tuple[object, int]]:
    """Return the attributes of a class (or of an object's class), without dunder names, by name, each as its value and
    the length of a list, dict or set (0 for others), to detect changes.
    """
    held = vars(answer if isinstance(answer, type) else type(answer))
    return {
        name: (value, len(value) if isinstance(value, (list, dict, set)) else 0)
        for name, value in held.items()
        if not name.startswith("__")
    }


def _run(scenario: Scenario) -> Run:
    """Run a scenario without a progress bar, and return its results."""
    return experiment.run(scenario, progress=False)


def _aimd_runs(control: Any) -> Runs:
    """Run a congestion control (a class or object) alone and against itself, for 8 s on the link with a small queue, for
    3 s with less in flight than its window, and for 0.8 s on the fast link; return the runs by "alone", "two", "unused"
    and "start".
    """
    flows = [Tcp("h1", "h3", congestion=control), Tcp("h2", "h4", congestion=control)]
    unused = Tcp("h1", "h3", congestion=control, window_bytes=IN_FLIGHT_SEGMENTS * MSS_BYTES)
    return {
        "unused": _run(Scenario(settings.small_queue(), [unused], UNUSED_S)),
        "alone": _run(Scenario(settings.small_queue(), flows[:1], settings.STEADY_S)),
        "two": _run(Scenario(settings.small_queue(), flows, settings.STEADY_S)),
        "start": _run(
            Scenario(settings.fast(), flows[:1], settings.START_S, interval_s=settings.FAST_RTT_MS / MS_PER_S)
        ),
    }


def _own_runs(control: Any) -> Runs:
    """Run a congestion control (a class or object) alone on each trace for 10 s, and against itself for 8 s on the link
    with a small queue; return the runs by the trace's name and "two".
    """
    flows = [Tcp("h1", "h3", congestion=control), Tcp("h2", "h4", congestion=control)]
    alone = {
        name: _run(Scenario(settings.trace_network(name), flows[:1], settings.TRACE_S)) for name in settings.TRACES
    }
    return {**alone, "two": _run(Scenario(settings.small_queue(), flows, settings.STEADY_S))}


@cache
def cubic(name: str) -> Run:
    """Run CUBIC alone on the trace with this name, one of `settings.TRACES`, and return the run, which is cached."""
    return _run(Scenario(settings.trace_network(name), [Tcp("h1", "h3")], settings.TRACE_S))


def _parts_of_cubic(runs: Runs) -> dict[str, float]:
    """Return the goodput of a student's control divided by CUBIC's, by the trace's name, from the runs of
    `_own_runs`.
    """
    return {name: float(_goodput_mbps(runs[name]) / _goodput_mbps(cubic(name))) for name in settings.TRACES}


def _goodput_mbps(run: Run) -> float:
    """Return the goodput of a run's first flow in Mbit/s."""
    return float(run.flows["goodput_mbps"].iloc[0])


def _wide_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of the power (goodput in Mbit/s over RTT in ms) of h1 and of h2, the columns, by seed, from a
    table of `netlab.repeat`.
    """
    powers = table.assign(power=table["goodput_mbps"] / table["rtt_ms"])
    return powers.pivot_table(index="seed", columns="src", values="power")


def _powers(table: pd.DataFrame) -> pd.Series[float]:
    """Return the power (goodput over RTT) of h2 divided by that of h1, by seed, from a table of `netlab.repeat`: the
    right answer.
    """
    wide = _wide_table(table)
    return wide["h2"] / wide["h1"]


def _upside_down(table: pd.DataFrame) -> pd.Series[float]:
    """Return the power (goodput over RTT) of h1 divided by that of h2, by seed, from a table of `netlab.repeat`: a
    known mistake.
    """
    return 1 / _powers(table)


def _differences(table: pd.DataFrame) -> pd.Series[float]:
    """Return the power (goodput over RTT) of h2 minus that of h1, by seed, from a table of `netlab.repeat`: a known
    mistake, as the ratio is asked for.
    """
    wide = _wide_table(table)
    return wide["h2"] - wide["h1"]


def _goodputs(table: pd.DataFrame) -> pd.Series[float]:
    """Return the goodput of h2 divided by that of h1, by seed, from a table of `netlab.repeat`: a known mistake, as the
    ratio of powers is asked for.
    """
    wide = table.pivot_table(index="seed", columns="src", values="goodput_mbps")
    return wide["h2"] / wide["h1"]


def _mean_queue_ms(run: Run) -> float:
    """Return the mean time in ms that packets of a run wait in the queue: the flows' mean RTT less the smallest one."""
    return float(run.flows["rtt_ms"].mean() - run.flows["rtt_min_ms"].min())


def _fairness_condition(link: str, look_at: str) -> Condition:
    """Return the condition that two flows of a class share a link with an index of Jain above 0.8; `link` names it in
    the sentence, `look_at` is the advice.
    """

    def index(runs: Runs) -> float:
        """Return Jain's index of the goodputs in the run "two" among a control's runs."""
        return float(theory.jain_index(runs["two"].flows["goodput_mbps"]))

    return Condition(
        lambda runs: index(runs) > MIN_J,
        f"Two of it must share {link} with a fairness index above {MIN_J}.",
        look_at,
        lambda runs: round(index(runs), 2),
    )


class Checks:
    """The checks of the chapter "Your own congestion control", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.delay = Function(
            name="the RTT of a window",
            same_as=(experiments.rtt_ms,),
            reference=experiments.rtt_ms,
            cases=[
                {"window_segments": own.worked_window, "rate_mbps": own.worked_rate_mbps, "base_rtt_ms": 20},
                {"window_segments": 10, "rate_mbps": 10, "base_rtt_ms": 40},
                {"window_segments": 200, "rate_mbps": 10, "base_rtt_ms": 40},
                {"window_segments": 10, "rate_mbps": 2, "base_rtt_ms": 100},
                {"window_segments": 50, "rate_mbps": 10, "base_rtt_ms": 40},
            ],
            unit="ms",
            tolerance=0.005,
            misconceptions=formula_slips(
                lambda q: theory.transmission_delay_ms(q.window_segments * FRAME_BYTES, q.rate_mbps),
                "A small window does not make the path shorter than it is when it is empty.",
                lambda q: q.base_rtt_ms + theory.transmission_delay_ms(q.window_segments * FRAME_BYTES, q.rate_mbps),
                "The window is all that is in flight. A part of it is on the path; only the rest waits in the queue.",
                lambda q: max(q.base_rtt_ms, theory.transmission_delay_ms(q.window_segments * MSS_BYTES, q.rate_mbps)),
                "The link sends the headers too: a full frame has 1514 bytes.",
                lambda q: max(
                    q.base_rtt_ms, theory.transmission_delay_ms(q.window_segments * FRAME_BYTES, settings.RATE_MBPS)
                ),
                "This holds for a link of 10 Mbit/s only. Is rate_mbps used?",
                lambda q: q.base_rtt_ms,
                "This is the RTT of the empty path, where the window fills more than that. Is the frame's time in ms?",
            ),
            hints=[
                "Little's law: data in flight = rate times round-trip time.",
                "The link sends a frame of 1514 bytes in 1514 * 8 / (rate_mbps * 1000) ms.",
                "As long as the window does not fill the path, the RTT is that of the empty path: the larger of two numbers.",
            ],
        )
        bdp_bytes = theory.bdp_bytes(own.rate_mbps, own.base_rtt_ms)
        # Between theory's peak and the measured one, which is two segments higher: one segment is being sent, and one waits for
        # its acknowledgement.
        best_segments = bdp_bytes / FRAME_BYTES + 1
        self.best = Number(
            name="the best window",
            expected=best_segments,
            unit="segments",
            tolerance=max(BEST_WINDOW_TOLERANCE, BEST_WINDOW_SEGMENTS / best_segments),
            tolerance_words=f"{100 * BEST_WINDOW_TOLERANCE:g} %, or {BEST_WINDOW_SEGMENTS} segments where that is more",
            measured=True,
            misconceptions=slips(
                bdp_bytes / FRAME_BYTES / 2,
                "This takes the one-way delay. An acknowledgement comes back after the whole RTT.",
                bdp_bytes * BITS_PER_BYTE / FRAME_BYTES,
                "The rate is in bits, and segments have bytes.",
                bdp_bytes,
                "These are bytes; a window counts segments.",
                bdp_bytes / 1e3,
                "That is the path in kB, or one and a half times what fills it. A window counts segments of 1514 bytes.",
                bdp_bytes * BITS_PER_BYTE / 1e3,
                "These are kbit; a window counts segments.",
                theory.bdp_bytes(settings.RATE_MBPS, settings.BASE_RTT_MS) / FRAME_BYTES,
                f"That is the window of the first link. Yours has {own.rate_mbps} Mbit/s and {own.base_rtt_ms} ms.",
            ),
            right=(
                "That is one bandwidth-delay product: a full link and an empty queue (Kleinrock's point). In runs the peak lies "
                "two segments higher than in theory."
            ),
            hints=[
                "Goodput grows with the window until the link is full; the RTT grows from there on. Where does the ratio peak?",
                "How many frames of 1514 bytes are in flight when the link is just full and none waits?",
            ],
        )
        limit_mbps = theory.tcp_goodput_limit_mbps(settings.RATE_MBPS)
        path_segments = 2 * theory.bdp_bytes(settings.RATE_MBPS, settings.BASE_RTT_MS) / FRAME_BYTES
        self.aimd = Control(
            name="AIMD",
            runs=kept_for_a_proxy(_with_shared_attributes(_aimd_runs)),
            methods=("on_ack", "on_loss"),
            conditions=[
                Condition(
                    lambda runs: (
                        path_segments < windows.first_window(runs["alone"]) < 4 * path_segments
                        and windows.doubles(runs["start"])
                    ),
                    "In slow start the window must double for each RTT, until the first loss.",
                    "While cwnd_segments < ssthresh_segments each acknowledgement adds delivered_segments.",
                    lambda runs: (
                        f"{windows.factor_in_words(runs['start'])}; at most {windows.first_window(runs['alone']):.0f} segments in "
                        f"the first second, where the path and its queue hold {path_segments:.0f}"
                    ),
                ),
                Condition(
                    lambda runs: float(runs["alone"].flows["goodput_mbps"].iloc[0]) > 0.8 * limit_mbps,
                    "Alone it must use 80 % of the link at least.",
                    "Does the window grow at all? What is it after a loss?",
                    lambda runs: f"{runs['alone'].flows['goodput_mbps'].iloc[0]:.3g} Mbit/s",
                ),
                Condition(
                    lambda runs: windows.halves(runs["alone"]),
                    "A loss must leave about half of the window and set ssthresh_segments to as much, and no timeout may come.",
                    "on_loss is called once for each recovery. Which window does each of your lines there see?",
                    lambda runs: windows.cuts_in_words(runs["alone"]),
                ),
                Condition(
                    lambda runs: windows.grows_by_one(runs["alone"]),
                    "Between two losses the window must grow by about one segment for each RTT, small or large.",
                    "Above ssthresh_segments each acknowledgement adds delivered_segments / cwnd_segments; and a loss must set both.",
                    lambda runs: windows.growth_in_words(runs["alone"]),
                ),
                Condition(
                    lambda runs: runs["unused"].intervals["cwnd_segments"].max() < 3 * IN_FLIGHT_SEGMENTS,
                    f"While only {IN_FLIGHT_SEGMENTS} segments are in flight (by window_bytes) the window must stop growing.",
                    "Grow only where ack.may_grow is true.",
                    lambda runs: f"{runs['unused'].intervals['cwnd_segments'].max():.0f} segments",
                ),
                _fairness_condition(
                    "the link",
                    "Does each object keep a flow of its own? Does it add the same for each RTT, whatever its window?",
                ),
            ],
            right="Additive increase and multiplicative decrease: so two flows come closer with each loss that both have (Chiu and Jain).",
            hints=[
                "One segment for each RTT: each acknowledgement adds delivered_segments / cwnd_segments.",
                "Grow only where ack.may_grow says so, and double per RTT while cwnd_segments < ssthresh_segments.",
                "on_loss: which part of the window is left? Set ssthresh_segments to it, and cwnd_segments too.",
            ],
        )
        self.mine = Control(
            name="your own control",
            runs=kept_for_a_proxy(_with_shared_attributes(_own_runs)),
            methods=("on_ack",),
            conditions=[
                Condition(
                    # A window that never changes can have power on one trace, but leaves the link idle on others.
                    lambda runs: (
                        experiments.power(runs[settings.TRACES[0]])
                        > MIN_TIMES * experiments.power(cubic(settings.TRACES[0]))
                        and min(_parts_of_cubic(runs).values()) > MIN_PART
                    ),
                    f"On the trace walk_4g its power must be {MIN_TIMES} times CUBIC's, and not by leaving a link idle.",
                    'Print on_trace("walk_4g", {"Mine": Mine, "cubic": "cubic"}): is it the goodput or the delay?',
                    lambda runs: (
                        f"{experiments.power(runs[settings.TRACES[0]]):.3g}, and CUBIC has "
                        f"{experiments.power(cubic(settings.TRACES[0])):.3g} Mbit/s per s; the least goodput on a trace is "
                        f"{min(_parts_of_cubic(runs).values()):.2f} times CUBIC's"
                    ),
                ),
                Condition(
                    lambda runs: min(_parts_of_cubic(runs).values()) > MIN_PART,
                    f"On each of the three traces it must get {MIN_PART} times CUBIC's goodput at least.",
                    "A short queue is not worth an idle link. Does the window grow again when the rate has risen?",
                    lambda runs: ", ".join(
                        f"{with_unit(part, '', MIN_PART)} on {name}" for name, part in _parts_of_cubic(runs).items()
                    ),
                ),
                _fairness_condition(
                    "a steady link", "Does the second one see an RTT that the first one's queue is already in?"
                ),
                Condition(
                    lambda runs: _mean_queue_ms(runs["two"]) < MAX_QUEUE_MS,
                    f"Two of it may keep no more than {MAX_QUEUE_MS} ms of queue on average; one BDP is 40 ms.",
                    "How many segments does each leave in the queue?",
                    lambda runs: f"{_mean_queue_ms(runs['two']):.3g} ms",
                ),
            ],
            right="Now find out where it fails: that is exercise 5.",
            hints=[
                "queued = cwnd_segments * (1 - rtt_min_ms / rtt_ms) is the part of the window that waits in the queue.",
                "Grow while queued is below a few segments, shrink above: by one segment for each RTT.",
                "Leave slow start when the queue begins to fill, not when it overflows.",
            ],
        )
        self.repeated = Repetition(
            name="which is better",
            scenario=lambda: settings.side_by_side(_NamedClasses.Aimd, _NamedClasses.Mine),
            made_by="side_by_side(Aimd, Mine)",
            values=_powers,
            expected=lambda _table: 1.0,
            unit="",
            right="A ratio of 1 would mean no difference. Would your verdict hold on another network?",
            compared="1",
            statement=Statement(own.stated_times),
            slips={
                "this is the ratio upside down: h2, with Mine, goes above": _upside_down,
                "this is the difference, and the ratio is asked for": _differences,
                "this is the ratio of the goodputs: power is goodput over RTT": _goodputs,
            },
            hints=[
                'my_table["power"] = my_table["goodput_mbps"] / my_table["rtt_ms"] works on a copy: my_table.copy().',
                'my_wide = ....pivot_table(index="seed", columns="src", values="power") has a column for each sender.',
            ],
        )


class _NamedClasses:
    """Classes with the names that the exercise requires, because a scenario contains only the name of a class."""

    class Aimd(settings.Window):
        """A placeholder for the student's class."""

    class Mine(settings.Window):
        """A placeholder for the student's class."""
