"""What an instructor may want to look at with their own eyes. A flag never takes a point."""

from __future__ import annotations

import ast
import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netlab.grading.examiner import Exercise, Words
from netlab.grading.master import Edition
from netlab.grading.submission import Layout, Submission, Taken

EDITED, ACCESS, ALIKE, REPEATED = "edited check", "access to answers", "near-identical code", "another student's figure"
SHORTEST_NODES = 45
"""Shorter programs are alike because there is one way to write them."""
NEARLY = 0.97
_ACCESS = (
    (r"\.\s*(expected|reference|figure|cases|traps|tells_apart|mistakes)\b", "looks into a check"),
    (r"\bchapters\s*\.\s*\w+\s*(\.|import)\s*check\b|\.check\s+import\b", "imports the chapter's checks"),
    (r"\bsolutions\b", "names the folder of solutions"),
    (r"\b(inspect|ctypes|subprocess|socket|gc|marshal)\b", "uses a module that answers have no need of"),
    (
        r"\b(__globals__|__closure__|__code__|__subclasses__|__builtins__|_getframe)\b",
        "looks behind the objects it is given",
    ),
    (
        r"\bos\s*\.\s*(_exit|kill|fork|system|popen|listdir|walk|environ)\b|\bopen\s*\(",
        "reaches for files or processes",
    ),
    (r"\bsetattr\s*\(|^[ \t]*(?!self\.)\w+(\.\w+)+\s*=(?!=)", "changes what was provided"),
)


def of_submission(
    read: Submission,
    edition: Edition,
    exercises: Mapping[str, Exercise | Words],
    taken: Mapping[str, Taken],
    layout: Layout,
) -> list[dict[str, str]]:
    """The flags that one submission has by itself: kind, exercise and a sentence each."""
    found = [
        {
            "kind": EDITED,
            "exercise": name.removesuffix("-check"),
            "sentence": "The check cell differs from the one handed out.",
        }
        for name in layout.edited_checks
    ]
    handed_out = {cell.source for cell in edition.handed_out}
    where = {wanted.id: wanted.key for wanted in edition.wanted}
    for cell in read.cells:
        if cell.kind != "code" or cell.source in handed_out or cell.id.endswith("-check"):
            continue
        for pattern, sentence in _ACCESS:
            hit = re.search(pattern, cell.source, re.MULTILINE)
            if hit:
                key = where.get(cell.id, "")
                found.append(
                    {"kind": ACCESS, "exercise": key, "sentence": f"{sentence}: {_line(cell.source, hit.start())}"}
                )
    for key, each in taken.items():
        exercise = exercises[key]
        names = exercise.same_as if isinstance(exercise, Exercise) and each.source and each.attempted else ()
        found += [
            {"kind": ACCESS, "exercise": key, "sentence": f"uses {name}, which is what the exercise asks for"}
            for name in names
            if re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", each.source or "")
        ]
    return list({tuple(flag.items()): flag for flag in found}.values())


def _line(source: str, position: int) -> str:
    start = source.rfind("\n", 0, position) + 1
    return source[start : start + 120].split("\n", maxsplit=1)[0].strip()


def of_class(results: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    """The flags that come from looking at all submissions side by side."""
    yield from _alike(results)
    yield from _repeated(results)


def _alike(results: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    by_key: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for result in results:
        attempted = {mark["key"] for mark in result["exercises"] if mark["status"] not in ("not attempted", "missing")}
        for key, source in result.get("taken", {}).items():
            shape = _shape(source) if key in attempted else ""
            if shape:
                by_key[key].append((result["student"], shape))
    for key, shapes in by_key.items():
        same: dict[str, list[str]] = defaultdict(list)
        for student, shape in shapes:
            same[shape].append(student)
        groups = list(same.items())
        for place, (shape, students) in enumerate(groups):
            others = [other for later, names in groups[place + 1 :] if _near(shape, later) for other in names]
            if len(students) + len(others) > 1:
                alike = sorted([*students, *others])
                for student in alike:
                    rest = ", ".join(name for name in alike if name != student)
                    yield {"student": student, "kind": ALIKE, "exercise": key, "sentence": f"like the answer of {rest}"}


def _near(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > (1 - NEARLY) * max(len(one), len(other)) * 2:
        return False
    matcher = difflib.SequenceMatcher(a=one, b=other, autojunk=False)
    return matcher.real_quick_ratio() > NEARLY and matcher.quick_ratio() > NEARLY and matcher.ratio() > NEARLY


def _shape(source: str) -> str:
    """A program's form and the names in it, without comments, spaces and figures; "" for a short one."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    nodes = list(ast.walk(tree))
    if len(nodes) < SHORTEST_NODES:
        return ""
    for node in nodes:
        if isinstance(node, ast.Constant):
            node.value = 0
    return ast.dump(tree)


def _repeated(results: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    right: dict[tuple[str, str], list[str]] = defaultdict(list)
    for result in results:
        for mark in result["exercises"]:
            if mark["expected"]:
                right[mark["key"], mark["expected"]].append(result["student"])
    for result in results:
        for mark in result["exercises"]:
            owners = right.get((mark["key"], mark["value"]), [])
            if mark["status"] == "failed" and owners and result["student"] not in owners:
                yield {
                    "student": result["student"],
                    "kind": REPEATED,
                    "exercise": mark["key"],
                    "sentence": f"{mark['value']} is right with the figures of {', '.join(sorted(owners)[:5])}",
                }
