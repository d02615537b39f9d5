"""Experiments in the pocket kernel; the kernel is built once and cached."""

from __future__ import annotations

import pathlib

import pytest

from netlab import kernel
from netlab.errors import KernelError

HERE = pathlib.Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.pocket)


@pytest.fixture(scope="session", autouse=True)
def pocket_kernel() -> kernel.Kernel:
    """The kernel under test; without one these tests fail, because a green run must mean that they ran."""
    try:
        return kernel.find()
    except KernelError as error:
        pytest.fail(str(error))
