"""Rows of one case in a table of `netlab.repeat` of several cases; a student's sandbox needs this, too, and has no checks."""

from typing import Any

import pandas as pd


def scenario_of_case(table: pd.DataFrame) -> dict[str, Any] | None:
    """Return the scenario of the rows of one case of a table of `netlab.repeat` of several, in the form of
    `Scenario.to_dict`; None if the rows belong to more than one case, or the columns with the labels are gone.
    """
    # The columns of the labels come before the one of the seeds.
    labels = table[list(table.columns[: list(table.columns).index("seed")])].drop_duplicates()
    if len(labels) != 1 or not len(labels.columns):
        return None
    label = tuple(labels.iloc[0]) if len(labels.columns) > 1 else labels.iloc[0, 0]
    scenario: dict[str, Any] | None = table.attrs.get("scenarios", {}).get(label)
    return scenario
