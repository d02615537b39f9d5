"""Tests marked `pocket` boot the pocket kernel, those marked `library` run the library kernel; both are built once."""

from __future__ import annotations

import types
from collections.abc import Iterator

import pytest

from netlab.base.errors import KernelError
from netlab_engines.kernels import library_kernel
from netlab_engines.kernels.pocket_kernel import PocketKernel, find
from tests.programs import load


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`-m "not pocket"` leaves out every test that boots a kernel, so also those that run the library kernel alone."""
    for item in items:
        if item.get_closest_marker("library") and not item.get_closest_marker("pocket"):
            item.add_marker(pytest.mark.pocket(without_pocket_kernel=True))


@pytest.fixture(autouse=True)
def pocket_kernel(request: pytest.FixtureRequest) -> PocketKernel | None:
    """The kernel under test; without one these tests fail, because a green run must mean that they ran."""
    marker = request.node.get_closest_marker("pocket")
    if marker is None or marker.kwargs:
        return None
    try:
        return find()
    except KernelError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="module")
def in_pocket() -> Iterator[None]:
    """Runs that name no engine are the pocket kernel's, not those of the quicker one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETLAB_ENGINE", "pocket")
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what runs the library kernel where it could not be built; where nobody tried, a green run would say too much."""
    if item.get_closest_marker("library") is None:
        return
    try:
        library_kernel.find()
    except KernelError as error:
        if library_kernel.failure():
            pytest.skip(str(error))
        pytest.fail(str(error))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """The machine's monotonic clock, in the field `s`; it stands still until a test changes it."""
    now = types.SimpleNamespace(s=100.0)
    monkeypatch.setattr("time.monotonic", lambda: now.s)
    return now


@pytest.fixture(name="setup")
def set_up_module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Return the module of the set-up, `tools/setup.py`."""
    module = load("tools/setup.py")
    if "wheel" not in request.fixturenames:
        # A wheel of this machine must not be found.
        monkeypatch.setattr(module.installed_kernels, "pythons", list)
    return module
