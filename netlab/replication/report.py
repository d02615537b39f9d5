"""The replication as Markdown, as HTML and as a few lines for a terminal."""

from __future__ import annotations

from html import escape

from netlab.replication.rows import Replication, Row

TITLES = (
    "Setting",
    "Flow",
    "Quantity",
    "Theory, theirs",
    "Theory, ours",
    "Published",
    "Ours",
    "Theirs against theory",
    "Ours against theory",
    "Note",
)
NUMBERS = range(3, 9)
PER_CENT = 100.0

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9em; }
th, td { padding: 0.25rem 0.5rem; border-bottom: 1px solid #8884; text-align: left; vertical-align: top; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
"""


def summary(result: Replication) -> str:
    """What was done, in how long, and how close it came: one or two sentences."""
    ours, theirs, count = result.median_errors()
    text = (
        f"{len(result.rows)} of {len(result.rows) + len(result.not_covered)} published figures measured in {result.runs} runs: "
        f"{result.wall_s:.0f} s of wall time for {result.network_s:.0f} s of network time"
    )
    if result.settings:
        text += " ({engine} engine, Linux {kernel}, {clock} time, netlab {netlab}, {date})".format(**result.settings)
    if count:
        text += (
            f".\nMedian error against theory over the {count} rows where a theory holds and they have a figure: "
            f"{PER_CENT * ours:.2f} % ours, {PER_CENT * theirs:.2f} % theirs"
        )
    return text + "."


INTRODUCTION = (
    "Theory counts as the link does: tc's 14 bytes of Ethernet header where the publishers had Mininet, a wire's 38 bytes "
    "where they had a wire. Errors are against our theory; a ~ marks one whose conditions are not met, which does not count. "
    "A note explains a row where theirs or ours is off by more than 3 %, and each note's figure is a second measurement."
)


def markdown(result: Replication) -> str:
    """The whole report in Markdown."""
    lines = ["# Published figures, measured again", "", summary(result).replace("\n", "\n\n"), "", INTRODUCTION, ""]
    for source, rows in _by_source(result).items():
        lines += [
            f"## {source}",
            "",
            _line(TITLES),
            _line(["---:" if i in NUMBERS else "---" for i in range(len(TITLES))]),
        ]
        notes: list[str] = []
        lines += [_line([cell.replace("|", "\\|") for cell in _cells(row, notes)]) for row in rows]
        lines += ["", *(f"{number}. {note}" for number, note in enumerate(notes, start=1)), ""]
    if result.not_covered:
        lines += ["## Not covered yet", "", *(f"- {text}" for text in _not_covered(result)), ""]
    return "\n".join(lines)


def html(result: Replication) -> str:
    """The whole report as a page of its own."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8"><title>Published figures, measured again</title>',
        f"<style>{STYLE}</style>",
        "<h1>Published figures, measured again</h1>",
        *(f"<p>{escape(line)}</p>" for line in summary(result).split("\n")),
        f"<p>{escape(INTRODUCTION)}</p>",
    ]
    for source, rows in _by_source(result).items():
        notes: list[str] = []
        body = [_row(_cells(row, notes), "td") for row in rows]
        parts += [f"<h2>{escape(source)}</h2>", "<table>", _row(list(TITLES), "th"), *body, "</table>"]
        if notes:
            parts += ["<ol>", *(f"<li>{escape(note)}</li>" for note in notes), "</ol>"]
    if result.not_covered:
        parts += [
            "<h2>Not covered yet</h2>",
            "<ul>",
            *(f"<li>{escape(text)}</li>" for text in _not_covered(result)),
            "</ul>",
        ]
    return "\n".join(parts) + "\n"


def _by_source(result: Replication) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in result.rows:
        found.setdefault(row.published.source, []).append(row)
    return found


def _cells(row: Row, notes: list[str]) -> list[str]:
    """A row's cells; its explanation joins the notes, and equal notes are one."""
    given = row.published
    if row.explanation and row.explanation not in notes:
        notes.append(row.explanation)
    return [
        f"{given.table}: {given.scenario}",
        given.flow,
        f"{given.quantity} ({given.unit})",
        _number(given.theory),
        ("" if row.holds or row.theory is None else "~") + _number(row.theory),
        _number(given.published),
        _number(row.ours),
        _per_cent(row.their_error),
        _per_cent(row.our_error),
        str(notes.index(row.explanation) + 1) if row.explanation else "",
    ]


def _not_covered(result: Replication) -> list[str]:
    groups: dict[tuple[str, str, str], int] = {}
    for row, why in result.not_covered:
        group = (row.source, row.table, why)
        groups[group] = groups.get(group, 0) + 1
    return [
        f"{source}, {table}: {count} row{'s' if count > 1 else ''} ({why})"
        for (source, table, why), count in groups.items()
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _per_cent(value: float | None) -> str:
    return "–" if value is None else f"{PER_CENT * value:+.2f} %"


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(cells: list[str], tag: str) -> str:
    filled = (
        f'<{tag} class="number">{escape(cell)}</{tag}>' if number in NUMBERS else f"<{tag}>{escape(cell)}</{tag}>"
        for number, cell in enumerate(cells)
    )
    return f"<tr>{''.join(filled)}</tr>"
