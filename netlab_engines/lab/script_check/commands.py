"""Find the commands that a script gives to shells, and in them the names of the programs that they start."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from netlab_engines.lab.script_check.shell import HOLE, read_shell

METHODS = frozenset(["cmd", "cmdPrint", "sendCmd", "popen", "pexec"])
"""Methods of Mininet's hosts that take a command."""
JOINING_METHODS = frozenset(["cmd", "cmdPrint", "sendCmd"])
"""Methods that join several words to a text for the host's shell; the others give each word to the program as it is."""
FUNCTIONS = frozenset([
    "quietRun", "errRun", "system", "getoutput", "getstatusoutput", "run", "call", "check_call", "check_output",
    "Popen",
])  # fmt: skip
MODULES = frozenset(["os", "subprocess", "commands", "util"])
FORMAT_FIELD = re.compile(r"%(?:\(\w+\))?[#0\- +]*[\d*]*(?:\.[\d*]+)?[a-zA-Z]")
FIELD = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class StartedProgram:
    """A program that a command of a script starts, the words after its name, and the line of the script; HOLE stands
    for a part that only the running script knows.
    """

    program: str
    words: tuple[str, ...]
    line: int


def started_programs(tree: ast.Module) -> Iterator[StartedProgram]:
    """Yield each program that a script starts by methods of Mininet's hosts, `os` or `subprocess`, with its arguments
    and line (from 1), as far as its name is in the script's text; the functions and aliases that the script's commands
    define are no programs. `tree` is the parsed script.
    """
    constants = _constants(tree)
    started: list[StartedProgram] = []
    defined: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for text in _commands(node, constants):
                shell = read_shell(text)
                defined |= shell.functions
                started += [StartedProgram(words[0], tuple(words[1:]), node.lineno) for words in shell.commands]
    for command in started:
        if command.program == "alias":
            defined |= {word.partition("=")[0] for word in command.words}
    yield from (command for command in started if command.program not in defined)


def _commands(node: ast.Call, constants: dict[str, list[str]]) -> list[str]:
    """Return the shell commands that the call `node` may run, one for each text that its first argument may have, with
    HOLE for each part that is not in the script's text; [] if it calls no function that runs commands. `constants` has
    the texts that each constant name of the script may have.
    """
    function = node.func
    if not node.args:
        return []
    if isinstance(function, ast.Attribute):
        owner = function.value.id if isinstance(function.value, ast.Name) else ""
        allowed = METHODS
        if owner in MODULES:
            allowed = FUNCTIONS | {"popen"} if owner == "os" else FUNCTIONS
        if function.attr not in allowed:
            return []
        name = function.attr
    elif isinstance(function, ast.Name) and function.id in FUNCTIONS - {"run", "call", "system"}:
        name = function.id
    else:
        return []
    first = node.args[0]
    if isinstance(first, (ast.List, ast.Tuple)):
        parts = first.elts
    elif name in METHODS | {"quietRun", "errRun"} and len(node.args) > 1:
        parts = node.args
    else:
        return _texts(first, constants)
    words = [_texts(part, constants)[0] for part in parts]
    is_shells = name in JOINING_METHODS or any(keyword.arg == "shell" for keyword in node.keywords)
    return [" ".join(words) if is_shells else shlex.join(words)]


def _texts(node: ast.expr, constants: dict[str, list[str]]) -> list[str]:
    """Return the texts that the expression `node` may have, with HOLE for each part that is not in the script's text.
    `constants` has the texts that each constant name of the script may have.
    """
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [left + right for left in _texts(node.left, constants) for right in _texts(node.right, constants)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return [FORMAT_FIELD.sub(HOLE, text).replace("%%", "%") for text in _texts(node.left, constants)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return [
            FIELD.sub(HOLE, text.replace("{{", "{").replace("}}", "}")) for text in _texts(node.func.value, constants)
        ]
    if isinstance(node, ast.Name) and node.id in constants:
        return constants[node.id]
    if ast.unparse(node) == "sys.executable":
        return ["python3"]
    return [HOLE]


def _constants(tree: ast.Module) -> dict[str, list[str]]:
    """Return the texts that a parsed script assigns to each name, with HOLE for unknown parts; names that also get
    other values, such as arguments and the variables of loops, are left out.
    """
    found: dict[str, list[str]] = {}
    others: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            texts = _texts(node.value, {})
            if texts == [HOLE]:
                others.add(node.targets[0].id)
            else:
                found.setdefault(node.targets[0].id, []).extend(texts)
        elif isinstance(node, ast.arg):
            others.add(node.arg)
        elif isinstance(node, (ast.For, ast.comprehension)):
            others |= {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            others.add(node.target.id)
    return {name: texts for name, texts in found.items() if name not in others}
