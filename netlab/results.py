"""What a run measured: data frames, its settings, and JSON in and out."""

from __future__ import annotations

import json
import math
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from netlab.errors import NetlabError

FLOW_COLUMNS = (
    "flow",
    "kind",
    "src",
    "dst",
    "congestion",
    "streams",
    "start_s",
    "duration_s",
    "sent_bytes",
    "received_bytes",
    "goodput_mbps",
    "throughput_mbps",
    "loss_rate",
    "retransmits",
    "timeouts",
    "marks",
    "rtt_ms",
    "rtt_min_ms",
    "rtt_max_ms",
    "jitter_ms",
    "delay_ms",
    "sent_datagrams",
    "received_datagrams",
    "duplicates",
    "reordered",
    "error",
)
INTERVAL_COLUMNS = (
    "flow",
    "t_s",
    "goodput_mbps",
    "cwnd_segments",
    "ssthresh_segments",
    "rtt_ms",
    "retransmits",
    "delivery_rate_mbps",
    "loss_rate",
)
STREAM_COLUMNS = (
    "flow",
    "stream",
    "received_bytes",
    "goodput_mbps",
    "throughput_mbps",
    "retransmits",
    "timeouts",
    "rtt_ms",
    "rtt_min_ms",
    "rtt_max_ms",
    "first_s",
    "last_s",
)
STREAM_INTERVAL_COLUMNS = ("flow", "stream", *INTERVAL_COLUMNS[1:-1])
QUEUE_COLUMNS = (
    "t_s",
    "interface",
    "backlog_bytes",
    "backlog_packets",
    "drops",
    "marks",
    "sent_bytes",
    "sent_packets",
)
PING_COLUMNS = ("flow", "t_s", "seq", "rtt_ms")
COMMAND_COLUMNS = ("flow", "host", "command", "t_s", "exit_code", "stdout", "stderr")

TABLES: dict[str, tuple[str, ...]] = {
    "flows": FLOW_COLUMNS,
    "intervals": INTERVAL_COLUMNS,
    "streams": STREAM_COLUMNS,
    "stream_intervals": STREAM_INTERVAL_COLUMNS,
    "queues": QUEUE_COLUMNS,
    "pings": PING_COLUMNS,
    "commands": COMMAND_COLUMNS,
}


@dataclass(frozen=True, repr=False)
class Run:
    """The measurements of one run.

    Attributes
    ----------
    flows : pandas.DataFrame
        A row per flow. `goodput_mbps`: application data delivered once, over the flow's own time from its first arrival;
        `throughput_mbps`: the same with IP and transport headers, retransmissions and duplicates; `loss_rate`: for UDP
        1 - received / sent, for TCP segments sent again / segments sent, for a ping 1 - replies / requests.
    intervals : pandas.DataFrame
        A row per flow and interval; `t_s` is the interval's end, counters (`retransmits`) run from the flow's start,
        the rest is the interval's mean (goodput) or the state at its end.
    streams, stream_intervals : pandas.DataFrame
        The same for each connection of flows with several.
    queues : pandas.DataFrame
        A row per queue and interval; drops, marks and sent count from the start.
    pings, commands : pandas.DataFrame
        A row per echo request (`rtt_ms` is NaN when no reply came) and per command.
    settings : dict
        The scenario, engine, clock, kernel, versions and `wall_s`.
    """

    flows: pd.DataFrame
    intervals: pd.DataFrame
    streams: pd.DataFrame
    stream_intervals: pd.DataFrame
    queues: pd.DataFrame
    pings: pd.DataFrame
    commands: pd.DataFrame
    settings: dict[str, Any]

    @property
    def scenario(self) -> dict[str, Any]:
        """The topology and traffic that ran, in the words of a scenario file."""
        found: dict[str, Any] = self.settings["scenario"]
        return found

    def __repr__(self) -> str:
        return (
            f"Run of {self.settings.get('network_s')} s with {len(self.flows)} flows "
            f"({self.settings.get('engine')} engine, {self.settings.get('clock')} time)"
        )

    def _repr_html_(self) -> str:
        shown = self.flows.dropna(axis="columns", how="all")
        return str(shown.to_html(index=False, float_format=lambda value: f"{value:.4g}", border=0))

    def goodput_mbps(self, after_s: float = 0.0, before_s: float = math.inf) -> pd.Series:
        """Mean goodput of each flow over the intervals that lie within (`after_s`, `before_s`], in Mbit/s.

        With `after_s` behind slow start, this is what theory's steady state speaks of.
        """
        step_s = self.settings["scenario"]["interval_s"]
        inside = self.intervals[
            (self.intervals.t_s - step_s >= after_s - 1e-9) & (self.intervals.t_s <= before_s + 1e-9)
        ]
        found: pd.Series = inside.groupby("flow", sort=False)["goodput_mbps"].mean()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain data: each table as a list of records, missing values as None."""
        tables = {name: _records(getattr(self, name)) for name in TABLES}
        return {**tables, "settings": self.settings}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Run:
        """The inverse of `to_dict`."""
        frames = {name: frame(data.get(name, []), columns) for name, columns in TABLES.items()}
        return cls(**frames, settings=dict(data["settings"]))

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a file; a file that is there is replaced at once or not at all.

        Raises
        ------
        NetlabError
            When the file cannot be written.
        """
        target = Path(path)
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        try:
            if target.exists() and not target.is_file():
                # A pipe or a device such as /dev/stdout is written to, never replaced.
                target.write_text(text)
                return
            target = target.resolve()
            with tempfile.NamedTemporaryFile(
                "w", dir=target.absolute().parent, prefix=f".{target.name}.", delete=False
            ) as file:
                written = Path(file.name)
                try:
                    file.write(text)
                    file.flush()
                    written.chmod(0o666 & ~_umask())
                    written.replace(target)
                except BaseException:
                    written.unlink()
                    raise
        except OSError as error:
            raise NetlabError(f"{path} cannot be written: {error.strerror}. Choose another place.") from None

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Run:
        """Read a run that `to_json` or `netlab run` wrote.

        Raises
        ------
        NetlabError
            When the file is missing or is not a run.
        """
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise NetlabError(f"{path} cannot be read: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise NetlabError(f"{path} is not a run; it should be a file that `netlab run --output` wrote.") from None


def frame(records: list[dict[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    """A table with exactly these columns; what is missing is NaN (None in text columns)."""
    table = pd.DataFrame.from_records(records, columns=list(columns))
    text = {"flow", "kind", "src", "dst", "congestion", "interface", "host", "command", "stdout", "stderr", "error"}
    for name in columns:
        known = table[name].notna()
        table[name] = table[name].astype(object).where(known, None) if name in text else pd.to_numeric(table[name])
    return table


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            str(name): (None if isinstance(value, float) and not math.isfinite(value) else value)
            for name, value in row.items()
        }
        for row in table.astype(object).where(table.notna(), None).to_dict(orient="records")
    ]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
