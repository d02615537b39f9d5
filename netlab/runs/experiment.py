"""`nl.run`: check all settings, make a plan, let an engine run it, return a `Run`."""

import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from netlab import captures as capture_files
from netlab import engines, measure
from netlab.base.arguments import explain_bad_arguments
from netlab.base.errors import Interrupted
from netlab.base.progress_bar import Progress, show_progress
from netlab.base.version import VERSION
from netlab.captures import Capture
from netlab.engines import Engine
from netlab.measure.artifacts import Artifacts
from netlab.measure.program import equal_deliveries
from netlab.measure.results import Run
from netlab.network.change import Change
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Traffic


@explain_bad_arguments('nl.run(network, [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2")], duration_s=10)')
def run(
    topology: Topology | Scenario | Mapping[str, Any],
    traffic: Sequence[Traffic] | None = None,
    duration_s: float | None = None,
    seed: int | None = None,
    interval_s: float | None = None,
    *,
    sysctls: Mapping[str, Any] | None = None,
    captures: Sequence[Capture] | None = None,
    changes: Sequence[Change] | None = None,
    engine: str | Engine | None = None,
    progress: bool | Progress = True,
    cancel: threading.Event | None = None,
) -> Run:
    """Run a network with its traffic, or a whole `Scenario` alone, and return the measurements. None means 10 s, seed
    1, intervals of 0.1 s, and no sysctls, captures and changes.

    Parameters
    ----------
    topology : Topology
        Or the dict of a topology file; or a whole `Scenario` or the dict of a scenario file, in which case the other
        arguments of the scenario must be left out.
    traffic, duration_s, seed, interval_s, sysctls, captures, changes
        See `Scenario`, also for the defaults (10 s, seed 1, intervals of 0.1 s).
    engine : {"pocket", "native", "library"} or Engine, optional
        The engine that runs it. None means $NETLAB_ENGINE, else the fastest one here that supports the whole scenario:
        the library kernel, or the pocket kernel for a `Command`, a shared medium and some settings. Both have virtual
        time and give the same results for the same scenario and seed, to the last bit. `run.settings` has the name of
        the engine.
    progress : bool or callable
        Show a progress bar (never when $NETLAB_PROGRESS is 0), or call with the network time done and the whole,
        both in s.
    cancel : threading.Event, optional
        Set it from another thread to stop the run.

    Returns
    -------
    Run

    Raises
    ------
    ScenarioError
        If the scenario has mistakes; it lists all of them, and nothing has been started.
    EngineError, KernelError
        If this machine lacks a requirement; the text says what to do.
    RunCancelled, RunError
        If the run was stopped by `cancel`, or failed.
    Interrupted
        If Ctrl-C was pressed.

    Examples
    --------
    >>> import netlab as nl
    >>> run = nl.run(nl.topologies.dumbbell(pairs=1), [nl.Tcp("h1", "h2")], duration_s=10)  # doctest: +SKIP
    """
    scenario = Scenario.from_arguments(
        topology, traffic, duration_s, seed, interval_s, sysctls=sysctls, captures=captures, changes=changes
    )
    for sentence in scenario.topology.unused_links():
        warnings.warn(sentence, stacklevel=3)
    plan = scenario.plan()
    runner = engines.choose(engine, [plan])
    began = time.monotonic()
    try:
        with show_progress(progress, scenario.duration_s, "s", what="network time") as report_progress:
            raw = runner.execute(plan, on_progress=lambda t_s: report_progress(t_s, scenario.duration_s), cancel=cancel)
    except KeyboardInterrupt:
        raise Interrupted("the run was stopped, and nothing of it is kept.") from None
    capture_files.finish_run(scenario.captures, plan, raw)
    left = raw.get("artifacts")
    artifacts = Artifacts(Path(left) if left else None, unsaved=raw.get("unsaved"), owned=True)
    settings = {
        "scenario": scenario.to_dict(),
        "network_s": float(scenario.duration_s),
        **raw["engine"],
        "kernel": raw["kernel"],
        "python": raw["python"],
        "netlab": VERSION,
        "sysctls": plan["sysctls"],
        "tc": raw["tc"],
        "wall_s": round(time.monotonic() - began, 3),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    result = measure.to_run(raw, plan, settings, artifacts)
    for sentence in [*result.failed_commands(), *equal_deliveries(raw["flows"])]:
        warnings.warn(sentence, stacklevel=3)
    return result
