"""Runs of many scenarios in parallel; results come in the same order or under the same labels."""

import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from concurrent import futures
from contextlib import ExitStack, closing
from typing import Any, NamedTuple, ParamSpec, TypeVar, overload

from netlab import engines
from netlab.base.arguments import explain_bad_arguments
from netlab.base.completion import iter_completed
from netlab.base.errors import Interrupted, NetlabError, ScenarioError
from netlab.base.progress_bar import Progress, show_progress
from netlab.engines import Engine
from netlab.measure.results import Run
from netlab.runs import experiment
from netlab.runs.scenario import Scenario

Label = TypeVar("Label", bound=Hashable)
P = ParamSpec("P")
T = TypeVar("T")
ScenarioLike = Scenario | Mapping[str, Any]
MAX_LISTED = 5
# For real time: the traffic of small frames that one CPU can carry without delay, and the largest number of parallel runs on it.
MAX_REAL_MBPS_PER_CPU = 80.0
MAX_RUNS_PER_CPU = 12


class SweepError(NetlabError):
    """Some scenarios of a sweep failed; the others were run.

    Attributes
    ----------
    runs : dict
        The runs that finished, by label (by position if the scenarios had no labels).
    failures : dict
        The error of each scenario that failed, by label.
    """

    def __init__(self, runs: dict[Any, Run], failures: dict[Any, BaseException]) -> None:
        """Make the error from the runs that finished and the errors of the others, both by label."""
        self.runs = runs
        self.failures = failures
        lines = [f"  - {label}: {_error_text(error)}" for label, error in list(failures.items())[:MAX_LISTED]]
        if len(failures) > MAX_LISTED:
            lines.append(f"  - and {len(failures) - MAX_LISTED} more")
        unexpected = [error for error in failures.values() if not isinstance(error, NetlabError)]
        if unexpected:
            # Jupyter shows only this text, and only a traceback shows where such an error comes from.
            lines += ["", "".join(traceback.format_exception(unexpected[0])).rstrip()]
        super().__init__(
            "\n".join(
                [
                    f"{len(failures)} of {len(runs) + len(failures)} runs failed; the others are in this error's `runs`:",
                    *lines,
                ]
            )
        )


def _error_text(error: BaseException) -> str:
    """Return an error's text, with its class unless it is one of netlab's errors."""
    return str(error) if isinstance(error, NetlabError) else f"{type(error).__name__}: {error}"


class SweepInterrupted(Interrupted):
    """A sweep of `total` runs was stopped; `runs` has those that had finished, by label. They are cached, except for
    those with a user's classes (`kept` is False if there are any).
    """

    def __init__(self, runs: dict[Any, Run], total: int, *, kept: bool = True) -> None:
        """Make the error from the finished runs by label and the number of all; `kept`: whether all are cached."""
        self.runs = runs
        then = "the next sweep starts from them" if kept else "runs of classes of your own are not kept"
        super().__init__(f"the sweep was stopped; {len(runs)} of {total} runs had finished, and {then}.")


# A mapping is also an iterable (of its labels), so its overload comes first.
@overload
def sweep(  # type: ignore[overload-overlap]
    scenarios: Mapping[Label, ScenarioLike],
    *,
    executor: futures.Executor | None = ...,
    fresh: bool = ...,
    engine: str | Engine | None = ...,
    progress: bool | Progress = ...,
) -> dict[Label, Run]: ...
@overload
def sweep(
    scenarios: Iterable[ScenarioLike],
    *,
    executor: futures.Executor | None = ...,
    fresh: bool = ...,
    engine: str | Engine | None = ...,
    progress: bool | Progress = ...,
) -> list[Run]: ...


