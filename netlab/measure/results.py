"""The results of a run: data frames, settings, and conversion to and from JSON."""

from __future__ import annotations

import functools
import html
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from netlab import captures
from netlab.base.errors import NetlabError
from netlab.base.files import replacement
from netlab.measure.artifacts import Artifacts, artifacts_directory
from netlab.measure.columns import FLOWS, help_text
from netlab.measure.plotting import draw_with_plotly
from netlab.measure.tables import COLUMNS_OF, Table
from netlab.plan import QueueSample

draw_with_plotly()

FLOW_COLUMNS = tuple(column.name for column in FLOWS)
INTERVAL_COLUMNS = (
    "flow", "t_s", "goodput_mbps", "cwnd_segments", "ssthresh_segments", "rtt_ms", "retransmits",
    "delivery_rate_mbps", "ca_state", "loss_rate",
)  # fmt: skip
STREAM_COLUMNS = (
    "flow", "stream", "received_bytes", "goodput_mbps", "throughput_mbps", "retransmits", "timeouts", "rtt_ms",
    "rtt_min_ms", "rtt_max_ms", "first_s", "last_s",
)  # fmt: skip
STREAM_INTERVAL_COLUMNS = ("flow", "stream", *INTERVAL_COLUMNS[1:-1])
QUEUE_COLUMNS = ("t_s", "interface", "link", *tuple(QueueSample.__annotations__)[2:])
PING_COLUMNS = ("flow", "t_s", "seq", "rtt_ms")
REQUEST_COLUMNS = (
    "flow", "request", "connection", "start_s", "completion_s", "response_bytes", "retransmits", "timeouts",
)  # fmt: skip
COMMAND_COLUMNS = ("flow", "host", "command", "t_s", "exit_code", "stdout", "stderr")

TABLES: dict[str, tuple[str, ...]] = {
    "flows": FLOW_COLUMNS,
    "intervals": INTERVAL_COLUMNS,
    "streams": STREAM_COLUMNS,
    "stream_intervals": STREAM_INTERVAL_COLUMNS,
    "queues": QUEUE_COLUMNS,
    "pings": PING_COLUMNS,
    "requests": REQUEST_COLUMNS,
    "commands": COMMAND_COLUMNS,
}
COLUMNS_OF.update(TABLES)


