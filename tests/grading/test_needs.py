"""Which provided cells an answer gets: all that it needs, and no more."""

from __future__ import annotations

from netlab.grading.needs import names, needed

CELLS = [
    "import numpy as np\nown, settings = chapter.own, chapter.settings",
    "def helper(x):\n    return x * scale",
    "scale = 3",
    "run = measure(own.rate)",
    "scale = 4",
    "print(run)",
]


def test_a_cell_that_defines_a_name_brings_those_that_it_needs_itself() -> None:
    assert needed(CELLS, 5, "y = run.x + np.pi") == ([0, 3], set())


def test_the_last_definition_before_the_answer_counts() -> None:
    assert needed(CELLS, 6, "y = scale")[0] == [4]
    assert needed(CELLS, 4, "y = scale")[0] == [2]


def test_a_functions_own_variables_are_no_needs() -> None:
    """Else another answer that happens to define the same name would be run before it."""
    answer = "def f(x):\n    scale = x\n    return [scale * run for run in range(3)]"
    assert needed(CELLS, 6, answer) == ([], set())
    assert names(answer).defined == {"f"}


def test_what_a_function_reads_from_the_notebook_is_a_need() -> None:
    assert needed(CELLS, 6, "def f(x):\n    return lambda: x * scale + strange") == ([4], {"strange"})


def test_a_name_that_grows_is_needed_before() -> None:
    assert needed(CELLS, 6, "scale += 1")[0] == [4]


def test_what_is_no_python_needs_nothing() -> None:
    assert needed(CELLS, 6, "y = = 3") == ([], set())
