"""The part of a fingerprint that all engines share."""

import importlib.metadata
import json
from pathlib import Path

from netlab.base import source_hash

EXCLUDED_SUBPACKAGES = ("lab", "perf")
"""Subpackages of netlab_engines that decide no number of a run."""


def fingerprint(kernel: str, package: Path = Path(__file__).parent) -> str:
    """Return a text, JSON, that differs whenever an engine on this kernel may give other numbers for the same plan. It
    has `kernel` (a hash of the kernel, or its release), a hash of the Python code in the directory `package` without
    EXCLUDED_SUBPACKAGES, a hash of netlab_user_code next to it, and Mininet's version.
    """
    return json.dumps(
        {
            "kernel": kernel,
            "code": source_hash.hash_package(package, EXCLUDED_SUBPACKAGES),
            "user_code": source_hash.hash_package(package.parent / "netlab_user_code"),
            "mininet": _mininet_version(),
        }
    )


def _mininet_version() -> str:
    """Return the version of the installed Mininet, or "" if it is not installed."""
    try:
        return importlib.metadata.version("mininet")
    except importlib.metadata.PackageNotFoundError:
        # Mininet exists for Linux only, and the library engine does not need it.
        return ""
