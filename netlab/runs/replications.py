"""Repetitions of a measurement with other seeds: the table of the runs, and the confidence interval of their mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent import futures
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd

from netlab.base.arguments import explain_bad_arguments
from netlab.base.errors import NetlabError, ScenarioError
from netlab.base.progress_bar import Progress
from netlab.base.values import is_integer, short_repr, to_python
from netlab.measure.columns import FLOWS
from netlab.measure.results import FLOW_COLUMNS, Run
from netlab.network.change import Change
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.runs.sweeps import sweep
from netlab.theory import student_t
from netlab.theory.certainty import student_t_of_freedom
from netlab.traffic import Traffic

if TYPE_CHECKING:
    from netlab.engines import Engine

DEFAULT_SEEDS = 10


class Interval(NamedTuple):
    """A mean and half the width of its 95 % confidence interval, both in the unit of the values."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        """Return "mean ± half width" with four and two significant digits."""
        return f"{self.mean:.4g} ± {self.half_width:.2g}"

    def __format__(self, number: str) -> str:
        """Return "mean ± half width", both in the format `number` such as ".1f"; as `str` does if that is empty."""
        return f"{self.mean:{number}} ± {self.half_width:{number}}" if number else str(self)


@explain_bad_arguments('nl.interval(my_table["goodput_mbps"])')
def interval(values: Any, others: Any = None) -> Interval:
    """Return the mean of independent `values`, or its difference from the mean of the sample `others`, with half the
    width of its 95 % confidence interval.

    If the measurement were repeated many times with as many values each, 95 of 100 such intervals would contain the
    true mean (or the true difference). This holds if the values are independent (a seed each) and roughly normal.

    The half width is t * s / sqrt(n), with Student's factor t for n - 1 degrees of freedom and the standard deviation s
    of the n values. With `others` (Welch's interval) it is t * sqrt(v1 + v2), where v = s**2 / n of each sample, and t
    is for (v1 + v2)**2 / (v1**2 / (n1 - 1) + v2**2 / (n2 - 1)) degrees of freedom: at least those of the smaller
    sample, at most those of both together.

    It misleads where the values depend on each other. If the rows of both samples belong together, such as runs with
    the same seeds, the interval of their differences is right, `netlab.interval(first - second)`, and often much
    narrower. If they do not belong together, that interval would depend on the order of the rows.

    Parameters
    ----------
    values : sequence of float
        Two or more values, such as a column of the table that `netlab.repeat` returns.
    others : sequence of float, optional
        Two or more values of an independent sample, whose mean is subtracted; the two lengths may differ.

    Returns
    -------
    Interval
        Mean and half width, in the values' own unit: `mean, half = netlab.interval(values)`.

    Raises
    ------
    NetlabError
        If there are fewer than two values, or NaN or infinity, because leaving values out must be a conscious decision.
        Also if both samples are without any scatter.

    References
    ----------
    Student, "The Probable Error of a Mean", Biometrika 6, 1908. B. L. Welch, "The Generalization of 'Student's' Problem
    when Several Different Population Variances are Involved", Biometrika 34, 1947; F. E. Satterthwaite, "An Approximate
    Distribution of Estimates of Variance Components", Biometrics Bulletin 2, 1946 (the degrees of freedom).

    Examples
    --------
    >>> print(interval([1.0, 2.0, 3.0]))
    2 ± 2.5
    >>> mean, half = interval([1.0, 2.0, 3.0])
    >>> round(half, 3)
    2.484
    >>> print(interval([7.0, 8.0, 9.0], [1.0, 2.0, 3.0]))
    6 ± 2.3
    """
    numbers = _numbers(values)
    if others is not None:
        return _welch(numbers, _numbers(others))
    half = student_t(len(numbers)) * np.std(numbers, ddof=1) / np.sqrt(len(numbers))
    return Interval(float(np.mean(numbers)), float(half))


def _welch(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> Interval:
    """Return the difference of the samples' means with Welch's 95 % half width; NetlabError if neither has scatter."""
    errors = [np.std(sample, ddof=1) / np.sqrt(len(sample)) for sample in (first, second)]
    error = float(np.hypot(*errors))
    if error == 0:
        raise NetlabError(
            "All values of each sample are equal, so the scatter of their difference is not known: does a seed change "
            "anything in these runs? Numbers that do not depend on chance need no interval; subtract them."
        )
    shares = [(each / error) ** 2 for each in errors]
    freedom = 1 / sum(share**2 / (len(sample) - 1) for share, sample in zip(shares, (first, second), strict=True))
    # Rounding must not bring the degrees of freedom of two values below 1.
    half = student_t_of_freedom(max(1.0, float(freedom))) * error
    return Interval(float(np.mean(first) - np.mean(second)), half)


def _numbers(values: Any) -> npt.NDArray[np.float64]:
    """Return the values as an array of floats; raise NetlabError, with the reason, unless two or more, all finite."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise NetlabError(f"interval() takes a list or a column of numbers, got {short_repr(values)}.")
    if isinstance(values, pd.DataFrame):
        columns = [str(name) for name in values.select_dtypes("number")] or ["goodput_mbps"]
        best = "goodput_mbps" if "goodput_mbps" in columns else columns[-1]
        raise NetlabError(f'interval() takes one column, such as my_table["{best}"]. Numbers: {", ".join(columns)}.')
    listed = list(values)
    if texts := [value for value in listed if isinstance(value, (str, bytes))]:
        raise NetlabError(
            f"interval() takes numbers, and {short_repr(texts[0])} is a text: write numbers without quotes."
        )
    try:
        numbers = np.asarray(listed, dtype=float)
    except (TypeError, ValueError):
        raise NetlabError(f"interval() takes a list or a column of numbers, got {short_repr(values)}.") from None
    if numbers.ndim != 1 or len(numbers) < 2:
        raise NetlabError(f"An interval needs two values or more, got {numbers.size}; a single one has no scatter.")
    missing = int(np.isnan(numbers).sum())
    if missing:
        column = getattr(values, "name", None)
        kinds = next((each.kinds for each in FLOWS if each.name == column), ("ping",))
        kind = "ping" if "ping" in kinds else kinds[0]
        rows = f'my_table[my_table["kind"] == "{kind}"]' + (f'["{column}"]' if isinstance(column, str) else "")
        raise NetlabError(
            f"{missing} of {len(numbers)} values are missing (NaN). Are these rows of several kinds (tcp, udp, ping)? Only some "
            f"kinds have each column: select the rows first, such as {rows}. If all are of one kind, nothing was measured for "
            "these flows, for example because nothing arrived: .dropna() leaves them out, and your text must say so."
        )
    if not np.isfinite(numbers).all():
        infinite = int((~np.isfinite(numbers)).sum())
        raise NetlabError(f"{infinite} of {len(numbers)} values are infinite: was something divided by zero?")
    return numbers


@explain_bad_arguments('nl.repeat(network, [nl.Tcp("h1", "h2")], duration_s=10, seeds=10)')
def repeat(
    network: Topology | Scenario | Mapping[Any, Any],
    traffic: Sequence[Traffic] | None = None,
    duration_s: float | None = None,
    *,
    seeds: int | Iterable[int] = DEFAULT_SEEDS,
    case: str | Sequence[str] = "case",
    sysctls: Mapping[str, Any] | None = None,
    changes: Sequence[Change] | None = None,
    executor: futures.Executor | None = None,
    fresh: bool = False,
    engine: str | Engine | None = None,
    progress: bool | Progress = True,
) -> pd.DataFrame:
    """Run a scenario, or each of several by label, with each of `seeds` (10 means 1 to 10), and return the flows of all
    runs in one table, with columns `seed` and, for labels, `case` in front.

    Parameters
    ----------
    network, traffic, duration_s, sysctls, changes
        As for `netlab.run`: a network and the other arguments, or a whole `Scenario` (whose own seed is ignored).
        Instead of a network also a mapping of label to `Scenario`: several cases, each run with every seed.
    seeds : int or iterable of int
        The number of seeds (10 means the seeds 1 to 10), or the seeds.
    case : str or sequence of str
        For several cases, the name of the column with the labels; if the labels are tuples, a name for each part. It
        must differ from the names of the columns of `flows`.
    executor, fresh, engine, progress
        As for `netlab.sweep`, which runs the scenarios in parallel and caches their results.

    Returns
    -------
    pandas.DataFrame
        The rows of each run's `flows`, with the column `seed` in front; `attrs["scenario"]` has the repeated scenario.
        For several cases, their labels come before `seed`, and `attrs["scenarios"]` has the scenarios by label.

    Raises
    ------
    ScenarioError
        If the arguments have mistakes; it lists all of them, and nothing has been started.
    SweepError
        If runs failed; its `runs` has the others by seed, or by (label, seed).

    Examples
    --------
    >>> import netlab as nl
    >>> table = nl.repeat(nl.topologies.dumbbell(), [nl.Tcp("h1", "h3")], seeds=10)  # doctest: +SKIP
    >>> nl.interval(table["goodput_mbps"])  # doctest: +SKIP
    >>> cases = {
    ...     rate_mbps: nl.Scenario(nl.topologies.dumbbell(rate_mbps=rate_mbps), [nl.Tcp("h1", "h3")])
    ...     for rate_mbps in (5, 10)
    ... }
    >>> table = nl.repeat(cases, seeds=5, case="rate_mbps")  # doctest: +SKIP
    >>> table.groupby("rate_mbps")["goodput_mbps"].agg(nl.interval)  # doctest: +SKIP
    """
    chosen, wrong = _seeds(seeds)
    if isinstance(traffic, (int, range)):  # the seeds without their name
        traffic, wrong = None, [f"write the name of the seeds: seeds={traffic!r}", *wrong]
    run_options: dict[str, Any] = {"executor": executor, "fresh": fresh, "engine": engine, "progress": progress}
    if _are_cases(network):
        others = {"traffic": traffic, "duration_s": duration_s, "sysctls": sysctls, "changes": changes}
        wrong += [
            f"{name}: each case is a whole scenario; give {name} to nl.Scenario"
            for name, value in others.items()
            if value is not None
        ]
        return _repeat_cases(network, chosen, case, wrong, run_options)
    try:
        scenario = Scenario.from_arguments(network, traffic, duration_s, sysctls=sysctls, changes=changes)
    except ScenarioError as error:
        raise ScenarioError([*error.problems, *wrong]) from None
    if wrong:
        raise ScenarioError(wrong)
    runs = sweep({seed: replace(scenario, seed=seed) for seed in chosen}, **run_options)
    return table_of(scenario.to_dict(), runs)


def _are_cases(value: Any) -> TypeGuard[Mapping[Any, Scenario]]:
    """Return whether the first argument of `repeat` is a mapping of label to scenario, not the dict of a scenario file."""
    return isinstance(value, Mapping) and any(isinstance(scenario, Scenario) for scenario in value.values())


def _repeat_cases(
    cases: Mapping[Any, Scenario],
    seeds: Sequence[int],
    case: str | Sequence[str],
    problems: list[str],
    options: dict[str, Any],
) -> pd.DataFrame:
    """Return the table of `repeat` for several cases by label; `case` names the labels' columns, `options` goes to
    `sweep`. Raises ScenarioError with `problems` and those in cases and names of columns, SweepError as `sweep`.
    """
    names = [case] if isinstance(case, str) else list(case)
    problems += [
        f"case: {short_repr(name)} is a column of the table already; choose another name"
        for name in names
        if name in ("seed", *FLOW_COLUMNS)
    ]
    for label, scenario in cases.items():
        if not isinstance(scenario, Scenario):
            problems.append(f"case {short_repr(label)} must be an nl.Scenario, got {short_repr(scenario)}")
        if not isinstance(case, str) and not (isinstance(label, tuple) and len(label) == len(names)):
            problems.append(
                f"case={names} names {len(names)} parts of a label; the label {short_repr(label)} has other parts"
            )
    if problems:
        raise ScenarioError(problems)
    runs = sweep({(label, seed): replace(cases[label], seed=seed) for label in cases for seed in seeds}, **options)
    table = pd.concat(
        [
            _labelled_flows(
                run, dict(zip([*names, "seed"], [*([label] if isinstance(case, str) else label), seed], strict=True))
            )
            for (label, seed), run in runs.items()
        ],
        ignore_index=True,
    )
    table.attrs["scenarios"] = _SharedDict({label: scenario.to_dict() for label, scenario in cases.items()})
    return table


class _SharedDict(dict[str, Any]):
    """The dict of a scenario, or of several by label, in a table's `attrs`, which pandas does not copy."""

    def __deepcopy__(self, _memo: Any) -> _SharedDict:
        """Return this dict itself, which all copies of a table share."""
        # pandas deep-copies `attrs` at each operation; nobody changes this dict, so all tables can share it.
        return self


def table_of(scenario: dict[str, Any], runs: Mapping[int, Run]) -> pd.DataFrame:
    """Return the flows of the runs, given by seed, in one table with a column `seed`; its `attrs` have the scenario."""
    table = pd.concat([_labelled_flows(run, {"seed": seed}) for seed, run in runs.items()], ignore_index=True)
    table.attrs["scenario"] = _SharedDict(scenario)
    return table


def _labelled_flows(run: Run, labels: Mapping[str, Any]) -> pd.DataFrame:
    """Return the flows of a run with columns of equal values in front, from these values by column."""
    table = run.flows.copy()
    for place, (name, value) in enumerate(labels.items()):
        table.insert(place, name, [value] * len(table))
    return table


def _seeds(value: int | Iterable[int]) -> tuple[list[int], list[str]]:
    """Return the seeds that `value` means (10: 1 to 10; of a list its items), and a message for each mistake in it."""
    value = to_python(value)
    if isinstance(value, int) and is_integer(value):
        number = value
        return list(range(1, number + 1)), [] if number >= 1 else [f"seeds must be 1 or more, got {number}"]
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [], [f"seeds must be a whole number or a list of whole numbers, got {short_repr(value)}"]
    chosen = [to_python(seed) for seed in value]
    problems = [
        f"seeds: {short_repr(seed)} is not a whole number from 0 to 2**64 - 1"
        for seed in chosen
        if not (is_integer(seed) and 0 <= seed < 2**64)
    ]
    if not chosen:
        problems.append("seeds must hold one seed or more, got none")
    if len(set(map(str, chosen))) < len(chosen):
        problems.append("seeds must differ: the same seed gives the same run")
    return chosen, problems
