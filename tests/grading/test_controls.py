"""The class of a hand-in that is taken."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from netlab.traffic import tcp
from netlab_classroom.grading.callee import CONTROL_METHODS
from netlab_classroom.grading.reading import competitor

TWO_CLASSES = "class First:\n    def on_ack(self, ack): pass\n\nclass Helper: pass\n\nclass Second(First):\n    pass\n"


def test_a_class_is_looked_for_by_the_methods_that_a_run_calls() -> None:
    assert CONTROL_METHODS == tcp.CONTROL_METHODS


def test_the_last_class_with_a_method_of_a_control_is_taken_and_the_others_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TWO_CLASSES)
    found = competitor(str(tmp_path / "a.py"))
    assert (found["name"], found["line"], found["others"], found["answer"]) == ("Second", 6, ["First"], TWO_CLASSES)


def test_class_is_taken_with_its_needs_and_no_experiment(tmp_path: Path) -> None:
    cells = [
        "%matplotlib inline\nimport math\nLIMIT = 7\nprint('hello')",
        "run = nl.run(network, [])",
        "class Mine:\n    def on_ack(self, ack): return math.sqrt(LIMIT)",
        "nl.run(network, [nl.Tcp('h1', 'h2', congestion=Mine)])",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    (tmp_path / "a.ipynb").write_text(nbformat.writes(notebook))
    found = competitor(str(tmp_path / "a.ipynb"))
    assert found["name"] == "Mine" and "import math" in found["answer"] and "LIMIT = 7" in found["answer"]
    assert "nl.run" not in found["answer"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("x = 1", "No class with on_start"), ("class A(:", "Its Python has a mistake"), ("\udcff", "not in UTF-8")],
)
def test_file_without_a_class_is_reported_with_the_reason(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "a.py").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert sentence in competitor(str(tmp_path / "a.py"))["error"]
