"""Where a plan runs: in a pocket kernel of our own, as root on this machine's kernel, or in the library kernel."""

from __future__ import annotations

import os

from netlab.engines.base import Engine, require
from netlab.engines.library import LibraryEngine
from netlab.engines.native import NativeEngine
from netlab.engines.pocket import PocketEngine
from netlab.errors import EngineError, one_of

NAMES = ("pocket", "pocket-real", "native", "library")


def choose(wanted: str | Engine | None = None) -> Engine:
    """The engine of that name; None takes $NETLAB_ENGINE, else the pocket kernel in the best clock it has.

    Raises
    ------
    EngineError
        When there is no such engine, or it has no kernel.
    """
    if wanted is not None and not isinstance(wanted, str):
        if isinstance(wanted, type) or not callable(getattr(wanted, "execute", None)):
            raise EngineError(f"engine: {one_of(wanted, NAMES)}, or an engine object.")
        return wanted
    name = wanted or os.environ.get("NETLAB_ENGINE") or "pocket"
    if name == "native":
        return NativeEngine()
    if name == "pocket":
        return PocketEngine()
    if name == "library":
        return LibraryEngine()
    if name == "pocket-real":
        return PocketEngine(clock="real")
    raise EngineError(f"engine: {one_of(name, NAMES)}.")


def preflight(wanted: str | Engine | None = None) -> str:
    """Say in a sentence what experiments will run on here.

    Raises
    ------
    EngineError, KernelError
        When they cannot; the text names each thing that is missing and its remedy.
    """
    engine = choose(wanted)
    require(engine.requirements())
    return f"Ready: experiments run with the {engine.name} engine in {engine.clock} time."
