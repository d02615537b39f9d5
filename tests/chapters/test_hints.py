"""The last hint of a check gives the next step: never the right number, the formula of the answer, or its choice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from netlab_course.authoring import chapters, open_chapter_of, read_source
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Check, Number, right_number
from tests.chapters.checking import all_chapters, checks_of

ROOT = Path(__file__).parents[2]
TOPICS = {
    "parallel_streams",
    "tcp_beside_udp",
    "fairness",
    "queues",
    "load_and_delay",
    "reliable_transfer",
    "own_control",
    "wifi",
    "incast",
    "adaptive_video",
}
MAX_OPERATORS = 2
"""A hint may write out one step, such as a product or a difference; a formula of the whole answer has more."""
HOST = re.compile(r"[a-z]+\d+")
CHECKS = [
    pytest.param(check, token, id=f"{topic}-{check.key}{token and '-' + token}")
    for chapter in all_chapters()
    if (topic := chapter.__name__.rsplit(".", 1)[-1]) in TOPICS
    for token in ("", "anna")
    for check in checks_of(chapter, token)
    if check.hints
]


def expressions(text: str) -> Iterator[ast.expr]:
    """Give the longest parts of a text that begin at a word and are Python expressions."""
    starts = [found.start() for found in re.finditer(r"(?<![\w.])[\w(\[{'\"]", text)]
    ends = [found.end() for found in re.finditer(r"[\w)\]}'\"](?![\w(])", text)]
    done = 0
    for start in starts:
        for end in reversed(ends):
            if start < done or end <= start:
                break
            try:
                tree = ast.parse(text[start:end], mode="eval")
            except (SyntaxError, ValueError):
                continue
            if not isinstance(tree.body, ast.Tuple):
                done = end
                yield tree.body
                break


def operators(expression: ast.expr) -> int:
    """Return how many operators an expression has; the words "in", "is", "and" and "or" may be English."""
    return sum(
        isinstance(node, (ast.operator, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq)) for node in ast.walk(expression)
    )


def numbers(text: str) -> list[float]:
    """Return the numbers in a text."""
    return [float(found) for found in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])", text)]


def choices(source: str) -> set[str]:
    """Return the texts in the code of a solution that are no names of hosts, columns or verdicts."""
    tree = ast.parse(source)
    printed = {id(node) for call in ast.walk(tree) if isinstance(call, ast.JoinedStr) for node in ast.walk(call)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in printed
    }


def faults(check: Check, hint: str) -> list[str]:
    """Return what a hint gives away of the answer to a check, apart from the choices in its solution."""
    found = [ast.unparse(each) for each in expressions(hint) if operators(each) > MAX_OPERATORS]
    if isinstance(check, Number):
        right = right_number(check)
        found += [f"{number:g}" for number in numbers(hint) if abs(number - right) <= check.tolerance * abs(right)]
    return found


@pytest.mark.parametrize(("check", "_token"), CHECKS)
def test_a_last_hint_has_neither_the_number_nor_the_formula(check: Check, _token: str) -> None:
    assert faults(check, check.hints[-1]) == []


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_a_last_hint_does_not_name_what_a_design_must_choose(topic: str) -> None:
    (source,) = (each.source for each in chapters(ROOT) if each.source.stem.endswith(f"_{topic}"))
    solved = {cell.id: cell.source for cell in read_source(source).cells if cell.cell_type == "code"}
    named = {
        key: sorted(word for word in choices(solved[key]) if not HOST.fullmatch(word) and f"{word}" in quoted)
        for key, check in judging_checks(open_chapter_of(source)).items()
        if key in solved and check.hints and key != "repeated"
        for quoted in [re.findall(r"""["']([^"']+)["']""", check.hints[-1])]
    }
    assert {key: words for key, words in named.items() if words} == {}


@pytest.mark.parametrize(
    ("hint", "given"),
    [
        (
            "video = (5 - goodput * 1514 / 1448) / 1.042 - 1, goodput = megabytes * 8 / seconds.",
            ["(5 - goodput * 1514 / 1448) / 1.042 - 1"],
        ),
        (
            "(data[0] - waits_for) % 256 < window tells whether a piece is in the window.",
            ["(data[0] - waits_for) % 256 < window"],
        ),
        ("math.floor((Q + B) / ((S + W) / 2)) + 1, with B = 8.26 packets", ["math.floor((Q + B) / ((S + W) / 2)) + 1"]),
        ("It is about 40 packets.", ["40"]),
        ("Divide what is left by 4 * rate_mbps, and add the headers.", []),
    ],
)
def test_an_answer_in_a_hint_is_found(hint: str, given: list[str]) -> None:
    check = Number(name="packets", expected=40.0, unit="packets", tolerance=0.01)
    assert faults(check, hint) == given