@dataclass(frozen=True, repr=False)
class Run:
    """The measurements of one run: tables, the run's settings, and the files that it wrote.

    Attributes
    ----------
    flows : pandas.DataFrame
        A row per flow, with these columns; kinds of traffic may add their own.

        FLOW_COLUMNS

    intervals : pandas.DataFrame
        A row per flow and interval; `t_s` is the interval's end, counters (`retransmits`) run from the flow's start,
        the rest is the interval's mean (goodput) or the state at its end. `ca_state` is the state of congestion
        control: open, disorder (duplicate ACKs), cwr (after a mark), recovery (fast recovery) or loss (after a
        timeout); it is None for a flow of several connections and with engines that do not report it.
    streams, stream_intervals : pandas.DataFrame
        The same for each connection, of flows with several connections.
    queues : pandas.DataFrame
        A row per queue and interval: `link` names the nodes from and to which the queue sends ("r1 to h2"), `interface`
        is Linux's name; drops, marks and sent are counted from the start.
    pings, commands : pandas.DataFrame
        A row per echo request (`rtt_ms` is NaN when no reply came) and per command.
    requests : pandas.DataFrame
        A row per request of `Requests`: its number from 0 and that of its connection, the time at which it was sent
        (`start_s`, in s after the run's start), the time from then to the last byte of the response (`completion_s`, NaN if
        it did not come), the bytes of the response that arrived, and the server's retransmissions and timeouts from then to
        the connection's next request.
    settings : dict
        The scenario, engine, clock, kernel, versions and `wall_s` (the wall-clock time in s).
    more : mapping of str to pandas.DataFrame
        Further tables of some kinds of traffic.
    artifacts : Artifacts
        Files that the run wrote, by name.
    """

    flows: pd.DataFrame
    intervals: pd.DataFrame
    streams: pd.DataFrame
    stream_intervals: pd.DataFrame
    queues: pd.DataFrame
    pings: pd.DataFrame
    commands: pd.DataFrame
    settings: dict[str, Any]
    requests: pd.DataFrame = field(default_factory=lambda: frame([], REQUEST_COLUMNS))
    more: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    artifacts: Artifacts = field(default_factory=Artifacts)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError for a name that a run lacks, with columns that contain it or else its tables."""
            tables = {table: value for table, value in vars(self).items() if isinstance(value, pd.DataFrame)}
            found = [f"run.{table}[{column!r}]" for table in tables for column in tables[table] if name in str(column)]
            has = f"; there is {', '.join(found[:4])}" if found else f"; its tables are {', '.join(tables)}"
            raise AttributeError(f"a run has no attribute {name!r}{has}")

        def __call__(self, *_words: object) -> None:
            """Raise NetlabError with an explanation for a person who takes a run for `lab.run`."""
            raise NetlabError("A run has results and is not called; a command runs in a host: lab['h1'].run('ls').")

    @property
    def scenario(self) -> dict[str, Any]:
        """The run's scenario, as the dict of a scenario file."""
        found: dict[str, Any] = self.settings["scenario"]
        return found

    @property
    def packets(self) -> pd.DataFrame:
        """The packets of all captures of the run, a row for each packet at each end of the link; see
        `netlab.captures.PACKET_COLUMNS`. The column `capture` has the name of the file.
        """
        found = []
        for name, path in self.artifacts.items():
            if name.endswith(captures.SUFFIX):
                table = captures.read_packets(path)
                # Change the table in place: copying that of a large capture takes long.
                table["capture"] = name
                found.append(table)
        if len(found) > 1:
            return Table(pd.concat(found, ignore_index=True))
        return Table(found[0]) if found else Table(columns=[*captures.PACKET_COLUMNS, "capture"])

    def __repr__(self) -> str:
        """Return a line with the run's length, flows, engine and clock, and a line for each failed command."""
        first = (
            f"Run of {self.settings.get('network_s')} s with {len(self.flows)} flow{'s' * (len(self.flows) != 1)} "
            f"({self.settings.get('engine')} engine, {self.settings.get('clock')} time)"
        )
        return "\n".join([first, *self.failed_commands()])

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: the flows without empty columns, and the failed commands."""
        flows = self.flows.dropna(axis="columns", how="all")
        table = str(flows.to_html(index=False, float_format=lambda value: f"{value:.4g}", border=0))
        failed = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.failed_commands())
        return f'<div style="overflow-x: auto; white-space: nowrap">{table}</div>{failed}'

    def failed_commands(self) -> list[str]:
        """Return a sentence for each command with an exit code above 0: its node, its exit code and its output."""
        if self.commands.empty:  # pandas takes as long for no row as for hundreds
            return []
        # A command that was still running at the end has no exit code.
        return [_failure_sentence(row) for row in self.commands.to_dict(orient="records") if row["exit_code"] > 0]

    def goodput_mbps(self, after_s: float = 0.0, before_s: float = math.inf) -> pd.Series:
        """Return the mean goodput in Mbit/s by flow, over the intervals from `after_s` to `before_s`, in s of the run.

        With `after_s` after slow start, this is the steady state that the formulas describe.
        """
        step_s = self.settings["scenario"]["interval_s"]
        inside = self.intervals[
            (self.intervals.t_s - step_s >= after_s - 1e-9) & (self.intervals.t_s <= before_s + 1e-9)
        ]
        found: pd.Series = inside.groupby("flow", sort=False)["goodput_mbps"].mean()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the run for JSON: records by table (None: missing), `settings`, and any `more` and `artifacts`."""
        tables: dict[str, Any] = {name: _records(getattr(self, name)) for name in TABLES}
        if self.more:
            tables["more"] = {name: _records(table) for name, table in self.more.items()}
        if self.artifacts or self.artifacts.unsaved:
            tables["artifacts"] = self.artifacts.to_dict()
        return {**tables, "settings": self.settings}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Run:
        """Return the run from the dict that `to_dict` returned, without artifacts, which `from_json` finds."""
        frames = {name: frame(data.get(name, []), columns, others=True) for name, columns in TABLES.items()}
        more = {name: frame(records, others=True) for name, records in data.get("more", {}).items()}
        left = data.get("artifacts", {})
        reasons = dict.fromkeys(left.get("names", []), "its file was not read along with the run's tables")
        artifacts = Artifacts(unsaved={**reasons, **left.get("unsaved", {})})
        return cls(**frames, settings=dict(data["settings"]), more=more, artifacts=artifacts)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a JSON file, replacing one atomically, and its artifacts into a directory next to it,
        `result.artifacts` for `result.json`; into a pipe or device, only the JSON. Raises NetlabError when that fails.
        """
        target = Path(path)
        text = as_text(self.to_dict())
        try:
            if target.exists() and not target.is_file():
                # Write to a pipe or a device such as /dev/stdout, but never replace it.
                target.write_text(text)
                return
            target = target.resolve()
            if self.artifacts:
                self.artifacts.copy_to(artifacts_directory(target))
            with replacement(target) as new:
                new.write_text(text)
        except OSError as error:
            raise NetlabError(f"{path} cannot be written: {error.strerror}. Choose another place.") from None

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Run:
        """Return the run from a file that `to_json` or `netlab run` wrote, with the artifacts in the directory next to
        the file. Raises NetlabError when the file is missing or is not a run.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            left = data.get("artifacts")
            if not left:
                return cls.from_dict(data)
            artifacts = Artifacts(artifacts_directory(Path(path).resolve()), list(left["names"]), left["unsaved"])
            return replace(cls.from_dict(data), artifacts=artifacts)
        except OSError as error:
            raise NetlabError(f"{path} cannot be read: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise NetlabError(f"{path} is not a run; it should be a file that `netlab run --output` wrote.") from None


Run.__doc__ = (Run.__doc__ or "").replace("FLOW_COLUMNS", help_text(FLOWS, " " * 8).lstrip())


def _failure_sentence(row: Mapping[Any, Any]) -> str:
    """Return a sentence about a failed command, from its row in the table `commands`."""
    output = " ".join((row["stderr"] or row["stdout"] or "").split())
    return f"A command on {row['host']} failed with exit code {row['exit_code']:g}: {row['command']}: {output or 'no output'}"


TEXT = frozenset((
    "flow", "kind", "src", "dst", "congestion", "interface", "link", "ca_state", "host", "command", "stdout", "stderr", "error",
))  # fmt: skip


def frame(records: list[dict[str, Any]], columns: tuple[str, ...] = (), *, others: bool = False) -> Table:
    """Return a table of records with `columns` and, if `others`, theirs too; missing values are NaN (None for text)."""
    if not records:
        # Most runs have neither pings nor requests nor commands, and copying an empty table takes a twentieth of the time of making one.
        return _empty_table(columns).copy()
    more = [] if not others else dict.fromkeys(name for record in records for name in record if name not in columns)
    # Build the table column by column from lists: a run has eight tables, and pandas takes most of the time of a short run.
    columns_by_name = {
        name: _column([record.get(name) for record in records], name in TEXT, name in more)
        for name in (*columns, *more)
    }
    return Table(columns_by_name, index=range(len(records)))


@functools.cache
def _empty_table(columns: tuple[str, ...]) -> Table:
    """Return a table without rows, with these columns and the types of a run's table; callers copy it."""
    return Table({name: _column([], name in TEXT, False) for name in columns}, index=range(0))


def _column(values: list[Any], text: bool, may_be_text: bool) -> pd.Series[Any] | npt.NDArray[Any]:
    """Return a column with NumPy's type for its values: integers, floats with NaN for None, or objects if it is `text`
    or, with `may_be_text`, contains a text.
    """
    kinds = set() if text else set(map(type, values))
    if kinds == {int}:
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    # NumPy also represents a missing value as NaN.
    elif kinds and kinds <= {int, float, type(None)}:
        return np.array(values, dtype=np.float64)
    elif not text and not values:
        return np.empty(0, dtype=np.int64)
    if text or (may_be_text and any(isinstance(value, str) for value in values)):
        return pd.Series(
            [None if value is None or (isinstance(value, float) and math.isnan(value)) else value for value in values],
            dtype=object,
        )
    # The remaining types are rare: booleans, integers of more than 64 bits.
    numbers = pd.Series(values)
    return numbers if numbers.dtype.kind in "iuf" else pd.to_numeric(numbers)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dicts in a form for JSON, with None for NaN and infinity."""
    names = [str(name) for name in table]
    # Convert the whole table at once: a conversion of each column takes twice as long.
    return [
        {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in zip(names, row, strict=True)
        }
        for row in table.to_numpy(dtype=object).tolist()
    ]


def as_text(data: Mapping[str, Any]) -> str:
    """Return a run's dict as JSON, a record per line; Python's own indentation would take three times as long."""
    encode = json.JSONEncoder(allow_nan=False).encode
    parts = [
        f" {encode(name)}: "
        + ("[\n  " + ",\n  ".join(map(encode, value)) + "\n ]" if isinstance(value, list) and value else encode(value))
        for name, value in data.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"
