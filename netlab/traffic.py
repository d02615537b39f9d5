"""Describe what is sent: TCP and UDP flows, pings and commands. Nothing runs here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Union

from netlab.errors import ScenarioError, one_of

CONGESTION_CONTROLS = ("reno", "cubic", "bbr", "dctcp", "vegas", "westwood", "htcp", "tahoe")
UDP_HEADER_ROOM_BYTES = 32
LARGEST_UDP_PAYLOAD_BYTES = 1472
SPACINGS = ("auto", "even", "random")


@dataclass(frozen=True)
class _Flow:
    src: str
    dst: str
    kind: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """The flow in the words of a scenario file."""
        return {"kind": self.kind, **{f.name: getattr(self, f.name) for f in fields(self)}}

    @property
    def label(self) -> str:
        """A short name for tables and legends."""
        return f"{self.src}-{self.dst} {self.kind}"

    def problems(self, where: str) -> list[str]:
        """Every mistake in the fields, a sentence each."""
        raise NotImplementedError


@dataclass(frozen=True)
class Tcp(_Flow):
    """Bulk data over TCP from `src` to `dst`, as fast as the congestion control lets it.

    Parameters
    ----------
    src, dst : str
        Hosts.
    start_s : float
        Start in s after the run's start.
    duration_s : float or None
        How long it sends, in s; None is until the run ends.
    num_bytes : int or None
        Stop after so many bytes were delivered (per flow, shared evenly by its streams), or at the run's end.
    congestion : str
        reno, cubic, bbr, dctcp, vegas, westwood, htcp or tahoe.
    streams : int
        Number of parallel connections, 1 to 256.
    window_bytes : int or None
        Largest receive window in bytes; None leaves it to the kernel's autotuning.
    mss_bytes : int or None
        Data bytes in a full segment, 76 to 1448; None is what the path's MTU allows (1448).
    label : str
        Name in tables and legends (made from the rest when left out).
    """

    start_s: float = 0.0
    duration_s: float | None = None
    num_bytes: int | None = None
    congestion: str = "cubic"
    streams: int = 1
    window_bytes: int | None = None
    mss_bytes: int | None = None
    kind: ClassVar[str] = "tcp"

    @property
    def label(self) -> str:
        """A short name for tables and legends."""
        return f"{self.src}-{self.dst} {self.congestion}" + (f" ×{self.streams}" if self.streams > 1 else "")

    def problems(self, where: str) -> list[str]:
        """Every mistake in the fields, a sentence each."""
        found = _time_problems(self, where)
        if self.congestion not in CONGESTION_CONTROLS:
            found.append(f"{where}: congestion: {one_of(self.congestion, CONGESTION_CONTROLS)}")
        found += _integer_problems(where, "streams", self.streams, 1, 256)
        found += _integer_problems(where, "num_bytes", self.num_bytes, 1, None)
        found += _integer_problems(where, "window_bytes", self.window_bytes, 2048, 2**30 - 1)
        found += _integer_problems(where, "mss_bytes", self.mss_bytes, 76, 1448)
        return found


@dataclass(frozen=True)
class Udp(_Flow):
    """Datagrams from `src` to `dst` at a constant rate, whatever the network does with them.

    Parameters
    ----------
    src, dst : str
        Hosts.
    rate_mbps : float
        Rate of application data (payload) in Mbit/s, above 0.
    payload_bytes : int
        Data bytes in a datagram, 32 to 1472.
    start_s, duration_s : float
        As for `Tcp`.
    spacing : {"auto", "even", "random"}
        Whether datagrams leave on an exact grid, or the same number at random moments (a seeded Poisson process). "auto"
        is even for the only UDP flow of a run and random beside others: the grids of two flows lock in phase, as no two
        real clocks do, and then one of them takes all the losses.
    """

    rate_mbps: float = math.nan
    payload_bytes: int = 1000
    start_s: float = 0.0
    duration_s: float | None = None
    spacing: str = "auto"
    kind: ClassVar[str] = "udp"

    def problems(self, where: str) -> list[str]:
        """Every mistake in the fields, a sentence each."""
        found = _time_problems(self, where)
        if not (_is_number(self.rate_mbps) and 0 < self.rate_mbps <= 100_000):
            found.append(f"{where}: rate_mbps must be above 0 and at most 100000, got {self.rate_mbps!r}")
        found += _integer_problems(
            where, "payload_bytes", self.payload_bytes, UDP_HEADER_ROOM_BYTES, LARGEST_UDP_PAYLOAD_BYTES
        )
        if self.spacing not in SPACINGS:
            found.append(f"{where}: spacing: {one_of(self.spacing, SPACINGS)}")
        return found


@dataclass(frozen=True)
class Ping(_Flow):
    """ICMP echo requests from `src` to `dst`.

    Parameters
    ----------
    src, dst : str
        Hosts or routers.
    interval_s : float
        Time between requests in s, at least 0.001.
    count : int or None
        Number of requests; None is until the run ends.
    start_s : float
        First request, in s after the run's start.
    payload_bytes : int
        Data bytes after the ICMP header, 16 to 1472.
    """

    interval_s: float = 0.2
    count: int | None = None
    start_s: float = 0.0
    payload_bytes: int = 56
    kind: ClassVar[str] = "ping"

    def problems(self, where: str) -> list[str]:
        """Every mistake in the fields, a sentence each."""
        found = _time_problems(self, where)
        if not (_is_number(self.interval_s) and self.interval_s >= 0.001):
            found.append(f"{where}: interval_s must be a number of at least 0.001, got {self.interval_s!r}")
        found += _integer_problems(where, "count", self.count, 1, None)
        found += _integer_problems(where, "payload_bytes", self.payload_bytes, 16, LARGEST_UDP_PAYLOAD_BYTES)
        return found


@dataclass(frozen=True)
class Command:
    """A shell command that runs in a host, e.g. ``tc -s qdisc`` or ``ip route``; its output is in ``run.commands``.

    Parameters
    ----------
    host : str
        Host, router or switch.
    command : str
        What its shell runs, as root of the experiment's own system.
    start_s : float
        In s after the run's start.
    """

    host: str
    command: str
    start_s: float = 0.0
    kind: ClassVar[str] = "command"

    def to_dict(self) -> dict[str, Any]:
        """The command in the words of a scenario file."""
        return {"kind": self.kind, **{f.name: getattr(self, f.name) for f in fields(self)}}

    def problems(self, where: str) -> list[str]:
        """Every mistake in the fields, a sentence each."""
        found = _time_problems(self, where)
        if not (isinstance(self.command, str) and self.command.strip()):
            found.append(f"{where}: command must be a line for the shell, got {self.command!r}")
        return found


Traffic = Union[Tcp, Udp, Ping, Command]
KINDS: dict[str, type[Tcp] | type[Udp] | type[Ping] | type[Command]] = {
    cls.kind: cls for cls in (Tcp, Udp, Ping, Command)
}


def from_dict(words: Mapping[str, Any], where: str) -> Traffic:
    """Read one item of a scenario's `traffic`.

    Raises
    ------
    ScenarioError
        With every unknown or missing word; `where` names the item.
    """
    if not isinstance(words, Mapping):
        raise ScenarioError([f"{where} must be an object with a kind, got {words!r}"])
    kind = words.get("kind")
    if kind not in KINDS:
        raise ScenarioError([f"{where}: kind: {one_of(kind, list(KINDS))}"])
    cls = KINDS[kind]
    allowed = [f.name for f in fields(cls)]
    given = {name: value for name, value in words.items() if name != "kind"}
    required = {"command": ("host", "command"), "udp": ("src", "dst", "rate_mbps")}.get(kind, ("src", "dst"))
    problems = [f"{where}: {one_of(name, allowed)}" for name in given if name not in allowed]
    problems += [f"{where}: {name} is missing; a {kind} item needs {', '.join(required)}"
                 for name in required if name not in given]
    if problems:
        known = {name: value for name, value in given.items() if name in allowed}
        if all(name in known for name in required):
            problems += cls(**known).problems(where)
        raise ScenarioError(problems)
    return cls(**given)


def unique_labels(traffic: Sequence[Traffic]) -> list[str]:
    """One label per item; where two would be equal, they are numbered.

    >>> unique_labels([Tcp("h1", "h2"), Tcp("h1", "h2"), Ping("h1", "h2")])
    ['h1-h2 cubic', 'h1-h2 cubic (2)', 'h1-h2 ping']
    """
    seen: dict[str, int] = {}
    labels = []
    for item in traffic:
        label = f"{item.host} command" if isinstance(item, Command) else item.label
        seen[label] = seen.get(label, 0) + 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels


def _time_problems(item: Any, where: str) -> list[str]:
    found = []
    if not (_is_number(item.start_s) and item.start_s >= 0):
        found.append(f"{where}: start_s must be a number of at least 0, got {item.start_s!r}")
    duration_s = getattr(item, "duration_s", None)
    if duration_s is not None and not (_is_number(duration_s) and duration_s > 0):
        found.append(f"{where}: duration_s must be a number above 0, got {duration_s!r}")
    return found


def _integer_problems(where: str, name: str, value: Any, low: int, high: int | None) -> list[str]:
    if value is None and name not in ("streams", "payload_bytes"):
        return []
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and value >= low and (high is None or value <= high):
        return []
    allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
    return [f"{where}: {name} must be a whole number {allowed}, got {value!r}"]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
