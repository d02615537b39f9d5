"""Which class of a hand-in is its congestion control: the last one at the top with a method that TCP calls."""

import ast
from pathlib import Path
from typing import Any

from netlab.grading import needs, submission
from netlab.grading.callee import CONTROL_METHODS
from netlab.grading.needs import Provided
from netlab.grading.submission import MOST_ANSWER_CHARACTERS, UnreadableError
from netlab.grading.text import clean

MOST_NAMED = 20


def control(path: str) -> dict[str, Any]:
    """What of a hand-in makes its class: `name`, `given`, `answer`, `line` and `others`; `error` alone where there is none.

    A file with Python is taken whole. Of a notebook the cell of the class is taken, and before it what that cell needs of the others.
    """
    try:
        cells = _cells(Path(path))
    except UnreadableError as error:
        return {"error": f"The file cannot be read: {error}"}
    found: list[tuple[int, ast.ClassDef]] = []
    known: set[str] = set()
    broken = ""
    for number, source in enumerate(cells):
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            broken = (
                f" Its Python has a mistake in line {error.lineno}: {error.msg}."
                if isinstance(error, SyntaxError)
                else ""
            )
            continue
        for statement in body:
            if isinstance(statement, ast.ClassDef) and _is_control(statement, known):
                known.add(statement.name)
                found.append((number, statement))
    if not found:
        return {"error": f"No class with {', '.join(CONTROL_METHODS[:-1])} or {CONTROL_METHODS[-1]} is in it.{broken}"}
    number, chosen = found[-1]
    answer = cells[number]
    if len(answer) > MOST_ANSWER_CHARACTERS:
        return {"error": f"The code has more than {MOST_ANSWER_CHARACTERS} characters."}
    others = list(dict.fromkeys(each.name for _, each in found if each.name != chosen.name))
    given, _missing = needs.needed([Provided(each) for each in cells[:number]], answer) if number else ([], set())
    return {
        "name": chosen.name,
        "given": [],
        "answer": "\n\n".join([*given, answer]),
        "line": chosen.lineno,
        "others": others[:MOST_NAMED],
    }


def _cells(path: Path) -> list[str]:
    if path.suffix.lower() != ".py":
        read = submission.read(path)
        return [submission.without_magics(cell.source) for cell in read.cells if cell.kind == "code"]
    try:
        return [clean(submission.contents(path).decode("utf-8-sig"))]
    except UnicodeDecodeError:
        raise UnreadableError("it is not in UTF-8.") from None


def _is_control(statement: ast.ClassDef, known: set[str]) -> bool:
    methods = {each.name for each in statement.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
    bases = {base.id for base in statement.bases if isinstance(base, ast.Name)}
    return bool(methods & set(CONTROL_METHODS) or bases & known)
