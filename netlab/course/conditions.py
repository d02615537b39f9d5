"""Checks of something that was built or measured, by conditions that it must fulfil."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from netlab.base.errors import ScenarioError
from netlab.base.values import is_number, shown
from netlab.course.answers import answer_in_words, with_unit
from netlab.course.checks import Check, Result, Status
from netlab.measure.results import Run
from netlab.network.link import LinkShape
from netlab.network.topology import Topology


@dataclass(frozen=True)
class Condition:
    """One thing that a built object must fulfil."""

    holds: Callable[[Any], bool]
    """Takes the student's object and returns a truth value."""
    sentence: str
    """What must be, as a full sentence with "must" or "may": a student reads it where it is not so."""
    look_at: str
    """Where to look when it does not hold."""
    seen: Callable[[Any], object]
    """Takes the object and returns what is there instead: a number, some words, or an object to be quoted."""

    def holds_for(self, answer: object) -> bool:
        """Tell whether an object fulfils the condition; one that lacks what it looks at does not."""
        try:
            return bool(self.holds(answer))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return False

    def there(self, answer: object) -> str | None:
        """What is there instead, in words; None where the object lacks what the condition looks at."""
        try:
            found = self.seen(answer)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return None
        if is_number(found):
            found = with_unit(float(cast("float", found)), "")
        return found if isinstance(found, str) else shown(found)

    def complaint(self, answer: object) -> str:
        """What must be, what is there, and where to look."""
        words = self.there(answer)
        return " ".join(part for part in (self.sentence, words and f"Seen: {words.rstrip('.')}.", self.look_at) if part)


@dataclass(kw_only=True, repr=False)
class Build(Check):
    """Something built (a topology, a list of flows, a measurement) that must fulfil some conditions."""

    kind: type
    """The type that the object must have."""
    conditions: Sequence[Condition]
    """Tried in this order, each on its own."""
    right: str = ""
    """A sentence that a right answer earns."""

    def _judge(self, answer: object) -> Result:
        if not isinstance(answer, self.kind):
            article = "an" if self.kind.__name__[0] in "AEIOU" else "a"
            wanted = f"{article} {self.kind.__name__}"
            return self._result(Status.FAILED, f"expected {wanted}, got {answer_in_words(answer)}.")
        missing = [condition for condition in self.conditions if not condition.holds_for(answer)]
        if not missing:
            return self._result(Status.PASSED, f"all {len(self.conditions)} conditions hold.", self.right)
        # Others may look at what the first one misses: a flow that was not sent has no payload.
        told = [condition for condition in missing if condition is missing[0] or condition.there(answer) is not None]
        head = _count(len(told), len(missing), len(self.conditions))
        return self._result(Status.FAILED, head, *(condition.complaint(answer) for condition in told))


def _count(told: int, missing: int, number: int) -> str:
    """Say how many conditions fail: those that have a sentence each, and those that cannot be looked at before these hold."""
    if number == 1:
        return "the condition does not hold yet."
    head = f"{told} of {number} conditions {'does' if told == 1 else 'do'} not hold yet."
    if told == missing:
        return head
    when = "it does" if told == 1 else "these do"
    return f"{head} ({missing - told} more can be looked at only when {when}.)"


@dataclass(kw_only=True, repr=False)
class Measurement(Build):
    """A run that the student made: its scenario and its figures must fulfil some conditions.

    The conditions look at what was run (`run.settings["scenario"]`) and at what was measured (`run.flows`,
    `run.intervals`, `run.queues`), never at the student's code.
    """

    kind: type = Run
    commands: bool = False
    """The exercise asks for a command; in every other one a command, or a change while it runs, could change what is
    measured."""

    def _judge(self, answer: object) -> Result:
        if not isinstance(answer, self.kind):
            return self._result(
                Status.FAILED,
                f"expected what nl.run(...) returns, got {answer_in_words(answer)}; keep it: my_run = nl.run(...).",
            )
        run = cast("Run", answer)
        if not self.commands and (sent(run, kind="command") or run.scenario.get("changes")):
            return self._result(
                Status.FAILED,
                "this measurement is of the network as the exercise describes it: leave out nl.Command and changes.",
            )
        result = super()._judge(answer)
        if result.status is Status.FAILED:
            # What a command wrote to its error output is often all of the reason.
            return self._result(Status.FAILED, *result.sentences, *run.failed_commands())
        return result


