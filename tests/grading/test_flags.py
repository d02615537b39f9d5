"""Flags for similar answers: found quickly, reported once, and never for honest work."""

from __future__ import annotations

from typing import Any

import pytest

from netlab_classroom.grading import flags
from netlab_classroom.grading.submission import AnswerCell, Cell, LayoutDifferences, Submission


def result(student: str, source: str = "", **more: Any) -> dict[str, Any]:
    return {
        "student": student, "token": f"token-{student}", "flags": [], "exercises": [],
        "answers": {"window": {"answer": source, "source": source}}, **more,
    }  # fmt: skip


def test_a_copied_notebook_is_a_flag_that_names_its_owner() -> None:
    (flag,) = flags.class_flags([result("s01"), result("s21", other_token="token-s01")])  # noqa: S106
    assert flag["kind"] == flags.TOKEN and flag["students"] == ["s01", "s21"] and "token of s01" in flag["sentence"]
    (flag,) = flags.class_flags([result("s01"), result("s21", other_token="")])
    assert flag["students"] == ["s21"] and "edited" in flag["sentence"]


def test_the_same_words_are_a_flag_however_they_are_spaced() -> None:
    def words(student: str, text: str) -> dict[str, Any]:
        mark = {
            "key": "why-words", "words": flags.digest_of_words(text), "counted": len(text.split()),
            "status": "waiting for review", "expected": "", "value": "",
        }  # fmt: skip
        return result(student, exercises=[mark])

    long = "The queue before the bottleneck is full, so that each packet waits for all others."
    found = flags.class_flags(
        [
            words("a", long),
            words("b", long.replace(" ", "\n ").upper()),
            words("c", "The queue was full all of the"),
            words("d", "The queue was full all of the"),
            words("e", "The queue was full all of the time."),
            words("f", "The queue was full all of the time."),
        ]
    )
    assert [(flag["kind"], flag["students"]) for flag in found] == [
        (flags.COPIED_WORDS, ["a", "b"]),
        (flags.COPIED_WORDS, ["e", "f"]),
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = open('key').read()", "reaches for files or processes: x = open('key').read()"),
        ("\nimport gc  # why\ny = 1", "uses a module that answers have no need of: import gc  # why"),
        (
            "import math, numpy as np, code",
            "uses a module that answers have no need of: import math, numpy as np, code",
        ),
        (
            "x = 1; from timeit import time",
            "uses a module that answers have no need of: x = 1; from timeit import time",
        ),
        (
            "import netlab_classroom.contest as c",
            "uses a module that answers have no need of: import netlab_classroom.contest as c",
        ),
        ("y = np.os.spawnv", "reaches for files or processes: y = np.os.spawnv"),
        ("y = pd.read_csv(path)", "reaches for files or processes: y = pd.read_csv(path)"),
        ("print.__self__.__dict__", "looks behind the objects it is given: print.__self__.__dict__"),
        ("pd.core.x.exec(text)", "loads or reads modules by other ways than an import: pd.core.x.exec(text)"),
        ("import runpy", "loads or reads modules by other ways than an import: import runpy"),
        ("del sys.modules['x']", "loads or reads modules by other ways than an import: del sys.modules['x']"),
        ("exec(text)", "loads or reads modules by other ways than an import: exec(text)"),
        ("y = 1\nchapter.check.limit = 7", "changes what was provided: chapter.check.limit = 7"),
        ("y = judging_checks(chapter)['x'].hints", "looks into a check: y = judging_checks(chapter)['x'].hints"),
        ("y = 1\n" + "x" * 200 + ".reference", "looks into a check: " + "x" * 120),
    ],
)
def test_code_that_looks_behind_the_checks_is_quoted_with_its_line(source: str, message: str) -> None:
    handed_out = Cell("limit", "code", "limit = ...")
    calls = [AnswerCell("limit", "limit", "limit", "limit = ...")]
    read = Submission((Cell("limit", "code", source), Cell("words", "markdown", source)))
    found = flags.submission_flags(read, [handed_out], calls, LayoutDifferences(edited_checks=("other-check",)))
    assert {"kind": flags.ANSWER_ACCESS, "exercise": "limit", "sentence": message} in found
    assert found[0] == {
        "kind": flags.EDITED_CHECK, "exercise": "other", "sentence": "The check cell differs from the one handed out.",
    }  # fmt: skip
    honest = Cell(
        "limit",
        "code",
        "import math, random\nimport numpy as np; import netlab as nl\nfrom math import sqrt, floor\nfor x in y: import re\n"
        "from netlab_course.chapters.queues import experiments\nlate = table.eval('a > b')\npattern = re.compile('x')\n"
        'flow.cwnd_segments = self.most = 10\n"""A wait counts\nfrom the first packet on."""',
    )
    for cell in (handed_out, honest):
        assert flags.submission_flags(Submission((cell,)), [handed_out], calls, LayoutDifferences()) == []


def test_points_for_a_part_are_a_line_for_each_part_that_is_missing() -> None:
    def marked_result(student: str, *got: float, labels: tuple[str, ...] = ()) -> dict[str, Any]:
        names = labels or ("It must last 20 s.", f"It must send {student}.", "It must be full.")
        parts = [{"label": label, "of": 0.5, "points": each} for label, each in zip(names, got, strict=True)]
        mark = {
            "key": "run",
            "points": sum(got),
            "of": 1.5,
            "parts": parts,
            "expected": "",
            "value": "",
            "status": "failed",
        }
        return result(student, exercises=[mark])

    found = flags.class_flags(
        [
            marked_result("7", 0.5, 0, 0.5), marked_result("8", 0.5, 0, 0.5), marked_result("9", 0.5, 0.5, 0),
            marked_result("none", 0, 0, 0), marked_result("all", 0.5, 0.5, 0.5),
            marked_result("edges", 0.5, 0, labels=("trials", "edges")), marked_result("trials", 0, 0.5, labels=("trials", "edges")),
        ]
    )  # fmt: skip
    assert [(flag["kind"], flag["students"], flag["sentence"]) for flag in found] == [
        (flags.PART, ["trials"], "0.5 of 1.5 points. What does not hold: trials"),
        (flags.PART, ["7", "8"], "1 of 1.5 points. What does not hold: It must send 7. (With the numbers of 7.)"),
        (flags.PART, ["9"], "1 of 1.5 points. What does not hold: It must be full."),
    ]


def commented_result(student: str, *comments: str) -> dict[str, Any]:
    """A result whose answer has these comments."""
    return {**result(student, "x = 1"), "answers": {"window": {"answer": "", "comments": list(comments)}}}


def test_equal_comments_are_flagged_even_in_short_code() -> None:
    """Short right code is often alike; a person's own words are not."""
    own = "halve until the loss is gone, then double"
    same = [
        commented_result("anna", own),
        commented_result("ben", own.upper(), "only mine, and not another's"),
        commented_result("cleo"),
    ]
    (flag,) = flags.class_flags(same)
    assert flag["students"] == ["anna", "ben"] and flag["kind"] == flags.COMMENTS and flag["exercise"] == "window"
    assert flag["sentence"] == f"2 answers have the same comment: # {own}"


def test_short_comments_and_comments_of_the_notebook_are_not_flagged() -> None:
    source = "# Your answer goes here, in Mbit/s\nx = 1  # in bytes\ny = 2  # the part that I thought of  myself\n"
    provided = ["# your answer goes here, in Mbit/s"]
    assert flags.comments(source, provided) == ["the part that I thought of myself"]
    assert flags.comments("# up to the mistake, four words\nx = (", []) == ["up to the mistake, four words"]
