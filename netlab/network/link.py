"""A link, and what each of its two directions does to packets.

Its fields hold for both directions unless `reverse` (from `b` towards `a`) says otherwise. A field left out means
unlimited, zero or the kernel's default.
"""

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar, cast

from netlab.base.arguments import explain_bad_arguments, explain_bad_construction, quote_number, unknown_fields
from netlab.base.errors import ScenarioError, one_of
from netlab.base.headers import FRAME_BYTES
from netlab.base.rules import Choice, Flag, Range, violations
from netlab.base.values import is_integer, is_number, short_repr, to_python
from netlab.network import media
from netlab.network.queues import MAX_PACKETS, discipline
from netlab.network.trace import FRAMINGS, MAX_RATE_MBPS, MIN_RATE_MBPS, Trace
from netlab.plan import Shape

_C = TypeVar("_C", bound=Callable[..., Any])

BURST_LOSS_FIELDS = ("enter_rate", "leave_rate", "bad_loss_rate", "good_loss_rate")

MIN_QUEUE_BYTES = FRAME_BYTES
MAX_QUEUE_BYTES = 1_000_000_000
MIN_DELAY_MS = 0.001
MAX_DELAY_MS = 250_000
"""`tc` counts time in microseconds, and in 32 bits: to 274 s."""
TRACE_FIELDS = {"trace", "duration_s", "framing"}
RATE_MBPS = Range(MIN_RATE_MBPS, MAX_RATE_MBPS, optional=True)


