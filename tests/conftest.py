"""Tests marked `pocket` boot the pocket kernel, those marked `library` run the library kernel; both are built once."""

from __future__ import annotations

import pytest

from netlab import kernel
from netlab.errors import KernelError
from netlab.kernel import library


@pytest.fixture(autouse=True)
def pocket_kernel(request: pytest.FixtureRequest) -> kernel.Kernel | None:
    """The kernel under test; without one these tests fail, because a green run must mean that they ran."""
    if request.node.get_closest_marker("pocket") is None:
        return None
    try:
        return kernel.find()
    except KernelError as error:
        pytest.fail(str(error))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what runs the library kernel where it could not be built; where nobody tried, a green run would say too much."""
    if item.get_closest_marker("library") is None:
        return
    try:
        library.find()
    except KernelError as error:
        if library.failure():
            pytest.skip(str(error))
        pytest.fail(str(error))
