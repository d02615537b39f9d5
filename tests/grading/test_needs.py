"""The provided code that an answer gets: all that it needs, and no more."""

from __future__ import annotations

from netlab_classroom.grading.needs import ProvidedCell, names, needed_code

CELLS = [
    ProvidedCell(
        "import numpy as np\nfrom netlab import plots\nown, settings = chapter.own, chapter.settings\nprint(own)"
    ),
    ProvidedCell("def helper(x):\n    return x * scale"),
    ProvidedCell("scale = 3"),
    ProvidedCell("run = measure(own.rate)\nprint(run)\nother = measure(2)"),
    ProvidedCell("scale = 4"),
    ProvidedCell("print(run)"),
]
OWN = "own, settings = chapter.own, chapter.settings"


def test_definition_includes_its_own_needs_and_no_mentioned_names() -> None:
    assert needed_code(CELLS, "y = run.x + np.pi") == ([f"import numpy as np\n{OWN}", "run = measure(own.rate)"], set())


def test_the_last_definition_before_the_answer_counts() -> None:
    assert needed_code(CELLS, "y = scale")[0] == ["scale = 4"]
    assert needed_code(CELLS[:4], "y = scale")[0] == ["scale = 3"]


def test_name_assigned_before_use_is_no_need() -> None:
    assert needed_code(CELLS, "scale = 5\ny = scale") == ([], set())
    assert needed_code(CELLS, "for run in (1, 2):\n    y = run") == ([], set())
    assert needed_code(CELLS, "y = scale\nscale = 5")[0] == ["scale = 4"]
    assert needed_code(CELLS, "if own.x:\n    scale = 5\ny = scale")[0] == [OWN, "scale = 4"]


def test_a_functions_own_variables_are_no_needs() -> None:
    """Else another answer that happens to define the same name would be run before it."""
    answer = "def f(x):\n    scale = x\n    return [scale * run for run in range(3)]"
    assert needed_code(CELLS, answer) == ([], set())
    assert names(answer).defined == {"f"}


def test_global_that_a_function_reads_is_a_need() -> None:
    assert needed_code(CELLS, "def f(x):\n    return lambda: x * scale + strange") == (["scale = 4"], {"strange"})


def test_global_of_a_function_may_be_defined_below_it() -> None:
    assert needed_code(CELLS, "def f():\n    return scale\nscale = 1") == ([], set())


def test_a_name_that_grows_is_needed_before() -> None:
    assert needed_code(CELLS, "scale += 1")[0] == ["scale = 4"]
    assert needed_code([ProvidedCell("n = 0"), ProvidedCell("n += 1\nm = 2")], "y = n")[0] == ["n = 0", "n += 1"]


def test_a_figure_is_not_drawn_and_what_only_it_needs_is_not_measured() -> None:
    cells = [
        ProvidedCell("runs = measure()"),
        ProvidedCell("network = make()\nplots.draw(network, runs)", draws=True),
        ProvidedCell("for one in runs:\n    print(one)\nshown = 1"),
    ]
    assert needed_code(cells, "y = network")[0] == ["network = make()"]
    assert needed_code(cells, "y = shown")[0] == ["shown = 1"]


def test_statement_that_may_change_a_need_runs_with_it() -> None:
    cell = "found = []\nfor one in range(3):\n    found.append(one)\nfound[0] = 5\nfound.sort()\nelse_ = 1"
    assert needed_code([ProvidedCell(cell)], "y = found")[0] == [cell.removesuffix("\nelse_ = 1")]


def test_a_decorator_and_statements_of_one_line_stay_together() -> None:
    cell = "a = 1; b = 2\n@keep\ndef f():\n    return a"
    assert needed_code([ProvidedCell("def keep(f):\n    return f"), ProvidedCell(cell)], "y = f()")[0] == [
        "def keep(f):\n    return f",
        cell,
    ]


def test_invalid_python_needs_nothing() -> None:
    assert needed_code(CELLS, "y = = 3") == ([], set())
