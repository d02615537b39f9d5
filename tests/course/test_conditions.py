"""Messages about the conditions on a built object or a measurement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jupytext  # type: ignore[import-untyped]
import pytest

from netlab_course.answers import with_unit
from netlab_course.chapters import multiplexing, tcp_beside_udp
from netlab_course.chapters.opening import judging_checks
from netlab_course.conditions import Build, Condition, Measurement
from tests.chapters.checking import all_chapters, failure_text, passes

SENDS = Condition(lambda found: found.rate > 0, "It must send.", "", lambda found: found.rate)
GETS = Condition(
    lambda found: found.goodput >= 1.7, "It must get 1.7.", "", lambda found: with_unit(found.goodput, "", 1.7)
)
IS_EARLY = Condition(
    lambda found: found.goodput < 9,
    "It must be early.",
    lambda found: "Far off." if found.goodput > 90 else "Near.",
    lambda found: found.goodput,
)
CHECK = Build(name="flow", kind=SimpleNamespace, conditions=[SENDS, replace(GETS, after=(SENDS,)), IS_EARLY])


def measurements() -> Iterator[tuple[str, Measurement]]:
    """Yield each check of a run of the student's with its topic."""
    for chapter in all_chapters():
        for check in judging_checks(chapter.begin()).values():
            if isinstance(check, Measurement):
                yield chapter.__name__.rsplit(".", 1)[-1], check


@pytest.mark.parametrize("goodput", [1.8, 0.5])
def test_a_condition_after_a_failed_one_is_not_reported_whether_it_holds_or_not(goodput: float) -> None:
    told = failure_text(CHECK, SimpleNamespace(rate=0, goodput=goodput))
    assert "1 of 3 conditions does not hold yet. (1 more can be looked at only when it does.) It must send." in told
    assert "It must get" not in told
    assert not CHECK.conditions[1].is_refuted_by(SimpleNamespace(rate=0, goodput=goodput))
    passes(CHECK, SimpleNamespace(rate=1, goodput=1.8))


def test_a_number_that_misses_a_limit_by_little_has_enough_digits() -> None:
    assert "It must get 1.7. Seen: 1.69999." in failure_text(CHECK, SimpleNamespace(rate=1, goodput=1.69999))
    assert "It must get 1.7. Seen: 1.2." in failure_text(CHECK, SimpleNamespace(rate=1, goodput=1.2))


def test_advice_may_depend_on_the_object() -> None:
    assert failure_text(CHECK, SimpleNamespace(rate=1, goodput=91)).endswith("Seen: 91. Far off.")
    assert failure_text(CHECK, SimpleNamespace(rate=1, goodput=10)).endswith("Seen: 10. Near.")


@pytest.mark.parametrize(
    ("chapter", "key", "sentence"),
    [(tcp_beside_udp, "my_run", "TCP must get"), (multiplexing, "bias", "With the others, h1-h9 must get")],
)
def test_a_goodput_waits_for_the_conditions_on_what_is_measured(chapter: object, key: str, sentence: str) -> None:
    """Its condition does not hold without them, whatever the goodput is."""
    conditions = judging_checks(chapter.begin())[key].conditions  # type: ignore[attr-defined]
    goodput = next(each for each in conditions if each.sentence.startswith(sentence))
    assert goodput.after and all(each in conditions for each in goodput.after)


@pytest.mark.parametrize(("topic", "check"), [pytest.param(*each, id=each[1].key) for each in measurements()])
def test_what_is_no_run_is_to_be_kept_by_the_name_of_the_exercise(topic: str, check: Measurement) -> None:
    (source,) = (Path(__file__).parents[2] / "solutions").glob(f"*_{topic}.py")
    cells = "\n".join(cell.source for cell in jupytext.read(source, fmt="py:percent").cells)
    named = re.search(rf"chapter\.check\.{check.key}\((\w+)\)", cells)
    assert named is not None
    assert f"keep it: {named[1]} = nl.run(...)." in failure_text(check, 1.25)
