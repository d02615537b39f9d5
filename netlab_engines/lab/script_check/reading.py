"""Read a script and parse it, with a sentence for each reason why it is not Python 3."""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import shlex
import sys
import tokenize
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from netlab_engines.lab.script_check import execution, python2
from netlab_engines.lab.script_check.problem import Problem

MAX_BYTES = 4 << 20
EMPTY_MODULE = ast.Module(body=[], type_ignores=[])
CONVERTER = "fissix"
"""A package of PyPI that converts Python 2 to Python 3 on every Python from 3.8 on; Python's own 2to3 ended with 3.12."""


@dataclass
class Source:
    """A script's syntax tree, and the problems that were found while it was read; the tree is empty if Python 3 cannot
    parse the script even with the syntax of Python 2 rewritten.
    """

    path: Path
    tree: ast.Module
    problems: list[Problem]
    in_package: bool = False
    """A module of a package, where Python 2 finds other modules of the package by their names alone."""

    @cached_property
    def certain_nodes(self) -> set[ast.AST]:
        """The expressions and simple statements of the script that run whenever it does, until something ends it."""
        return execution.certain_nodes(self.tree)

    @cached_property
    def prepared_nodes(self) -> set[ast.AST]:
        """The syntax nodes of the script for whose failure it has code, such as in a `try` block that catches
        ImportError.
        """
        return execution.prepared_nodes(self.tree)


def read_source(path: Path, in_package: bool = False) -> Source:
    """Read and parse the script at `path`, or a module of a package if `in_package`, and return its syntax tree and
    problems. A file that cannot be read or parsed, or is not UTF-8 without saying so, becomes a problem, with an empty
    tree if it cannot be parsed; nothing is raised.
    """
    source = _read(path, in_package)
    source.in_package = in_package
    return source


def _read(path: Path, in_package: bool) -> Source:
    """Return the source of the script or module at `path`, as `read_source` does."""
    failure = _reading_error(path)
    if failure is not None:
        return Source(path, EMPTY_MODULE, [Problem(path, failure, stops=True)])
    data = path.read_bytes()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = io.TextIOWrapper(io.BytesIO(data), encoding, newline=None).read()
    except (SyntaxError, UnicodeDecodeError):
        return _decode_as_latin1(path, data, in_package)
    return _parse(path, text, [], in_package)


def _reading_error(path: Path) -> str | None:
    """Return a sentence about why the file at `path` cannot be read or is not a Python file (a directory, a notebook or a
    program for another shell); None if it can be read.
    """
    try:
        if path.is_dir():
            return "this is a directory; give the path of a Python file."
        if not path.exists():
            return "there is no such script; give the path of a Python file, such as one that Topology.to_mininet() writes."
        if not path.is_file():
            return "this is a pipe or a device, which the lab cannot open; save the script as a file and give its path."
        with path.open("rb") as file:
            data = file.read(MAX_BYTES)
    except OSError as error:
        return f"this script cannot be read ({error.strerror})."
    if b"\0" in data:
        return "this is not a Python file: it has bytes of 0."
    first = data.split(b"\n", 1)[0]
    if first.startswith(b"#!") and not any(word in first for word in (b"python", b"netlab")):
        shell = first[2:].decode(errors="replace").strip()
        return (
            f"this is not a Python file, but a program for {shell}. If it starts Mininet scripts, write `netlab mininet` there in "
            f"place of `sudo python` and run it by itself; if it belongs in a host, start it there, as in h1.cmd('./{path.name}')."
        )
    if path.suffix == ".ipynb" or _is_notebook(data):
        return f"this is a notebook; write it as a script first: jupyter nbconvert --to script {shlex.quote(path.name)}"
    return None


def _is_notebook(data: bytes) -> bool:
    """Return whether the bytes `data` of a file are a Jupyter notebook: a JSON object with cells."""
    if not data.lstrip().startswith(b"{"):
        return False
    try:
        found = json.loads(data)
    except ValueError:
        return False
    return isinstance(found, dict) and "cells" in found


def _decode_as_latin1(path: Path, data: bytes, in_package: bool) -> Source:
    """Return the source of the script at `path`, parsed from its bytes `data` as Latin-1, with a problem that names the
    first line that is not UTF-8; for scripts whose bytes do not fit the encoding that they state.
    """
    text = data.decode("latin-1")
    line = next((number for number, each in enumerate(data.split(b"\n"), 1) if not _is_utf8(each)), 1)
    name = shlex.quote(str(path))
    problem = Problem(
        path,
        "a letter here is not UTF-8, and the script does not say what else; this command writes its encoding into it: "
        f"sed -i '1i # -*- coding: latin-1 -*-' {name}",
        [line],
        stops=True,
    )
    return _parse(path, text, [problem], in_package)


