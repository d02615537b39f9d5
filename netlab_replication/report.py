"""Reports of a replication: Markdown, HTML, and a summary for a terminal."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from netlab_replication.rows import Replication, Row, references

TITLES = (
    "Setting",
    "Flow",
    "Quantity",
    "Theory, published",
    "Theory, netlab",
    "Published",
    "Measured",
    "Published against theory",
    "Measured against theory",
    "Note",
)
_TEXT_TITLES = {"Setting", "Flow", "Quantity", "Note"}
NUMBERS = [place for place, title in enumerate(TITLES) if title not in _TEXT_TITLES]
"""The places of the columns with numbers, which are right-aligned."""
PER_CENT = 100.0


def summary(result: Replication) -> str:
    """Return one or two sentences for a terminal about a replication: the number of published rows and of runs, their
    time in s, and the median errors against theory in per cent.
    """
    netlab_error, published_error, count = result.median_errors()
    text = (
        f"{len(result.rows)} published numbers measured in {result.runs} runs: "
        f"{result.wall_s:.0f} s of wall time for {result.network_s:.0f} s of network time"
    )
    if result.settings:
        text += " ({engine} engine, Linux {kernel}, {clock} time, netlab {netlab}, {date})".format(**result.settings)
    if count:
        text += (
            f".\nMedian error against theory over the {count} rows where a theory holds and they have a number: "
            f"{PER_CENT * netlab_error:.2f} % in netlab, {PER_CENT * published_error:.2f} % as published"
        )
    return text + "."


INTRODUCTION = (
    "Theory counts as the link does: tc's 14 bytes of Ethernet header where the publishers had Mininet, a wire's 38 bytes "
    "where they had a wire. Errors are against netlab's theory; a ~ marks one whose conditions are not met, which does not count. "
    "A note explains a row whose published or measured value is off by more than 3 %, and each note's number is a second measurement."
)


def markdown(result: Replication) -> str:
    """Return the report of a replication as Markdown text."""
    return _fill_template("report.md.j2", result)


def html(result: Replication) -> str:
    """Return the report of a replication as the text of an HTML page, in which all cells and notes are escaped."""
    return _fill_template("report.html.j2", result)


def _fill_template(template: str, result: Replication) -> str:
    """Return the text of the template of this file name in the package, filled with the contents of the report of a
    replication.
    """
    templates = Environment(
        loader=PackageLoader("netlab_replication"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template(template).render(
        summary=summary(result), introduction=INTRODUCTION, titles=TITLES, numbers=NUMBERS, labs=_labs(result)
    )


def _labs(result: Replication) -> list[dict[str, Any]]:
    """Return a dictionary of values for a template for each lab, in the order of the rows: "source", "reference",
    "rows" (lists of cells as text) and "notes" (texts, numbered from 1 by the last cells).
    """
    found: dict[str, dict[str, Any]] = {}
    for row in result.rows:
        source = row.published.source
        lab = found.setdefault(source, {"source": source, "reference": references()[source], "rows": [], "notes": []})
        lab["rows"].append(_row_texts(row, lab["notes"]))
    return list(found.values())


def _row_texts(row: Row, notes: list[str]) -> list[str]:
    """Return the cells of a row as text, in the order of TITLES. The row's note is appended to the list `notes` unless
    an equal one is there, and its number there, from 1, is the last cell ("" without a note).
    """
    published = row.published
    if row.note and row.note not in notes:
        notes.append(row.note)
    return [
        f"{published.table}: {published.scenario}",
        published.flow,
        f"{published.quantity} ({published.unit})",
        _number(published.theory),
        ("" if row.holds or row.theory is None else "~") + _number(row.theory),
        _number(published.published),
        _number(row.measured),
        _per_cent(row.published_error),
        _per_cent(row.netlab_error),
        str(notes.index(row.note) + 1) if row.note else "",
    ]


def _number(value: float | None) -> str:
    """Return a number as text with four significant digits, or without decimals from 10 000 on; a dash for None."""
    return "–" if value is None else f"{value:.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _per_cent(value: float | None) -> str:
    """Return a fraction as text in per cent with sign and two decimals, such as "+2.30 %"; a dash for None."""
    return "–" if value is None else f"{PER_CENT * value:+.2f} %"
