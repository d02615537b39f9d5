"""The choice of an engine for this machine and a plan.

The pocket and the native engine, and all that they import, are for Linux: they are imported where they are used.
"""

import html
import os
import platform
import sys
import textwrap
import time
from collections.abc import Sequence

from netlab.base.errors import EngineError, KernelError, NotHereError, one_of
from netlab.base.progress_bar import show_progress
from netlab.engines import NAMES, require
from netlab.plan import Plan
from netlab_engines.kernels import background_build, pocket_kernel
from netlab_engines.kernels.background_build import BuildProgress
from netlab_engines.kernels.pocket_kernel import POCKET_MACHINE
from netlab_engines.library import LibraryEngine
from netlab_engines.protocol.session import LabEngine

USE_LIBRARY_HINT = "Use engine='library' here; docs/how-to/install.md lists the systems that run commands in hosts."
POLL_S = 0.5
SKIP_NOTICE = "A cell that needs a missing feature shows 'Not on this machine'; the chapter continues."
WIDTH = 88
"""Characters of a printed line, as in `course.answers`."""


def decide(engine: str | LabEngine | None = None, plans: Sequence[Plan] = ()) -> str | LabEngine:
    """Return the engine that runs these plans: `engine` (a name or an engine object) if it is not None, else the name
    in $NETLAB_ENGINE, else "pocket" if $NETLAB_KERNEL is set, else "library" or "pocket", by this machine and what the
    plans need: "library" if it supports all plans or nothing else runs here, and "pocket" without plans if that works.
    The name is not checked.

    By default the library kernel runs the plans if it is built and supports all of them, because it is the fastest;
    both kernels give the same numbers. All other plans, live networks and scripts need the pocket kernel. If
    $NETLAB_KERNEL is set, that kernel is used. On processors without User-Mode Linux only the library kernel exists.
    """
    if named := _requested_engine(engine):
        return named
    if any("own" in item for plan in plans for item in plan["traffic"]):
        return "library"
    if sys.platform != "linux" or platform.machine() != POCKET_MACHINE:
        return "library"
    if _library_refusal(plans):
        return "pocket"
    return "library" if plans or _pocket_refusal() else "pocket"


def _requested_engine(engine: str | LabEngine | None) -> str | LabEngine | None:
    """Return `engine` if it is not None, else the name in $NETLAB_ENGINE, else "pocket" if $NETLAB_KERNEL is set; None
    if nothing was requested.
    """
    return engine or os.environ.get("NETLAB_ENGINE") or ("pocket" if os.environ.get("NETLAB_KERNEL") else None)


def choose(engine: str | LabEngine | None = None, plans: Sequence[Plan] = ()) -> LabEngine:
    """Return the engine that runs these plans: `engine` itself if it is an engine object, or the engine with the name
    `engine`; None means $NETLAB_ENGINE, or else the best one for this machine and the plans, as `decide` finds it. It
    may wait for a build of the pocket kernel and print its progress. A named engine is not checked against the plans.

    Raises
    ------
    EngineError
        If there is no such engine.
    KernelError
        If the engine has no kernel.
    NotHereError
        If no engine was named, and the only one that works here does not support all plans.
    """
    name = decide(engine, plans)
    if not isinstance(name, str):
        if isinstance(name, type) or not callable(getattr(name, "execute", None)):
            raise EngineError(f"engine: {one_of(name, [*NAMES, 'or an engine object'])}")
        return name
    if name == "library":
        return LibraryEngine()
    if name in NAMES and sys.platform != "linux":
        raise EngineError(f"engine={name!r} needs Linux, and this is {platform.system()}. {USE_LIBRARY_HINT}")
    if name == "native":
        from netlab_engines.native import NativeEngine

        return NativeEngine()
    if name == "pocket":
        _wait_for_the_pocket_kernel()
        if not _requested_engine(engine) and (missing := _pocket_refusal()) and not _library_refusal(()):
            raise NotHereError(f"{_library_refusal(plans)} The pocket engine does not work on this machine: {missing}")
        from netlab_engines.pocket import PocketEngine

        return PocketEngine()
    raise EngineError(f"engine: {one_of(name, NAMES)}")


