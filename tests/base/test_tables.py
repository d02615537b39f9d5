"""Tables of text."""

from __future__ import annotations

from netlab.base.tables import text_table


def test_a_table_is_as_wide_as_its_longest_cells():
    lines = text_table(["flow", "a\nb"], [["x", "1.5"], ["longer one", "12345.678"]]).splitlines()
    assert len({len(line) for line in lines[2:]}) == 1
    assert lines[-1] == "longer one  12345.678"