@dataclass(frozen=True)
class LinkShape:
    """The properties of one direction of a link: its rate, queue, delay and losses.

    Parameters
    ----------
    rate_mbps : float, Trace or None
        Rate in Mbit/s; None is unlimited, a `Trace` changes with time.
    delay_ms : float
        One-way propagation delay in ms.
    jitter_ms : float
        Half width in ms of the random part of the delay (netem's uniform distribution), at most `delay_ms`.
    reorder : bool
        True if jitter may let packets overtake each other.
    loss_rate : float
        Probability in [0, 1] with which a packet is lost, independently of all others.
    burst_loss : mapping or None
        Gilbert-Elliott loss: `enter_rate` and `leave_rate` of the bad state (per packet, in (0, 1]), `bad_loss_rate`
        (default 1) and `good_loss_rate` (default 0).
    duplicate_rate : float
        Probability in [0, 1] with which a packet arrives twice.
    queue_packets, queue_bytes : int or None
        Room of the queue before the rate limit, in packets or in bytes; with neither, the kernel's 1000 packets. Up to
        2018 bytes more wait behind it for transmission: one full frame, or ten frames of 200 bytes.
    aqm : str
        Discipline of that queue: fifo, red, codel, fq_codel, pie, fq_pie, cake, dualpi2, fq, sfq, choke, drr or ets;
        `netlab.network.queues` says what each does. (The limit of cake counts kernel memory, so it holds fewer packets; fq and
        sfq also limit each flow, to 100 and 127 packets; each class of drr and ets has room for all of `queue_packets`.)
    aqm_options : mapping
        Parameters of that discipline, e.g. ``{"min_packets": 5, "max_packets": 15, "ecn": True}`` for red. As in Linux,
        fq_codel, cake and dualpi2 mark packets that allow it (ECN) without being asked; ``{"ecn": False}`` makes fq_codel drop
        them; red, codel, pie, fq_pie and choke mark with ``{"ecn": True}``.
        drr and ets sort packets into classes: with ``"classify": "port"``, the default, by the destination port, so the
        first connection of the traffic is in class 1, the second one in class 2, and so on (drr begins again after its last class,
        ets puts all others into its last band); with ``"flow"`` by a hash of addresses, protocol and ports. Pings are in the last
        class. drr has `classes` (default 16) or `quanta_bytes`, one for each class; ets has `strict`, the number of bands that are
        served before all later ones, and `quanta_bytes` of the bands that share the rest (by default one and two).
    framing : {"tc", "ethernet", "ip"}
        Bytes that the rate counts for each packet besides the IP packet itself: 14, 38 or 0. A `Trace` may bring its own.
    segmentation_offload : bool or None
        True if segments of up to 64 kB pass this link's queue and wire as one packet (segmentation offload, GSO). None
        means only above 1 Gbit/s, where it is needed for speed.
    medium : {"802.11g"} or None
        A half-duplex medium that both directions share, instead of a wire for each: one sends at a time. Of the other fields, only
        `queue_packets` and the wire's (delay, jitter, loss, duplication) apply. In virtual time only.
    medium_options : mapping
        Parameters of that medium, e.g. ``{"rate_mbps": 24, "protection": "rts"}``; see `netlab.network.media.Wifi`. Only the
        rate may differ in `reverse`: with ``{"medium_options": {"rate_mbps": 6}}``, end `b` sends its frames at 6 Mbit/s.
    """

    rate_mbps: float | Trace | None = None
    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    reorder: bool = False
    loss_rate: float = 0.0
    burst_loss: Mapping[str, float] | None = None
    duplicate_rate: float = 0.0
    queue_packets: int | None = None
    queue_bytes: int | None = None
    aqm: str = "fifo"
    aqm_options: Mapping[str, Any] = field(default_factory=dict)
    framing: str = "tc"
    segmentation_offload: bool | None = None
    medium: str | None = None
    medium_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Replace a `rate_mbps` that is the dict of a trace by the trace."""
        if isinstance(self.rate_mbps, Mapping) and {"trace"} <= self.rate_mbps.keys() <= TRACE_FIELDS:
            object.__setattr__(self, "rate_mbps", Trace.from_dict(self.rate_mbps))

    @property
    def is_shaped(self) -> bool:
        """True if this direction has a rate and therefore a queue."""
        return self.rate_mbps is not None

    @property
    def slowest_mbps(self) -> float:
        """The lowest rate in Mbit/s at any time; infinite without a rate."""
        if isinstance(self.rate_mbps, Trace):
            return max(MIN_RATE_MBPS, self.rate_mbps.range_mbps[0])
        return math.inf if self.rate_mbps is None else float(self.rate_mbps)

    @property
    def mean_mbps(self) -> float:
        """The rate in Mbit/s, of a trace the mean; infinite without a rate."""
        if isinstance(self.rate_mbps, Trace):
            return self.rate_mbps.mean_mbps()
        return math.inf if self.rate_mbps is None else float(self.rate_mbps)

    @property
    def counted_framing(self) -> str:
        """The framing ("tc", "ethernet", "ip") that the rate counts per packet: the trace's own, else the link's."""
        own = self.rate_mbps.framing if isinstance(self.rate_mbps, Trace) else None
        return self.framing if own is None else own

    def to_plan(self) -> Shape:
        """Return the fields in the plan's form; of a trace only the first rate, as the plan's changes have others."""
        rate = self.rate_mbps
        words = asdict(replace(self, rate_mbps=rate.to_plan()["steps"][0][1]) if isinstance(rate, Trace) else self)
        words["framing"] = self.counted_framing
        return cast("Shape", words)

    def problems(self, where: str) -> list[str]:
        """Return a message for each mistake in the fields, after the prefix `where`."""
        return [f"{where}: {sentence}" for sentence in self._problems()]

    def _problems(self) -> Iterator[str]:
        """Yield a message for each mistake in the fields."""
        if isinstance(self.rate_mbps, Trace):
            yield from (f"rate_mbps: {sentence}" for sentence in self.rate_mbps.problems())
        elif problem := RATE_MBPS.problem("rate_mbps", self.rate_mbps):
            yield f"{problem}; leave it out for an unlimited link"
        for name in ("delay_ms", "jitter_ms"):
            value = getattr(self, name)
            if not (is_number(value) and (value == 0 or MIN_DELAY_MS <= value <= MAX_DELAY_MS)):
                allowed = f"0 or a number from {MIN_DELAY_MS:g} to {MAX_DELAY_MS}"
                yield f"{name} must be {allowed}, {quote_number(name, value)}"
        for name in ("loss_rate", "duplicate_rate"):
            value = getattr(self, name)
            if not _is_share(value):
                percent = value if is_number(value) and 1 < value <= 100 else None
                hint = f"; for {percent:g} % write {percent / 100:g}" if percent else ""
                yield f"{name} must be in [0, 1], {quote_number(name, value)}{hint}"
        yield from self._queue_problems()
        yield from media.problems(self.medium, self.medium_options)
        if self.medium is not None:
            for name, value in difference(LinkShape(), self).items():
                if name in NOT_WITH_A_MEDIUM:
                    yield (
                        f"{name}={short_repr(value)} does not go with a medium, which has its own rate, framing and queue; "
                        f"leave {name} out"
                    )
        if is_number(self.jitter_ms) and is_number(self.delay_ms) and 0 <= self.delay_ms < self.jitter_ms:
            yield (
                f"jitter_ms must not exceed delay_ms ({self.delay_ms:g}), got {self.jitter_ms:g}; a packet cannot "
                "arrive before it was sent"
            )
        yield from violations({"reorder": Flag()}, self)
        if not isinstance(self.segmentation_offload, (bool, type(None))):
            yield f"segmentation_offload must be true, false or null, got {short_repr(self.segmentation_offload)}"
        yield from violations({"framing": Choice(FRAMINGS)}, self)
        yield from self._framing_problems()
        try:
            row = discipline(self.aqm)
        except ValueError as unknown:
            yield str(unknown)
        else:
            yield from row.problems(self.aqm_options, self.queue_packets, self.queue_bytes)
        yield from self._burst_loss_problems()

    def _framing_problems(self) -> Iterator[str]:
        """Yield a message if the framing contradicts that of the trace or segmentation offload."""
        counted = self.counted_framing
        if self.framing not in (LinkShape.framing, counted):
            yield (
                f"framing={short_repr(self.framing)} contradicts the trace, whose rate counts {short_repr(counted)}; "
                "leave framing out, or make the trace with framing=None"
            )
        if counted == "ip" and self.segmentation_offload is True:
            yield (
                "segmentation_offload=True does not go with framing='ip': a segment of up to 64 kB has only one of its IP headers; "
                "leave segmentation_offload out"
            )

    def _queue_problems(self) -> Iterator[str]:
        """Yield a message for each mistake in the room of the queue, and for a queue without a rate."""
        for name, low, high, reason in (
            ("queue_packets", 1, MAX_PACKETS, ""),
            ("queue_bytes", MIN_QUEUE_BYTES, MAX_QUEUE_BYTES, " (one full frame)"),
        ):
            value = getattr(self, name)
            if value is None:
                continue
            if not (is_integer(value) and low <= value <= high):
                yield f"{name} must be a whole number from {low}{reason} to {high}, {quote_number(name, value)}"
            if self.medium is None and self.rate_mbps is None:
                yield f"{name}={short_repr(value)} needs a rate_mbps: without a rate there is nothing to queue for"
        if self.queue_packets is not None and self.queue_bytes is not None:
            yield f"give queue_packets or queue_bytes, not both (got {short_repr(self.queue_packets)} and {short_repr(self.queue_bytes)})"
        if self.medium is None and self.rate_mbps is None and self.aqm != "fifo":
            yield f"aqm={short_repr(self.aqm)} needs a rate_mbps: without a rate nothing queues"

    def _burst_loss_problems(self) -> Iterator[str]:
        """Yield a message for each mistake in `burst_loss`."""
        if self.burst_loss is None:
            return
        if not isinstance(self.burst_loss, Mapping):
            yield f"burst_loss must be a mapping, got {short_repr(self.burst_loss)}"
            return
        for name, value in self.burst_loss.items():
            if name not in BURST_LOSS_FIELDS:
                yield f"burst_loss: {one_of(name, BURST_LOSS_FIELDS)}"
            elif not _is_share(value):
                yield f"burst_loss: {name} must be in [0, 1], got {short_repr(value)}"
        for name in ("enter_rate", "leave_rate"):
            if not self.burst_loss.get(name):
                yield f"burst_loss needs {name} above 0"
        if self.loss_rate:
            yield "give loss_rate or burst_loss, not both"


def _is_share(value: Any) -> bool:
    """Return whether a value is a number from 0 to 1."""
    return is_number(value) and 0 <= value <= 1


NOT_WITH_A_MEDIUM = ("rate_mbps", "queue_bytes", "aqm", "aqm_options", "framing", "segmentation_offload")
SHAPE_FIELDS = tuple(f.name for f in fields(LinkShape))


def field_problems(where: str, direction: Iterable[object], reverse: object) -> list[str]:
    """Return a message, after the prefix `where`, for each name in `direction` or `reverse` that is not a field of a link,
    and for a `reverse` that is not a mapping.
    """
    if not isinstance(reverse, (Mapping, type(None))):
        return [f"{where}: reverse must be an object of a link's fields, got {short_repr(reverse)}"]
    both = ((where, direction), (f"{where}, reverse", reverse or {}))
    return [sentence for place, names in both for sentence in unknown_fields(place, names, SHAPE_FIELDS)]


def override_fields(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a link's fields `old` updated by `new`; room in packets replaces room in bytes and vice versa."""
    words = {**old, **new}
    for one, other in (("queue_packets", "queue_bytes"), ("queue_bytes", "queue_packets")):
        if one in new and other not in new:
            words[other] = None
    return words