def _pocket_refusal() -> str:
    """Return sentences that say why the pocket kernel cannot run on this machine, with remedies; "" if it can."""
    from netlab_engines.pocket import PocketEngine

    try:
        require(PocketEngine().requirements())
    except (EngineError, KernelError) as error:
        return str(error)
    return ""


def _wait_for_the_pocket_kernel() -> None:
    """Wait for the end of the pocket kernel's build in the background, and print its progress meanwhile; return at once
    if none runs, a pocket kernel that can run is built already, or $NETLAB_KERNEL names one.
    """
    if os.environ.get("NETLAB_KERNEL") or any(map(pocket_kernel.has_host_channel, pocket_kernel.builds())):
        return
    if not background_build.current_progress():
        return
    with show_progress(True, 100, "%", what="the pocket kernel is being built") as report_progress:
        while moment := background_build.current_progress():
            report_progress(round(100 * moment.fraction), 100)
            time.sleep(POLL_S)


def _library_refusal(plans: Sequence[Plan]) -> str:
    """Return sentences that say why the library kernel cannot run all of these plans on this machine, about the first
    reason found; "" if it can.
    """
    try:
        engine = LibraryEngine()
        for plan in plans:
            engine.refuse(plan)
    except (EngineError, KernelError) as error:
        return str(error)
    return ""


class Readiness(str):
    """Text about the engine and about differences on this machine, one per line; a notebook hides the differences under
    "more".
    """

    __slots__ = ("_ready",)
    _ready: str

    @classmethod
    def from_lines(cls, ready: str, differences: Sequence[str]) -> "Readiness":
        """Return a text whose first lines are `ready`, the lines about the engine that begin with "Ready", and whose
        further lines are `differences`, sentences about differences on this machine.
        """
        text = cls("\n".join([ready, *differences]))
        text._ready = ready
        return text

    def __repr__(self) -> str:
        """Return the text itself, without quotes, for display."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return the text as HTML for a notebook: the lines about the engine, and the differences, which a click on
        "more" shows.
        """
        differences = html.escape(self.removeprefix(self._ready).strip())
        more = f"<details><summary>more</summary>{differences}</details>" if differences else ""
        return f'<pre style="white-space: pre-wrap">{html.escape(self._ready)}{more}</pre>'


def preflight(requested: str | LabEngine | None = None) -> Readiness:
    """Return lines of text about the engine that will run experiments on this machine (and a build of the pocket kernel
    that goes on), and about its differences from the pocket kernel in virtual time. `requested` is the engine's name or
    an engine object (None: the one that netlab chooses). Raises EngineError or KernelError if none can; the message
    lists what is missing, with remedies.
    """
    engine = choose(requested)
    require(engine.requirements())
    ready = f"Ready: experiments run with the {engine.name} engine in {engine.clock} time."
    if engine.name == "pocket" and not _requested_engine(requested) and not _library_refusal(()):
        ready = "Ready: experiments run with the library engine in virtual time,\n  commands and live networks with the pocket engine."
    other = engine.differences()
    if moment := background_build.current_progress():
        ready += f" {build_sentence(moment)}"
    lines = (textwrap.fill(f"Different here: {each}", WIDTH, subsequent_indent="  ") for each in other)
    return Readiness.from_lines(ready, [*lines, *([SKIP_NOTICE] if other else [])])


def build_sentence(moment: BuildProgress) -> str:
    """Return a sentence with the progress `moment` of the pocket kernel's build in the background, in percent, and the
    minutes that remain.
    """
    return (
        f"The pocket kernel is being built ({moment.fraction:.0%}, about {moment.remaining_s / 60:.0f} min left); experiments "
        "with commands in hosts wait for it."
    )
