"""Estimate the minutes that a student's notebook takes.

*Minutes* estimate the time for the page up to the cell ``summary``: words at 120 a minute, visible lines of code (those
of brackets alone do not count) at 8 a minute, 1.5 minutes for a figure or a prediction, 1 for a table, 8 for a panel, 13
for a measurement of the student's own and 10 for every other exercise (a cell ``…-check`` or ``…-words``); the tag
``minutes-5`` sets 5 minutes. A cell tagged ``optional`` counts 0, and its heading must say so. More than 90 minutes are
an error. The rates are estimates of readers who worked through the chapters; they were not measured with a class.
"""

import re

from nbformat import NotebookNode

from netlab_course.marks import INSTRUCTION, strip_code, strip_markdown

MAX_MINUTES = 90
WORDS_PER_MINUTE = 120
LINES_PER_MINUTE = 8
MINUTES_PER_FIGURE = 1.5
MINUTES_PER_EXERCISE = 10
MINUTES_PER_MEASUREMENT = 13
MINUTES_PER_PREDICTION = 1.5
MINUTES_PER_TABLE = 1
MINUTES_PER_PANEL = 8
_PREDICTION, _PANEL, _TABLE = "nl.checks.predict(", "chapter.panel(", ".to_string("
_MEASURES = ("nl.run(", "nl.repeat(", "nl.sweep(")


def minutes(notebook: NotebookNode) -> float:
    """Return the minutes that a student's notebook takes up to its cell `summary`, without optional cells, as estimated
    from words, lines of code, figures and exercises; the docstring of this module has the rates.
    """
    words = lines = 0
    other_min = 0.0
    measured = {f"{cell.id}-check" for cell in notebook.cells if any(call in cell.source for call in _MEASURES)}
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "optional" in tags:
            continue
        is_exercise = cell.id.endswith(("-check", "-words"))
        if is_exercise:
            tagged_min = [float(tag.removeprefix("minutes-")) for tag in tags if tag.startswith("minutes-")]
            usual = MINUTES_PER_MEASUREMENT if cell.id in measured else MINUTES_PER_EXERCISE
            other_min += tagged_min[0] if tagged_min else usual
        if cell.cell_type == "code":
            other_min += MINUTES_PER_PREDICTION * cell.source.count(_PREDICTION)
            other_min += MINUTES_PER_TABLE * (_TABLE in cell.source)
        if _PANEL in cell.source:
            other_min += MINUTES_PER_PANEL
        elif "figure" in tags and not is_exercise:
            other_min += MINUTES_PER_FIGURE
        if cell.cell_type == "markdown":
            words += _words(strip_markdown(cell.source).replace(INSTRUCTION, ""))
        elif "folded" not in tags:
            code = strip_code(cell.source).split("\n")
            # The formatter puts closing brackets on lines of their own: these take no time to read.
            lines += sum(1 for line in code if re.search(r"\w", line) and not line.strip().startswith("#"))
        if cell.id == "summary":
            break
    return words / WORDS_PER_MINUTE + lines / LINES_PER_MINUTE + other_min


def _words(markdown: str) -> int:
    """Return the number of words of prose in a Markdown text; formulas, code blocks, table rules and addresses do not
    count.
    """
    for gone in (r"```.*?```", r"<!--.*?-->", r"\$\$.*?\$\$", r"\$[^$]*\$", r"\]\([^)]*\)", r"^\|[-:| ]+\|$"):
        markdown = re.sub(gone, " ", markdown, flags=re.DOTALL | re.MULTILINE)
    return len(re.findall(r"[^\W_][\w'.,-]*", markdown))
