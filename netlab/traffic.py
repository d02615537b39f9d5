"""Describe what is sent: TCP and UDP flows, pings and commands. Nothing runs here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from netlab.congestion import CONGESTION_CONTROLS
from netlab.errors import one_of
from netlab.values import is_integer, is_number, plain, shown

UDP_HEADER_ROOM_BYTES = 32
LARGEST_UDP_PAYLOAD_BYTES = 1472
SLOWEST_UDP_MBPS = 1e-6
FASTEST_UDP_MBPS = 100_000
STAND_INS: dict[str, Any] = {"src": "", "dst": "", "host": "", "command": "true", "rate_mbps": 1.0}
SPACINGS = ("auto", "even", "random")


@dataclass(frozen=True)
class _Flow:
    src: str
    dst: str
    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)):
            object.__setattr__(self, name, plain(getattr(self, name)))

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
        reno, cubic, bbr, dctcp, vegas, westwood, htcp or tahoe; `netlab.congestion` says what each goes by.
    streams : int
        Number of parallel connections, 1 to 256.
    window_bytes : int or None
        Largest receive window in bytes; None leaves it to the kernel's autotuning.
    mss_bytes : int or None
        Data bytes in a full segment, 76 to 1448; None is what the path's MTU allows (1448).
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
        found = list(_time_problems(self, where))
        if not isinstance(self.congestion, str) or self.congestion not in CONGESTION_CONTROLS:
            found.append(f"{where}: congestion: {one_of(self.congestion, list(CONGESTION_CONTROLS))}")
        found += _integer_problems(where, "streams", self.streams, 1, 1000)
        fewest_bytes = self.streams if is_integer(self.streams) and self.streams > 1 else 1
        found += _integer_problems(where, "num_bytes", self.num_bytes, fewest_bytes, None)
        found += _integer_problems(where, "window_bytes", self.window_bytes, 2000, 2**30 - 1)
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
        found = list(_time_problems(self, where))
        if not (is_number(self.rate_mbps) and SLOWEST_UDP_MBPS <= self.rate_mbps <= FASTEST_UDP_MBPS):
            found.append(
                f"{where}: rate_mbps must be a number from {SLOWEST_UDP_MBPS:f} to {FASTEST_UDP_MBPS}, "
                f"got {shown(self.rate_mbps)}"
            )
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
        found = list(_time_problems(self, where))
        if not (is_number(self.interval_s) and self.interval_s >= 0.001):
            found.append(f"{where}: interval_s must be a number of at least 0.001, got {shown(self.interval_s)}")
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
        found = list(_time_problems(self, where))
        if not (isinstance(self.command, str) and self.command.strip()):
            found.append(f"{where}: command must be a line for the shell, got {shown(self.command)}")
        return found


Traffic = Tcp | Udp | Ping | Command
KINDS: dict[str, type[Tcp] | type[Udp] | type[Ping] | type[Command]] = {
    cls.kind: cls for cls in (Tcp, Udp, Ping, Command)
}


def read(words: object, where: str) -> tuple[Traffic | None, list[str]]:
    """One item of a scenario's `traffic`, as far as its words make one, and a sentence for each that does not fit.

    What the item's fields hold is checked by its `problems`.
    """
    if isinstance(words, (Tcp, Udp, Ping, Command)):
        return words, []
    if not isinstance(words, Mapping):
        return None, [f"{where} must be an object with a kind, got {shown(words)}"]
    kind = words.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        return None, [f"{where}: kind: {one_of(kind, list(KINDS))}"]
    cls = KINDS[kind]
    allowed = [f.name for f in fields(cls)]
    known = {name: value for name, value in words.items() if name in allowed}
    needed = {"command": ("host", "command"), "udp": ("src", "dst", "rate_mbps")}.get(kind, ("src", "dst"))
    missing = [name for name in needed if name not in known]
    problems = [
        f"{where}: unknown field: {one_of(name, allowed)}" for name in words if name != "kind" and name not in allowed
    ]
    problems += [f"{where}: {name} is missing; a {kind} item needs {', '.join(needed)}" for name in missing]
    if missing:
        # The fields that are there are checked all the same, beside stand-ins for the others.
        problems += cls(**known, **{name: STAND_INS[name] for name in missing}).problems(where)
        return None, problems
    return cls(**known), problems


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


def _time_problems(item: Any, where: str) -> Iterator[str]:
    if not (is_number(item.start_s) and item.start_s >= 0):
        yield f"{where}: start_s must be a number of at least 0, got {shown(item.start_s)}"
    duration_s = getattr(item, "duration_s", None)
    if duration_s is not None and not (is_number(duration_s) and duration_s > 0):
        yield f"{where}: duration_s must be a number above 0, got {shown(duration_s)}"


def _integer_problems(where: str, name: str, value: Any, low: int, high: int | None) -> Iterator[str]:
    if value is None and name not in ("streams", "payload_bytes"):
        return
    if is_integer(value) and value >= low and (high is None or value <= high):
        return
    allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
    yield f"{where}: {name} must be a whole number {allowed}, got {shown(value)}"
