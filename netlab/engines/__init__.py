"""Where a plan runs: in a pocket kernel of our own, as root on this machine's kernel, or in the library kernel."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from netlab.engines.base import Engine, require
from netlab.engines.library import LibraryEngine
from netlab.engines.native import NativeEngine
from netlab.engines.pocket import PocketEngine
from netlab.errors import EngineError, KernelError, one_of
from netlab.plan import Plan

NAMES = ("pocket", "pocket-real", "native", "library")


_quick = ContextVar("quick", default=False)


@contextmanager
def quick() -> Iterator[None]:
    """Within it, who names no engine gets the quickest that can do what is asked, not the one with all of Mininet in it.

    For what runs many small experiments, or for whom somebody waits: sweeps, panels, the replication.
    """
    token = _quick.set(True)
    try:
        yield
    finally:
        _quick.reset(token)


def decide(wanted: str | Engine | None = None, plans: Sequence[Plan] = ()) -> str | Engine:
    """What `choose` takes: what was wanted, else $NETLAB_ENGINE, else "pocket" or "library".

    Without a wish it is the pocket kernel where it can run here, else the library kernel where it is there and can do all
    the plans; within `quick` the library kernel first. Who names a kernel in $NETLAB_KERNEL gets that one.
    """
    named = wanted if wanted is not None else os.environ.get("NETLAB_ENGINE")
    if named:
        return named
    if os.environ.get("NETLAB_KERNEL"):
        return "pocket"
    if _quick.get():
        return "pocket" if _library_refusal(plans) else "library"
    return "pocket" if not _pocket_refusal() or _library_refusal(plans) else "library"


def choose(wanted: str | Engine | None = None, plans: Sequence[Plan] = ()) -> Engine:
    """The engine of that name; None takes $NETLAB_ENGINE, else what suits this machine and the plans (see `decide`).

    Raises
    ------
    EngineError
        When there is no such engine.
    KernelError
        When it has no kernel.
    """
    name = decide(wanted, plans)
    if not isinstance(name, str):
        if isinstance(name, type) or not callable(getattr(name, "execute", None)):
            raise EngineError(f"engine: {one_of(name, NAMES)}, or an engine object.")
        return name
    if name == "native":
        return NativeEngine()
    if name == "pocket":
        return PocketEngine()
    if name == "library":
        return LibraryEngine()
    if name == "pocket-real":
        return PocketEngine(clock="real")
    raise EngineError(f"engine: {one_of(name, NAMES)}.")


def _pocket_refusal() -> str:
    """Why the pocket kernel cannot run here; empty when it can."""
    try:
        require(PocketEngine().requirements())
    except (EngineError, KernelError) as error:
        return str(error)
    return ""


def _library_refusal(plans: Sequence[Plan]) -> str:
    """Why the library kernel cannot do all the plans here; empty when it can."""
    try:
        engine = LibraryEngine()
        for plan in plans:
            engine.refuse(plan)
    except (EngineError, KernelError) as error:
        return str(error)
    return ""


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
