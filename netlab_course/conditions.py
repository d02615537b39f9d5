"""Checks of a built object or a measurement by a list of conditions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from netlab.base.errors import EngineError, KernelError, NetlabError, RunError, ScenarioError
from netlab.base.values import is_number, short_repr
from netlab.measure.results import Run
from netlab.network.link import LinkShape
from netlab.network.topology import Topology
from netlab_course import replays
from netlab_course.answers import answer_in_words, with_unit
from netlab_course.checks import Check, Result, Status

_Result = TypeVar("_Result")
_MACHINE_ERRORS = (EngineError, KernelError, RunError)
"""Errors that say nothing about the student's object: the machine cannot run what a condition needs."""
_OBJECT_ERRORS = (AttributeError, IndexError, KeyError, TypeError, ValueError, NetlabError)
"""Errors with an object that lacks what a condition needs, such as a table of one seed, which has no interval."""
MAX_NAMED = 4
"""Entries of a scenario's traffic that a message lists."""


@dataclass(frozen=True)
class Condition:
    """A condition on a student's object, with the sentence for a student whose object does not fulfil it."""

    holds: Callable[[Any], bool]
    """Returns whether the student's object fulfils the condition."""
    sentence: str
    """A full sentence with "must" or "may", which a student reads if the condition does not hold."""
    look_at: str | Callable[[Any], str]
    """A sentence on where to look if it does not hold, or a function that returns it for the student's object."""
    seen: Callable[[Any], object]
    """Returns the actual state of the object: a number, some words, or an object to be quoted."""
    after: Sequence[Condition] = ()
    """Conditions of the same check without which this one says nothing, such as that all of a goodput is counted: a message
    does not report on this one while one of them does not hold.
    """

    def holds_for(self, answer: object) -> bool:
        """Return whether an object fulfils the condition; False if it lacks an attribute, key, item, type or number of
        values that the condition needs.
        """
        try:
            return bool(self.holds(answer))
        except _MACHINE_ERRORS:
            raise
        except _OBJECT_ERRORS:
            return False

    def state_in_words(self, answer: object) -> str | None:
        """Return the actual state of an object, as the condition's `seen` has it, as text; None if it lacks an
        attribute, key, item, type or number of values that this needs.
        """
        found = _value_or_none(self.seen, answer)
        if found is None:
            return None
        if is_number(found):
            found = with_unit(float(cast("float", found)), "")
        return found if isinstance(found, str) else short_repr(found)

    def is_refuted_by(self, answer: object) -> bool:
        """Return whether an object has all that the condition needs, fulfils those before it (`after`), and not this one."""
        return (
            not self.holds_for(answer)
            and all(each.holds_for(answer) for each in self.after)
            and self.state_in_words(answer) is not None
        )

    def complaint(self, answer: object) -> str:
        """Return the message for an object that does not fulfil the condition: the condition, the actual state if it can be
        evaluated, and where to look.
        """
        words = self.state_in_words(answer)
        if words and not words.endswith("?"):
            words = words.rstrip(".") + "."
        advice = _value_or_none(self.look_at, answer) if callable(self.look_at) else self.look_at
        return " ".join(str(part) for part in (self.sentence, words and f"Seen: {words}", advice) if part)


def kept_for_a_proxy(make: Callable[[Any], _Result]) -> Callable[[Any], _Result]:
    """Return a function that calls `make` with a class. Called again with the same proxy of a grader, which judges each
    condition apart, it returns the same result; a class of this process may have changed since the last call.
    """
    last: list[tuple[object, _Result]] = []

    @functools.wraps(make)
    def made(answer: Any) -> _Result:
        """Return the result of `make`, or the last one if it was made for the same proxy."""
        if not last or last[0][0] is not answer or isinstance(answer, type):
            last[:] = [(answer, make(answer))]
        return last[0][1]

    return made


def _value_or_none(function: Callable[[Any], object], answer: object) -> object:
    """Return a function's value for an object; None if the object lacks an attribute, key, item, type or number of values
    that it needs.
    """
    try:
        return function(answer)
    except _MACHINE_ERRORS:
        raise
    except _OBJECT_ERRORS:
        return None


