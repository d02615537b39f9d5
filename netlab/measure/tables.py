"""The tables of a run: pandas data frames that suggest the right column for a wrong name."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from netlab.base.errors import NetlabError, closest_word

_LocIndexer: Any = type(pd.DataFrame().loc)
_METHODS_WITH_COLUMNS = ("drop", "groupby", "pivot", "pivot_table", "set_index", "sort_values")
"""Methods of a data frame that take column names, and whose KeyError contains only the name."""
COLUMNS_OF: dict[str, tuple[str, ...]] = {}
"""The columns of each table of a run; `netlab.measure.results` fills this in."""


class ColumnError(NetlabError, KeyError):
    """A table does not have a column of this name."""

    def __str__(self) -> str:
        """Return the message, without the quotes that KeyError adds."""
        # KeyError would quote the text.
        return str(self.args[0])


class _UnknownAttributeError(AttributeError):
    """The error about `table.name`; its text is made on demand, as `hasattr` raises most and prints none."""

    def __init__(self, name: str, columns: list[str]) -> None:
        """Take the wrong attribute's name and the columns of the table."""
        super().__init__(name)
        self._columns = columns

    def __str__(self) -> str:
        """Return the message, with the column that was probably meant or all columns."""
        return f"a table has no column and no attribute {self.args[0]!r}{suggested_column(self.args[0], self._columns)}"


class _Loc(_LocIndexer):  # type: ignore[misc]
    """The `loc` of a table, which raises ColumnError with a suggestion for a column that the table lacks."""

    def __getitem__(self, key: Any) -> Any:
        """Return what pandas' `loc` returns; raise ColumnError with a suggestion for an unknown column."""
        try:
            return super().__getitem__(key)
        except KeyError:
            if isinstance(key, tuple) and len(key) == 2:
                _raise_for_unknown(self.obj, key[1])
            raise


class Table(pd.DataFrame):
    """A data frame that raises ColumnError, a KeyError with a suggestion, for a column that it lacks.

    >>> Table({"flow": ["h1-h2"], "goodput_mbps": [4.8]})["goodput"]
    Traceback (most recent call last):
    netlab.measure.tables.ColumnError: there is no column 'goodput'; did you mean 'goodput_mbps'?
    """

    @property
    def _constructor(self) -> Callable[..., Table]:
        """The class of the tables that pandas makes from this one."""
        return Table

    def __getitem__(self, key: Any) -> Any:
        """Return what pandas returns; raise ColumnError with a suggestion for an unknown column."""
        try:
            return super().__getitem__(key)
        except KeyError:
            _raise_for_unknown(self, key)
            raise

    if not TYPE_CHECKING:

        @property
        def loc(self) -> Any:  # noqa: D102 (pandas' own)
            return _Loc("loc", self)

        def __getattr__(self, name: str) -> Any:
            """Return what pandas returns; raise AttributeError for an unknown name, with a suggestion."""
            try:
                return super().__getattr__(name)
            except AttributeError:
                if name.startswith("_"):
                    raise
                columns = object.__getattribute__(self, "columns")
                raise _UnknownAttributeError(name, [column for column in columns if isinstance(column, str)]) from None


def _raise_for_unknown(table: pd.DataFrame, names: object) -> None:
    """Raise ColumnError for the first of `names` (one name or a list) that is not a column of the table; else return."""
    columns = [column for column in table.columns if isinstance(column, str)]
    for name in names if isinstance(names, (list, tuple)) else [names]:
        if isinstance(name, str) and name not in columns:
            raise ColumnError(f"there is no column {name!r}{suggested_column(name, columns)}") from None


def suggested_column(name: str, columns: list[str]) -> str:
    """Return the end of a message about a wrong column: a near name in `columns` or a run's table, else all of them."""
    if meant := closest_word(name, columns):
        return f"; did you mean {meant!r}?"
    for table, names in COLUMNS_OF.items():
        if near := name if name in names else closest_word(name, names):
            return f"; run.{table} has {near!r}"
    return f"; there are: {', '.join(columns) or 'none'}"


def _with_column_hint(name: str) -> Any:
    """Return the DataFrame method `name`, changed to raise ColumnError with a suggestion instead of KeyError."""
    method = getattr(pd.DataFrame, name)

    @functools.wraps(method)
    def hinting_method(self: Table, *values: Any, **keywords: Any) -> Any:
        """Call the method; raise ColumnError if an argument names a column that the table lacks."""
        try:
            return method(self, *values, **keywords)
        except KeyError as error:
            # For several names pandas lists the missing ones: "['goodput'] not found in axis".
            message = str(error.args[0]) if error.args else ""
            _raise_for_unknown(self, [message] if message.isidentifier() else re.findall(r"'(\w+)'", message))
            raise

    return hinting_method


for _name in _METHODS_WITH_COLUMNS:
    setattr(Table, _name, _with_column_hint(_name))
