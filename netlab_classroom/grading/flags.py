"""Flags: hints for an instructor to look at a submission. A flag never takes a point.

Code of the same structure is left to programs made for it, such as JPlag and compare50; see `reports.write`.
"""

import hashlib
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from netlab_classroom.grading.submission import AnswerCell, Cell, LayoutDifferences, Submission, without_magics

EDITED_CHECK, ANSWER_ACCESS, REPEATED_NUMBER = "edited check", "access to answers", "another student's number"
TOKEN, COPIED_WORDS, PART = "another student's notebook", "the same words", "part of the points"
COMMENTS = "the same comments"
MIN_WORDS = 8
MIN_COMMENT_WORDS, MIN_COMMENT_CHARACTERS = 4, 20
"""Shorter comments are equal by chance."""
MAX_COMMENTS, MAX_COMMENT_CHARACTERS = 50, 120
_ORDINARY_MODULES = (
    r"(?:math|cmath|numpy|pandas|plotly|matplotlib|scipy|random|statistics|itertools|functools|collections|dataclasses|typing|re|heapq"
    r"|bisect|fractions|decimal|operator|copy|string|struct|enum|abc|json|time|datetime|zlib|hashlib|warnings|textwrap|pprint|__future__"
    r"|netlab(?!\.)|netlab\.theory|netlab_course\.chapters)\b"
)
"""Modules that an answer may import; other modules are flagged, because most can read files or execute text."""
_LOADS_MODULES = "loads or reads modules by other ways than an import"
_ACCESS = (
    (
        r"\.\s*(expected|reference|right_number|cases|misconceptions|tells_apart|mistakes)\b|\bjudging_checks?\b",
        "looks into a check",
    ),
    (r"\bchapters\s*\.\s*\w+\s*(\.|import)\s*check\b|\.check\s+import\b", "imports the chapter's checks"),
    (r"\bsolutions\b", "names the folder of solutions"),
    (
        (
            rf"(?:^|[;:])[ \t]*(?:from[\s\\]+(?!{_ORDINARY_MODULES})[\w.]+[\s\\]+import\b"
            rf"|import[\s\\]+(?!{_ORDINARY_MODULES})\w|import[^\n;#]*,[\s\\]*(?!{_ORDINARY_MODULES})\w)"
        ),
        "uses a module that answers have no need of",
    ),
    (
        r"\b(inspect|ctypes|subprocess|multiprocessing|builtins|socket|gc|marshal)\b",
        "uses a module that answers have no need of",
    ),
    (r"\b(importlib|reload|runpy|pkgutil|linecache|__import__)\b|\bsys\s*\.\s*modules\b", _LOADS_MODULES),
    (r"\b(getsource|get_source|get_code|get_data|__file__|__loader__|__spec__|read_text|read_bytes)\b", _LOADS_MODULES),
    (r"\bexec\b|(?<![.\w])(eval|compile)\s*\(", _LOADS_MODULES),
    (
        r"\b(__globals__|__closure__|__code__|__subclasses__|__builtins__|__self__|__path__|_getframe)\b",
        "looks behind the objects it is given",
    ),
    (
        r"\bos\s*\.\s*(?!path\b)\w|\bopen\s*\(|\b(fromfile|loadtxt|genfromtxt|memmap|read_(csv|table|fwf|pickle))\b",
        "reaches for files or processes",
    ),
    (r"\bsetattr\s*\(|^[ \t]*(?!(?:self|flow)\.)\w+(\.\w+)+[ \t]*=(?!=)", "changes what was provided"),
)


def submission_flags(
    read: Submission,
    handed_out: Sequence[Cell],
    answer_cells: Sequence[AnswerCell],
    layout: LayoutDifferences,
) -> list[dict[str, str]]:
    """Return the flags (hints for the instructor) of a single submission, dicts with "kind" (EDITED_CHECK or ANSWER_ACCESS),
    "exercise" (its key, "" if of none) and "sentence", each once: edited check cells in `layout`, and student code that
    tries to reach answers or files. `handed_out` has the original cells, `answer_cells` the cells of answers.
    """
    found = [
        {
            "kind": EDITED_CHECK,
            "exercise": name.removesuffix("-check"),
            "sentence": "The check cell differs from the one handed out.",
        }
        for name in layout.edited_checks
    ]
    provided = {cell.source for cell in handed_out}
    keys = {each.id: each.key for each in answer_cells}
    for cell in read.cells:
        if cell.kind != "code" or cell.source in provided or cell.id.endswith("-check"):
            continue
        for pattern, sentence in _ACCESS:
            hit = re.search(pattern, cell.source, re.MULTILINE)
            if hit:
                key = keys.get(cell.id, "")
                found.append(
                    {
                        "kind": ANSWER_ACCESS,
                        "exercise": key,
                        "sentence": f"{sentence}: {_line(cell.source, hit.start())}",
                    }
                )
    return list({tuple(flag.items()): flag for flag in found}.values())


def _line(source: str, position: int) -> str:
    """Return the line of a source that contains the character with the index `position`, cut to 120 characters and
    without outer spaces.
    """
    start = source.rfind("\n", 0, position) + 1
    return source[start : start + 120].split("\n", maxsplit=1)[0].strip()


def comments(source: str, handed_out: Sequence[str]) -> list[str]:
    """Return the distinct comments of a program in order, each cut to MAX_COMMENT_CHARACTERS, at most MAX_COMMENTS,
    without short ones and without those of `handed_out`, the sources of the original code cells; of a program with a
    syntax error, those before the error.
    """
    known = {text.casefold() for each in handed_out for text in _comments(each)}
    found = dict.fromkeys(text for text in _comments(source) if text.casefold() not in known)
    return [
        text[:MAX_COMMENT_CHARACTERS]
        for text in found
        if len(text.split()) >= MIN_COMMENT_WORDS and len(text) >= MIN_COMMENT_CHARACTERS
    ][:MAX_COMMENTS]


