"""Removal of the solutions from a chapter's cells.

Solutions are marked as follows:

- ``x = 4.8  # SOLUTION`` becomes ``x = ...``; any other line with that mark becomes ``...``; the mark covers
  one statement on one line;
- the lines between ``# BEGIN SOLUTION`` and ``# END SOLUTION`` become one ``...``;
- ``NO PROMPT`` after either mark leaves nothing in the place;
- in Markdown, the text between ``<!-- BEGIN SOLUTION -->`` and ``<!-- END SOLUTION -->`` becomes space for
  the student's own words.

The marks look like those of otter-grader and nbgrader but are different: `otter assign` would publish the solutions.
Give students only the notebooks that `netlab_course.authoring` builds.
"""

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from typing import Any

from netlab.base.errors import NetlabError

_MARK = re.compile(r"#\s*(?P<word>BEGIN SOLUTION|END SOLUTION|SOLUTION)(?P<bare>\s+NO PROMPT)?\s*$")
# A comment that looks like a mark but is not one is a typing error, and would publish the solution.
_NEARLY_MARK = re.compile(r"#\s*((BEGIN|END|START)\b.*)?SOLUTION", re.IGNORECASE)
_MARKDOWN_MARK = re.compile(r"[ \t]*<!--\s*(?P<word>BEGIN|END) SOLUTION\s*-->[ \t]*\n?")
INSTRUCTION = "*Click here and press Enter (or double-click), write below, then press Shift+Enter.*"
"""The instruction for written answers. A click and Enter start the editor also in front ends where a double-click does not."""
PROMPT = "*Your answer:* …"
"""The place for a written answer; netlab's extension of JupyterLab puts the cursor there."""


_ANY_MARK = re.compile(
    rf"{_MARKDOWN_MARK.pattern}|^[ \t]*#\s*(BEGIN|END) SOLUTION(\s+NO PROMPT)?[ \t]*(\n|$)|[ \t]*#\s*SOLUTION(\s+NO PROMPT)?[ \t]*$",
    re.MULTILINE,
)


class AuthoringError(NetlabError):
    """A chapter's source cannot be converted to a notebook; the text names file and line."""


def without_marks(source: str) -> str:
    """Return the source of a cell, code or Markdown, with its solutions and without the marks.

    Examples
    --------
    >>> print(without_marks("# BEGIN SOLUTION NO PROMPT\\nx = 4.8  # SOLUTION\\n# END SOLUTION"))
    x = 4.8
    """
    return _ANY_MARK.sub("", source).rstrip("\n")


def strip_code(source: str, file: str = "cell", first_line: int = 1) -> str:
    """Return the source of a code cell with `...` in place of the solutions. Raises AuthoringError for wrong marks; its
    text names the line in `file`, in which the cell begins at `first_line` (from 1).

    Examples
    --------
    >>> print(strip_code("x = 4.8  # SOLUTION"))
    x = ...
    """

    def fail(line: int, what: str) -> AuthoringError:
        """Return the error with the message `what` on a line of the cell (counted from 1)."""
        return AuthoringError(f"{file}:{first_line + line - 1}: {what}")

    lines = source.split("\n")
    replaced: dict[int, str | None] = {}
    open_block: tuple[int, bool] | None = None
    for line, comment, column in _comments(source, fail):
        mark = _MARK.fullmatch(comment)
        if mark is None:
            if _NEARLY_MARK.match(comment):
                raise fail(line, f"{comment!r} is not a mark; did you mean `# BEGIN SOLUTION`?")
            continue
        word, bare = mark["word"], bool(mark["bare"])
        alone = not lines[line - 1][:column].strip()
        if word != "SOLUTION" and not alone:
            raise fail(line, f"`# {word}` must be on a line of its own.")
        if word == "BEGIN SOLUTION":
            if open_block is not None:
                raise fail(
                    line, f"`# BEGIN SOLUTION` inside the block that begins in line {first_line + open_block[0] - 1}."
                )
            open_block = (line, bare)
        elif word == "END SOLUTION":
            if open_block is None:
                raise fail(line, "`# END SOLUTION` without `# BEGIN SOLUTION` before it.")
            if bare:
                raise fail(line, "`NO PROMPT` belongs after `# BEGIN SOLUTION`.")
            start, without = open_block
            indent = lines[start - 1][: len(lines[start - 1]) - len(lines[start - 1].lstrip())]
            replaced.update(dict.fromkeys(range(start, line + 1)))
            if not without:
                replaced[start] = f"{indent}..."
            open_block = None
        elif open_block is None:
            if alone:
                raise fail(line, "`# SOLUTION` must follow the line that it covers.")
            replaced[line] = None if bare else _stub(lines[line - 1], column, line, fail)
        else:
            raise fail(line, f"`# SOLUTION` inside the solution that begins in line {first_line + open_block[0] - 1}.")
    if open_block is not None:
        raise fail(open_block[0], "`# BEGIN SOLUTION` without `# END SOLUTION` in the same cell.")
    if not replaced:
        return source
    kept = [replaced.get(number, text) for number, text in enumerate(lines, start=1)]
    stripped = "\n".join(text for text in kept if text is not None)
    try:
        ast.parse(stripped)
    except SyntaxError as error:
        raise fail(1, f"without its solution this cell is not valid Python: {error.msg}; keep a line there.") from error
    return stripped


