"""Functions of the helper process for students' text: read a notebook, find its answers or its congestion control, fill a page.

Only `netlab_classroom.grading.helper` calls these, in a process of its own; arguments and results are plain data.
"""

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netlab_classroom.grading import flags, needs, submission
from netlab_classroom.grading.callee import CONTROL_METHODS
from netlab_classroom.grading.needs import ProvidedCell
from netlab_classroom.grading.prose import Prose
from netlab_classroom.grading.submission import (
    MAX_ANSWER_CHARACTERS,
    AnswerCell,
    Cell,
    ExtractedAnswer,
    Submission,
    UnreadableError,
)
from netlab_classroom.grading.text import clean

PREDICTION = "prediction-words"
"""The key of the exercise on a chapter's prediction, which is read together with the prediction."""
MAX_NAMES = 200
MAX_NAMED = 20
_last_submission: list[tuple[str, Submission]] = []


def read(path: str) -> dict[str, str]:
    """Read the notebook file at a path, keep it for `compare`, and return a dict of the topic of the chapter that it
    imports ("topic") and its "token", each "" if it has none; if it is not a notebook, return only "error" with a
    sentence.
    """
    _last_submission.clear()
    try:
        found = submission.read_submission(Path(path))
    except UnreadableError as error:
        return {"error": str(error)}
    _last_submission.append((path, found))
    return {"topic": found.chapter(), "token": found.token()}


def compare(
    path: str,
    handed_out: list[list[Any]],
    provided: list[list[Any]],
    questions: list[list[str]],
) -> dict[str, Any]:
    """Return the answers of a notebook file ("answers", by key of the exercise; see `_answer`, with "predicted" and
    "wrong_tries" if there are any), "notes" (sentences), "flags", and "added", the names that the student's own cells
    define; only "error" if it cannot be read. Each cell is a list of fields: `handed_out` has id, kind and source of
    the original cells, `provided` id, source and whether it draws of the solution's code cells, `questions` key, id, name
    and stub of the cells of answers.
    """
    if not (_last_submission and _last_submission[0][0] == path):
        found = read(path)
        if "error" in found:
            return found
    student_notebook = _last_submission[0][1]
    cells = tuple(Cell(*each) for each in handed_out)
    answer_cells = [AnswerCell(*each) for each in questions]
    layout = submission.layout(student_notebook, cells, [each.id for each in answer_cells])
    master = {cell.id: cell.source for cell in cells}
    predicted = submission.prediction_of(student_notebook)
    tries = {
        cell.id.removesuffix("-check"): cell.wrong_tries
        for cell in student_notebook.cells
        if cell.id.endswith("-check")
    }
    answers = {each.key: submission.extract(student_notebook, each, master, layout.added) for each in answer_cells}
    own_code = [cell.source for cell in cells if cell.kind == "code"]
    names = {name for cell in layout.added for name in needs.names(cell.source).defined if len(name) <= 100}
    return {
        "notes": [*layout.notes, *(note for each in answers.values() for note in each.notes)],
        "flags": flags.submission_flags(student_notebook, cells, answer_cells, layout),
        "added": sorted(names)[:MAX_NAMES],
        "answers": {
            each.key: _answer(each, answers, provided, own_code)
            | ({"predicted": predicted} if each.key == PREDICTION and predicted else {})
            | ({"wrong_tries": tries[each.key]} if tries.get(each.key) else {})
            for each in answer_cells
        },
    }


def compose(provided: list[list[Any]], id: str, source: str) -> dict[str, Any]:  # noqa: A002 (a cell's id)
    """Return an answer with the student's code `source` as plain data: "source", "attempted" (True), "given" (sources
    of the provided code that it needs), "answer" (the code) and "comments". `id` is the one of the exercise's cell;
    `provided` has a list of id, source and whether it draws for each code cell of the solution.
    """
    each = AnswerCell(id, id, "x", "")
    return _answer(each, {id: ExtractedAnswer(source, attempted=True)}, provided, [])


