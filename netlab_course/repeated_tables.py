"""Tables of `netlab.repeat` as parts of an answer: their wrong forms, their scenarios and their seeds."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from netlab.runs.scenario import Scenario
from netlab_course.answers import answer_in_words
from netlab_course.rearranged_tables import scenario_of_case, with_seed_column
from netlab_course.scenario_differences import first_differences


def as_repeated_table(part: object, name: str) -> pd.DataFrame | str:
    """Return a part of an answer, called `name`, as a table of `netlab.repeat` of one scenario, which its `attrs` have;
    or a message if it is none. The rows of one case of a table of several are such a table, too.
    """
    if isinstance(part, pd.DataFrame):
        part = with_seed_column(part)
        missing = [column for column in ("seed", "flow", "error") if column not in part.columns]
        if missing and {"scenario", "scenarios"} & set(part.attrs):
            return f"{name} must be the table with all of its columns; {' and '.join(missing)} are missing."
    if not (isinstance(part, pd.DataFrame) and {"seed", "flow"} <= set(part.columns)):
        return f"{name} must be the table that nl.repeat(...) returns, got {answer_in_words(part)}."
    if "scenario" in part.attrs:
        return part
    if "scenarios" not in part.attrs:
        return f"{name} must be the table as nl.repeat(...) returned it: this one no longer knows its scenario."
    scenario = scenario_of_case(part)
    if scenario is None:
        return f'{name} must have one scenario: take the rows of one case, such as my_table[my_table["case"] == ...].'
    table = part.copy(deep=False)
    table.attrs = {"scenario": scenario}
    return table


def as_repeated_tables(parts: Mapping[str, object]) -> list[pd.DataFrame] | str:
    """Return the parts of an answer, given by name, as `as_repeated_table` does, or the message about the first one that
    is no such table.
    """
    tables = []
    for name, part in parts.items():
        table = as_repeated_table(part, name)
        if isinstance(table, str):
            return table
        tables.append(table)
    return tables


def count_seeds(table: pd.DataFrame) -> int:
    """Return the number of different seeds in a table of `netlab.repeat`."""
    return int(table["seed"].nunique())


def is_complete(table: pd.DataFrame) -> bool:
    """Return whether a table of `netlab.repeat` has one row for each seed and flow, and no run of it failed."""
    return bool(not table.duplicated(["seed", "flow"]).any() and table["error"].isna().all())


def differences_in_words(wanted: Mapping[str, tuple[pd.DataFrame, Scenario]]) -> str:
    """Return a text on the first differences of each table's scenario from the one that is wanted, from pairs of both by
    the tables' names; "" if there is none.
    """
    found = {name: first_differences(table.attrs["scenario"], scenario) for name, (table, scenario) in wanted.items()}
    return ". ".join(f"{name} differs in {words}" for name, words in found.items() if words)
