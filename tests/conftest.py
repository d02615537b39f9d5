"""Tests marked `pocket` boot the pocket kernel; it is built once and cached."""

from __future__ import annotations

import pytest

from netlab import kernel
from netlab.errors import KernelError


@pytest.fixture(autouse=True)
def pocket_kernel(request: pytest.FixtureRequest) -> kernel.Kernel | None:
    """The kernel under test; without one these tests fail, because a green run must mean that they ran."""
    if request.node.get_closest_marker("pocket") is None:
        return None
    try:
        return kernel.find()
    except KernelError as error:
        pytest.fail(str(error))
