"""The number of a chapter's runs that a student can change: runs whose network and traffic are built in a cell.

A call of `nl.run`, `nl.sweep` or `nl.repeat` is visible if no function of the chapter's package builds its scenario. A call
of a function of the package that runs something is hidden, and so is a run of a scenario that the package builds.
Panels and checks do not count: they run what a student chose. A run in a folded cell or in a claim of the text is hidden
as well.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jupytext  # type: ignore[import-untyped]
import nbformat
import pytest

from netlab_course.claims import extract_claims

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = sorted((ROOT / "solutions").glob("[0-9][0-9]_*.py"))
RUNNERS = {"run", "sweep", "repeat"}
# An imported function is called by its bare name.
MODULES_THAT_RUN = {"", "nl", "experiment", "sweeps", "replications"}
PACKAGE_MODULES = {"experiments", "settings", "channel", "schedules", "programs"}
MIN_VISIBLE = 0.8
RUNS_IN_FOLDED_CELLS = {"14_reliable_transfer"}
"""Chapters whose folded cells run programs that the student has written."""
BUILDERS = {"Scenario", "Topology", "Tcp", "Udp", "Ping", "Command", "Program", "Requests"}


class Call(NamedTuple):
    """A call: the object ("nl", or "" for a bare name), its function ("run"), and the whole text."""

    where: str
    what: str
    text: str


def calls(tree: ast.AST) -> Iterator[Call]:
    """Give each call below a node."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield Call("", node.func.id, ast.unparse(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield Call(ast.unparse(node.func.value), node.func.attr, ast.unparse(node))


@functools.cache
def package_functions(topic: str) -> dict[str, frozenset[Call]]:
    """The calls in each function of the modules of a chapter's package in which scenarios are built and run."""
    found: dict[str, frozenset[Call]] = {}
    for path in sorted((ROOT / "netlab_course" / "chapters" / topic).glob("*.py")):
        if path.stem in {"__init__", "check", "panel"}:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = frozenset(calls(node))
    return found


def closure(topic: str, direct: set[str]) -> set[str]:
    """The functions of a package in `direct` and those that call one of them, directly or not."""
    functions, found = package_functions(topic), set(direct)
    while more := {name for name, created in functions.items() if {called for _, called, _ in created} & found} - found:
        found |= more
    return found


def running(topic: str) -> set[str]:
    """The functions of a chapter's package that run something."""
    functions = package_functions(topic).items()
    return closure(
        topic,
        {
            name
            for name, created in functions
            if any(where in MODULES_THAT_RUN and what in RUNNERS for where, what, _ in created)
        },
    )


def building(topic: str) -> set[str]:
    """The functions of a chapter's package that build a network, traffic or a scenario."""
    functions = package_functions(topic).items()
    return closure(
        topic,
        {
            name
            for name, created in functions
            if any(what in BUILDERS or "topologies" in where for where, what, _ in created)
        },
    )


def runs(solution: Path) -> tuple[list[str], list[str]]:
    """The runs in the cells of a chapter as (visible, hidden): the text of each call."""
    topic = solution.stem.split("_", 1)[1]
    hide, build = running(topic), building(topic) - running(topic)
    visible: list[str] = []
    hidden: list[str] = []
    package_made: set[str] = set()  # names in the notebook that hold what the package built
    for statement in ast.parse(solution.read_text(encoding="utf-8")).body:
        created = {what for where, what, _ in calls(statement) if where.split(".")[-1] in PACKAGE_MODULES}
        used = {
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        by_package = bool(created & build) or bool(used & package_made)
        for where, what, text in calls(statement):
            if where == "nl" and what in RUNNERS:
                (hidden if by_package else visible).append(text)
            elif what in hide and where.split(".")[-1] in PACKAGE_MODULES:
                hidden.append(text)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        package_made = package_made | names if created & build else package_made - names
    return visible, hidden


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)
def test_at_least_four_of_five_runs_are_in_the_cells(solution: Path) -> None:
    visible, hidden = runs(solution)
    assert len(visible) >= MIN_VISIBLE * (len(visible) + len(hidden)), hidden


def runs_in(code: str, topic: str, runners: set[str] | frozenset[str] = frozenset()) -> list[str]:
    """Return the runs in a piece of code, also by `runners`, functions of the notebook that run something."""
    return [
        text
        for where, what, text in calls(ast.parse(code))
        if (where == "nl" and what in RUNNERS)
        or (where == "" and what in runners)
        or (where.split(".")[-1] in PACKAGE_MODULES and what in running(topic))
    ]


def runners_of(cells: list[str], topic: str) -> set[str]:
    """Return the functions in a notebook's cells that run something."""
    defined = [node for code in cells for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
    found: set[str] = set()
    while more := {node.name for node in defined if runs_in(ast.unparse(node), topic, found)} - found:
        found |= more
    return found


@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)
def test_no_run_is_in_a_folded_cell_or_in_a_claim(solution: Path) -> None:
    topic = solution.stem.split("_", 1)[1]
    notebook: nbformat.NotebookNode = jupytext.reads(solution.read_text(encoding="utf-8"), fmt="py:percent")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    runners = runners_of([cell.source for cell in code], topic)
    folded = [cell.source for cell in code if "folded" in cell.metadata.get("tags", [])]
    claimed = [claim.expression for claim in extract_claims(notebook)]
    if solution.stem not in RUNS_IN_FOLDED_CELLS:
        assert [text for source in folded for text in runs_in(source, topic, runners)] == []
    assert [text for source in claimed for text in runs_in(source, topic, runners)] == []


if __name__ == "__main__":
    for solution in SOLUTIONS:
        shown, not_shown = runs(solution)
        print(  # noqa: T201
            f"{solution.stem:25} visible {len(shown):3}  hidden {len(not_shown):3}",
            *(text[:70] for text in not_shown),
            sep="\n      ",
        )
