"""Tables of `netlab.repeat` as parts of an answer: their wrong forms, their scenarios and their seeds."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from netlab.runs.scenario import Scenario
from netlab_course.answers import answer_in_words
from netlab_course.scenario_differences import first_differences


def table_problem(table: object, name: str) -> str:
    """Return a message if a part of an answer, called `name`, is not a table of `netlab.repeat` with its scenario; ""
    if it is.
    """
    if not (isinstance(table, pd.DataFrame) and {"seed", "flow"} <= set(table.columns)):
        return f"{name} must be the table that nl.repeat(...) returns, got {answer_in_words(table)}."
    if "scenario" not in table.attrs:
        return f"{name} must be the table as nl.repeat(...) returned it, with all of its rows: this one no longer knows its scenario."
    return ""


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
