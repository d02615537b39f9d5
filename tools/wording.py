"""Count docstrings and comments that begin without a subject or a verb, and refuse more of them than a limit.

`make lint` runs this module. CONTRIBUTING.md has the rule. A limit goes down whenever sentences are rewritten, and never up.

    python tools/wording.py [--list]
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = ("netlab", "netlab_engines", "netlab_course", "netlab_classroom", "netlab_kernel", "netlab_replication")
MAX_HEADLESS = {
    ("netlab", "netlab_engines", "netlab_course", "netlab_classroom", "netlab_kernel", "netlab_replication"): 0,
    ("tests", "tools", "benchmarks", "vm"): 0,
}
"""The largest number of such sentences in each group of folders."""

# A relative clause, a pronoun or a participle in the place of the subject.
_HEADLESS = re.compile(
    r"(What|Whether|Where|Who|Whose|Whoever|Of|How|That|Those|Such|It|So|One|As|Than|Before|Behind|Beside|Said|Made|Taken|Told)"
    r"\b(?!:)"
)
_COMPLETE = re.compile(r"(How many|How much|As of|One of|Before \w+ing)\b")
_DIRECTIVES = ("%%", "!", "type:", "noqa", "doctest", "BEGIN", "END")


def is_headless(sentence: str) -> bool:
    """Return whether a sentence begins without a subject or a verb.

    >>> is_headless("What stands outside for a function"), is_headless("Return the name of a function.")
    (True, False)
    """
    return bool(_HEADLESS.match(sentence)) and not _COMPLETE.match(sentence)


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the first line of each docstring and of each block of comments in Python source."""
    for node in ast.walk(ast.parse(source)):
        text = None
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            line = node.body[0].lineno if text else 0
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            text, line = node.value.value, node.lineno
        if text and text.strip():
            yield line, text.strip().splitlines()[0]
    previous_line = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, text = token.start[0], token.string.lstrip("# ").strip()
        if line != previous_line + 1 and text and not text.startswith(_DIRECTIVES):
            yield line, text
        previous_line = line


def headless_sentences(folder: Path) -> list[str]:
    """Return the place and the text of each headless sentence in the Python files of a folder."""
    return [
        f"{path.relative_to(folder.parent)}:{line}: {sentence}"
        for path in sorted(folder.rglob("*.py"))
        for line, sentence in sorted(set(sentences(path.read_text(encoding="utf-8"))))
        if is_headless(sentence)
    ]


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
