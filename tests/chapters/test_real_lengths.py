"""Each solved chapter with the lengths that its runs have on a machine's own clock: its cells and its checks hold there too."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent.parent


def lengths_differ(topic: str) -> bool:
    """Return whether a chapter's runs depend on the clock; those of other chapters have one duration, which nbval tests."""
    sources = (ROOT / "netlab_course" / "chapters" / topic).glob("*.py")
    return any(re.search(r"\blasting\b|\bclock\(\)", source.read_text()) for source in sources)


SOLUTIONS = sorted(path for path in (ROOT / "solutions").glob("[0-9]*.ipynb") if lengths_differ(path.stem[3:]))
# Code that runs before netlab's chapters are imported, because some durations are fixed then.
REAL_LENGTHS = "import netlab_engines\nnetlab_engines.clock = lambda: 'real'"


@pytest.mark.pocket
@pytest.mark.parametrize("chapter", SOLUTIONS, ids=lambda path: path.stem)
def test_no_cell_fails_and_every_check_holds(chapter, tmp_path):
    notebook = nbformat.read(chapter, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(REAL_LENGTHS))
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [(cell.id, output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [cell for cell, output in outputs if re.search(r"\bnan\b", output.get("text", ""))] == []
    text = {
        cell: output.data["text/plain"]
        for cell, output in outputs
        if output.output_type == "display_data" and output.data.get("text/plain", "")[:1] in ("✓", "✗", "·")
    }
    assert text
    assert {cell: words for cell, words in text.items() if not words.startswith("✓")} == {}