def _answer(
    each: AnswerCell, answers: Mapping[str, ExtractedAnswer], provided: list[list[Any]], handed_out: list[str]
) -> dict[str, Any]:
    """Return the answer to the exercise `each` as plain data: "source" (None if its cell is missing) and "attempted"
    and, for attempted code, "given" (sources of the code that it needs of the cells `provided`), "answer" (the code,
    after the student's other answers that it uses) and "comments", or for attempted words their fingerprint "words" and
    their number "counted". `answers` has all answers by key, `handed_out` the sources of the original code cells.
    """
    own = answers[each.key]
    found: dict[str, Any] = {"source": own.source, "attempted": own.attempted}
    if own.source is None or not own.attempted:
        return found
    if not each.name:
        return {**found, "words": flags.digest_of_words(own.source), "counted": len(own.source.split())}
    position = next(place for place, cell in enumerate(provided) if cell[0] == each.id)
    before = [ProvidedCell(source, draws) for _, source, draws in provided[:position]]
    given, missing = needs.needed_code(before, own.source)
    helpers = [
        other.source
        for key, other in answers.items()
        if key != each.key and other.source and other.attempted and needs.names(other.source).defined & missing
    ]
    answer = "\n\n".join([*helpers, own.source])
    if helpers:
        given = needs.needed_code(before, answer)[0]
    # `provided` has solutions: their comments are in no student's notebook, and in two submissions they are worth a flag.
    comments = flags.comments(own.source, handed_out)
    return {**found, "given": given, "answer": answer, "comments": comments}


def competitor(path: str, methods: Sequence[str] = CONTROL_METHODS) -> dict[str, Any]:
    """Return the last class in a file that has one of the `methods` or inherits from such a class, as plain data:
    "name", its code with the code that it needs ("answer"), "given" (empty), "line" in its cell, and "others", the
    names of further such classes; if there is none, or the file cannot be read or is too long, only "error" with a
    sentence. The file is a notebook, or Python, which is used as a whole.

    A Python file is used as a whole. Of a notebook, only the cell with the class is used, and the code of other cells that it needs.
    """
    try:
        cells = _code_of(Path(path))
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
            if isinstance(statement, ast.ClassDef) and _defines_competitor(statement, known, methods):
                known.add(statement.name)
                found.append((number, statement))
    if not found:
        named = " or ".join(filter(None, [", ".join(methods[:-1]), methods[-1]]))
        return {"error": f"No class with {named} is in it.{broken}"}
    number, chosen = found[-1]
    answer = cells[number]
    if len(answer) > MAX_ANSWER_CHARACTERS:
        return {"error": f"The code has more than {MAX_ANSWER_CHARACTERS} characters."}
    others = list(dict.fromkeys(each.name for _, each in found if each.name != chosen.name))
    given, _missing = (
        needs.needed_code([ProvidedCell(each) for each in cells[:number]], answer) if number else ([], set())
    )
    return {
        "name": chosen.name,
        "given": [],
        "answer": "\n\n".join([*given, answer]),
        "line": chosen.lineno,
        "others": others[:MAX_NAMED],
    }


def _code_of(path: Path) -> list[str]:
    """Return the source of each code cell of the notebook at `path`, without magics, or that of a Python file (.py) as
    the only one. Raises UnreadableError when the file cannot be read.
    """
    if path.suffix.lower() != ".py":
        read = submission.read_submission(path)
        return [submission.without_magics(cell.source) for cell in read.cells if cell.kind == "code"]
    try:
        return [clean(submission.contents(path).decode("utf-8-sig"))]
    except UnicodeDecodeError:
        raise UnreadableError("it is not in UTF-8.") from None


def _defines_competitor(statement: ast.ClassDef, known: set[str], methods: Sequence[str]) -> bool:
    """Return whether a class (its definition in Python's syntax tree) defines one of the `methods`, or inherits from a
    class named in `known`.
    """
    own = {each.name for each in statement.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
    bases = {base.id for base in statement.bases if isinstance(base, ast.Name)}
    return bool(own & set(methods) or bases & known)


def page(template: str, words: Mapping[str, Any], package: str = "netlab_classroom.grading") -> str:
    """Return an HTML page: the file `template` of the templates of the package `package` (or else of the grading),
    filled with `words`, values by name. All their text is escaped, except that the filter `prose` renders Markdown and
    formulas. Raises jinja2's errors if a value is missing.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
    from markupsafe import Markup

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("netlab_classroom.grading")]),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    texts = Prose()
    environment.filters["prose"] = lambda text: Markup(texts.render(text))  # noqa: S704 (it escapes)
    return environment.get_template(template).render(**words).rstrip("\n") + "\n"


FUNCTIONS: dict[str, Any] = {
    "read": read,
    "compare": compare,
    "compose": compose,
    "page": page,
    "competitor": competitor,
}