@explain_bad_arguments("nl.sweep([scenario, other_scenario])")
def sweep(
    scenarios: Mapping[Any, ScenarioLike] | Iterable[ScenarioLike],
    *,
    executor: futures.Executor | None = None,
    fresh: bool = False,
    engine: str | Engine | None = None,
    progress: bool | Progress = True,
) -> dict[Any, Run] | list[Run]:
    """Run scenarios in parallel and return their runs, by label or as a list like `scenarios`; earlier runs come from
    the cache unless `fresh`. `executor` None means threads, `engine` None the fastest one.

    A run is cached as soon as it finishes, so a sweep that was stopped continues where it was. Equal scenarios run
    once: for several random draws, give each a different `seed`. Runs that call a user's class are not cached.

    Parameters
    ----------
    scenarios : mapping of label to scenario, or iterable of scenarios
        Each a `Scenario` or the dict of a scenario file.
    executor : concurrent.futures.Executor, optional
        The executor of the runs. None means one thread for each CPU that this process may use: a run is a process
        anyway, and threads need neither pickling nor imports, which do not work for objects of a notebook.
        ``distributed.Client(...).get_executor()`` spreads a sweep over a cluster whose machines have netlab and the
        same kernel.
    fresh : bool
        Run all scenarios again and replace their cached runs.
    engine : {"pocket", "native", "library"} or Engine, optional
        As for `netlab.run`: each scenario gets the engine of a single run, and therefore the same numbers.
    progress : bool or callable
        Show a bar with an estimate (never when $NETLAB_PROGRESS is 0), or call with the number of finished runs and of all.

    Returns
    -------
    dict of label to Run, or list of Run
        In the form and order of `scenarios`.

    Raises
    ------
    ScenarioError
        If scenarios have mistakes; it lists all of them, and nothing has been started.
    EngineError, KernelError
        If this machine lacks a requirement.
    SweepError
        If runs failed; raised after all others have finished, and holds their results.
    SweepInterrupted
        If Ctrl-C was pressed; a KeyboardInterrupt, raised when the running guests have been ended.

    Examples
    --------
    >>> import netlab as nl
    >>> rates_mbps = (1, 5, 10)
    >>> scenarios = {
    ...     rate_mbps: nl.Scenario(nl.topologies.dumbbell(pairs=1), [nl.Udp("h1", "h2", rate_mbps=rate_mbps)])
    ...     for rate_mbps in rates_mbps
    ... }
    >>> runs = nl.sweep(scenarios)  # doctest: +SKIP
    >>> losses = {rate_mbps: run.flows.loss_rate[0] for rate_mbps, run in runs.items()}  # doctest: +SKIP
    """
    from netlab.runs import cache as run_cache  # a run that is not part of a sweep needs no cache

    labelled = _validate(dict(scenarios) if isinstance(scenarios, Mapping) else dict(enumerate(scenarios)))
    cache_keys: dict[Any, str | None] = {}
    keys: dict[Any, str] = {}
    found: dict[str, Run] = {}
    failures: dict[str, BaseException] = {}
    unkept: NetlabError | None = None

    def finished_runs() -> dict[Any, Run]:
        """Return the runs that have finished so far, by label."""
        return {label: found[key] for label, key in keys.items() if key in found}

    try:
        tasks = _tasks(labelled, engine)
        cache_keys |= {label: run_cache.key(task.scenario, task.conditions) for label, task in tasks.items()}
        # Give a run that is not cached a key that no cached run can have.
        keys |= {label: key or f"own {number}" for number, (label, key) in enumerate(cache_keys.items())}
        distinct = {key: tasks[label] for label, key in keys.items()}
        with ExitStack() as ending:
            cache = run_cache.RunCache()
            ending.callback(cache.prune)
            if not fresh:
                found |= {
                    key: run for key in cache_keys.values() if key is not None and (run := cache.load(key)) is not None
                }
            todo = {key: task for key, task in distinct.items() if key not in found}
            with (
                show_progress(progress, len(distinct), "runs", done=len(found), what="sweep") as report,
                closing(_outcomes(todo, executor)) as outcomes,
            ):
                report(len(found), len(distinct))
                for key, outcome in outcomes:
                    if isinstance(outcome, BaseException):
                        failures[key] = outcome
                    else:
                        conditions, found[key] = outcome
                        # A machine of a cluster may have another kernel or netlab: its run is valid, but not under this machine's key.
                        if conditions == todo[key].conditions and key in cache_keys.values():
                            try:
                                cache.store(key, found[key])
                            except NetlabError as error:
                                unkept = error
                    report(len(found) + len(failures), len(distinct))
    except KeyboardInterrupt:
        raise SweepInterrupted(finished_runs(), len(labelled), kept=None not in cache_keys.values()) from None
    if unkept:
        warnings.warn(f"Runs of this sweep will not be there the next time. {unkept}", stacklevel=3)
    if failures:
        failed = {label: failures[key] for label, key in keys.items() if key in failures}
        raise SweepError(finished_runs(), failed) from next(
            (error for error in failed.values() if not isinstance(error, NetlabError)), None
        )
    return finished_runs() if isinstance(scenarios, Mapping) else list(finished_runs().values())


def _validate(items_by_label: dict[Any, ScenarioLike]) -> dict[Any, Scenario]:
    """Return the scenarios by label. Raises ScenarioError with each mistake, and the first scenario that has it."""
    where: dict[str, list[Any]] = {}
    scenarios: dict[Any, Scenario] = {}
    for label, item in items_by_label.items():
        try:
            scenario = item if isinstance(item, Scenario) else Scenario.from_dict(item)
            scenario.validate()
        except ScenarioError as error:
            for problem in error.problems:
                where.setdefault(problem, []).append(label)
        else:
            scenarios[label] = scenario
    if where:
        # A mistake in a sweep is usually the same in all of its scenarios.
        raise ScenarioError(
            [
                f"scenario {labels[0]}{f' and {len(labels) - 1} more' * (len(labels) > 1)}: {problem}"
                for problem, labels in where.items()
            ]
        )
    return scenarios


