"""Read the text of a shell: find its simple commands, also those in substitutions, and the functions that it defines.

The grammar is bash's (https://www.gnu.org/software/bash/manual/bash.html#Basic-Shell-Features), as far as it tells which
words begin a command; whether a text is correct is not looked at.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

HOLE = "\0"
"""Stands in a command for what only the running script knows."""
BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
SPACE_AND_COMMENTS = re.compile(r"(?:\s|\\\n|\#[^\n]*)*")
REDIRECTION = re.compile(r"&>>?|\d*(?:<<<|<<-?|>>|>&|<&|>\||<>|[<>](?!\())")
EMPTY_PARENTHESES = re.compile(r"[ \t]*\([ \t]*\)")
END_OF_CASE = re.compile(r";;&?|;&")
WORD_END = frozenset(" \t\n;&|()<>")
PROGRAM = re.compile(r"[A-Za-z][\w.+-]*\Z")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
BEFORE_COMMAND = frozenset([
    "{", "!", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc",
    "exec", "nohup", "setsid", "command", "builtin",
])  # fmt: skip
NO_COMMAND = frozenset(["}", "for", "select", "done", "fi", "in"])
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


class ShellText(NamedTuple):
    """Holds the words of each simple command in a shell's text, the program's name first, and the names of the functions
    that the text defines.
    """

    commands: list[list[str]]
    functions: set[str]


def read_shell(text: str) -> ShellText:
    """Return the simple commands and functions in `text`, which a shell would run. The commands are without assignments,
    redirections, quotes and programs such as sudo before them, and HOLE stands for what other commands print; the rest
    is left out from a quote without an end on.

    >>> read_shell("cd /tmp; sudo -E tc qdisc show | grep 'x y' > f && X=1 timeout 5 ping -c $((1 + 1)) h2 &").commands
    [['cd', '/tmp'], ['tc', 'qdisc', 'show'], ['grep', 'x y'], ['ping', '-c', '\\x00', 'h2']]
    """
    reader = _Reader(text)
    reader.read()
    return ShellText(reader.commands, reader.functions)


class _Word(NamedTuple):
    """A word as it stands in the text, and its value without quotes."""

    text: str
    value: str


class _Document(NamedTuple):
    """A here-document whose lines begin after the present line: the line that ends it, whether that may be indented, and
    whether commands in the document run.
    """

    end: str
    is_indented: bool
    has_substitutions: bool


class _UnreadableError(Exception):
    """The text has a quote without an end."""


class _Reader:
    """Reads a shell's text from the front and collects its commands and functions."""

    def __init__(self, text: str) -> None:
        """Begin at the front of `text`."""
        self.commands: list[list[str]] = []
        self.functions: set[str] = set()
        self._text = text
        self._at = 0
        self._documents: list[_Document] = []

    def read(self) -> None:
        """Read the whole text."""
        try:
            while self._at < len(self._text):
                self._read_list()
                # A parenthesis, `;;` or `esac` that nothing has opened.
                if not self._read_word().text:
                    self._at += 1
        except _UnreadableError:
            return

    def _peek(self) -> str:
        """Return the next character, "" at the end."""
        return self._text[self._at : self._at + 1]

    def _accept(self, pattern: re.Pattern[str]) -> str:
        """Return what `pattern` matches here, and go behind it; "" if it does not match."""
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found.group() if found else ""

    def _accept_text(self, text: str) -> bool:
        """Return whether the text goes on with `text`, and go behind that if so."""
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _read_list(self) -> None:
        """Read commands up to a closing parenthesis, the end of a clause of `case`, `esac` or the end of the text, and
        stay before it.
        """
        words: list[_Word] = []
        while self._at < len(self._text):
            if self._accept(BLANKS):
                continue
            character = self._peek()
            if character == ")" or END_OF_CASE.match(self._text, self._at):
                break
            if character == "#":
                self._at = (self._text + "\n").index("\n", self._at)
            elif redirection := self._accept(REDIRECTION):
                self._read_target(redirection)
            elif character in "\n;&|":
                self._at += 1
                self._add_command(words)
                words = []
                if character == "\n":
                    self._read_documents()
            elif character == "(":
                self._read_parentheses(words)
                words = []
            else:
                before = self._at
                word = self._read_word()
                if all(earlier.text in BEFORE_COMMAND for earlier in words):
                    if word.text == "esac":
                        self._at = before
                        break
                    if self._read_compound(word):
                        words = []
                        continue
                words.append(word)
        self._add_command(words)

    def _read_compound(self, word: _Word) -> bool:
        """Return whether `word`, which begins a command and has been read, begins a compound command whose words are
        none of a command, and read those if so.
        """
        if word.text == "case":
            self._read_case()
        elif word.text == "[[":
            self._read_condition()
        elif word.text == "function":
            self._accept(BLANKS)
            self.functions.add(self._read_word().value)
            self._accept(EMPTY_PARENTHESES)
        elif self._accept(EMPTY_PARENTHESES):
            self.functions.add(word.value)
        else:
            return False
        return True

    def _read_parentheses(self, words: list[_Word]) -> None:
        """Read an opening parenthesis at the end of a command that has `words` up to here, and what it encloses: an
        arithmetic expression or commands.
        """
        if not self._read_arithmetic("(("):
            self._at += 1
            self._read_list()
            self._accept_text(")")
        self._add_command(words)

    def _read_case(self) -> None:
        """Read what follows the word `case`, up to the end of `esac`."""
        self._accept(BLANKS)
        self._read_word()
        self._accept(SPACE_AND_COMMENTS)
        if self._read_word().text != "in":
            return
        while self._accept(SPACE_AND_COMMENTS) or self._at < len(self._text):
            before = self._at
            if self._read_word().text == "esac":
                return
            self._at = before
            self._accept_text("(")
            while self._at < len(self._text) and not self._accept_text(")"):
                self._read_piece()
            self._read_list()
            if not self._accept(END_OF_CASE) and self._peek() == ")":
                # An outer list ends here, without `esac`.
                return

    def _read_condition(self) -> None:
        """Read what follows the word `[[`, up to the end of `]]`."""
        while self._at < len(self._text):
            self._accept(SPACE_AND_COMMENTS)
            word = self._read_word()
            if word.text == "]]":
                return
            if not word.text:
                # An operator.
                self._at += 1

    def _read_target(self, redirection: str) -> None:
        """Read what follows a redirection: the name of a file, or the end of a here-document."""
        self._accept(BLANKS)
        if "<<" not in redirection or redirection.endswith("<<<"):
            self._read_word()
            return
        word = self._read_word()
        self._documents.append(_Document(word.value, redirection.endswith("-"), word.text == word.value))

    def _read_documents(self) -> None:
        """Read the here-documents that begin at this line, and the commands in them."""
        for document in self._documents:
            lines = []
            while self._at < len(self._text):
                line, newline, _ = self._text[self._at :].partition("\n")
                self._at += len(line + newline)
                if (line.lstrip("\t") if document.is_indented else line) == document.end:
                    break
                lines.append(line)
            if document.has_substitutions:
                inner = _Reader("\n".join(lines))
                inner.read_document()
                self._add_all(inner)
        self._documents.clear()

    def read_document(self) -> None:
        """Read the whole text as that of a here-document, in which only substitutions are commands."""
        try:
            while self._at < len(self._text):
                self._read_quoted_piece()
        except _UnreadableError:
            return

    def _read_word(self) -> _Word:
        """Read a word and return it; an empty one if none begins here."""
        start, values = self._at, []
        while self._at < len(self._text):
            if self._accept_text("<(") or self._accept_text(">("):
                values.append(self._read_substitution())
            elif self._peek() in WORD_END:
                break
            else:
                values.append(self._read_piece())
            if self._peek() == "(" and ASSIGNMENT.fullmatch(self._text, start, self._at):
                self._read_array()
        return _Word(self._text[start : self._at], "".join(values))

    def _read_array(self) -> None:
        """Read the values of an array in parentheses."""
        self._at += 1
        while self._accept(SPACE_AND_COMMENTS) or self._at < len(self._text):
            if self._accept_text(")"):
                return
            if not self._read_word().text:
                self._at += 1

    def _read_piece(self) -> str:
        """Read a quoted part, a substitution or a character of a word, and return its value."""
        if self._accept_text("\\\n"):
            return ""
        if self._accept_text("\\"):
            self._at += 1
            return self._text[self._at - 1 : self._at]
        if self._accept_text("'"):
            return self._read_to("'")
        if self._accept_text("$'"):
            return self._read_ansi_quotes()
        if self._accept_text('"'):
            values = []
            while not self._accept_text('"'):
                if self._at >= len(self._text):
                    raise _UnreadableError
                values.append(self._read_quoted_piece())
            return "".join(values)
        return self._read_quoted_piece()

    def _read_quoted_piece(self) -> str:
        """Read a substitution or a character in double quotes or a here-document, and return its value."""
        if self._accept_text("\\"):
            self._at += 1
            character = self._text[self._at - 1 : self._at]
            return character if character in '$`"\\' else "" if character == "\n" else f"\\{character}"
        if self._accept_text("`"):
            return self._read_backquotes()
        if self._read_arithmetic("$(("):
            return HOLE
        if self._accept_text("$("):
            return self._read_substitution()
        start = self._at
        for opening, end in (("${", "}"), ("$[", "]")):
            if self._accept_text(opening):
                while self._at < len(self._text) and not self._accept_text(end):
                    self._read_quoted_piece()
                return self._text[start : self._at]
        self._at += 1
        return self._text[self._at - 1 : self._at]

    def _read_to(self, end: str) -> str:
        """Return the text up to the next `end`, and go behind that. Raises _UnreadableError if there is none."""
        text, found, _ = self._text[self._at :].partition(end)
        if not found:
            raise _UnreadableError
        self._at += len(text + found)
        return text

    def _read_ansi_quotes(self) -> str:
        """Read the rest of a text in $'...' and return it."""
        text = self._read_to("'")
        while text.endswith("\\") and not text.endswith("\\\\"):
            text = text[:-1] + "'" + self._read_to("'")
        return text

    def _read_backquotes(self) -> str:
        """Read the commands up to the next backquote, and return HOLE for what they print."""
        text = self._read_to("`")
        while text.endswith("\\") and not text.endswith("\\\\"):
            text += "`" + self._read_to("`")
        inner = _Reader(re.sub(r"\\([`$\\])", r"\1", text))
        inner.read()
        self._add_all(inner)
        return HOLE

    def _read_substitution(self) -> str:
        """Read the commands up to the closing parenthesis, and return HOLE for what they print."""
        self._read_list()
        self._accept_text(")")
        return HOLE

    def _read_arithmetic(self, opening: str) -> bool:
        """Return whether an arithmetic expression begins here with `opening`, which ends with two parentheses, and read
        it if so.
        """
        start, known, depth = self._at, len(self.commands), 0
        if not self._accept_text(opening):
            return False
        while self._at < len(self._text):
            if depth == 0 and self._accept_text("))"):
                return True
            character = self._peek()
            if depth == 0 and character == ")":
                # Two parentheses for commands, such as ((a; b) | c).
                self._at = start
                del self.commands[known:]
                return False
            depth += {"(": 1, ")": -1}.get(character, 0)
            self._read_piece()
        return True

    def _add_all(self, inner: _Reader) -> None:
        """Add what the reader of a part has found."""
        self.commands += inner.commands
        self.functions |= inner.functions

    def _add_command(self, words: list[_Word]) -> None:
        """Add the command that `words`, a part of a shell's command line, starts; for `sh -c` and eval, those in its
        text, and before a command in xterm also xterm itself. Nothing is added if they are no command.
        """
        while words:
            if ASSIGNMENT.match(words[0].text) or words[0].text in BEFORE_COMMAND:
                words = words[1:]
            elif words[0].value in OPTIONS_WITH_VALUE:
                if words[0].value == "xterm":
                    self.commands.append(["xterm"])
                words = _skip_options(words)
            else:
                break
        values = [word.value for word in words]
        if not words or words[0].text in NO_COMMAND or not PROGRAM.match(values[0]):
            return
        texts = list(_own_texts(values))
        for text in texts:
            inner = _Reader(text)
            inner.read()
            self._add_all(inner)
        if not texts:
            self.commands.append(values)


def _own_texts(values: list[str]) -> Iterator[str]:
    """Yield the text that a command with these words gives to a shell, if it is a shell or eval."""
    if values[0] == "eval":
        yield " ".join(values[1:])
    elif values[0] in SHELLS:
        yield from (text for option, text in itertools.pairwise(values[1:]) if re.fullmatch("-[a-z]*c", option))


def _skip_options(words: list[_Word]) -> list[_Word]:
    """Return the words of the command that the first of `words`, a program such as sudo, starts: without that program,
    its options and its own operands.
    """
    program, rest = words[0].value, words[1:]
    while rest and rest[0].value.startswith("-"):
        option = rest.pop(0).value
        if option in ("-e", "--"):
            return rest
        if option in OPTIONS_WITH_VALUE[program]:
            rest = rest[1:]
    return rest[OPERANDS.get(program, 0) :]
