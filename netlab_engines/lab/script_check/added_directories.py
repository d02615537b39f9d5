"""Find the directories by which a script extends sys.path, as far as its text names them."""

import ast
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

SAME_PATH = frozenset(["abspath", "realpath", "normpath", "fspath", "str", "Path", "PurePath"])
"""Functions whose result is the path that they are given, as far as it matters here."""
SAME_PATH_METHODS = frozenset(["resolve", "absolute", "as_posix", "expanduser"])


def extends_path(tree: ast.Module) -> bool:
    """Return whether a statement of a parsed script names sys.path and is a call or an assignment."""
    return any(True for _ in _statements(tree))


def added_directories(tree: ast.Module, script: Path) -> list[str]:
    """Return the paths in the statements of a parsed script that name sys.path, in their order and without duplicates.
    They are text constants, and expressions of `os.path` and `pathlib`, also by way of variables; `script` is the path
    of the script's file. They may be relative, and need not exist.
    """
    values: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, node.value)
    texts = (_path_text(part, values, str(script.resolve())) for node in _statements(tree) for part in ast.walk(node))
    return [*dict.fromkeys(text for text in texts if text)]


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the calls and assignments of a parsed script that name sys.path."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)) and "sys.path" in ast.unparse(node):
            yield node


def _path_text(node: ast.AST, values: Mapping[str, ast.expr], script: str) -> str | None:
    """Return the path that an expression stands for, or None if that is not known. `values` has the expressions of
    variables by name, and `script` is the path of the script's file.
    """

    def text_of(part: ast.AST) -> str | None:
        """Return the path that a part of the expression stands for, or None if that is not known."""
        return _path_text(part, values, script)

    match node:
        case ast.Constant(value=str(text)) if "\0" not in text:
            return text
        case ast.Name(id="__file__"):
            return script
        case ast.Name(id=name) if name in values:
            others = {other: value for other, value in values.items() if other != name}
            return _path_text(values[name], others, script)
        case ast.Attribute(attr="pardir"):
            return os.pardir
        case ast.Attribute(attr="parent", value=inner):
            return _parent(text_of(inner))
        case ast.Subscript(value=ast.Attribute(attr="parents", value=inner), slice=ast.Constant(value=int(number))):
            path = text_of(inner)
            for _ in range(number + 1):
                path = _parent(path)
            return path
        case ast.Subscript() if ast.unparse(node) == "sys.argv[0]":
            return script
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            return _join([text_of(left), text_of(right)])
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            both = text_of(left), text_of(right)
            return None if None in both else "".join(filter(None, both))
        case ast.Call(func=ast.Attribute(attr="join"), args=parts):
            return _join([text_of(part) for part in parts])
        case ast.Call(func=ast.Attribute(attr="dirname") | ast.Name(id="dirname"), args=[inner]):
            return _parent(text_of(inner))
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[inner]) if name in SAME_PATH:
            return text_of(inner)
        case ast.Call(func=ast.Attribute(attr=name, value=inner), args=[]) if name in SAME_PATH_METHODS:
            return text_of(inner)
    return None


def _parent(path: str | None) -> str | None:
    """Return the path of the directory that has the file or directory `path`; None for None."""
    return None if path is None else str(Path(path).parent)


def _join(parts: list[str | None]) -> str | None:
    """Return the parts of a path joined; None without parts, or if one of them is None."""
    known = [part for part in parts if part is not None]
    return str(Path(*known)) if known and len(known) == len(parts) else None
