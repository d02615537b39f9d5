"""The replication's table, arithmetic and report; the runs themselves are in test_measured.py."""

from __future__ import annotations

import pytest

from netlab_replication import labs, report, rows
from netlab_replication.rows import PublishedRow, Replication, Row


def test_every_published_row_is_measured() -> None:
    """No row is missing, and none is left over."""
    published = {(row.source, row.table, row.scenario, row.flow, row.quantity) for row in rows.published_rows()}
    measured = {(*key, *name) for key, found in labs.measurements().items() for name in found}
    assert measured == published


def test_every_scenario_and_check_is_valid() -> None:
    """Nothing is left to find when the long run has begun."""
    for found in labs.measurements().values():
        for measurement in found.values():
            measurement.scenario.validate()
            if measurement.second_scenario is not None:
                measurement.second_scenario.validate()
                assert "{value" in measurement.explanation


def test_every_source_has_a_reference_and_a_lab() -> None:
    """Readers must be able to look up each short name."""
    assert {row.source for row in rows.published_rows()} == set(rows.references()) == set(labs.LABS)
    assert all(len(reference) > 40 for reference in rows.references().values())


@pytest.mark.parametrize(
    ("key", "name", "expected"),
    [
        (("epfl", "udp-rate", "10 Mbit/s offered to 5 Mbit/s"), ("h1-h3", "goodput"), 4.798),
        (("epfl", "tcp-max", "TCP in 5 Mbit/s"), ("h1-h3", "goodput"), 4.782),
        (("epfl", "collapse", "UDP 1 and 10 Mbit/s"), ("h2-h3", "goodput"), 0.480),
        (("simpleperf", "udp-rate", "iperf UDP 30 Mbit/s"), ("h1-h4", "loss"), 0.0691),
        (("lab9", "buffer", "10 Gbit/s 20 ms default buffers one stream"), ("h1-h2", "throughput"), 3355.4),
    ],
)
def test_theory_agrees_with_hand_worked_values(
    key: tuple[str, str, str], name: tuple[str, str], expected: float
) -> None:
    """Worked by hand from framing, windows and iperf's 2^20."""
    assert labs.measurements()[key][name].theory == pytest.approx(expected, rel=1e-3)


def row(measured: float, theory: float | None, published: float | None, *, holds: bool = True, text: str = "") -> Row:
    given = PublishedRow("epfl", "collapse", "a|b <i>", "h1", "goodput", "kbit/s", theory, published)
    return Row(given, theory, holds, measured, text)


def test_a_row_needs_an_explanation_beyond_three_per_cent() -> None:
    """The measured and the published value are compared with theory; without a theory, with each other."""
    assert not rows.needs_explanation(row(101, 100, 102))
    assert rows.needs_explanation(row(96, 100, 100))
    assert rows.needs_explanation(row(100, 100, 104))
    assert rows.needs_explanation(row(100, None, 104))
    assert not rows.needs_explanation(row(100, None, None))


def test_medians_count_rows_where_theory_holds_and_they_have_a_figure() -> None:
    """Others are shown, but do not count."""
    found = Replication(
        [row(101, 100, 104), row(99, 100, 98), row(150, 100, 100, holds=False), row(100.5, 100, None)], 1.0, 60.0, 4
    )
    measured, published, count = found.median_errors()
    assert (round(measured, 6), round(published, 6), count) == (0.01, 0.03, 2)


def test_reports_hold_every_row_and_its_note() -> None:
    """In Markdown and HTML, with what could break either escaped."""
    found = Replication([row(96, 100, 104, text="Because & so."), row(100, 100, None)], 1.0, 60.0, 2)
    text, page = report.markdown(found), report.html(found)
    assert "2 published numbers measured in 2 runs: 1 s of wall time for 60 s of network time" in text
    assert "| collapse: a\\|b <i> | h1 | goodput (kbit/s) | 100 | 100 | 104 | 96 | +4.00 % | -4.00 % | 1 |" in text
    assert "1. Because & so." in text and "<li>Because &amp; so.</li>" in page
    assert "a|b &lt;i&gt;" in page
    assert rows.references()["epfl"] in text and "\n\n\n" not in text
