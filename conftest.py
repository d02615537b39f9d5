"""What holds for every test: its own cache and scratch directory, CPUs shared out, notebooks compared by their numbers."""

from __future__ import annotations

import gc
import os
import re
import signal
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from netlab_engines.kernels import cache
from tests import outputs, shared_runs

# How fast a busy machine draws examples says nothing about netlab.
settings.register_profile("netlab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `make quick` draws fewer; the whole suite draws all.
settings.register_profile("quick", settings.get_profile("netlab"), max_examples=25)
settings.load_profile("netlab")


_BOOTS = re.compile(r"^pytestmark = .*pytest\.mark\.(pocket|library|slow)\b", re.MULTILINE)

# Only Pyodide can import it.
collect_ignore = ["netlab_engines/library/browser.py"]


def pytest_configure(config: pytest.Config) -> None:
    """Run every experiment anew in each session, and let an output that says the same pass as equal."""
    # A shell starts what it puts into the background with Ctrl-C ignored, nohup ignores SIGHUP, and programs that tests start
    # inherit both.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # The workers of pytest-xdist take over what their parent has set.
    if not hasattr(config, "workerinput"):
        _live_in_a_directory_of_our_own(config)
    if not config.pluginmanager.hasplugin("nbval"):
        return
    from nbval.plugin import IPyNbCell, IPyNbFile, transform_streams_for_comparison

    exactly = IPyNbCell.compare_outputs

    def compare_outputs(cell: Any, test: Any, ref: Any, skip_compare: Any = None) -> bool:
        given, wanted = transform_streams_for_comparison(test), transform_streams_for_comparison(ref)
        # Where they differ, nbval's own comparison says how.
        return outputs.agree(_visible_outputs(wanted), _visible_outputs(given)) or bool(
            exactly(cell, test, ref, skip_compare)
        )

    IPyNbCell.compare_outputs = compare_outputs
    start_kernel = IPyNbFile.setup

    def setup(file: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(shared_runs.DIRECTORY, str(shared_runs.session_directory()))
            start_kernel(file)

    IPyNbFile.setup = setup


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where nothing is to boot, read no file of which every test does: each worker would rewrite and import it in vain."""
    quick = config.getoption("markexpr") == "not pocket and not slow"
    if quick and collection_path.name.startswith("test_") and _BOOTS.search(collection_path.read_text("utf-8")):
        return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no doctests in files of tests: none has one, and looking takes as long as collecting the tests."""
    found = yield
    return [each for each in found if not (file_path.name.startswith("test_") and isinstance(each, DoctestModule))]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector: the objects stay, and looking at them takes a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what only root can do."""
    for item in items:
        if item.get_closest_marker("root") and os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="only root can do this"))


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from modules and tests, of which it would look at each object again and again."""
    gc.collect()
    gc.freeze()


def _live_in_a_directory_of_our_own(config: pytest.Config) -> None:
    # A figure kept from an earlier session would pass whatever the code does now; the kernel is kept.
    home = tempfile.TemporaryDirectory(prefix="netlab-tests-")
    config.add_cleanup(home.cleanup)
    (Path(home.name) / "cache").mkdir()
    for kept in (cache.kernels(), cache.libraries()):
        (Path(home.name) / "cache" / kept.name).symlink_to(kept)
    places = {
        "NETLAB_CACHE": "cache",
        "TMPDIR": "tmp",
        "IPYTHONDIR": "ipython",
        "JUPYTER_RUNTIME_DIR": "jupyter",
        "NETLAB_DATA": "data",
    }
    for variable, name in places.items():
        (Path(home.name) / name).mkdir(exist_ok=True)
        os.environ[variable] = str(Path(home.name) / name)
    shared_runs.session_directory().mkdir()
    shared_runs.write_startup_file(Path(home.name) / "ipython")
    # A guest booted ahead for a run that never comes takes the processor from the other tests.
    os.environ.setdefault("NETLAB_WARM", "0")


def _visible_outputs(cell_outputs: Any) -> list[dict[str, Any]]:
    """What a reader sees; counters and metadata are nbval's affair."""
    return [
        {name: output[name] for name in ("output_type", "name", "text", "data") if name in output}
        for output in cell_outputs
    ]
