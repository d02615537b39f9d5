"""Tables of `netlab.repeat` that a student has rearranged; a student's sandbox needs this, too, and has no checks."""

from typing import Any

import pandas as pd


def with_seed_column(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of `netlab.repeat` with its seeds as a column, where they may be the index; a table without seeds
    as it is.
    """
    return table.reset_index() if "seed" in table.index.names and "seed" not in table.columns else table


def scenario_of_case(table: pd.DataFrame) -> dict[str, Any] | None:
    """Return the scenario of the rows of one case of a table of `netlab.repeat` of several, in the form of
    `Scenario.to_dict`; None if the rows belong to more than one case, or the columns with the labels are gone.
    """
    # The columns of the labels come before the one of the flows; the seeds' column is among them, or was the index.
    columns = list(table.columns)
    before = columns[: columns.index("flow" if "flow" in columns else "seed")]
    labels = table[[column for column in before if column != "seed"]].drop_duplicates()
    if len(labels) != 1 or not len(labels.columns):
        return None
    label = tuple(labels.iloc[0]) if len(labels.columns) > 1 else labels.iloc[0, 0]
    scenario: dict[str, Any] | None = table.attrs.get("scenarios", {}).get(label)
    return scenario
