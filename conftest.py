"""Notebooks: nbval compares outputs as text; here numbers may differ by a part in a thousand."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from netlab.kernel import cache
from tests import outputs

# How fast a busy machine draws examples says nothing about netlab.
settings.register_profile("netlab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("netlab")


def pytest_configure(config: pytest.Config) -> None:
    """Run every experiment anew, and let an output that says the same pass as equal."""
    _measure_anew(config)
    if not config.pluginmanager.hasplugin("nbval"):
        return
    from nbval.plugin import IPyNbCell, transform_streams_for_comparison

    exactly = IPyNbCell.compare_outputs

    def compare_outputs(cell: Any, test: Any, ref: Any, skip_compare: Any = None) -> bool:
        given, wanted = transform_streams_for_comparison(test), transform_streams_for_comparison(ref)
        # Where they differ, nbval's own comparison says how.
        return outputs.agree(_seen(wanted), _seen(given)) or bool(exactly(cell, test, ref, skip_compare))

    IPyNbCell.compare_outputs = compare_outputs


def _measure_anew(config: pytest.Config) -> None:
    # A figure kept from an earlier session would pass whatever the code does now; the kernel is kept.
    directory = tempfile.TemporaryDirectory(prefix="netlab-test-cache-")
    config.add_cleanup(directory.cleanup)
    (Path(directory.name) / "kernels").symlink_to(cache.kernels())
    os.environ["NETLAB_CACHE"] = directory.name


def _seen(cell_outputs: Any) -> list[dict[str, Any]]:
    """What a reader sees; counters and metadata are nbval's affair."""
    return [
        {name: output[name] for name in ("output_type", "name", "text", "data") if name in output}
        for output in cell_outputs
    ]
