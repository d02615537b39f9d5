"""A small source of the replication, with a real measurement."""

from __future__ import annotations

from pathlib import Path

import pytest

import netlab as nl
from netlab_replication import report, rows

pytestmark = pytest.mark.pocket
ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(("source", "worst"), [("ece6110", 0.005), ("lab9", 0.01)])
def test_a_source_agrees_with_theory(source: str, worst: float) -> None:
    """Each row with a theory that holds is within the tolerance."""
    found = rows.replicate(source, fresh=False, progress=False)
    for row in found.rows:
        if row.holds and row.netlab_error is not None:
            assert abs(row.netlab_error) <= worst, f"{row.published}: expected {row.theory}, measured {row.measured}"
    assert source in report.markdown(found)


def test_page_on_buffers_agrees_with_the_replication() -> None:
    """`how_to_project` quotes the first three rows of Appenzeller's table, and the last of Mininet-HiFi's."""
    page = (ROOT / "solutions" / "how_to_project.py").read_text()
    words = " ".join(
        page.partition("**What others measured.**")[2].partition("**What this cannot show.**")[0].split("\n# ")
    )
    found = [row for row in rows.published_rows() if row.table in {"router", "search"}]
    quoted = [*found[:3], found[-1]]
    measured = []
    for row in quoted:
        assert row.measurement is not None
        measured.append(100 * row.measurement.read(nl.run(row.measurement.scenario, engine="library", progress=False)))
    three, other = (
        [f"{value:.1f}" for value in values] for values in (measured[:3], [row.published for row in quoted[:3]])
    )
    assert "{}, {} and {} %".format(*other) in words
    assert "with {}, {} and {} %".format(*three) in words
    assert f"`--only hifi`: {measured[3]:.0f} %" in words
    assert quoted[3].scenario == "200 flows and 2 places"
