"""Measurements with the cells of a chapter share their runs with its notebooks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import shared_runs


@pytest.fixture(scope="module", autouse=True)
def runs_of_the_session(request: pytest.FixtureRequest) -> Iterator[None]:
    """Modules that only measure take the outcomes of equal runs from the session; so do the kernels that they start."""
    if not request.path.stem.endswith(("_measured", "test_chapters")):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(shared_runs.DIRECTORY, str(shared_runs.session_directory()))
        shared_runs.share(patch.setattr, shared_runs.session_directory())
        yield