def _comments(source: str) -> Iterator[str]:
    """Yield the texts of a program's comments in order, without `#` and extra spaces; of a program with a syntax error,
    those before the error.
    """
    with suppress(tokenize.TokenError, SyntaxError, ValueError):
        for token in tokenize.generate_tokens(io.StringIO(without_magics(source)).readline):
            if token.type == tokenize.COMMENT:
                yield " ".join(token.string.lstrip("#").split())


def digest_of_words(words: str) -> str:
    """Return a fingerprint of a written answer, 12 hexadecimal digits, that does not depend on spaces, line ends and
    capitals.
    """
    return hashlib.sha256(" ".join(words.casefold().split()).encode()).hexdigest()[:12]


def class_flags(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return all flags (hints for the instructor) of a class from its students' results of `judging.judge`, dicts with
    "students" (sorted), "kind", "exercise" (its key, "" if of none) and "sentence": first those from comparing
    submissions, then those of single submissions, last groups with the same part of the points.
    """
    of_groups = [
        *_foreign_tokens(results),
        *_equal_words(results),
        *_equal_comments(results),
        *_answers_of_others(results),
    ]
    own = [{"students": [result["student"]], **flag} for result in results for flag in result["flags"]]
    return [
        *of_groups,
        *sorted(own, key=lambda flag: (flag["students"], flag["kind"], flag["exercise"], flag["sentence"])),
        *_partial_points(results),
    ]


def _flag(students: Sequence[str], kind: str, exercise: str, sentence: str) -> dict[str, Any]:
    """Return a flag of some students as plain data: `students` (sorted), `kind`, `exercise` (its key, "" if of none)
    and `sentence`.
    """
    return {"students": sorted(students), "kind": kind, "exercise": exercise, "sentence": sentence}


def _foreign_tokens(results: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a flag (a dict, see `_flag`) for each submission among the results whose notebook has another token than
    the class list gives the student: the token of another student, who is then named too, or one that the list lacks.
    """
    owners = {result["token"]: result["student"] for result in results if result["token"]}
    for result in results:
        other_token = result.get("other_token")
        if other_token is not None:
            owner = owners.get(other_token)
            sentence = f"It has the token of {owner}." if owner else "Its token was edited, or is of another class."
            yield _flag([result["student"], *([owner] if owner else [])], TOKEN, "", f"{result['student']}: {sentence}")


def _equal_words(results: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a flag (a dict, see `_flag`) for each group of at least two students among the results whose written
    answers to an exercise, of at least MIN_WORDS words, are equal but for capitals and spaces.
    """
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for result in results:
        for mark in result["exercises"]:
            if mark.get("words") and mark["counted"] >= MIN_WORDS:
                groups[mark["key"], mark["words"]].append(result["student"])
    for (key, _), students in groups.items():
        if len(students) > 1:
            yield _flag(students, COPIED_WORDS, key, f"{len(students)} answers are the same, word by word.")


def _equal_comments(results: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a flag (a dict, see `_flag`) for each group of at least two students among the results whose code for an
    exercise has the same comments (capitals do not matter): comments are a person's own words, even in short code.
    """
    owners: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for result in results:
        for key, answer in result["answers"].items():
            for text in answer.get("comments") or ():
                owners[key, text.casefold()].setdefault(result["student"], text)
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (key, _), texts in owners.items():
        if len(texts) > 1:
            groups[key, tuple(sorted(texts))].append(next(iter(texts.values())))
    for (key, students), same in groups.items():
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        yield _flag(students, COMMENTS, key, f"{len(students)} answers have the same comment: # {same[0]}{more}")


def _answers_of_others(results: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a flag (a dict, see `_flag`) for each wrong answer among the results whose value (as text) is the right one
    for other students, who have other numbers; it names up to five of them.
    """
    right: dict[tuple[str, str], list[str]] = defaultdict(list)
    for result in results:
        for mark in result["exercises"]:
            if mark["expected"]:
                right[mark["key"], mark["expected"]].append(result["student"])
    for result in results:
        for mark in result["exercises"]:
            owners = right.get((mark["key"], mark["value"]), [])
            if mark["status"] == "failed" and owners and result["student"] not in owners:
                whose = ", ".join(sorted(owners)[:5])
                yield _flag([result["student"]], REPEATED_NUMBER, mark["key"], f"{mark['value']} is right for {whose}")


def _partial_points(results: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a flag (a dict, see `_flag`) for each group of students (also a single one) among the results whose answers
    to an exercise lack the points for the same parts: honest work, or only the set-up. A function that is right except
    at its edges is not flagged.
    """
    groups: dict[tuple[str, tuple[int, ...]], list[tuple[str, str]]] = defaultdict(list)
    for result in results:
        for mark in result["exercises"]:
            parts = mark.get("parts", ())
            lacking = tuple(place for place, part in enumerate(parts) if not part["points"])
            labels = " ".join(parts[place]["label"] for place in lacking)
            if 0 < len(lacking) < len(parts) and labels != "edges":
                sentence = f"{mark['points']:g} of {mark['of']:g} points. What does not hold: {labels}"
                groups[mark["key"], lacking].append((result["student"], sentence))
    for (key, _), found in sorted(groups.items()):
        whose = f" (With the numbers of {found[0][0]}.)" if len({sentence for _, sentence in found}) > 1 else ""
        yield _flag([student for student, _ in found], PART, key, f"{found[0][1]}{whose}")
