"""Find names and idioms of Python 2 that Python 3 parses, and that fail when the script reaches them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from netlab_engines.lab.script_check import python2
from netlab_engines.lab.script_check.problem import Problem
from netlab_engines.lab.script_check.reading import Source

NAMES = {
    "xrange": "range",
    "raw_input": "input",
    "unicode": "str",
    "basestring": "str",
    "long": "int",
    "unichr": "chr",
    "reduce": "functools.reduce",
    "execfile": "exec(open(...).read())",
    "reload": "importlib.reload",
    "file": "open",
    "cmp": "(a > b) - (a < b)",
    "apply": "f(*arguments)",
}
"""Functions that Python 3 does not have, with what it has in their place."""
METHODS = {
    "has_key": "`key in d`",
    "iteritems": "d.items()",
    "iterkeys": "d.keys()",
    "itervalues": "d.values()",
}
ATTRIBUTES = {
    ("sys", "maxint"): "sys.maxsize",
    ("os", "getcwdu"): "os.getcwd",
    ("string", "letters"): "string.ascii_letters",
    ("string", "lowercase"): "string.ascii_lowercase",
    ("string", "uppercase"): "string.ascii_uppercase",
    ("string", "join"): "separator.join(words)",
    ("string", "split"): "text.split()",
    ("string", "replace"): "text.replace(old, new)",
    ("string", "atoi"): "int",
    ("string", "atof"): "float",
    ("string", "maketrans"): "str.maketrans",
    ("itertools", "izip"): "zip",
    ("itertools", "imap"): "map",
    ("itertools", "ifilter"): "filter",
    ("itertools", "izip_longest"): "itertools.zip_longest",
    ("urllib", "urlopen"): "urllib.request.urlopen",
    ("urllib", "urlretrieve"): "urllib.request.urlretrieve",
    ("urllib", "urlencode"): "urllib.parse.urlencode",
    ("urllib", "quote"): "urllib.parse.quote",
    ("urllib", "unquote"): "urllib.parse.unquote",
    ("time", "clock"): "time.perf_counter",
    ("sys", "setdefaultencoding"): "UTF-8 anyway, so delete the call",
}
NOT_CONVERTED = frozenset(
    ["file", "cmp", "time.clock", "sys.setdefaultencoding"]
    + [".".join(name) for name in ATTRIBUTES if name[0] == "string"]
)
"""Names that the converter of Python 2 leaves as they are."""


def problems(source: Source) -> list[Problem]:
    """Return a problem for each use of a name or idiom of Python 2 that Python 3 parses in a script, except where the
    script has code for its failure; one that certainly runs and fails stops the script. Calls of methods, and names
    that the converter leaves as they are, do not lead to a proposal to convert the script.
    """
    bound, everything = _defined_names(source.tree)
    return [
        # A class of Python 3 may have a method with the name of one that dictionaries had.
        Problem(
            source.path,
            text,
            [node.lineno],
            stops=is_sure and node in source.certain_nodes,
            is_python2=not isinstance(node, ast.Call) and ast.unparse(node) not in NOT_CONVERTED,
        )
        for node, text, is_sure in _idioms(source.tree, bound, everything)
        if node not in source.prepared_nodes
    ]


def _idioms(tree: ast.Module, bound: set[str], everything: bool) -> Iterator[tuple[ast.expr, str, bool]]:
    """Yield each idiom of Python 2 in a parsed script as a tuple: its syntax node, a sentence about it, and whether it
    fails for certain when it runs. `bound` has the names that the script defines; `everything` is whether it imports
    all names of a module (`import *`), which may define more.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in NAMES and node.id not in bound:
            # A module that all is imported from may have the name.
            yield node, f"{node.id} is Python 2; Python 3 has {NAMES[node.id]}.", not everything
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            if node.func.attr not in bound:
                yield node, f".{node.func.attr}() is Python 2; Python 3 has {METHODS[node.func.attr]}.", False
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            instead = ATTRIBUTES.get((node.value.id, node.attr))
            if instead is not None:
                name = f"{node.value.id}.{node.attr}"
                if _is_imported(tree, node.value.id):
                    yield node, f"{name} is Python 2; Python 3 has {instead}.", True
        elif isinstance(node, ast.BinOp):
            yield from _print_operators(node)
        elif isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Tuple):
            # Python 3.14 takes the name of the exception for another one.
            last = node.type.elts[-1] if node.type.elts else None
            if isinstance(last, ast.Name) and last.id.islower() and last.id not in bound:
                yield last, python2.EXCEPT_ADVICE, False


def _print_operators(node: ast.BinOp) -> Iterator[tuple[ast.expr, str, bool]]:
    """Yield the expression `node` if it is an operator with Python 2's print on its left side (such as `print >>f`):
    the node, a sentence about it, and True, because it fails for certain; else yield nothing.
    """
    left = node.left
    if isinstance(left, ast.Name) and left.id == "print":
        yield node, "print >> is Python 2; Python 3 writes print(..., file=...).", True
    elif isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "print":
        yield (
            node,
            "print(...) with an operator behind it is Python 2; Python 3 wants all of it in the parentheses.",
            True,
        )


def _is_imported(tree: ast.Module, name: str) -> bool:
    """Return whether a parsed script has `import name` for the module `name`, without another name for it."""
    return any(
        alias.name == name and alias.asname is None
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    )


def _defined_names(tree: ast.Module) -> tuple[set[str], bool]:
    """Return a pair: the names that a parsed script defines itself (assignments, arguments, functions, classes,
    imports), and whether it imports all names (`import *`) of a module other than Mininet's.
    """
    names: set[str] = set()
    everything = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
            names.add(node.name or "")
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            everything |= isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and not _is_mininet(node)
    return names, everything


def _is_mininet(node: ast.ImportFrom) -> bool:
    """Return whether a statement `from ... import` imports from Mininet or one of its modules."""
    return (node.module or "").partition(".")[0] == "mininet"
