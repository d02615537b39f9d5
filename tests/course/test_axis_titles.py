"""Titles of axes in figures of students: they name the quantity and its unit."""

import pytest

from netlab_course.axis_titles import axis_title_problem


@pytest.mark.parametrize(
    ("title", "unit", "problem"),
    [
        ("Goodput (Mbps)", "Mbit/s", ""),
        ("Goodput (Mb/s)", "Mbit/s", ""),
        ("Goodput (mbit/sec)", "Mbit/s", ""),
        ("Goodput, megabits per second", "Mbit/s", ""),
        ("Goodput (Mbit s⁻¹)", "Mbit/s", ""),
        (r"$\text{Goodput} / \mathrm{Mbit/s}$", "Mbit/s", ""),
        ("h1 (Mbit/s)", "Mbit/s", ""),
        ("Longest RTT in milliseconds", "ms", ""),
        ("Late pages in per cent", "%", ""),
        ("Goodput near / far", "", ""),
        ("near / far (-)", "", ""),
        ("Goodput (MB/s)", "Mbit/s", "its unit is missing"),
        ("Goodput (kbit/s)", "Mbit/s", "its unit is kbit/s, and the values are in Mbit/s"),
        ("goodput_mbps", "Mbit/s", "its unit is missing"),
        ("rtt_max_ms", "ms", "its unit is missing"),
        ("Goodput (Mbit/s)", "ms", "its unit is Mbit/s, and the values are in ms"),
        ("Goodput (ms)", "ms", "the values are not a goodput"),
        ("Delay (Mbit/s)", "Mbit/s", "the values are not a delay"),
        ("Delay (s)", "ms", "its unit is s, and the values are in ms"),
        ("[ms]", "ms", "it gives a unit only"),
        ("in ms", "ms", "it gives a unit only"),
        ("Ratio (Mbit/s)", "", "its unit is Mbit/s, and the values have none"),
        ("seed", "", "it is empty"),
        ("", "", "it is empty"),
    ],
)
def test_the_title_of_an_axis_has_the_values_quantity_and_unit(title: str, unit: str, problem: str) -> None:
    assert axis_title_problem(title, unit) == problem


def test_no_title_of_a_students_figure_takes_the_grader_long() -> None:
    """Each of these took from minutes to hours when a pattern had several places for the same spaces."""
    for title in ("mbit" + " " * 2000 + "s" + " " * 1990 + "x", "<" * 4000, "mbit$" + "$" * 3900 + "s"):
        assert axis_title_problem(title, "Mbit/s") == "its unit is missing"
