"""The provided code that an answer needs: definitions of the names that it uses, and their own needs, without figures and tables."""

import ast
import builtins
import symtable
from collections.abc import Sequence
from dataclasses import dataclass

BUILTIN_NAMES = frozenset(dir(builtins))


@dataclass(frozen=True)
class Names:
    """The names that a cell defines at its top level, and those that it uses, without Python's built-in ones."""

    defined: frozenset[str]
    used: frozenset[str]


def names(source: str) -> Names:
    """Return the names that a cell's source defines at its top level, and the names that it reads anywhere, without
    Python's built-in ones; no names for source that is not valid Python.

    >>> sorted(names("import math as m\\ny = m.pi * x").defined), sorted(names("y = x").used)
    (['m', 'y'], ['x'])
    """
    try:
        tree = ast.parse(source)
        table = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Names(frozenset(), frozenset())
    defined: set[str] = set()
    for statement in tree.body:
        _define(statement, defined)
    added = {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    return Names(frozenset(defined), frozenset((_global_names(table) | (added & defined)) - BUILTIN_NAMES))


def _global_names(table: symtable.SymbolTable) -> set[str]:
    """Return the names that the code with this symbol table (a cell or a function in it), and the functions in it, read
    from the notebook; local variables are left out.
    """
    top = table.get_type() == "module"
    found = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and (top or symbol.is_global())
    }
    for child in table.get_children():
        found |= _global_names(child)
    return found


def _define(statement: ast.AST, defined: set[str]) -> None:
    """Add the names that a statement binds, also by statements nested in it, to the set `defined`; names inside a
    function or class are not added.
    """
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        defined.add(statement.name)
        return
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        defined.update((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
        return
    if isinstance(statement, ast.Lambda):
        return
    if isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store):
        defined.add(statement.id)
    if isinstance(statement, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and statement.name:
        defined.add(statement.name)
    if isinstance(statement, ast.MatchMapping) and statement.rest:
        defined.add(statement.rest)
    for child in ast.iter_child_nodes(statement):
        _define(child, defined)


@dataclass(frozen=True)
class ProvidedCell:
    """A code cell of the solution, which an answer may need."""

    source: str
    """Its code."""
    draws: bool = False
    """True if the cell ends in a figure: a last expression without other use is that figure."""


@dataclass(frozen=True)
class _Step:
    """A top-level statement of a cell, or several that share a line, with the names that it defines and uses."""

    source: str
    defined: frozenset[str]
    used: frozenset[str]
    """The names that the statement defines and uses, as in `Names`."""
    firm: bool = False
    """True if the statement always defines its names."""
    deferred: bool = False
    """True if the statement reads its names when it is called, not when it runs."""
    always: bool = True
    """True if the statement may change objects of others, so that it runs whenever a part of its cell runs."""


def needed_code(cells: Sequence[ProvidedCell], answer: str) -> tuple[list[str], set[str]]:
    """Return a pair: the code that the source `answer` needs of the cells before it, one text for each cell with any,
    in order, and the set of names that the answer uses and no cell defines. Only statements of a
    cell that define a needed name, or may change its value, are included, not statements that only print or draw.
    """
    steps = [*(_steps(cell) for cell in cells), _steps(ProvidedCell(answer))]
    last = len(steps) - 1
    chosen: set[tuple[int, int]] = set()
    missing: set[str] = set()
    waiting = [(last, number) for number in range(len(steps[last]))]
    while waiting:
        place = waiting.pop()
        if place in chosen:
            continue
        chosen.add(place)
        cell, number = place
        waiting += [(cell, other) for other, step in enumerate(steps[cell]) if step.always]
        for name in steps[cell][number].used:
            found = _definitions(steps, cell, number, name)
            waiting += found
            if cell == last and not found:
                missing.add(name)
    sources = [
        "\n".join(step.source for number, step in enumerate(steps[cell]) if (cell, number) in chosen)
        for cell in range(last)
    ]
    return [source for source in sources if source], missing


def _definitions(steps: Sequence[Sequence[_Step]], cell: int, number: int, name: str) -> list[tuple[int, int]]:
    """Return the statements that may give a name the value that the statement `number` of the cell `cell` (both indices
    in `steps`) reads, each as a pair of the indices of cell and statement: all in the same cell, then those in the last
    cell before it that has any; the latter are left out if one in the same cell surely defines the name first.
    """
    here = [(cell, other) for other, step in enumerate(steps[cell]) if name in step.defined]
    reader = steps[cell][number]
    if any(steps[cell][other].firm and (other < number or reader.deferred) for _, other in here):
        return here
    for before in range(cell - 1, -1, -1):
        found = [(before, other) for other, step in enumerate(steps[before]) if name in step.defined]
        if found:
            return [*here, *found]
    return here


def _steps(cell: ProvidedCell) -> list[_Step]:
    """Return the top-level statements of a cell in order, those that share a line as one step; the whole cell as a
    single step if it is not valid Python.
    """
    try:
        tree = ast.parse(cell.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [_Step(cell.source, frozenset(), frozenset())]
    lines = cell.source.split("\n")
    groups: list[tuple[int, int, list[ast.stmt]]] = []
    for statement in tree.body:
        first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
        last = statement.end_lineno or first
        if groups and first <= groups[-1][1]:
            start, _, statements = groups.pop()
            groups.append((start, last, [*statements, statement]))
        else:
            groups.append((first, last, [statement]))
    return [_step("\n".join(lines[first - 1 : last]), body, cell.draws) for first, last, body in groups]


def _step(source: str, body: Sequence[ast.stmt], draws: bool) -> _Step:
    """Return the step for the statements in `body`, whose text is `source`; the variables of a loop do not count as
    used. `draws` is True if a last expression in their cell is a figure.
    """
    found = names(source)
    used = set(found.used)
    for statement in body:
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            own = {node.id for node in ast.walk(statement.target) if isinstance(node, ast.Name)}
            before = {node.id for node in ast.walk(statement.iter) if isinstance(node, ast.Name)}
            used -= own - before
    plain = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return _Step(
        source,
        found.defined,
        frozenset(used),
        firm=all(isinstance(statement, plain) for statement in body),
        deferred=all(isinstance(statement, ast.FunctionDef) for statement in body),
        always=not all(_is_shown(statement, draws) or _only_defines(statement) for statement in body),
    )


def _is_shown(statement: ast.stmt, draws: bool) -> bool:
    """Return whether a statement only prints or shows something (a call of print or display, a name or a constant, also
    in a loop or a condition), so that other code does not need it; `draws` is True if its cell ends in a figure, so
    that any expression counts as shown.
    """
    if isinstance(statement, (ast.For, ast.If, ast.While)):
        return all(_is_shown(each, draws) for each in (*statement.body, *statement.orelse))
    if not isinstance(statement, ast.Expr):
        return False
    call = statement.value
    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("print", "display")
    return named or draws or isinstance(call, (ast.Constant, ast.Name))


def _only_defines(statement: ast.stmt) -> bool:
    """Return whether a statement only binds names (not attributes or items of objects), so that it is needed only if
    one of the names is.
    """
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.AugAssign)):
        return not isinstance(statement, ast.AugAssign) or isinstance(statement.target, ast.Name)
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return all(isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.Starred)) for node in targets) and not any(
            isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)
            for target in targets
            for node in ast.walk(target)
        )
    return False