def _is_utf8(line: bytes) -> bool:
    """Return whether the bytes `line` are valid UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _parse(path: Path, text: str, problems: list[Problem], in_package: bool) -> Source:
    """Parse `text`, the script at `path`, and return its source with `problems` and those of its syntax, with the
    command that converts it. If Python 3 cannot parse it, the syntax of Python 2 in it is first rewritten; the tree is
    empty if that does not help.
    """
    error = _syntax_error(text, path)
    if error is None:
        return Source(path, ast.parse(text), problems)
    spaces = python2.without_tabs(text)
    tabs = spaces != text and isinstance(error, TabError)
    rewriting = python2.Rewriting(spaces)
    left = _syntax_error(rewriting.text, path)
    found = [Problem(path, what, [line], stops=True, is_python2=True) for what, line in rewriting.found]
    if tabs:
        found.append(Problem(path, python2.TABS, [error.lineno or 1], stops=True))
    if left is not None and (not found or not _is_python2(rewriting)):
        # Nothing speaks for Python 2.
        return Source(path, EMPTY_MODULE, [*problems, _syntax_problem(path, error)])
    problems += found
    if left is not None:
        problems.append(_syntax_problem(path, left))
    problems.append(Problem(path, conversion(path, tabs, bool(rewriting.found), in_package), stops=True))
    return Source(path, EMPTY_MODULE if left is not None else ast.parse(rewriting.text), problems)


def _is_python2(rewriting: python2.Rewriting) -> bool:
    """Return whether a rewriting found syntax that certainly is Python 2's: its print, exec, backticks or `except A,
    b`.
    """
    return any(
        what in (python2.PRINT, python2.EXCEPT_ADVICE, python2.BACKTICKS, python2.EXEC) for what, _ in rewriting.found
    )


def _syntax_error(text: str, path: Path) -> SyntaxError | None:
    """Return the first syntax error that this Python finds in `text`, or None if it finds none; `path` is the file's
    name in the error.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, str(path), "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return SyntaxError(str(error))
    return None


def _syntax_problem(path: Path, error: SyntaxError) -> Problem:
    """Return the problem, which stops the script at `path`, for a syntax error: its line, and Python's words about
    it.
    """
    quote = f", in `{error.text.strip()}`" if error.text and error.text.strip() else ""
    lines = [] if error.lineno is None else [error.lineno]
    return Problem(
        path, f"Python {sys.version_info[0]}.{sys.version_info[1]} says: {error.msg}{quote}.", lines, stops=True
    )


def conversion(path: Path, tabs: bool, python_2: bool, in_package: bool = False) -> str:
    """Return a sentence with the shell command that converts the script at `path`, its indentation from tabs to spaces
    if `tabs`, its Python 2 to Python 3 if `python_2`, and keeps the old file as .bak; the command may install the
    converter. Only for a module of a package (`in_package`) does it make imports relative.
    """
    name = shlex.quote(str(path))
    steps, keep = [], ""
    if tabs:
        steps += [f"cp {name} {name}.bak", f"expand -i -t {python2.TAB_COLUMNS} {name}.bak > {name}"]
        keep = "-n "
    if python_2:
        own = shlex.quote(sys.executable)
        if sys.prefix == sys.base_prefix:
            # A Python outside an environment may belong to the distribution, which then refuses packages.
            place = "~/.cache/netlab/converter"
            steps.append(f"{own} -m venv {place}")
            own = f"{place}/bin/python"
        elif importlib.util.find_spec("pip") is None:
            steps.append(f"{own} -m ensurepip")
        if not in_package and (path.parent / "__init__.py").exists():
            # The converter takes the script for a module of a package, in which it could not run.
            keep += "-x import "
        steps += [f"{own} -m pip install -q {CONVERTER}", f"{own} -m {CONVERTER} -w {keep}{name}"]
    what = (
        "this is written for Python 2; this command converts it"
        if python_2
        else "this command puts spaces for the tabs"
    )
    return f"{what} and keeps the old one as {path.name}.bak: {' && '.join(steps)}"