def strip_markdown(source: str, file: str = "cell", first_line: int = 1) -> str:
    """Return the source of a Markdown cell with space for the student's own words in place of the solutions. Raises
    AuthoringError for wrong marks; its text names the line in `file`, in which the cell begins at `first_line` (from
    1).

    Examples
    --------
    >>> print(strip_markdown("Why?\\n<!-- BEGIN SOLUTION -->\\nBecause.\\n<!-- END SOLUTION -->"))
    Why?
    <BLANKLINE>
    *Click here and press Enter (or double-click), write below, then press Shift+Enter.*
    <BLANKLINE>
    *Your answer:* …
    """
    parts: list[str] = []
    position = 0
    open_line: int | None = None
    for mark in _MARKDOWN_MARK.finditer(source):
        line = first_line + source.count("\n", 0, mark.start())
        if mark["word"] == "BEGIN":
            if open_line is not None:
                raise AuthoringError(
                    f"{file}:{line}: `BEGIN SOLUTION` inside the block that begins in line {open_line}."
                )
            # The empty line separates each from the question's last paragraph.
            texts = [source[position : mark.start()].rstrip("\n"), *([] if parts else [INSTRUCTION]), f"{PROMPT}\n"]
            parts.append("\n\n".join(part for part in texts if part))
            open_line = line
        elif open_line is None:
            raise AuthoringError(f"{file}:{line}: `END SOLUTION` without `BEGIN SOLUTION` before it.")
        else:
            open_line = None
        position = mark.end()
    if open_line is not None:
        raise AuthoringError(f"{file}:{open_line}: `BEGIN SOLUTION` without `END SOLUTION` in the same cell.")
    return "".join([*parts, source[position:]]).rstrip("\n") if parts else source


def _comments(source: str, fail: Any) -> Iterator[tuple[int, str, int]]:
    """Yield line (from 1), text and column (from 0) of every comment of a cell's code; nothing if the code has no word
    SOLUTION. If it is not Python, raises the error that `fail` returns for a line and a message.
    """
    if "SOLUTION" not in source.upper():
        return
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string.rstrip(), token.start[1]
    except (tokenize.TokenError, IndentationError, SyntaxError) as error:
        raise fail(1, f"a cell with a solution must be plain Python ({error.args[0]}).") from error


def _stub(text: str, column: int, line: int, fail: Any) -> str:
    """Return what replaces the line `text` of a cell, whose mark is at `column` (from 0): `...`, after the target of an
    assignment. If it is not one whole statement, raises the error that `fail` returns for the number `line` and a
    message.
    """
    code = text[:column].rstrip()
    indent = code[: len(code) - len(code.lstrip())]
    try:
        body = ast.parse(textwrap.dedent(code)).body
    except SyntaxError:
        # `return x` parses; a line that does not parse is part of a longer statement or the header of a block.
        raise fail(line, "`# SOLUTION` covers one whole statement on one line; use `# BEGIN SOLUTION` here.") from None
    if len(body) != 1:
        raise fail(line, "`# SOLUTION` covers one statement; write the others on lines of their own.")
    statement = body[0]
    if isinstance(statement, ast.Assign):
        if any(isinstance(target, (ast.Tuple, ast.List)) for target in statement.targets):
            raise fail(line, "`...` cannot be unpacked; give each name an assignment of its own.")
        head = code.lstrip().encode()[: statement.value.col_offset].decode()
        return f"{indent}{head}..."
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        head = code.lstrip().encode()[: statement.value.col_offset].decode()
        return f"{indent}{head}..."
    return f"{indent}..."
