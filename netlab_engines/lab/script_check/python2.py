"""Find the syntax that only Python 2 has, and rewrite it line by line so far that Python 3 can parse the rest of a
script.

The rewritten text is for further checks alone. It never runs: a script is converted by a program that knows all of
Python 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TAB_COLUMNS = 8
TOKEN = re.compile(
    r"""(?P<string>[bBrRuU]{0,3}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<comment>\#[^\n]*)
    |(?P<number>\.?\d[\w.]*)
    |(?P<name>[^\W\d]\w*)
    |(?P<space>(?:[ \t\f\r]|\\\r?\n)+)
    |(?P<newline>\n)
    |(?P<operator><>|>>|[!<>=]=|\*\*|//|->|:=|.)""",
    re.VERBOSE | re.DOTALL,
)
COMPOUND = frozenset(["if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class"])
AFTER_PRINT_IN_PYTHON_3 = frozenset(
    ["(", "=", ".", ",", ")", "]", "}", ":", ";", "==", "!=", "<=", ">=", "%", "*", "/", "|", "&", "^", "@", "+"]
)
WORDS_AFTER_NAME = frozenset(["in", "is", "and", "or", "if", "else", "not", "for", "as"])
OLD_OCTAL = re.compile(r"0\d+[lL]?\Z")
LONG = re.compile(r"(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]*|[1-9]\d*)[lL]\Z")

PRINT = "print without parentheses is Python 2."
EXEC = "exec without parentheses is Python 2."
EXCEPT_ADVICE = "`except A, b` is Python 2; Python 3 writes `except A as b`."
RAISE = "`raise A, b` is Python 2; Python 3 writes `raise A(b)`."
BACKTICKS = "backticks are Python 2; Python 3 writes repr(...)."
OLD_NOT_EQUAL = "<> is Python 2; Python 3 writes !=."
OCTAL = "a number that begins with 0 is octal in Python 2; Python 3 writes 0o."
LONG_NUMBER = "a number with an L at its end is Python 2."
UR = 'ur"..." is Python 2.'
TUPLE = "parentheses around parameters are Python 2."
BARE_TUPLE = "`[... for a in b, c]` is Python 2; Python 3 writes (b, c)."
TABS = "tabs and spaces are mixed in the indentation, which Python 3 does not accept."


@dataclass(frozen=True)
class Token:
    """A token of a script's text: its kind (a group of TOKEN, such as "name"), its text, and the index of its first
    character.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The index, in the script's text, of the first character after the token."""
        return self.start + len(self.text)


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a script's text in their order, so that they make up the whole text; a quote whose string
    does not end becomes an operator.
    """
    for found in TOKEN.finditer(text):
        yield Token(found.lastgroup or "", found.group(), found.start())


@dataclass
class _Bracket:
    """An open bracket of a statement, since its beginning or its last `for` or `if`."""

    is_list: bool
    """True for a bracket of a list."""
    waits: bool = False
    """True between the `for` of a list comprehension and its `in`."""
    values_start: int = -1
    """The index, in the script's text, of the first character after that `in`; -1 before it."""
    comma: Token | None = None
    """The last comma after that `in`."""


class Rewriting:
    """The rewritten form of a script's text that Python 3 does not parse, with the syntax of Python 2 replaced.

    `found` has each kind of Python 2's syntax with its lines, and `text` what is left for Python 3; it has the same
    lines.
    """

    def __init__(self, text: str) -> None:
        """Rewrite a script's text: `found` then has a sentence and a line number (from 1) for each use of Python 2's
        syntax, and `text` the rewritten text, with the same lines.
        """
        self.found: list[tuple[str, int]] = []
        self._source = text
        self._edits: list[tuple[int, int, str]] = []
        for statement in _statements(list(tokens(text))):
            self._statement(statement)
        self.text = self._apply_edits()

    def _note(self, what: str, token: Token, start: int, end: int, new: str) -> None:
        """Record a use of Python 2's syntax, with the sentence `what` and the line of `token`, and plan to replace the
        characters from the index `start` to before `end` of the script's text by `new`.
        """
        self.found.append((what, self._source.count("\n", 0, token.start) + 1))
        self._edits.append((start, end, new))

    def _apply_edits(self) -> str:
        """Return the script's text with all planned replacements."""
        parts, done = [], 0
        for start, end, new in sorted(self._edits, key=lambda edit: edit[:2]):
            parts += [self._source[done:start], new]
            done = max(done, end)
        return "".join(parts) + self._source[done:]

    def _statement(self, pieces: list[Token]) -> None:
        """Record the uses of Python 2's syntax in one statement, given as its tokens, and plan their replacements."""
        words = _words(pieces)
        if not words:
            return
        for token in words:
            self._token(token)
        ticks = [token for token in words if token.text == "`"]
        for begin, end in zip(ticks[::2], ticks[1::2], strict=False):
            self._note(BACKTICKS, begin, begin.start, begin.end, "repr(")
            self._edits.append((end.start, end.end, ")"))
        first, last = words[0], words[-1]
        if len(words) > 1 and first.text == "print" and _begins_operand(words[1]):
            skipped = words[1].end if words[1].text == ">>" else first.end
            self._note(PRINT, first, first.end, skipped, "(")
            self._edits.append((last.end, last.end, ")"))
        elif len(words) > 1 and first.text == "exec" and _begins_operand(words[1]):
            self._note(EXEC, first, first.end, first.end, "(")
            self._edits.append((last.end, last.end, ")"))
        elif first.text in ("raise", "except"):
            self._comma(first, words)
        elif first.text == "def":
            self._parameters(words)
        self._comprehensions(words)
        for number, token in enumerate(words[:-1]):
            if token.text == "lambda" and words[number + 1].text == "(":
                self._remove_parentheses(words[number + 1 :])

    def _token(self, token: Token) -> None:
        """Record a token that is syntax of Python 2, such as `<>` or a number with an L, and plan its replacement; any
        other token changes nothing.
        """
        if token.text == "<>":
            self._note(OLD_NOT_EQUAL, token, token.start, token.end, "!=")
        elif token.kind == "number" and OLD_OCTAL.match(token.text) and token.text.strip("0lL"):
            self._note(OCTAL, token, token.start, token.end, f"0o{token.text.rstrip('lL')[1:]}")
        elif token.kind == "number" and LONG.match(token.text):
            self._note(LONG_NUMBER, token, token.end - 1, token.end, "")
        elif token.kind == "string" and token.text[:2].lower() == "ur":
            self._note(UR, token, token.start, token.start + 1, "")

    def _comma(self, first: Token, words: list[Token]) -> None:
        """Record `raise A, b` or `except A, b` and plan to rewrite it as `raise A(b)` or `except A as b`, at its first
        comma outside parentheses, if it has one (of `except` only before a name); `words` are the tokens of the
        statement without spaces, and `first` is the first of them.
        """
        depth = 0
        for number, token in enumerate(words):
            depth += (token.text in "([{") - (token.text in ")]}")
            if token.text == "," and depth == 0:
                if first.text == "raise":
                    self._note(RAISE, first, token.start, token.end, "(")
                    self._edits.append((words[-1].end, words[-1].end, ")"))
                elif [each.kind for each in words[number + 1 : number + 2]] == ["name"]:
                    self._note(EXCEPT_ADVICE, first, token.start, token.end, " as")
                return

    def _parameters(self, words: list[Token]) -> None:
        """Record each pair of parentheses around parameters of a function, such as `def f(a, (b, c))`, and plan its
        removal; `words` are the tokens of the function's head without spaces.
        """
        depth = 0
        for number, token in enumerate(words):
            depth += (token.text == "(") - (token.text == ")")
            if token.text == "(" and depth == 2 and words[number - 1].text in ("(", ","):
                self._remove_parentheses(words[number:])

    def _comprehensions(self, words: list[Token]) -> None:
        """Record each list comprehension over values without parentheses, such as `[a for a in b, c]`, and plan to put
        parentheses around these; `words` are the tokens of a statement without spaces.
        """
        brackets: list[_Bracket] = []
        for number, token in enumerate(words):
            if token.text in ("(", "[", "{"):
                brackets.append(_Bracket(token.text == "["))
                continue
            if not brackets:
                continue
            inner = brackets[-1]
            if token.text in (")", "]", "}", "if", "for"):
                if inner.comma is not None:
                    self._note(BARE_TUPLE, inner.comma, inner.values_start, inner.values_start, "(")
                    self._edits.append((words[number - 1].end, words[number - 1].end, ")"))
                brackets.pop()
                if token.text in ("if", "for"):
                    brackets.append(_Bracket(inner.is_list, waits=inner.is_list and token.text == "for"))
            elif token.text == "in" and inner.waits and number + 1 < len(words):
                inner.waits, inner.values_start = False, words[number + 1].start
            elif token.text == "," and inner.values_start >= 0:
                inner.comma = token

    def _remove_parentheses(self, words: list[Token]) -> None:
        """Record the parentheses of Python 2 that open at the first of these tokens, and plan to remove them; nothing
        happens if they do not close.
        """
        close = next((token for token in words if token.text == ")"), None)
        if close is not None:
            self._note(TUPLE, words[0], words[0].start, words[0].end, " ")
            self._edits.append((close.start, close.end, " "))


def _begins_operand(token: Token) -> bool:
    """Return whether `token`, the one after `print` or `exec` at the beginning of a statement, begins an operand, so
    that the statement is Python 2's.
    """
    if token.kind == "operator":
        return token.text not in AFTER_PRINT_IN_PYTHON_3
    return token.text not in WORDS_AFTER_NAME or token.text == "not"


def _statements(pieces: list[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each simple statement and of each head of a compound statement, such as `if a`, in the order
    of the script; the ";", ":" or end of line between them is left out.
    """
    current: list[Token] = []
    depth = 0
    for token in pieces:
        if token.kind == "operator":
            depth = max(0, depth + (token.text in "([{") - (token.text in ")]}"))
        if depth == 0 and (token.kind == "newline" or token.text == ";" or (token.text == ":" and _is_head(current))):
            yield current
            current = []
        else:
            current.append(token)
    yield current


def _words(pieces: list[Token]) -> list[Token]:
    """Return the tokens without those that are spaces, comments or ends of lines."""
    return [token for token in pieces if token.kind not in ("space", "comment", "newline")]


def _is_head(pieces: list[Token]) -> bool:
    """Return whether these tokens, which stand before a colon, are the head of a compound statement such as `if` or
    `def`, and not of a lambda.
    """
    names = [token.text for token in _words(pieces)]
    in_lambda = names.count("lambda") > names.count(":")
    return bool(names) and names[0] in COMPOUND and not in_lambda


def without_tabs(text: str) -> str:
    """Return a script's text with spaces in place of the tabs in the indentation of its lines, with a tab stop at each
    TAB_COLUMNS columns, as in Python 2.
    """
    lines = []
    for line in text.split("\n"):
        rest = line.lstrip(" \t")
        lines.append(line[: len(line) - len(rest)].expandtabs(TAB_COLUMNS) + rest)
    return "\n".join(lines)