@dataclass(kw_only=True, repr=False)
class Build(Check):
    """A check of an object that the student builds (a topology, a list of flows, a measurement) and that must fulfil
    some conditions.
    """

    kind: type
    """The required type of the object."""
    conditions: Sequence[Condition] = ()
    """All conditions, each independent of the others; by default, the usual ones of a subclass that has such."""
    right: str = ""
    """A sentence for a right answer."""

    def __post_init__(self) -> None:
        """Set the usual conditions unless the check was made with some of its own."""
        self.conditions = self.conditions or self._usual_conditions()

    def _usual_conditions(self) -> Sequence[Condition]:
        """Return the conditions of every check of this class, which a subclass overrides.

        Raises
        ------
        ValueError
            If the class has none, because a check without a condition passes every object.
        """
        raise ValueError(f"{type(self).__name__} needs conditions: without one it passes every object")

    def _judge(self, answer: object) -> Result:
        """Return the verdict on an object that is not a stub: failed with its type if that is wrong, else by all
        conditions; the message has the first failed one, and each other whose state can be evaluated and that is not
        `after` a failed one, as a list.
        """
        if not isinstance(answer, self.kind):
            article = "an" if self.kind.__name__[0] in "AEIOU" else "a"
            expected = f"{article} {self.kind.__name__}"
            return self._result(Status.FAILED, f"expected {expected}, got {answer_in_words(answer)}.")
        failed = [condition for condition in self.conditions if not condition.holds_for(answer)]
        if not failed:
            return self._result(Status.PASSED, f"all {len(self.conditions)} conditions hold.", self.right)
        # Later conditions may presuppose the first failed one: a flow that was not sent has no payload.
        later = [condition for condition in self.conditions if any(each in failed for each in condition.after)]
        complaints = [
            condition.complaint(answer)
            for condition in failed
            if condition is failed[0] or condition.is_refuted_by(answer)
        ]
        missing = len(failed) + sum(condition not in failed for condition in later)
        head = _count(len(complaints), missing, len(self.conditions))
        if len(complaints) > 1:
            complaints = [f"- {complaint}" for complaint in complaints]
        return self._result(Status.FAILED, head, *complaints)


def _count(reported: int, missing: int, number: int) -> str:
    """Return a sentence on the failed conditions: of `number` in all, `missing` failed or cannot be evaluated yet, and the
    message has `reported` of them.
    """
    if number == 1:
        return "the condition does not hold yet."
    head = f"{reported} of {number} conditions {'does' if reported == 1 else 'do'} not hold yet."
    if reported == missing:
        return head
    when = "it does" if reported == 1 else "these do"
    return f"{head} ({missing - reported} more can be looked at only when {when}.)"


@dataclass(kw_only=True, repr=False)
class Measurement(Build):
    """A check of a run of the student's, whose scenario and results must fulfil some conditions.

    The conditions use the scenario (`run.settings["scenario"]`) and the results (`run.flows`, `run.intervals`,
    `run.queues`), never the student's code.
    """

    kind: type = Run
    commands: bool = False
    """True if the exercise asks for a command. In other exercises, commands and changes are refused, because they could
    change the measured network.
    """
    replay: replays.Replay = replays.run_again
    """Runs a scenario again, to see that its numbers were measured."""
    answer_name: str = "my_run"
    """The name that the exercise gives to the run, for messages."""

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a run by its conditions; no run, and commands and changes that the exercise does not
        ask for, fail, and the error output of failed commands is added to the message.
        """
        if not isinstance(answer, self.kind):
            return self._result(
                Status.FAILED,
                f"expected what nl.run(...) returns, got {answer_in_words(answer)}; keep it: {self.answer_name} = nl.run(...).",
            )
        run = cast("Run", answer)
        if not self.commands and (traffic_items(run, kind="command") or run.scenario.get("changes")):
            return self._result(
                Status.FAILED,
                "this measurement is of the network as the exercise describes it: leave out nl.Command and changes.",
            )
        result = super()._judge(answer)
        if result.status is Status.FAILED:
            # The error output of a failed command often has the whole explanation.
            return self._result(Status.FAILED, *result.sentences, *run.failed_commands())
        return result

    def doubt_about_origin(self, answer: object) -> str:
        """Return a sentence on a run whose flows, intervals or queues are others when its scenario is run again; "" if they
        are the same or it cannot be.
        """
        if isinstance(answer, Run) and replays.differs_when_run_again(answer, self.replay):
            return "its numbers are others when it is run again: hand over the run as nl.run(...) returned it."
        return ""


def traffic_items(run: Any, **words: Any) -> list[dict[str, Any]]:
    """Return the items of traffic, as dicts of the scenario file, of a run, or of a similar object with a `scenario`,
    whose fields have these values (`kind="udp", src="h1"`), in the order of the scenario.
    """
    return [item for item in run.scenario["traffic"] if all(item.get(name) == value for name, value in words.items())]


def slow_links(run: Run) -> list[dict[str, Any]]:
    """Return the links with a rate, as dicts of the scenario file, in the order of a run's scenario."""
    return [link for link in run.scenario["topology"]["links"] if link.get("rate_mbps") is not None]


