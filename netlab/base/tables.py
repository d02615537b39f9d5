"""Tables and status texts for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any


def text_table(titles: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return a text with titles, a rule and rows of cells; the first `left` columns are aligned left, the others right.

    Parameters
    ----------
    titles : sequence of str
        One per column; may have several lines, such as a quantity and its unit.
    left : int
        Number of columns with text.

    Examples
    --------
    >>> print(text_table(["flow", "RTT\\nms"], [["h1-h2 ping", "20.314"]]))
    flow           RTT
                    ms
    ----------  ------
    h1-h2 ping  20.314
    """
    heads = [title.split("\n") for title in titles]
    height = max(len(head) for head in heads)
    heads = [head + [""] * (height - len(head)) for head in heads]
    lines = [[head[number] for head in heads] for number in range(height)]
    widths = [max(len(line[column]) for line in [*lines, *rows]) for column in range(len(titles))]

    def format_row(cells: Sequence[str]) -> str:
        """Return the line of a row's cells, padded to the widths of the columns."""
        parts = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(parts).rstrip()

    return "\n".join([*map(format_row, lines), "  ".join("-" * width for width in widths), *map(format_row, rows)])


def run_summary(settings: Mapping[str, Any]) -> str:
    """Return a phrase on how long a run took, with its engine, kernel and clock, from the run's `settings`.

    Examples
    --------
    >>> run_summary({"network_s": 60.0, "wall_s": 1.04, "engine": "pocket", "kernel": "7.3.4", "clock": "virtual"})
    '60 s of network time in 1.0 s (pocket engine, Linux 7.3.4, virtual time)'
    """
    return (
        f"{settings['network_s']:g} s of network time in {settings['wall_s']:.1f} s "
        f"({settings['engine']} engine, Linux {settings['kernel']}, {settings['clock']} time)"
    )
