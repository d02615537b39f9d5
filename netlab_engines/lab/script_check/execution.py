"""Find out which parts of a script certainly run, and which have code for the case that they fail."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

EXITING_CALLS = frozenset(["exit", "quit", "_exit", "abort", "error", "parse_args", "parse_known_args", "getopt"])
"""Names of functions that may end a script."""
VERSIONS = ("version_info", "hexversion", "PY2", "PY3", "python_version", "version")
CAUGHT_ERRORS = frozenset(["ImportError", "ModuleNotFoundError", "NameError", "AttributeError", "TypeError"])
CATCHING_ALL = frozenset({"Exception", "BaseException"})
MAX_PREPARED_STATEMENTS = 3
"""A longer `try` block that catches everything is there for other failures."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def certain_nodes(tree: ast.Module) -> set[ast.AST]:
    """Return those syntax nodes (expressions and simple statements) of a parsed script that run whenever the script
    does, until something ends it; bodies of loops, of conditions and of functions that are not called are not among
    them.
    """
    walk = _Walk(tree)
    walk.block(tree.body)
    return walk.found


class _Walk:
    """A walk through the statements of a module that certainly run, and through the functions that they call; `found`
    has their nodes.
    """

    def __init__(self, tree: ast.Module) -> None:
        """Start with no nodes; note the functions at the top level of the parsed module `tree` that are defined once.
        `block` walks its statements.
        """
        self.found: set[ast.AST] = set()
        self._followed: set[str] = set()
        defined = [node for node in tree.body if isinstance(node, _FUNCTIONS)]
        names = [node.name for node in defined]
        self._functions = {node.name: node for node in defined if names.count(node.name) == 1}

    def block(self, statements: Iterable[ast.stmt]) -> bool:
        """Add to `found` the nodes of these statements that certainly run, in their order, up to the first statement
        that may leave the block; return True if none may, so that the statement after the block certainly runs too.
        """
        return all(self._statement(statement) for statement in statements)

    def _statement(self, node: ast.stmt) -> bool:
        """Add the nodes of one statement that certainly run; return whether the statement after it certainly runs too.
        Of a condition, a loop or a function's definition only the head is added, except for `if __name__ ==
        "__main__"`; of `match`, and of `try` with handlers, nothing.
        """
        if isinstance(node, _FUNCTIONS):
            self._add(*node.decorator_list, *node.args.defaults)
            return True
        if isinstance(node, ast.ClassDef):
            self._add(*node.decorator_list, *node.bases)
            return self.block(node.body)
        if isinstance(node, ast.If):
            self._add(node.test)
            if _is_main(node.test):
                return self.block(node.body)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._add(node.iter)
        elif isinstance(node, ast.While):
            self._add(node.test)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self._add(*(item.context_expr for item in node.items))
            return self.block(node.body)
        elif isinstance(node, ast.Try):
            if not node.handlers and not self.block(node.body):
                return False
        elif not isinstance(node, ast.Match):
            self._add(node)
        return not _may_leave(node)

    def _add(self, *nodes: ast.AST) -> None:
        """Add these syntax nodes with all parts that are evaluated with them, and the bodies of the module's functions
        that they call.
        """
        for node in nodes:
            for part in _evaluated_parts(node):
                self.found.add(part)
                if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                    self._follow(part.func.id)

    def _follow(self, name: str) -> None:
        """Add the nodes of the body of the module's function `name` that certainly run, unless there is no such
        function or it was added before.
        """
        function = self._functions.get(name)
        if function is not None and name not in self._followed and isinstance(function, ast.FunctionDef):
            self._followed.add(name)
            self.block(function.body)


def _evaluated_parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a syntax node and those of its parts that are evaluated whenever it is, so only the first operand of `and`
    and `or`, the condition of `a if c else b`, the first iterable of a comprehension, and of a lambda its default
    values.
    """
    yield node
    children: Iterable[ast.AST]
    if isinstance(node, ast.Lambda):
        children = node.args.defaults
    elif isinstance(node, ast.BoolOp):
        children = node.values[:1]
    elif isinstance(node, ast.IfExp):
        children = [node.test]
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        children = [node.generators[0].iter]
    else:
        children = ast.iter_child_nodes(node)
    for child in children:
        yield from _evaluated_parts(child)


def _is_main(test: ast.expr) -> bool:
    """Return whether an expression is the comparison `__name__ == "__main__"`."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and isinstance(test.ops[0], ast.Eq)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == "__main__"
    )


def _may_leave(node: ast.stmt) -> bool:
    """Return whether a statement may end the script, its function or its loop (by return, raise, break, continue, yield
    or a call such as sys.exit), so that the next one may not run.
    """
    for part in _own_parts(node):
        if isinstance(part, (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(part, ast.Call) and last_name(part.func) in EXITING_CALLS:
            return True
    return False


def _own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a syntax node and all nodes in it, without the functions and lambdas that it contains."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*_FUNCTIONS, ast.Lambda)):
            yield from _own_parts(child)


def last_name(node: ast.expr) -> str:
    """Return the identifier of an expression that is a name or an attribute: "b" for `b` and for `a.b`; "" for any
    other expression.
    """
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def prepared_nodes(tree: ast.AST) -> set[ast.AST]:
    """Return all syntax nodes of a parsed script for whose failure it has code: those in a condition on the version of
    Python, and those in a `try` block that catches errors of Python 2 or of missing modules.
    """
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        inside: list[ast.AST] = []
        if isinstance(node, (ast.If, ast.IfExp)) and _asks_for_version(node.test):
            inside = [node]
        elif isinstance(node, ast.Try) and any(_catches(handler, len(node.body)) for handler in node.handlers):
            inside = [*node.body, *node.handlers]
        for part in inside:
            found.update(ast.walk(part))
    return found


def _asks_for_version(test: ast.expr) -> bool:
    """Return whether a condition uses a name that has the version of Python, such as `sys.version_info` or `PY2`."""
    names = {last_name(part) for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute))}
    return not names.isdisjoint(VERSIONS)


def _catches(handler: ast.ExceptHandler, statements: int) -> bool:
    """Return whether an exception handler is there for errors of Python 2 or of missing modules: it names such an
    exception, or it catches everything and its `try` block is short. `statements` is the number of statements in that
    block.
    """
    if handler.type is None:
        return statements <= MAX_PREPARED_STATEMENTS
    names = {last_name(part) for part in ast.walk(handler.type) if isinstance(part, (ast.Name, ast.Attribute))}
    return bool(names & CAUGHT_ERRORS) or (bool(names & CATCHING_ALL) and statements <= MAX_PREPARED_STATEMENTS)
