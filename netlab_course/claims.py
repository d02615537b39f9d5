"""Claims of a chapter's text about its runs, and their verification.

In Markdown ``[[text = expression | test]]`` is a claim, of which a reader sees the text. After the solution has been
executed, the expression is evaluated with the variables of its cells, and the test decides:

- a format, ``[[5.65 = interval.mean | .2f]]``: the formatted value must be the text;
- a range, ``[[about an eighth = h1_mbps / 0.96 | 0.11 .. 0.14]]``: the value must lie in it;
- nothing, ``[[Reno comes nearest = reno_gap < cubic_gap]]``: the value must be true.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import nbformat
from nbformat import NotebookNode

from netlab_course.marks import AuthoringError

_CLAIM = re.compile(r"\[\[(?P<text>[^\[\]=\n]+?) = (?P<expression>[^\n]+?)(?: \| (?P<test>[^|\[\]\n]+))?\]\](?!\])")
_RANGE = re.compile(r"(?P<low>\S+) \.\. (?P<high>\S+)")
_PROBE = "claims-of-the-text"


@dataclass(frozen=True)
class Claim:
    """A claim of a text about the runs: the text that readers see, a Python expression, and the test that decides."""

    cell: str
    """The id of the Markdown cell."""
    text: str
    """The text that the reader sees."""
    expression: str
    """The Python expression."""
    test: str
    """A format, a range, or ""."""

    def fault(self, computed: Any) -> str:
        """Return a sentence on the contradiction between the claim and the computed value of its expression (a number,
        text or bool); "" if the claim holds.
        """
        span = _RANGE.fullmatch(self.test)
        if span is not None:
            holds = isinstance(computed, (int, float)) and float(span["low"]) <= computed <= float(span["high"])
        elif self.test:
            try:
                computed = format(computed, self.test)
            except (TypeError, ValueError) as error:
                return f"cell {self.cell!r}: {self.text!r}: {error}"
            holds = computed == self.text.strip("*")
        else:
            holds = computed is True
        return "" if holds else f"cell {self.cell!r} says {self.text!r}, its runs give {computed!r} ({self.expression})"


def extract_claims(notebook: NotebookNode) -> list[Claim]:
    """Replace each claim in a notebook's Markdown cells by its text, in place; return the claims in the order of the
    page.
    """
    found: list[Claim] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found += [
                Claim(cell.id, each["text"], each["expression"], (each["test"] or "").strip())
                for each in _CLAIM.finditer(cell.source)
            ]
            cell.source = _CLAIM.sub(lambda each: str(each["text"]), cell.source)
    return found


def add_probe(notebook: NotebookNode, claims: Sequence[Claim]) -> None:
    """Append a code cell to a notebook, in place, that evaluates the claims' expressions and prints their values as a
    JSON list; of a value that is not a number, text or bool it prints the type, of an error its text.
    """
    source = f"""
import json as _json
import numpy as _numpy

def _computed(expression):
    try:
        value = eval(expression)
    except Exception as error:
        return {{"error": f"{{type(error).__name__}}: {{error}}"}}
    value = value.item() if isinstance(value, _numpy.generic) else value
    return {{"value": value if isinstance(value, (bool, int, float, str)) else f"a {{type(value).__name__}}"}}

print(_json.dumps([_computed(expression) for expression in {[claim.expression for claim in claims]!r}]))
"""
    cell = nbformat.v4.new_code_cell(source, id=_PROBE)  # type: ignore[no-untyped-call]
    notebook.cells.append(cell)


def verify_claims(notebook: NotebookNode, claims: Sequence[Claim], file: str) -> None:
    """Remove the last cell, the one of `add_probe`, from an executed notebook, and compare its output with the claims,
    in the same order. Raises AuthoringError with the name `file` of the notebook and with cell, text and value of every
    claim that does not hold.
    """
    probe = notebook.cells.pop()
    computed = json.loads("".join(output.get("text", "") for output in probe.outputs))
    faults = [
        f"cell {claim.cell!r}: {claim.text!r} cannot be computed: {found['error']} ({claim.expression})"
        if "error" in found
        else claim.fault(found["value"])
        for claim, found in zip(claims, computed, strict=True)
    ]
    if any(faults):
        raise AuthoringError("\n".join([f"{file}: the text and the runs disagree:", *filter(None, faults)]))
