"""Translate lines of `tc` and `ip` that a user typed to netlink messages, for hosts that have no programs.

The syntax and the units are those of the programs' manuals (tc-netem(8), tc-tbf(8), ip-link(8), ip-route(8)), and the
messages are those that the programs send.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from netlab.base.units import BITS_PER_BYTE
from netlab_engines.netlink import links, qdiscs
from netlab_engines.netlink.qdiscs import InterfaceIndex, Option, Qdisc, number, qdisc_with_options
from netlab_engines.netlink.wire import NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, UnknownLineError, u32

MessageMaker = Callable[[InterfaceIndex], bytes]
"""Returns a message; its argument returns the number of an interface."""

NETEM_PACKETS = 1000
SHARES = ("loss_rate", "duplicate_rate")
ALL = "0.0.0.0/0"
FLAGS = {"add": NLM_F_CREATE | NLM_F_EXCL, "replace": NLM_F_CREATE | NLM_F_REPLACE, "change": 0, "del": 0}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z%]*)")
_US = {"": 1, "us": 1, "usec": 1, "usecs": 1, "ms": 1e3, "msec": 1e3, "msecs": 1e3, "s": 1e6, "sec": 1e6, "secs": 1e6}
_BPS = {"": 1, "bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "bps": 8, "kbps": 8e3, "mbps": 8e6, "gbps": 8e9}
_BYTES = {"": 1, "b": 1, "k": 1024, "kb": 1024, "m": 1 << 20, "mb": 1 << 20, "kbit": 128, "mbit": 1 << 17}
_SHARE = {"": 0.01, "%": 0.01}
_NETEM: Mapping[str, tuple[str, Mapping[str, float]]] = {
    "limit": ("limit", {"": 1}), "delay": ("delay_us", _US), "loss": ("loss_rate", _SHARE),
    "duplicate": ("duplicate_rate", _SHARE), "rate": ("rate_bps", _BPS),
}  # fmt: skip
_TBF: Mapping[str, tuple[str, Mapping[str, float]]] = {
    **dict.fromkeys(("burst", "buffer", "maxburst"), ("burst", _BYTES)),
    "rate": ("rate", _BPS), "limit": ("limit", _BYTES), "latency": ("latency", _US),
}  # fmt: skip
# The options are in the order in which `tc` sends them.
_NUMBERS: Mapping[str, Mapping[str, tuple[int, Mapping[str, float]]]] = {
    "codel": {"limit": (2, {"": 1}), "interval": (3, _US), "target": (1, _US)},
    "fq_codel": {"limit": (2, {"": 1}), "flows": (5, {"": 1}), "interval": (3, _US), "target": (1, _US)},
    "pie": {"limit": (2, {"": 1}), "target": (1, _US)},
}
_MARKS = {"codel": 4, "fq_codel": 4, "pie": 6}
KINDS = ("netem", "tbf", "pfifo", "bfifo", *_NUMBERS)


class LineWords(Iterator[str]):
    """The remaining words of a typed line, from which functions take one after the other."""

    def __init__(self, line: str, words: list[str]) -> None:
        """Start with the list `words`, the words that are still to be read of `line`, the whole text of the line, which
        is shown in errors; the list is emptied by reading.
        """
        self._line, self._words = line, words

    def __next__(self) -> str:
        """Remove the next word and return it. Raises StopIteration if there is none."""
        if not self._words:
            raise StopIteration
        return self._words.pop(0)

    def next_word(self, what: str) -> str:
        """Remove the next word and return it. If there is none, raise UnknownLineError, whose text says that `what`, a
        noun such as "the interface", is missing.
        """
        if not self._words:
            raise self.problem(f"{what} is missing at the end")
        return self._words.pop(0)

    def has(self, *words: str) -> bool:
        """Return True, and remove the words, if `words` are the next ones of the line in this order; else return False
        and remove none.
        """
        found = tuple(self._words[: len(words)]) == words
        del self._words[: len(words) * found]
        return found

    def value(self, units: Mapping[str, float], what: str) -> float:
        """Remove the next word, a quantity such as "300ms", and return it as a number times the factor of its unit in
        `units` (lower case; "" for none). Raises UnknownLineError, which names `what`, such as "the delay", for another
        word or unit.
        """
        word = self.next_word(what)
        found = _QUANTITY.fullmatch(word)
        if found is None or found[2].lower() not in units:
            names = ", ".join(unit for unit in units if unit) or "none"
            raise self.problem(f"{what} is {word!r}, not a number with one of the units {names}")
        return float(found[1]) * units[found[2].lower()]

    def is_quantity_next(self) -> bool:
        """Return whether the next word is a quantity, such as "10ms" or "5"; it is not removed."""
        return bool(self._words) and _QUANTITY.fullmatch(self._words[0]) is not None

    def end(self) -> None:
        """Raise UnknownLineError, which names the next word, if words are left; else do nothing."""
        if self._words:
            raise self.problem(f"{self._words[0]!r} is not expected")

    def problem(self, what: str) -> UnknownLineError:
        """Return, and do not raise, the exception whose text shows the whole line and the clause `what` about its
        mistake.
        """
        return UnknownLineError(f"in the line `{self._line}`, {what}")


def tc(words: LineWords) -> MessageMaker:
    """Return the function that returns the netlink message of a typed line of `tc qdisc` (add, replace, change or del,
    at the root or below a parent) from a function that returns the number of an interface by its name; `words` are the
    words after `tc`, and all are removed. Raises UnknownLineError, with a sentence, for a line that netlab cannot
    translate.

    Examples
    --------
    >>> line = "tc qdisc add dev h1-eth0 root netem delay 300ms"
    >>> len(tc(LineWords(line, line.split()[1:]))(lambda name: 2))
    76
    """
    if not words.has("qdisc"):
        raise words.problem("only `tc qdisc` is supported")
    verb = words.next_word("a verb such as add")
    if verb not in FLAGS:
        raise words.problem(f"{verb!r} is not add, replace, change or del; for the counters of queues see run.queues")
    if not words.has("dev"):
        raise words.problem("`dev` and an interface are expected next")
    device, parent, handle = words.next_word("the interface"), qdiscs.TC_H_ROOT, 0
    if not words.has("root"):
        if not words.has("parent"):
            raise words.problem("`root` or `parent 1:` is expected next")
        parent = _handle(words)
    if words.has("handle"):
        handle = _handle(words)
    qdisc = None if verb == "del" else _qdisc(words)
    words.end()
    return lambda index: qdiscs.qdisc_message(index(device), handle, parent, qdisc, FLAGS[verb])


def _handle(words: LineWords) -> int:
    """Remove the next word, a handle such as "1:" or "1:1" in hexadecimal digits, and return it as a 32-bit number.
    Raises UnknownLineError for another word.
    """
    word = words.next_word("a handle")
    found = re.fullmatch(r"([0-9a-fA-F]{1,4}):([0-9a-fA-F]{0,4})", word)
    if found is None:
        raise words.problem(f"{word!r} is not a handle such as 1: or 1:1")
    return int(found[1], 16) << 16 | int(found[2] or "0", 16)


def _qdisc(words: LineWords) -> Qdisc:
    """Return the qdisc that the remaining words describe, from its kind on, and remove them; the kinds are netem, tbf,
    pfifo, bfifo and those in _NUMBERS. Raises UnknownLineError for another kind, or an option that netlab does not
    support.
    """
    kind = words.next_word("the kind of qdisc")
    if kind == "netem":
        return _netem(words)
    if kind == "tbf":
        return _tbf(words)
    if kind in ("pfifo", "bfifo"):
        if not words.has("limit"):
            raise words.problem("`limit` and a number are expected next")
        return qdiscs.fifo(round(words.value(_BYTES, "the limit")), in_bytes=kind == "bfifo")
    if kind not in _NUMBERS:
        raise words.problem(f"the kind {kind!r} is not supported; there are {', '.join(KINDS)}")
    options: dict[str, Option] = {}
    for word in words:
        if word in ("ecn", "noecn"):
            options["ecn"] = Option(word, u32(_MARKS[kind], word == "ecn"))
        elif word in _NUMBERS[kind]:
            attribute, units = _NUMBERS[kind][word]
            options[word] = number(word, attribute, round(words.value(units, word)))
        else:
            raise words.problem(f"{word!r} is not supported; {kind} has {', '.join(_NUMBERS[kind])}, ecn")
    return qdisc_with_options(kind, *map(options.get, (*_NUMBERS[kind], "ecn")))


def _quantities(words: LineWords, rules: Mapping[str, tuple[str, Mapping[str, float]]], rule: str) -> dict[str, float]:
    """Remove all remaining words, names of a qdisc's options each followed by a quantity, and return the quantities by
    netlab's names, which end in the unit; a second quantity after a delay is "jitter_us". `rules` has netlab's name and
    the factors of the units by the option's name in `tc`. Raises UnknownLineError for another word; `rule`, a clause
    with the allowed names, ends its text.
    """
    found: dict[str, float] = {}
    for word in words:
        if word not in rules:
            raise words.problem(f"{word!r} is not supported; {rule}")
        if word == "loss":
            words.has("random")
        name, units = rules[word]
        found[name] = words.value(units, f"the {word}")
        if word == "delay" and words.is_quantity_next():
            found["jitter_us"] = words.value(_US, "the jitter")
    return found


def _netem(words: LineWords) -> Qdisc:
    """Return the netem qdisc that the remaining words describe, for NETEM_PACKETS packets unless they give a limit.
    Raises UnknownLineError for an option that is not supported.
    """
    quantities = _quantities(words, _NETEM, "netem has limit, delay with a jitter, loss, duplicate, rate")
    rounded: dict[str, Any] = {name: value if name in SHARES else round(value) for name, value in quantities.items()}
    return qdiscs.netem(rounded.pop("limit", NETEM_PACKETS), **rounded)


def _tbf(words: LineWords) -> Qdisc:
    """Return the tbf qdisc, a rate limit, that the remaining words describe; a latency replaces the limit by the bytes
    that leave in that time, plus the burst. Raises UnknownLineError unless they give a rate, a burst, and a limit or a
    latency.
    """
    quantities = _quantities(words, _TBF, "tbf has rate, burst, and limit or latency")
    rate_bps, burst_bytes, limit_bytes = (round(quantities.get(name, 0)) for name in ("rate", "burst", "limit"))
    if latency_us := quantities.get("latency"):
        limit_bytes = int(rate_bps / BITS_PER_BYTE * latency_us / 1e6 + burst_bytes)
    if not (rate_bps and burst_bytes and limit_bytes):
        raise words.problem("tbf needs a rate, a burst, and a limit or a latency")
    return qdiscs.tbf(rate_bps, burst_bytes, limit_bytes)


@dataclass(frozen=True)
class TypedRoute:
    """A route of a node in its main table."""

    to: str
    """A network such as 10.0.1.0/24; all are 0.0.0.0/0."""
    device: str
    via: str | None = None
    """The address of the next router."""
    source: str | None = None
    """The node's own address, in a route that the kernel made itself."""
    quickack: bool = False
    """True if each segment that arrives by this route is acknowledged at once."""

    @property
    def line(self) -> str:
        """The line in which `ip route show` shows this route, with the space at its end."""
        words = ["default" if self.to == ALL else self.to, *(["via", self.via] if self.via else []), "dev", self.device]
        words += ["proto", "kernel"] * bool(self.source) + ["scope", "link"] * (not self.via)
        words += ["src", self.source] if self.source else []
        return " ".join([*words, *["quickack 1"] * self.quickack, ""])

    def message(self, verb: str, index: InterfaceIndex) -> bytes:
        """Return the netlink message that adds, replaces, changes or removes the route, as `verb` ("add", "replace",
        "change" or "del") says; `index` returns the number of an interface from its name. A route without a `device`
        leaves the interface to the kernel.
        """
        return links.device_route(
            index(self.device) if self.device else None, self.to, self.via, self.source,
            NLM_F_REPLACE if verb == "change" else FLAGS[verb],
            metrics=u32(links.RTAX_QUICKACK, 1) if self.quickack else b"", remove=verb == "del",
        )  # fmt: skip


def route(words: LineWords, *, needs_device: bool = True) -> TypedRoute:
    """Return the route in a typed line of `ip route`; `words` are the words after its verb. If `needs_device` is False,
    the line may leave the interface out, and the route's `device` is then "". The source address is kept only with
    "proto kernel", and scopes are ignored. Raises UnknownLineError, with a sentence, for a line that netlab cannot
    translate.
    """
    values = {"to": words.next_word("a network")}
    for word in words:
        if word not in ("via", "dev", "src", "proto", "scope", "quickack"):
            raise words.problem(f"{word!r} is not supported; a route has via, dev, proto, scope, src, quickack")
        values[word] = words.next_word(f"the value of {word!r}")
    if needs_device and "dev" not in values:
        raise words.problem("`dev` and the interface are missing")
    try:
        to = str(IPv4Network(ALL if values["to"] == "default" else values["to"]))
        IPv4Address(values.get("via", "10.0.0.1"))
    except ValueError as error:
        raise words.problem(f"{error}") from None
    source = values.get("src") if values.get("proto") == "kernel" else None
    return TypedRoute(to, values.get("dev", ""), values.get("via"), source, values.get("quickack") == "1")
