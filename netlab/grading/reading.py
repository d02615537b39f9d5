"""What the helper does with students' text: read a notebook, find the answers in it, fill a page.

Only `netlab.grading.helper` calls these, in a process of its own; arguments and results are plain data.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netlab.grading import flags, needs, submission
from netlab.grading.controls import control
from netlab.grading.needs import Provided
from netlab.grading.submission import Cell, Submission, Taken, UnreadableError, Wanted

MOST_NAMES = 200
_last: list[tuple[str, Submission]] = []


def read(path: str) -> dict[str, str]:
    """What a file says of itself; `error` alone where it is no notebook."""
    _last.clear()
    try:
        found = submission.read(Path(path))
    except UnreadableError as error:
        return {"error": str(error)}
    _last.append((path, found))
    return {"topic": found.chapter(), "token": found.token()}


def compare(
    path: str,
    handed_out: list[list[Any]],
    provided: list[list[Any]],
    wanted: list[list[str]],
) -> dict[str, Any]:
    """The answers of the file that was read last, and how it differs from the notebook that was handed out.

    Parameters
    ----------
    handed_out, provided : list
        Id, kind and source of each cell of the student's notebook; id, source and whether it draws of the master's code cells.
    """
    if not (_last and _last[0][0] == path):
        found = read(path)
        if "error" in found:
            return found
    there = _last[0][1]
    cells = tuple(Cell(*each) for each in handed_out)
    asked = [Wanted(*each) for each in wanted]
    layout = submission.layout(there, cells, [each.id for each in asked])
    master = {cell.id: cell.source for cell in cells}
    taken = {each.key: submission.take(there, each, master, layout.added) for each in asked}
    names = {name for cell in layout.added for name in needs.names(cell.source).defined if len(name) <= 100}
    return {
        "notes": [*layout.notes, *(note for each in taken.values() for note in each.notes)],
        "flags": flags.of_submission(there, cells, asked, layout),
        "added": sorted(names)[:MOST_NAMES],
        "taken": {each.key: _answer(each, taken, provided) for each in asked},
    }


def compose(provided: list[list[Any]], id: str, source: str) -> dict[str, Any]:  # noqa: A002 (a cell's id)
    """One answer by itself, as `compare` has each."""
    each = Wanted(id, id, "x", "")
    return _answer(each, {id: Taken(source, attempted=True)}, provided)


def _answer(each: Wanted, taken: Mapping[str, Taken], provided: list[list[Any]]) -> dict[str, Any]:
    mine = taken[each.key]
    found: dict[str, Any] = {"source": mine.source, "attempted": mine.attempted}
    if mine.source is None or not mine.attempted:
        return found
    if not each.name:
        return {**found, "words": flags.digest_of_words(mine.source), "counted": len(mine.source.split())}
    position = next(place for place, cell in enumerate(provided) if cell[0] == each.id)
    before = [Provided(source, draws) for _, source, draws in provided[:position]]
    given, missing = needs.needed(before, mine.source)
    helpers = [
        other.source
        for key, other in taken.items()
        if key != each.key and other.source and other.attempted and needs.names(other.source).defined & missing
    ]
    answer = "\n\n".join([*helpers, mine.source])
    if helpers:
        given = needs.needed(before, answer)[0]
    return {**found, "given": given, "answer": answer, "shape": flags.shape(mine.source)}


def page(template: str, words: Mapping[str, Any], room: str = "netlab.grading") -> str:
    """A page of HTML from a room's templates; every text in it is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(room), PackageLoader("netlab.grading")]),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**words).rstrip("\n") + "\n"


FUNCTIONS = {"read": read, "compare": compare, "compose": compose, "page": page, "control": control}