@explain_bad_construction('nl.Link("h1", "h2", rate_mbps=5, delay_ms=10)')
class Link:  # noqa: PLW1641 (compares by value and holds a dict: no hash)
    """A link between nodes `a` and `b`, the same both ways unless `reverse` overrides fields from `b` towards `a`.

    Parameters
    ----------
    a, b : str
        The nodes that it joins.
    reverse : mapping, optional
        Fields that are different from `b` towards `a`, such as ``{"rate_mbps": 1}``.
    [fields]

    Examples
    --------
    >>> Link("r1", "h2", rate_mbps=5, delay_ms=10, reverse={"rate_mbps": 1}).backward.rate_mbps
    1
    """

    def __init__(self, a: str, b: str, *, reverse: Mapping[str, Any] | None = None, **direction: Any) -> None:
        """Describe a link with fields `direction`, and `reverse` from `b` to `a`; ScenarioError for wrong names."""
        if not (isinstance(a, str) and isinstance(b, str)):
            raise ScenarioError([f"a link names the two nodes that it joins, got {short_repr(a)} and {short_repr(b)}"])
        if problems := field_problems(f"link {a}-{b}", direction, reverse):
            raise ScenarioError(problems)
        self.a = a
        self.b = b
        direction = to_python(direction)
        reverse = to_python(reverse)
        self.reverse = reverse or None
        self.forward = LinkShape(**direction)
        self.backward = LinkShape(**override_fields(direction, reverse or {}))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Link) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        arguments = [f"{k}={v!r}" for k, v in self.to_dict().items() if k not in ("a", "b")]
        return f"Link({', '.join([repr(self.a), repr(self.b), *arguments])})"

    def to_dict(self) -> dict[str, Any]:
        """Return the link as the dict in a scenario file, without fields at their default."""
        entry = {"a": self.a, "b": self.b, **to_json(difference(LinkShape(), self.forward))}
        if self.reverse:
            entry["reverse"] = to_json(self.reverse)
        return entry


