"""One small source of the replication, measured for real."""

from __future__ import annotations

import pytest

from netlab.replication import report, rows

pytestmark = pytest.mark.pocket


@pytest.mark.parametrize(("source", "worst"), [("ece6110", 0.005), ("lab9", 0.01)])
def test_a_source_agrees_with_theory(source: str, worst: float) -> None:
    """Each row with a theory that holds is within the tolerance."""
    found = rows.replicate(source, fresh=False, progress=False)
    for row in found.rows:
        if row.holds and row.our_error is not None:
            assert abs(row.our_error) <= worst, f"{row.published}: expected {row.theory}, measured {row.ours}"
    assert source in report.markdown(found)
