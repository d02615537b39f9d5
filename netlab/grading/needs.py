"""Which provided cells an answer needs: those that define the names that it uses, and those that these need."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Sequence
from dataclasses import dataclass

KNOWN = frozenset(dir(builtins))


@dataclass(frozen=True)
class Names:
    """What a cell defines, and what it uses."""

    defined: frozenset[str]
    used: frozenset[str]


def names(source: str) -> Names:
    """Names that a cell gives a value to at its top, and names that it reads anywhere.

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
    return Names(frozenset(defined), frozenset((_global_names(table) | (added & defined)) - KNOWN))


def _global_names(table: symtable.SymbolTable) -> set[str]:
    """Names that a cell, or a function in it, reads from the notebook; a function's own variables are not among them."""
    top = table.get_type() == "module"
    found = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and (top or symbol.is_global())
    }
    for child in table.get_children():
        found |= _global_names(child)
    return found


def _define(statement: ast.AST, defined: set[str]) -> None:
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
    for child in ast.iter_child_nodes(statement):
        _define(child, defined)


def needed(cells: Sequence[str], position: int, answer: str) -> tuple[list[int], set[str]]:
    """Positions of the cells before `position` that an answer needs, in order, and the names that none of them defines.

    Parameters
    ----------
    cells : sequence of str
        The master's code cells.
    position : int
        Where the answer stands among them.
    answer : str
        The student's cell.
    """
    known = [names(source) for source in cells[:position]]
    chosen: set[int] = set()
    missing: set[str] = set()
    wanted = [(name, position) for name in names(answer).used]
    seen: set[tuple[str, int]] = set()
    while wanted:
        name, before = wanted.pop()
        if (name, before) in seen:
            continue
        seen.add((name, before))
        place = next((place for place in range(before - 1, -1, -1) if name in known[place].defined), None)
        if place is None:
            if before == position:
                missing.add(name)
            continue
        if place not in chosen:
            chosen.add(place)
            wanted += [(other, place) for other in known[place].used]
    return sorted(chosen), missing - names(answer).defined
