"""A record of a notebook's cells, from which a check sees whether the value that it judges still comes from the page.

A name keeps its old value when its cell fails, and the kernel is not informed when a cell is edited and not run.
IPython's events tell which names each cell defines and how its last run ended. The saved notebook, if the kernel can
find it, has the current text of the page. An edit that is not saved yet is invisible here; in JupyterLab and in the
browser page the style sheet of `netlab_course.page_style` marks the check below it at once.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

SAVE_DELAY_S = 1.0
"""A notebook file that was written within this time after a cell started may still have the cell's previous text."""
_ASSIGNMENT = re.compile(r"^[ \t]*((?:[A-Za-z_]\w*[ \t]*,[ \t]*)*[A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_MAGIC = re.compile(r"^[ \t]*[%!].*$", re.MULTILINE)
_SHELL_ATTRIBUTE = "netlab_cell_history"


@dataclass(eq=False)
class CellRun:
    """A run of a notebook's cell: its code, the names that it defines, and the way in which it ended."""

    cell_id: str
    """The cell's identifier; "" if the front end sends none."""
    source: str
    names: frozenset[str]
    """Names that the cell's code defines."""
    started_s: float
    """Time of day at its start, as from `time.time`."""
    before: dict[str, Any] = field(default_factory=dict)
    """The previous values of these names; empty after the run."""
    failure: str = ""
    """The way in which the run failed, such as "ended with a SyntaxError"; "" after a run without an error."""
    defined: frozenset[str] = frozenset()
    """Names that were assigned, also in a run that failed later."""


@dataclass(frozen=True)
class Doubts:
    """Reasons to distrust the value that a check is about to judge."""

    reasons: tuple[str, ...] = ()
    """A sentence for each value that does not come from the page."""
    remarks: tuple[str, ...] = ()
    """A sentence for each value that does come from the page, but from a cell that failed later."""


class CellHistory:
    """The last run of each cell and of each name of a notebook. `shell` is IPython's, `topic` the chapter's."""

    def __init__(self, shell: Any, topic: str) -> None:
        """Begin with no recorded cell; `shell` is IPython's shell, and `topic`, the name of the chapter's package,
        helps to find the notebook's file in a browser.
        """
        self._shell = shell
        self._topic = topic
        self._running: list[CellRun] = []
        self._by_cell: dict[str, CellRun] = {}
        self._by_name: dict[str, CellRun] = {}

    def note_start(self, info: Any) -> None:
        """Record that a cell starts, with the previous values of the names that it defines. IPython calls this at its
        event `pre_run_cell`, with an `info` that has the code as `raw_cell`.
        """
        names, values = defined_names(info.raw_cell), self._shell.user_ns
        before = {name: values[name] for name in names if name in values}
        self._running.append(CellRun(self._cell_id(info), info.raw_cell, names, time.time(), before))

    def note_end(self, result: Any) -> None:
        """Record the way in which the last started cell ended. IPython calls this at its event `post_run_cell`, with a
        `result` that has the cell's error, or with None.
        """
        # The cell in which the events were registered has no recorded start.
        if not self._running:
            return
        run = self._running.pop()
        error = None if result is None else result.error_before_exec or result.error_in_exec
        run.failure = "" if error is None else _failure(error)
        run.defined = run.names if error is None else self._defined_in_spite_of(error, run)
        run.before = {}
        if run.cell_id:
            self._by_cell[run.cell_id] = run
        self._by_name.update(dict.fromkeys(run.names, run))

    @property
    def running_source(self) -> str:
        """The code of the cell that runs now; "" outside a cell."""
        return self._running[-1].source if self._running else ""

    def doubts(self, key: str) -> Doubts:
        """Return the doubts about the values that the running cell passes to the check `key`; no doubts outside a cell,
        or if `key` is "".
        """
        if not self._running or not key:
            return Doubts()
        current = self._running[-1]
        page: tuple[float, set[str]] | None = None
        reasons, remarks = [], []
        for name in sorted(answer_names(current.source, key)):
            run = self._by_name.get(name)
            if run is None:
                continue
            if name not in run.defined:
                reasons.append(
                    f"The last run of the cell that defines {name} {run.failure}, so {name} still has the value of an earlier "
                    "run. Correct that cell and run it, then run this check again."
                )
                continue
            latest = self._by_cell.get(run.cell_id, run)
            if name not in latest.names:
                others = f"; it now defines {', '.join(sorted(latest.names))}" if latest.names else ""
                reasons.append(
                    f"The cell that defined {name} was changed and no longer defines it{others}. Assign your answer to {name} "
                    "there and run that cell, then run this check again."
                )
                continue
            page = page or self._saved_page(current.source)
            saved_s, sources = page
            if saved_s > run.started_s + SAVE_DELAY_S and run.source.strip() not in sources:
                reasons.append(
                    f"The cell that defines {name} was changed after its last run, so {name} still has the value of the earlier "
                    "text. Run that cell, then run this check again."
                )
            elif run.failure:
                remarks.append(f"(The cell that defines {name} {run.failure}, after {name} had got its value.)")
        return Doubts(tuple(reasons), tuple(remarks))

    def answer_sources(self, key: str) -> list[str]:
        """Return the codes of the cells that define the values which the running cell passes to the check `key`; an empty
        list outside a cell.
        """
        names = answer_names(self.running_source, key)
        return [self._by_name[name].source for name in sorted(names & self._by_name.keys())]

    def _cell_id(self, info: Any) -> str:
        """Return the identifier of the cell that starts, from IPython's `info` on it or the kernel's request; "" if the
        front end sends none.
        """
        found = getattr(info, "cell_id", None)
        if found is None:
            # IPython before version 8 does not pass the id to the event; the kernel's request has it.
            try:
                found = self._shell.kernel.get_parent("shell")["metadata"]["cellId"]
            except (AttributeError, LookupError, TypeError):
                found = ""
        return str(found or "")

    def _defined_in_spite_of(self, error: BaseException, run: CellRun) -> frozenset[str]:
        """Return the names that a cell's run which ended with `error` has defined all the same: those whose value
        changed, and those of the statements before the one that raised it.
        """
        values = self._shell.user_ns
        changed = {name for name in run.names if name in values and values[name] is not run.before.get(name, values)}
        lines = [
            line
            for frame, line in traceback.walk_tb(error.__traceback__)
            if frame.f_globals is values and frame.f_code.co_name == "<module>"
        ]
        tree = _syntax_tree(run.source)
        if lines and tree is not None:
            done = [statement for statement in tree.body if (statement.end_lineno or 0) < lines[0]]
            changed |= _bound(ast.Module(body=done, type_ignores=[])) & values.keys()
        return frozenset(changed)

    def _saved_page(self, check_source: str) -> tuple[float, set[str]]:
        """Return the time of day (in s, as from `time.time`) at which the notebook that has a cell with the code
        `check_source` was saved, and the sources of its code cells; 0 and an empty set if no such file is found.
        """
        for path in self._notebook_files():
            try:
                saved_s = path.stat().st_mtime
                cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
                sources = {"".join(cell["source"]).strip() for cell in cells if cell["cell_type"] == "code"}
            except (OSError, ValueError, KeyError, TypeError):
                continue
            # A process that a notebook started inherits the name of the notebook's file.
            if check_source.strip() in sources:
                return saved_s, sources
        return 0.0, set()

    def _notebook_files(self) -> list[Path]:
        """Return a list with the path of the notebook whose kernel runs this code; empty if it is unknown."""
        named = self._shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
        if named:
            return [Path(str(named))]
        if sys.platform == "emscripten":
            # The page's kernel does not get the name, but its working directory is the notebook's.
            found = list(Path.cwd().glob(f"*{self._topic}*.ipynb"))
            return found if len(found) == 1 else []
        return []


def begin(topic: str) -> None:
    """Record the cells of the notebook that calls this function from now on; do nothing outside IPython, or if they are
    recorded already. `topic` is the name of the chapter's package.
    """
    shell = _shell()
    if shell is None or getattr(shell, _SHELL_ATTRIBUTE, None) is not None:
        return
    history = CellHistory(shell, topic)
    setattr(shell, _SHELL_ATTRIBUTE, history)
    shell.events.register("pre_run_cell", history.note_start)
    shell.events.register("post_run_cell", history.note_end)


def running_source() -> str:
    """Return the code of the cell that runs now; "" outside a cell, or where none are recorded."""
    history: CellHistory | None = getattr(_shell(), _SHELL_ATTRIBUTE, None)
    return "" if history is None else history.running_source


def notebook_value(name: str) -> Any:
    """Return the present value of a name in the notebook; None outside IPython, or if there is no such name."""
    return getattr(_shell(), "user_ns", {}).get(name)


def doubts_about(key: str) -> Doubts:
    """Return the doubts about the answer that the running cell gives to the check `key`; no doubts outside a cell, or
    where no cells are recorded.
    """
    history: CellHistory | None = getattr(_shell(), _SHELL_ATTRIBUTE, None)
    return Doubts() if history is None else history.doubts(key)


def answer_sources(key: str) -> list[str]:
    """Return the codes of the cells that define the answer which the running cell gives to the check `key`; an empty list
    outside a cell, or where no cells are recorded.
    """
    history: CellHistory | None = getattr(_shell(), _SHELL_ATTRIBUTE, None)
    return [] if history is None else history.answer_sources(key)


def named_values(source: str) -> list[object]:
    """Return the present values in the notebook that a cell's code names, such as `f` and `nl.theory.runs_needed`; of
    names with dots only those of modules and of a chapter's objects, because other attributes may run code. An empty
    list outside IPython, or if the code has a syntax error.
    """
    tree, values = _syntax_tree(source), getattr(_shell(), "user_ns", {})
    found = (_value_of(node, values) for node in ast.walk(tree or ast.Module([], [])))
    return [value for value in found if value is not None]


def _value_of(node: ast.AST, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression that is a name in `values`, or a name with dots after it; None for others."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    base = _value_of(node.value, values)
    is_plain = isinstance(base, (ModuleType, type)) or type(base).__module__.startswith("netlab_course.")
    return getattr(base, node.attr, None) if is_plain else None


def _shell() -> Any:
    """Return IPython's shell; None outside IPython."""
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def defined_names(source: str) -> frozenset[str]:
    """Return the names that a cell's code defines; of code with a syntax error, those in lines that look like an
    assignment or a definition.

    >>> sorted(defined_names("import numpy as np\\nfor i in range(3):\\n    x, y = i, (z := i)\\ndef f(): a = 1"))
    ['f', 'i', 'np', 'x', 'y', 'z']
    >>> sorted(defined_names("a = b = 60 ms\\ndef f(:\\n  c == 5"))
    ['a', 'b', 'f']
    """
    tree = _syntax_tree(source)
    if tree is not None:
        return frozenset(_bound(tree))
    found = set(_DEFINITION.findall(source))
    for line in source.split("\n"):
        rest = line
        while assigned := _ASSIGNMENT.match(rest):
            found.update(re.findall(r"\w+", assigned[1]))
            rest = rest[assigned.end() :]
    return frozenset(found)


def answer_names(source: str, key: str) -> set[str]:
    """Return the names whose values the code of a cell passes to the check `key`, without those that the cell itself
    defines; no names if the code has a syntax error.

    >>> sorted(answer_names("mine = [x, y]\\nchapter.check.rtt(mine)", "rtt")), answer_names("print(x)", "rtt")
    (['x', 'y'], set())
    """
    tree = _syntax_tree(source)
    if tree is None:
        return set()
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == key
        and (isinstance(node.func.value, ast.Name) or getattr(node.func.value, "attr", "") == "check")
    ]
    given: list[ast.AST] = [argument for call in calls for argument in (*call.args, *call.keywords)]
    own = {
        target.id: statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    found: set[str] = set()
    while given:
        for node in ast.walk(given.pop()):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                if node.id in own:
                    given.append(own.pop(node.id))
                found.add(node.id)
    return found - _bound(tree)


def _syntax_tree(source: str) -> ast.Module | None:
    """Return the syntax tree of a cell's code, with empty lines in place of magic commands; None if it is not valid
    Python.
    """
    # Replace magic commands by empty lines, which keeps the numbers of the other lines.
    for text in (source, _MAGIC.sub("", source)):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):
            continue
    return None


def _bound(tree: ast.AST) -> set[str]:
    """Return the names that the code of a syntax tree binds in its own scope (by assignment, import, `def`, `class` and
    so on), not in those of functions and classes in it.
    """
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.add(node.name)
                continue
            if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                # A comprehension has its own scope, which only := leaves.
                found |= {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}
                continue
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.alias):
                found.add((node.asname or node.name).partition(".")[0])
            elif isinstance(node, ast.ExceptHandler) and node.name:
                found.add(node.name)
            waiting.append(node)
    return found


def _failure(error: BaseException) -> str:
    """Return a text on an error that ended a cell, such as "ended with a ValueError"; "was interrupted" for a
    KeyboardInterrupt.
    """
    if isinstance(error, KeyboardInterrupt):
        return "was interrupted"
    kind = type(error).__name__
    return f"ended with {'an' if kind[0] in 'AEIOU' else 'a'} {kind}"