def sent(run: Any, **words: Any) -> list[dict[str, Any]]:
    """What a run sent whose words are these (`kind="udp", src="h1"`), as its scenario has it, in that order."""
    return [item for item in run.scenario["traffic"] if all(item.get(name) == value for name, value in words.items())]


def slow_links(run: Run) -> list[dict[str, Any]]:
    """The links of a run's network that have a rate, as its scenario has them, in that order."""
    return [link for link in run.scenario["topology"]["links"] if link.get("rate_mbps") is not None]


def way(run: Run, src: str, dst: str) -> list[LinkShape]:
    """What each link does on the way from one host to another; nothing where there is no way."""
    try:
        return [hop.shape for hop in Topology.from_dict(run.scenario["topology"]).path_hops(src, dst)]
    except ScenarioError:
        return []


def share_slow_links(run: Run, settled_s: float) -> bool:
    """Tell whether all flows, none held by a window of its own, cross a link with a rate from a moment to the run's last second."""
    last_s = run.scenario["duration_s"] - 1
    return all(
        (item.get("start_s") or 0) <= settled_s
        and (item.get("start_s") or 0) + (item.get("duration_s") or last_s) >= last_s
        and not (item.get("num_bytes") or item.get("window_bytes"))
        and any(shape.rate_mbps is not None for shape in way(run, item["src"], item["dst"]))
        for item in sent(run)
    )


_TOLD = {
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
"""What is said of a flow where it is not as usual."""


def sending(run: Any) -> str:
    """Return what a run, or another with a `scenario`, sent: "tcp h1 to h3 with cubic, udp h2 to h3 at 4 Mbit/s with 1000 bytes"."""
    items = []
    for item in sent(run):
        ends = f"{item['src']} to {item['dst']}" if "src" in item else f"on {item.get('host')}"
        more = [text.format(item[name]) for name, (usual, text) in _TOLD.items() if item.get(name, usual) != usual]
        items.append(" ".join([item["kind"], ends, *more]))
    return ", ".join(items)


def link_in_words(link: Mapping[str, Any]) -> str:
    """Return a link of a scenario file in words: "h1-h2 with rate_mbps=5, delay_ms=10"."""
    fields = ", ".join(f"{name}={value}" for name, value in link.items() if name not in ("a", "b"))
    return f"{link['a']}-{link['b']} with {fields or 'no field'}"


def duration(run: Run) -> str:
    """How long a run lasted."""
    return f"{run.scenario['duration_s']:g} s"


def lasts(least_s: float, look_at: str) -> Condition:
    """The condition that a run is so long."""
    sentence = f"The run must last {least_s:g} s or more."
    return Condition(lambda run: bool(run.scenario["duration_s"] >= least_s), sentence, look_at, duration)


def rates(shapes: Sequence[LinkShape]) -> str:
    """The rates of some links."""
    return ", ".join(f"{shape.rate_mbps:g} Mbit/s" for shape in shapes if shape.rate_mbps) or "none has one"


def not_plain(shapes: Sequence[LinkShape]) -> str:
    """What of some links is not plain."""
    plain = LinkShape()
    names = ("framing", "aqm", "loss_rate")
    found = [f"{name}={getattr(s, name)}" for s in shapes for name in names if getattr(s, name) != getattr(plain, name)]
    return ", ".join(dict.fromkeys(found))


def is_plain(shape: LinkShape) -> bool:
    """Tell whether a link loses nothing on purpose, has one drop-tail queue and counts as `tc` does."""
    return shape.framing == "tc" and shape.aqm == "fifo" and not shape.loss_rate