def links_on_path(run: Run, src: str, dst: str) -> list[LinkShape]:
    """Return the properties of each link on the path from the host `src` to the host `dst` in a run's network, in the
    order of the path; empty if there is no path or no such host.
    """
    try:
        return [hop.shape for hop in Topology.from_dict(run.scenario["topology"]).path_hops(src, dst)]
    except ScenarioError:
        return []


def share_slow_links(run: Run, settled_s: float) -> bool:
    """Return whether every flow of a run crosses a link with a rate, starts by `settled_s` (in s), goes on until at
    most 1 s before the run's end, and has neither a size nor a window of its own.
    """
    last_s = run.scenario["duration_s"] - 1
    return all(
        (item.get("start_s") or 0) <= settled_s
        and (item.get("start_s") or 0) + (item.get("duration_s") or last_s) >= last_s
        and not (item.get("num_bytes") or item.get("window_bytes"))
        and any(shape.rate_mbps is not None for shape in links_on_path(run, item["src"], item["dst"]))
        for item in traffic_items(run)
    )


_FIELD_TEXTS = {
    "rate_mbps": (None, "at {:g} Mbit/s"),
    "payload_bytes": (None, "with {} bytes"),
    "congestion": (None, "with {}"),
    "streams": (1, "in {} streams"),
    "window_bytes": (None, "window_bytes={}"),
    "num_bytes": (None, "num_bytes={}"),
    "start_s": (0, "from {:g} s"),
    "duration_s": (None, "for {:g} s"),
    "interval_s": (0.2, "every {:g} s"),
    "count": (None, "count={}"),
}
"""The text for each field of a flow that differs from the usual value."""


def traffic_in_words(run: Any) -> str:
    """Return the traffic of a run, or of a similar object with a `scenario`, as text: "tcp h1 to h3 with cubic, udp h2
    to h3 at 4 Mbit/s with 1000 bytes". After four flows it has only the number of the others.
    """
    items = []
    for item in traffic_items(run):
        ends = f"{item['src']} to {item['dst']}" if "src" in item else f"on {item.get('host')}"
        more = [
            text.format(item[name]) for name, (usual, text) in _FIELD_TEXTS.items() if item.get(name, usual) != usual
        ]
        items.append(" ".join([item["kind"], ends, *more]))
    more = [f"{len(items) - MAX_NAMED} more"] if len(items) > MAX_NAMED else []
    return ", ".join([*items[:MAX_NAMED], *more])


def link_in_words(link: Mapping[str, Any]) -> str:
    """Return a link, as a dict of a scenario file, as text: "h1-h2 with rate_mbps=5, delay_ms=10"."""
    fields = ", ".join(f"{name}={value}" for name, value in link.items() if name not in ("a", "b"))
    return f"{link['a']}-{link['b']} with {fields or 'no field'}"


def duration(run: Run) -> str:
    """Return the duration of a run as text, such as "30 s"."""
    return f"{run.scenario['duration_s']:g} s"


def minimum_duration(least_s: float, look_at: str) -> Condition:
    """Return the condition that a run lasts at least `least_s` seconds; `look_at` is the sentence that tells a student
    where to look if it does not.
    """
    sentence = f"The run must last {least_s:g} s or more."
    return Condition(lambda run: bool(run.scenario["duration_s"] >= least_s), sentence, look_at, duration)


def rates(shapes: Sequence[LinkShape]) -> str:
    """Return the rates of these links as text, such as "5 Mbit/s, 2 Mbit/s", without the links that have none; "none
    has one" if no link has a rate.
    """
    return ", ".join(f"{shape.rate_mbps:g} Mbit/s" for shape in shapes if shape.rate_mbps) or "none has one"


PLAIN_FIELDS = ("framing", "aqm", "loss_rate", "burst_loss", "duplicate_rate", "jitter_ms", "medium")
"""The fields of a link that have their default values if the link is plain."""


def not_plain(shapes: Sequence[LinkShape]) -> str:
    """Return as text the fields of these links, other than rate, delay and queue size, that differ from their default,
    such as "loss_rate=0.01, jitter_ms=2"; "" if none does.
    """
    plain = LinkShape()
    found = [
        f"{name}={getattr(shape, name)}"
        for shape in shapes
        for name in PLAIN_FIELDS
        if getattr(shape, name) != getattr(plain, name)
    ]
    return ", ".join(dict.fromkeys(found))


def plain_links(shapes: Callable[[Any], Sequence[LinkShape]]) -> Condition:
    """Return the condition that all links which `shapes` returns for an answer are plain: nothing but their rate, delay
    and queue is set, so that simple formulas hold.
    """
    return Condition(
        lambda found: not not_plain(shapes(found)),
        "Every link must be plain: nothing is lost, doubled or delayed at random, and its rate counts as `tc` does.",
        "Leave out all fields of a link but rate, delay and queue.",
        lambda found: not_plain(shapes(found)),
    )
