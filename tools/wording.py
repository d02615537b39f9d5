"""Count docstrings and comments that begin without a subject or a verb, and refuse more of them than a limit.

`make lint` runs this module. CONTRIBUTING.md has the rule. A limit goes down whenever sentences are rewritten, and never up.

    python tools/wording.py [--list]
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = (
    "netlab", "netlab_user_code", "netlab_engines", "netlab_course", "netlab_classroom", "netlab_kernel", "netlab_replication",
)  # fmt: skip
MAX_HEADLESS = {
    PACKAGES: 0,
    ("tests", "tools", "benchmarks", "vm"): 0,
}
"""The largest number of such sentences in each group of folders."""

# A relative clause, a pronoun or a participle in the place of the subject.
_HEADLESS = re.compile(
    r"(What|Whatever|Whether|When|Where|Which|Who|Whose|Whoever|Of|How|That|Those|Such|It|So|One|As|Than|Twice|Before|Behind"
    r"|Beside|Said|Made|Taken|Told)\b(?!:)"
)
_COMPLETE_BEGINNING = re.compile(r"(How many|How much|As of|One of|Before \w+ing)\b")
_HEADLESS_DESCRIPTION = re.compile(r"(How|Of|What|When|Where|Whether|Who)\b")
_DESCRIBING_SECTIONS = ("Parameters", "Attributes")
_DIRECTIVES = ("%%", "!", "type:", "noqa", "doctest", "BEGIN", "END")


def is_headless(sentence: str) -> bool:
    """Return whether a sentence begins without a subject or a verb.

    >>> is_headless("What stands outside for a function"), is_headless("Return the name of a function.")
    (True, False)
    """
    return bool(_HEADLESS.match(sentence)) and not _COMPLETE_BEGINNING.match(sentence)


def is_headless_description(sentence: str) -> bool:
    """Return whether the description of a parameter, an attribute or a field is a question or a phrase without a noun.

    >>> is_headless_description("How many packets fit"), is_headless_description("Number of packets that fit")
    (True, False)
    """
    return bool(_HEADLESS_DESCRIPTION.match(sentence))


def _string(node: ast.stmt) -> str:
    """Return the text of a statement that is only a string, or "" for any other statement."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value.strip()
    return ""


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and every statement below it; expressions, most of a tree, hold none and are left out."""
    yield node
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, block, ()):
            yield from _statements(child)


def descriptions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line number and the first line of each docstring of a field and of each description of a parameter or an
    attribute in a module.
    """
    docstrings = set()
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not ast.get_docstring(node):
                continue
            docstrings.add(node.body[0])
            section = ""
            lines = inspect.cleandoc(_string(node.body[0])).splitlines()
            for number, (above, text) in enumerate(itertools.pairwise(lines), node.body[0].lineno + 1):
                if re.fullmatch("-{3,}", text):
                    section = above
                elif section in _DESCRIBING_SECTIONS and text.startswith(" ") and above and not above.startswith(" "):
                    yield number, text.strip()
        elif isinstance(node, ast.Expr) and node not in docstrings and (field := _string(node)):
            yield node.lineno, field.splitlines()[0]


def sentences(source: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line number and the first line of each docstring and of each block of comments in a module."""
    for node in _statements(tree):
        if isinstance(node, ast.Expr) and (text := _string(node)):
            yield node.lineno, text.splitlines()[0]
    previous_line = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, text = token.start[0], token.string.lstrip("# ").strip()
        if line != previous_line + 1 and text and not text.startswith(_DIRECTIVES):
            yield line, text
        previous_line = line


def script_sentences(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the first line of each block of comments (`//` or `/*`) in a JavaScript source."""
    previous_line = -1
    for line, text in enumerate(source.splitlines(), 1):
        if comment := re.match(r"\s*(?://+|/\*+|\*(?!/))\s*(.*)", text):
            if line != previous_line + 1 and comment[1]:
                yield line, comment[1]
            previous_line = line


def headless_sentences(folder: Path) -> list[str]:
    """Return the place and the text of each headless sentence and description in the Python and JavaScript files of a
    folder.
    """
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".js", ".mjs")):
        if "node_modules" in path.parts:
            continue
        scripts = script_sentences(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(folder.parent)}:{line}: {text}" for line, text in scripts if is_headless(text)]
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        headless = {place for place in sentences(source, tree) if is_headless(place[1])}
        headless |= {place for place in descriptions(tree) if is_headless_description(place[1])}
        found += [f"{path.relative_to(folder.parent)}:{line}: {sentence}" for line, sentence in sorted(headless)]
    return found


def main() -> int:
    """Print the counts and return 1 if a group of folders exceeds its limit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print each such sentence with its place")
    options = parser.parse_args()
    status = 0
    for folders, limit in MAX_HEADLESS.items():
        found = [place for folder in folders for place in headless_sentences(REPOSITORY / folder)]
        if options.list:
            print(*found, sep="\n")
        print(
            f"{', '.join(folders)}: {len(found)} docstrings and comments have no subject or verb; at most {limit} are allowed"
        )
        if len(found) > limit:
            status = 1
    if status:
        print(
            "Begin a docstring with a subject or an imperative verb (CONTRIBUTING.md, Wording); --list shows the places."
        )
    return status


if __name__ == "__main__":
    sys.exit(main())
