"""Executing equal runs of a test session once: notebooks' kernels and tests of chapters share the outcomes in a directory.

A solution, its student's notebook and the tests that measure with its cells run many of the same scenarios. In virtual
time equal plans have equal outcomes, which `tests/engines/test_repeatability.py` tests.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netlab.base.files import replacement
from netlab.engines import Engine
from netlab.plan import Outcome, Plan

DIRECTORY = "NETLAB_TESTS_RUNS"
"""The variable with the directory of the session's outcomes; kernels of notebooks that have it share them."""
STARTUP = """\
def _share_runs():
    import os, sys
    if "{variable}" in os.environ:
        path = list(sys.path)
        sys.path.append({root!r})
        from tests import shared_runs
        sys.path[:] = path
        shared_runs.share_until_exit()

_share_runs()
del _share_runs
"""
"""A file that IPython executes when a kernel starts. It leaves no name behind that a notebook could use by mistake."""


def session_directory() -> Path:
    """Return the directory of this session's outcomes, which the session's own directory has."""
    return Path(os.environ["IPYTHONDIR"]).parent / "runs"


def write_startup_file(ipython_directory: Path) -> None:
    """Let the kernels of IPython's directory share runs if their environment has the variable `DIRECTORY`."""
    folder = ipython_directory / "profile_default" / "startup"
    folder.mkdir(parents=True)
    (folder / "share_runs.py").write_text(
        STARTUP.format(variable=DIRECTORY, root=str(Path(__file__).resolve().parents[1]))
    )


def sharing(execute: Callable[..., Outcome], directory: Path) -> Callable[..., Outcome]:
    """Return an engine's `execute` that takes the outcome of an equal plan from a directory, or executes it and keeps it.
    Plans that call a user's class are executed, and outcomes with files are not kept.
    """

    @functools.wraps(execute)
    def shared(engine: Engine, plan: Plan, **options: Any) -> Outcome:
        if any("own" in item for item in plan["traffic"]):
            return execute(engine, plan, **options)
        text = json.dumps([engine.name, engine.fingerprint(), plan], sort_keys=True)
        file = directory / hashlib.sha256(text.encode()).hexdigest()
        if file.is_file():
            kept: Outcome = pickle.loads(file.read_bytes())  # noqa: S301 (a file of this session)
            return kept
        outcome = execute(engine, plan, **options)
        if outcome["artifacts"] is None:
            with replacement(file) as new:
                new.write_bytes(pickle.dumps(outcome))
        return outcome

    return shared


def share(replace: Callable[[type[Engine], str, Any], None], directory: Path) -> None:
    """Share the runs of both virtual engines in a directory; `replace` is `setattr`, or undoes the change later."""
    from netlab_engines.library.engine import LibraryEngine
    from netlab_engines.pocket import PocketEngine

    for engine in (LibraryEngine, PocketEngine):
        replace(engine, "execute", sharing(engine.execute, directory))


def share_until_exit() -> None:
    """Share all runs of this process from now on, in the directory that the variable `DIRECTORY` names."""
    share(setattr, Path(os.environ[DIRECTORY]))
