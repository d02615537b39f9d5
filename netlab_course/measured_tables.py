"""Checks of answers that consist of tables of `netlab.repeat`, some of whose runs are made again in a notebook."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from netlab_course import replays
from netlab_course.conditions import Build

PILOT = "my_pilot"
"""The name of the table whose scatter plans the runs."""
Values = Callable[[pd.DataFrame], "pd.Series[float]"]
"""Returns a value for each seed of a table."""


@dataclass(kw_only=True, repr=False)
class MeasuredTables(Build):
    """A check of an answer with tables of `netlab.repeat`."""

    replay: replays.Replay = replays.run_again
    """Runs some seeds of a table again, to see that its numbers were measured."""

    def _tables(self, answer: object) -> Mapping[str, pd.DataFrame]:
        """Return the tables in an answer by their names; none if the answer has a wrong form. A subclass overrides this."""
        raise NotImplementedError

    def _replayed_values(self) -> tuple[str, tuple[Values, ...]]:
        """Return the unit of the values that are compared when runs are made again, and the functions that return them
        from a table. A subclass overrides this.
        """
        raise NotImplementedError

    def doubt_about_origin(self, answer: object) -> str:
        """Return a sentence on a table with values that are others when some of its seeds are run again, or with seeds
        chosen by their results; "" if there is none.
        """
        tables = self._tables(answer)
        pilot = replays.unexpected_pilot(tables[PILOT], PILOT) if PILOT in tables else ""
        if pilot:
            return pilot
        unit, several = self._replayed_values()
        numbers = itertools.chain([self._compared_number()], itertools.repeat(None))
        doubts = (
            replays.doubt_about_tables(tables, values, unit, self.replay, number)
            for values, number in zip(several, numbers, strict=False)
        )
        return next(filter(None, doubts), "")

    def _compared_number(self) -> float | None:
        """Return the number with which the means of the first values are compared; None, as for this base class, if there is
        none.
        """
        return None