class _Task(NamedTuple):
    """A scenario to run, its engine and that engine's clock; `conditions` has what else its numbers depend on."""

    scenario: Scenario
    engine: str | Engine
    clock: str
    conditions: str


def _tasks(labelled: Mapping[Any, Scenario], engine: str | Engine | None) -> dict[Any, _Task]:
    """Return a task with its engine for each scenario, by label; EngineError or KernelError if one cannot run."""
    from netlab.runs import cache as run_cache

    decided = {label: engines.decide(engine, [scenario.plan()]) for label, scenario in labelled.items()}
    conditions: dict[str | int, str] = {}
    runners: dict[str | int, Engine] = {}
    for label, chosen in decided.items():
        name = chosen if isinstance(chosen, str) else id(chosen)
        if name not in conditions:
            runners[name] = engines.choose(engine, [labelled[label].plan()])
            conditions[name] = run_cache.conditions(runners[name])
        # Check before anything starts, not after other scenarios have run.
        if refuse := getattr(runners[name], "refuse", None):
            refuse(labelled[label].plan())
    return {
        label: _Task(scenario, chosen, runners[name].clock, conditions[name])
        for (label, scenario), chosen in zip(labelled.items(), decided.values(), strict=True)
        for name in [chosen if isinstance(chosen, str) else id(chosen)]
    }


def _outcomes(
    todo: Mapping[str, _Task], executor: futures.Executor | None
) -> Generator[tuple[str, tuple[str, Run] | BaseException], None, None]:
    """Run the tasks, and yield as they finish each task's key with its conditions and its run, or with its error.
    `executor` None means threads of this process. Close the generator to cancel the rest: this stops runs in threads
    and waits for them; those that another executor has started continue.
    """
    pool = executor or _default_executor(_parallel_runs(todo.values()))
    # An event reaches only threads; runs of other executors that have started continue to their end.
    cancel = threading.Event() if isinstance(pool, futures.ThreadPoolExecutor) else None
    running: dict[futures.Future[tuple[str, Run]], str] = {}
    try:
        for key, task in todo.items():
            running[pool.submit(_run_task, task, cancel)] = key
        for future in iter_completed(running):
            key = running.pop(future)
            yield key, future.exception() or future.result()
    finally:
        for future in running:
            future.cancel()
        if cancel is not None:
            cancel.set()
            list(iter_completed(running))
        if executor is None:
            pool.shutdown()


class _SerialExecutor(futures.Executor):
    """An executor that runs each call at once in this thread, for browsers, which have no threads."""

    def submit(self, call: Callable[P, T], /, *args: P.args, **words: P.kwargs) -> futures.Future[T]:
        """Call the function now; return a future that has its result or its error."""
        future: futures.Future[T] = futures.Future()
        try:
            future.set_result(call(*args, **words))
        except Exception as error:  # noqa: BLE001 - as the other executors do
            future.set_exception(error)
        return future


def _default_executor(workers: int) -> futures.Executor:
    """Return an executor with `workers` threads; in a browser, one that runs each call at once."""
    if sys.platform == "emscripten":
        return _SerialExecutor()
    return futures.ThreadPoolExecutor(workers, thread_name_prefix="sweep")


def _parallel_runs(tasks: Iterable[_Task]) -> int:
    """Return the number of parallel runs: the CPUs; if all run in real time over slow links, up to 12 times as many."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    rates_mbps = []
    for task in tasks:
        if task.clock != "real":
            return cpus
        rates = [hop.rate_mbps for hop in task.scenario.topology.wiring().hops if hop.shape.is_shaped]
        rates_mbps.append(min(rates, default=MAX_REAL_MBPS_PER_CPU))
    return cpus * max(
        1, min(MAX_RUNS_PER_CPU, int(MAX_REAL_MBPS_PER_CPU // max(rates_mbps, default=MAX_REAL_MBPS_PER_CPU)))
    )


def _run_task(task: _Task, cancel: threading.Event | None) -> tuple[str, Run]:
    """Run a task in this process; return its conditions and its run. Setting `cancel` ends it with RunCancelled."""
    from netlab.runs import cache as run_cache

    runner = engines.choose(task.engine)
    run = experiment.run(task.scenario, engine=runner, progress=False, cancel=cancel)
    return run_cache.conditions(runner), run
