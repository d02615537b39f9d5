"""The flows of a live network: their rows of the tables, and their ends."""

from typing import Protocol

import pandas as pd

from netlab_engines.lab.session import GuestSession


class LabWithFlows(Protocol):
    """The part of a live network that its flows use."""

    session: GuestSession

    @property
    def flows(self) -> pd.DataFrame:
        """A table with a row for each flow that has begun."""

    @property
    def intervals(self) -> pd.DataFrame:
        """A table with a row for each flow and each interval since the start."""


class LiveFlow:
    """A flow that was started in a live network; `label` is its name in the tables.

    Attributes
    ----------
    stopped_s : float or None
        The network time in s at which it was stopped, or None if it was not.
    """

    def __init__(self, lab: LabWithFlows, label: str) -> None:
        """Make the object for the running flow with this label of the live network `lab`; nothing is started."""
        self._lab = lab
        self.label = label
        self.stopped_s: float | None = None

    def __repr__(self) -> str:
        """Return a text with the flow's label, for display."""
        return f"LiveFlow({self.label!r})"

    @property
    def row(self) -> pd.Series:
        """The flow's row of `lab.flows`, with its totals so far. Raises IndexError if the flow has not begun."""
        flows = self._lab.flows
        found: pd.Series = flows[flows.flow == self.label].iloc[0]
        return found

    @property
    def intervals(self) -> pd.DataFrame:
        """The rows of `lab.intervals` of this flow, one for each interval so far, with a new index from 0."""
        rows = self._lab.intervals
        return rows[rows.flow == self.label].reset_index(drop=True)

    def stop(self) -> None:
        """Stop the flow now and note the time in `stopped_s`; its rows stay in the tables. A second call does
        nothing.
        """
        if self.stopped_s is None:
            self.stopped_s = self._lab.session.request().stop(label=self.label)["now_s"]
