"""The lines that cells print fit into a narrow page, and name queues by their link."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

SOLUTIONS = Path(__file__).parents[2] / "solutions"
MAX_CHARACTERS = 69
"""Characters of a printed line that JupyterLab shows in a window of 1000 pixels next to the list of files. Where it is narrower,
sentences without a table below them continue in the next line (`wrapSentences` of netlab's extension).
"""
INTERFACE = re.compile(r"\w+-eth\d+")
COLUMNS = re.compile(r"\S {2,}")


def wide_sentences(text: str) -> list[str]:
    """Return the printed lines that are too wide and not rows of a table. Rows have columns, two or more spaces apart, and
    the line above or below has them too.
    """
    lines = text.split("\n")
    columns = [bool(COLUMNS.search(line)) for line in lines]
    is_row = [
        here and (above or below)
        for above, here, below in zip([False, *columns], columns, [*columns[1:], False], strict=False)
    ]
    return [line for line, row in zip(lines, is_row, strict=True) if len(line) > MAX_CHARACTERS and not row]


def test_sentences_are_distinguished_from_rows_of_tables() -> None:
    wide, row = "word " * 14, "1.0  2.0  " * 8
    assert wide_sentences(f"{wide}\n{row}\n{row}\n{wide[:60]}\n  {wide}") == [wide, f"  {wide}"]
    assert wide_sentences(f"a  {wide}\nshort") == [f"a  {wide}"], "two spaces in one line make no table"


@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_printed_sentences_fit_into_a_narrow_page(path: Path) -> None:
    printed = {
        (cell.id, line)
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if output.output_type == "stream"
        for line in wide_sentences(output.text)
    }
    assert not printed, f"shorten or break these lines of {path.stem}"


def test_the_cost_of_a_loss_is_in_sight_next_to_its_theory() -> None:
    """A page of 1366 pixels shows this many characters; the comparison is the aim of the table."""
    cells = nbformat.read(SOLUTIONS / "06_congestion_control.ipynb", as_version=4).cells
    (table,) = (output.text for cell in cells if cell.id == "cost-run" for output in cell.outputs if "text" in output)
    header = table.split("\n")[0]
    assert "cost, theory" in header and len(header) <= 88


@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("[0-9]*.ipynb")), ids=lambda path: path.stem)
def test_printed_tables_name_queues_by_their_link_and_not_by_an_interface(path: Path) -> None:
    texts = {
        cell.id: [output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in cell.outputs]
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
    }
    interfaces = {name: found for name, printed in texts.items() if (found := INTERFACE.findall("\n".join(printed)))}
    assert not interfaces, "group the table of queues by its column `link`"
