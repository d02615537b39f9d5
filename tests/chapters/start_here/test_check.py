"""The check of the first page."""

from __future__ import annotations

import pytest

from netlab_course.chapters import start_here
from netlab_course.chapters.opening import judging_checks
from tests.chapters.checking import failure_text, passes

chapter = start_here.begin()


@pytest.mark.parametrize("answer", [60, 60.16, 60.5])
def test_right_answers_pass(answer: float) -> None:
    passes(judging_checks(chapter)["rtt"], answer)


def test_the_round_trip_of_another_pair_is_not_called_one_way() -> None:
    """h1 to h2 and back takes as long as h2 to h3 once: the sentence is true for both."""
    assert "once, without the way back. (It is also the round trip between h1 and h2.)" in failure_text(
        judging_checks(chapter)["rtt"], 30
    )


def test_wrong_answer_mentions_the_hint() -> None:
    assert "chapter.check.rtt.hint()" in failure_text(judging_checks(chapter)["rtt"], 55)


def test_the_hosts_are_joined_as_the_page_draws_them() -> None:
    network = chapter.settings.three_hosts()
    assert network.problems() == []
    assert network.path("h2", "h3") == ["h2", "r1", "h3"]
