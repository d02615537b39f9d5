"""Find the commands that a script gives to shells, and in them the names of the programs that they start."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

HOLE = "\0"
"""Stands in a command for what only the running script knows."""
METHODS = frozenset(["cmd", "cmdPrint", "sendCmd", "popen", "pexec"])
"""Methods of Mininet's hosts that take a command."""
FUNCTIONS = frozenset(
    [
        "quietRun",
        "errRun",
        "system",
        "getoutput",
        "getstatusoutput",
        "run",
        "call",
        "check_call",
        "check_output",
        "Popen",
    ]
)
MODULES = frozenset(["os", "subprocess", "commands", "util"])
FORMAT_FIELD = re.compile(r"%(?:\(\w+\))?[#0\- +]*[\d*]*(?:\.[\d*]+)?[a-zA-Z]")
FIELD = re.compile(r"\{[^{}]*\}")
PIECE = re.compile(
    r"""(?P<space>[ \t]+|\\\n)
    |(?P<comment>\#[^\n]*)
    |(?P<redirection>\d*(?:>>|>&|<&|&>|>\||<>|>|<))
    |(?P<separator>\|\||&&|;;|[;&|\n()`]|\$\()
    |(?P<word>(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|\$\{[^}]*\}|[^\s;&|()`<>'"\\])+)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
PROGRAM = re.compile(r"[A-Za-z][\w.+-]*\Z")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
BEFORE_COMMAND = frozenset(
    [
        "{",
        "do",
        "then",
        "else",
        "elif",
        "if",
        "while",
        "until",
        "!",
        "time",
        "exec",
        "nohup",
        "setsid",
        "command",
        "builtin",
        "eval",
    ]
)
NO_COMMAND = frozenset(["}", "for", "case", "select", "function", "esac", "done", "fi", "in"])
OPTIONS_WITH_VALUE = {
    "sudo": frozenset(["-u", "-g", "-p", "-h", "-C", "-U"]),
    "env": frozenset(["-u", "-C", "-S"]),
    "nice": frozenset({"-n"}),
    "timeout": frozenset(["-s", "-k"]),
    "stdbuf": frozenset(["-i", "-o", "-e"]),
    "taskset": frozenset(),
    "chrt": frozenset(),
    "ionice": frozenset(["-c", "-n"]),
    "xterm": frozenset(["-title", "-T", "-fa", "-fs", "-geometry", "-bg", "-fg", "-n"]),
}
"""Programs that start the one behind them, with their options that have a value of their own."""
OPERANDS = {"timeout": 1, "taskset": 1, "chrt": 1}
SHELLS = frozenset(["sh", "bash", "dash"])


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
    and line (from 1), as far as its name is in the script's text. `tree` is the parsed script.
    """
    constants = _constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for text in _commands(node, constants):
                for words in simple_commands(text):
                    yield StartedProgram(words[0], tuple(words[1:]), node.lineno)


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
        return [" ".join(_quote(_texts(part, constants)[0]) for part in first.elts)] if first.elts else []
    if name in METHODS | {"quietRun", "errRun"} and len(node.args) > 1:
        return [" ".join(_texts(part, constants)[0] for part in node.args)]
    return _texts(first, constants)


def _quote(text: str) -> str:
    """Return the word `text` in single quotes, as a shell needs it, if it has white space, and else unchanged."""
    return "'" + text.replace("'", "'\\''") + "'" if re.search(r"\s", text) else text


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


def simple_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each simple command in `text`, a command line for a shell, the program's name first, without
    assignments, redirections, quotes and programs such as sudo before it, as far as that can be told; the rest is left
    out from a here-document or a part that is not understood on.

    >>> list(simple_commands("cd /tmp; sudo -E tc qdisc show | grep 'x y' > f && X=1 timeout 5 ping -c 1 h2 &"))
    [['cd', '/tmp'], ['tc', 'qdisc', 'show'], ['grep', 'x y'], ['ping', '-c', '1', 'h2']]
    """
    if "<<" in text:
        # The lines of a document that stands in the command are none.
        text = text.partition("<<")[0]
    words: list[str] = []
    skipped = False
    for found in [*PIECE.finditer(text), None]:
        kind = "separator" if found is None else found.lastgroup
        piece = "" if found is None else found.group()
        if kind == "word":
            if not skipped:
                words.append(piece)
            skipped = False
        elif kind == "redirection":
            # A number in front of it names a descriptor, what follows it a file.
            skipped = True
        elif kind == "other":
            return
        elif kind == "separator":
            if not (piece == "(" and len(words) == 1):
                # Not the head of a function's definition.
                yield from _program(words)
            words, skipped = [], False


def _program(words: list[str]) -> Iterator[list[str]]:
    """Yield the words of the command that `words`, a part of a shell's command line, starts, without assignments,
    quotes and programs such as sudo before it; for `sh -c`, those of each command in its text, and before a command in
    xterm also xterm's own name. Yield nothing if they are no command.
    """
    words = list(words)
    while words:
        if ASSIGNMENT.match(words[0]) or words[0] in BEFORE_COMMAND:
            del words[0]
        elif words[0] in OPTIONS_WITH_VALUE:
            if words[0] == "xterm":
                yield words[:1]
            words = _skip_options(words)
        else:
            break
    if not words or words[0] in NO_COMMAND or not PROGRAM.match(words[0]):
        return
    if words[0] in SHELLS and "-c" in words[1:-1]:
        yield from simple_commands(_unquote(words[words.index("-c") + 1]))
        return
    yield [words[0], *(_unquote(word) for word in words[1:])]


def _skip_options(words: list[str]) -> list[str]:
    """Return the words of the command that the first of `words`, a program such as sudo, starts: without that program,
    its options and its own operands.
    """
    with_value, operands = OPTIONS_WITH_VALUE[words[0]], OPERANDS.get(words[0], 0)
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        if rest[0] in ("-e", "--"):
            return rest[1:]
        del rest[: 2 if rest[0] in with_value else 1]
    return rest[operands:]


def _unquote(word: str) -> str:
    """Return a word of a shell's command line without its quotes and the backslashes that protect characters."""
    return re.sub(r"\\(.)", r"\1", word.replace('"', "").replace("'", ""))