def _common_name(parameter: str) -> str:
    """Return the name of the field for which a parameter has a value for each link ("rate_mbps" for "rates_mbps"): a
    function with such a parameter takes no common value; other names are returned as they are.
    """
    return re.sub(r"s(_m\w+)$", r"\1", parameter)


def takes_link_fields(function: _C) -> _C:
    """Decorate a function or class whose `**keywords` are a link's fields: put these with their defaults into its
    signature. Return the class itself, or the function decorated to refuse other names with a ScenarioError.
    """
    signature = inspect.signature(function)
    own = [item for item in signature.parameters.values() if item.kind is not inspect.Parameter.VAR_KEYWORD]
    names = {name for item in own for name in (item.name, _common_name(item.name))}
    more = [
        item.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for item in inspect.signature(LinkShape).parameters.values()
        if item.name not in names
    ]
    full_signature = signature.replace(parameters=[*own, *more])
    example = f"nl.topologies.{function.__name__}({', '.join(f'{item.name}=...' for item in own[:2])})"
    explaining_function = explain_bad_arguments(example)(function)

    @functools.wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        """Call the function; raise ScenarioError for wrong arguments, such as a keyword that is no field of a link."""
        others = {name: value for name, value in keywords.items() if name != "reverse"}
        if wrong := unknown_fields(function.__name__, others, list(full_signature.parameters)):
            raise ScenarioError(wrong)
        return explaining_function(*arguments, **keywords)

    called: Any = function if inspect.isclass(function) else checked
    called.__signature__ = full_signature
    return cast("_C", called)


takes_link_fields(Link)
# LinkShape's docstring is the only description of the fields.
_FIELDS = inspect.getdoc(LinkShape) or ""
Link.__doc__ = inspect.cleandoc(Link.__doc__ or "").replace("[fields]", _FIELDS.partition("----------\n")[2])


def difference(old: LinkShape, new: LinkShape) -> dict[str, Any]:
    """Return the fields of `new` that differ from `old`, by name."""
    return {name: value for name, value in vars(new).items() if value != getattr(old, name)}


def to_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a link as a scenario file has them, with traces as dicts."""
    return {name: value.to_dict() if isinstance(value, Trace) else value for name, value in values.items()}
