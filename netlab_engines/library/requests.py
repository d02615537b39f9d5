"""Convert a plan to the requests that the library kernel's program reads (recipe/library/host/protocol.h)."""

import ipaddress
import itertools
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, cast

from netlab.base.errors import NotHereError, RunError
from netlab.base.headers import TCP_TIMESTAMPS_BYTES
from netlab.plan import FIRST_PORT, CaptureItem, Item, Plan, PlannedHop
from netlab.traffic import KINDS
from netlab.traffic.command import CommandItem
from netlab.traffic.program import ProgramItem
from netlab_engines.library import commands, wire_format
from netlab_engines.library.control import ControlHandler
from netlab_engines.library.kernel_program import QuestionHandler
from netlab_engines.library.missing_programs import programs_needed
from netlab_engines.library.program_pair import ProgramPair
from netlab_engines.library.wire_format import Request
from netlab_engines.netlink import disciplines, wire
from netlab_engines.netlink.ip_lines import Interfaces, node_lines
from netlab_engines.netlink.qdiscs import Queueing, TcCommand
from netlab_engines.planning import messages
from netlab_engines.planning.schedule import Schedule, Step, shaped_directions
from netlab_engines.planning.settings import QUEUES_AT_NS
from netlab_engines.planning.shaping import capture_ends

FLOW_KINDS = {kind.name.lower(): kind for kind in wire_format.FlowKind}
OWN_CONTROL = b"own"
"""The name of the congestion control that calls the user's class (recipe/library/arch/kernel/congestion.c)."""
NO_VALUE = 2**64 - 1
MAX_SEED = 2**64 - 1
FIRST_NODE_FILE = 16
UNLIMITED_FIELDS = ("num_bytes", "count")
"""The members of `struct flow` that are NO_VALUE if the item's field is None or missing; all others are 0 then."""
UNITS = {"_ns": {"_s": 1e9, "_ms": 1e6}, "_bps": {"_mbps": 1e6}}
"""The units of the members of `struct flow`, with the units of the items' fields that become them, and the factors."""
FIELDS_WITHOUT_MEMBER = {
    "duration_s",
    "spacing",
    "streams",
    "initial_window_segments",
    "sender",
    "receiver",
}
"""The fields of items that become other members of `struct flow`, routes, or objects in Python."""
MARKS_IN_TINS = 0xFFFFFFFF
"""The value for CAKE, which counts marks per tin; other disciplines count them in one word of their statistics."""

MOMENT = struct.Struct("<Q")
NUMBER = struct.Struct("<I")
_QUESTION = struct.Struct("<QI")
"""The start of every question: the moment in ns, and the port of the connection."""


@dataclass
class PreparedRequests:
    """The requests to the library kernel's program that are still to be sent, and the meaning of the numbers in its
    answers.

    Attributes
    ----------
    nodes : list of str
        The nodes by their numbers.
    schedule : Schedule
        The future changes of links.
    interfaces : dict of str to Interfaces
        The interfaces of each node.
    queues : list of str
        The interfaces whose queues are sampled, by the numbers of the samples.
    taps : list of str
        The name of each tap's file, by the numbers of its packets.
    batches : dict of int to list
        The lines behind the netlink messages by the node's number, a list for each batch in the order of sending.
    own : dict of int to QuestionHandler
        The objects that answer the kernel's questions, by the connection's port.
    port : int
        The next free port.
    """

    nodes: list[str]
    schedule: Schedule
    interfaces: dict[str, Interfaces] = field(default_factory=dict)
    queues: list[str] = field(default_factory=list)
    taps: list[str] = field(default_factory=list)
    batches: dict[int, list[list[str]]] = field(default_factory=dict)
    own: dict[int, QuestionHandler] = field(default_factory=dict)
    port: int = FIRST_PORT
    _parts: list[bytes] = field(default_factory=list)

    def number(self, node: str) -> bytes:
        """Return the number (from 0) of the node with the name `node` as the 4 bytes that requests have. Raises
        ValueError if there is none.
        """
        return NUMBER.pack(self.nodes.index(node))

    def take(self) -> bytes:
        """Return the bytes of all requests that were added since the last call, in their order, and remove them from
        this object.
        """
        data = b"".join(self._parts)
        self._parts.clear()
        return data

    def add(self, kind: int, payload: bytes = b"") -> None:
        """Append a request to those that are still to be sent: its kind, a number of `enum request` in protocol.h, and
        its payload, the bytes after the header.
        """
        self._parts.append(wire_format.FRAME.pack(kind=kind, length=len(payload)) + payload)

    def reply(self, question: bytes) -> bytes:
        """Let the user's own Python answer `question`, the bytes of one of the kernel's questions, and return the bytes
        of the request with its reply, which the caller must send. Raises RunError if that fails.
        """
        _now_ns, port = _QUESTION.unpack_from(question)
        reply = self.own[port].answer(question)
        return wire_format.FRAME.struct.pack(Request.REPLY, len(reply)) + reply

    def explain(self, failure: str) -> str:
        """Return the text `failure` of the program's error as a sentence for users. If it names a netlink message by
        numbers, the sentence has the node and all command lines that it may be; if a setting, the setting and its node;
        any other text is returned unchanged.
        """
        words = failure.split(" ", 3)
        if words[0] == "netlink" and len(words) == 4:
            node, place = int(words[1]), int(words[2])
            lines = [batch[place] for batch in self.batches.get(node, []) if place < len(batch)]
            return f"The kernel refused a line in {self.nodes[node]} ({words[3]}). It is one of: " + "; ".join(lines)
        if words[0] == "setting" and len(words) == 4:
            where = self.nodes[int(words[1])] if int(words[1]) >= 0 else "the whole kernel"
            return f"The setting {words[2].replace('/', '.')} was refused in {where}: {words[3]}."
        return failure


def refuse_traffic(items: Iterable[Item]) -> None:
    """Raise NotHereError if an item of traffic needs a program (a command other than tc, ip and sysctl, or another kind
    of traffic), which the library engine does not have, or has a field that the library kernel's program does not get.
    """
    for item in items:
        if item["kind"] == "command":
            commands.read_item(cast("CommandItem", item))
            continue
        if item["kind"] not in FLOW_KINDS:
            raise programs_needed(f"{item['label']!r} (kind {item['kind']!r}) cannot run")
        for name in _fields_without_member(item):
            raise NotHereError(
                f"The library engine does not support {name} of {item['label']!r}. Use engine='pocket' for this scenario."
            )


def _fields_without_member(item: Item) -> list[str]:
    """Return the names of the fields of an item that have another value than the default of its kind, but that the
    library kernel's program does not get.
    """
    known = {source for name in wire_format.FLOW.fields for source, _factor in _sources(name)} | FIELDS_WITHOUT_MEMBER
    defaults = {field.name: field.default for field in fields(cast("Any", KINDS[item["kind"]]))}
    return [name for name, value in item.items() if name not in known and value != defaults.get(name, value)]


def _sources(member: str) -> list[tuple[str, float]]:
    """Return the fields of items that become a member of `struct flow` if a kind of traffic has them, each with the
    factor between their units.

    >>> _sources("think_ns"), _sources("count")
    ([('think_s', 1000000000.0), ('think_ms', 1000000.0)], [('count', 1)])
    """
    for unit, others in UNITS.items():
        if member.endswith(unit):
            return [(member.removesuffix(unit) + other, factor) for other, factor in others.items()]
    return [(member, 1)]


def _member(member: str, item: dict[str, Any]) -> Any:
    """Return the value of a member of `struct flow` from the item's field of the same name, in the member's unit; NO_VALUE
    or 0 if that is None or missing (see UNLIMITED_FIELDS).
    """
    for name, factor in _sources(member):
        if item.get(name) is not None:
            return item[name] if factor == 1 else round(item[name] * factor)
    return NO_VALUE if member in UNLIMITED_FIELDS else 0


def refuse_filters(plan: Plan) -> None:
    """Raise NotHereError if the plan has kernel settings of the packet filter (net.netfilter), which the library engine
    does not have.
    """
    filters = [name for name in plan["sysctls"] if name.startswith("net.netfilter.")]
    if filters:
        raise NotHereError(
            f"The library engine has no packet filter, so it has no setting {', '.join(filters)}. "
            "Use engine='pocket' for this scenario."
        )


def make_requests(
    plan: Plan,
    ip_lines: dict[str, list[str]],
    queueing: dict[str, list[Queueing]],
    *,
    memory_bytes: int,
    start_s: int,
    machine_sysctls: dict[str, str],
) -> PreparedRequests:
    """Return the requests, not sent yet, that boot the kernel, build the network and its traffic, and sample the
    queues of shaped directions; the network's time is not started, and changes of links stay in `schedule`.
    `ip_lines` and `queueing`, which `shape_network` returns, have further lines of `ip` and the queues of each node
    by its name. The kernel has `memory_bytes` bytes of memory, its clock begins at `start_s` s since 1970, and
    `machine_sysctls` are its settings by name. The plan must be one that the library engine supports.
    """
    nodes = [*plan["hosts"], *plan["routers"], *plan["switches"]]
    requests = PreparedRequests(nodes, Schedule(list(plan["directions"]), "virtual", plan["seed"]))
    requests.schedule.add(plan["changes"])
    number = {name: place for place, name in enumerate(nodes)}
    requests.add(Request.START, wire_format.START.pack(memory_bytes=memory_bytes, seed=plan["seed"], start_s=start_s))
    requests.add(Request.FORMAT)
    # Use the seed while the network is built and its complement after that, as in the agent.
    requests.add(Request.SEED, MOMENT.pack(plan["seed"]))
    for key, value in machine_sysctls.items():
        _add_setting(requests, key, value)
    for _ in nodes:
        requests.add(Request.NODE)
    interfaces = requests.interfaces
    interfaces.update({name: Interfaces() for name in nodes})
    for name, node_messages in messages.veth_messages(
        plan, interfaces, lambda node: FIRST_NODE_FILE + number[node]
    ).items():
        requests.add(Request.ENTER, NUMBER.pack(number[name]))
        _add_netlink(requests, number[name], node_messages)
    lines = node_lines(plan)
    for name in nodes:
        requests.add(Request.ENTER, NUMBER.pack(number[name]))
        for key, value in messages.node_sysctls(plan, name).items():
            _add_setting(requests, key, value)
        node_messages = messages.configuration_messages([*lines[name], *ip_lines.get(name, [])], [], interfaces[name])
        _add_netlink(requests, number[name], node_messages)
    requests.add(Request.UNTIL, MOMENT.pack(QUEUES_AT_NS))
    for name in nodes:
        requests.add(Request.ENTER, NUMBER.pack(number[name]))
        _add_netlink(
            requests, number[name], messages.configuration_messages([], queueing.get(name, []), interfaces[name])
        )
    for direction in plan["directions"]:
        requests.add(Request.ENTER, requests.number(direction["src"]))
        requests.add(Request.WAIT, direction["interface"].encode())
    for direction in shaped_directions(plan):
        add_queue(requests, direction)
    requests.add(Request.SEED, MOMENT.pack(~plan["seed"] & MAX_SEED))
    for place, item in enumerate(plan["traffic"]):
        add_flow(requests, place, item, plan["duration_s"], plan["seed"])
    return requests


def begin(interval_s: float) -> bytes:
    """Return the bytes after the header of the request that starts the time of a network; samples are taken every
    `interval_s` s of network time.
    """
    return wire_format.GO.pack(duration_ns=0, interval_ns=_ns(interval_s), drain_ns=0, steps=0)


def advance(until_ns: int, progress_s: float | None) -> bytes:
    """Return the bytes after the header of the request that lets network time pass until `until_ns` ns after the run's
    start; progress is reported every `progress_s` s of it (None: not at all).
    """
    return wire_format.ADVANCE.pack(until_ns=until_ns, progress_ns=0 if progress_s is None else _ns(progress_s))


def _ns(seconds: float) -> int:
    """Return a time in s as a whole number of ns, rounded."""
    return round(seconds * 1e9)


def _add_setting(requests: PreparedRequests, key: str, value: str) -> None:
    """Add the request that sets the kernel setting (sysctl) `key`, such as "net.ipv4.ip_forward", to `value` in the
    node that the last request ENTER named, or in the whole kernel before the first.
    """
    requests.add(Request.SETTING, key.replace(".", "/").encode() + b"\0" + str(value).encode())


def marks_word(aqm: str) -> int:
    """Return the index (from 0) of the 32-bit word that counts ECN marks in the statistics of the queue discipline
    `aqm` (0 also if it counts none), or MARKS_IN_TINS for CAKE.

    >>> marks_word("red"), marks_word("fifo")
    (3, 0)
    """
    if aqm == "cake":
        return MARKS_IN_TINS
    # Statistics in which each word is its own index make the table return the index.
    return disciplines.marks(aqm, struct.pack("=64I", *range(64)))


def _add_netlink(requests: PreparedRequests, node: int, messages: Iterable[tuple[str, bytes]]) -> None:
    """Add one request for each batch of these netlink messages, each given as its command line and its bytes, for the
    node with this number (from 0), which the last request ENTER must name; keep the command lines in `requests.batches`
    for errors.
    """
    for part in wire.batches(messages):
        requests.add(Request.NETLINK, wire.batch([message for _line, message in part]))
        requests.batches.setdefault(node, []).append([line for line, _message in part])


def add_queue(requests: PreparedRequests, direction: PlannedHop) -> None:
    """Add the requests that let the kernel sample the queue at the sending interface of a direction, and append the
    interface to `requests.queues`, whose positions are the queues' numbers in samples.
    """
    index = requests.interfaces[direction["src"]](direction["interface"])
    requests.add(Request.ENTER, requests.number(direction["src"]))
    requests.add(
        Request.QUEUE, wire_format.SAMPLED.pack(interface=index, marks_word=marks_word(direction["shape"]["aqm"]))
    )
    requests.queues.append(direction["interface"])


def add_flow(requests: PreparedRequests, place: int, planned_item: Item, duration_s: float, seed: int) -> None:
    """Add one request for each connection of the item of traffic `planned_item`, the one with the number `place` (from
    0), in a lab that ends `duration_s` s after the run's start, and register the handlers of users' own Python in
    `requests.own`; nothing for a command. Each connection, except of a ping, takes the next free port, and `num_bytes`
    are shared among connections. `seed` determines the random spacing of datagrams.
    """
    # The fields differ between kinds.
    item = cast("dict[str, Any]", planned_item)
    kind = item["kind"]
    if kind == "command":
        return
    own_s = item.get("duration_s")
    end_s = duration_s if own_s is None else min(duration_s, item["start_s"] + own_s)
    streams = item["streams"] if kind == "tcp" else item.get("connections", 1)
    for stream in range(streams):
        if "own" in planned_item:
            requests.own[requests.port] = _question_handler(planned_item)
        port = place + 1 if kind == "ping" else requests.port
        # Most members are fields of the item; those that are not, or differ between its connections, follow.
        members = {name: _member(name, item) for name in wire_format.FLOW.fields} | {
            "kind": FLOW_KINDS[kind],
            "item": place,
            "stream": stream,
            "src": requests.nodes.index(item["src"]),
            "dst": requests.nodes.index(item["dst"]),
            "address": int.from_bytes(ipaddress.IPv4Address(item["address"]).packed, "little"),
            "port": port,
            "end_ns": _ns(end_s),
            "num_bytes": NO_VALUE,
            "congestion": OWN_CONTROL if kind == "tcp" and "own" in item else item.get("congestion", "").encode(),
            "connections": streams,
        }
        if kind == "tcp" and item["num_bytes"] is not None:
            share, rest = divmod(item["num_bytes"], streams)
            members["num_bytes"] = share + (stream < rest)
        if members["mss_bytes"]:
            members["mss_bytes"] += TCP_TIMESTAMPS_BYTES
        if item.get("spacing") == "random":
            members["spread"] = 1
            members["key_words"], key = random_key(seed + port)
            members |= {f"key_{number}": word for number, word in enumerate(key)}
        packed = wire_format.FLOW.pack(**members)
        requests.add(Request.FLOW, packed + item["label"].encode())
        requests.port += kind != "ping"


def add_changes(requests: PreparedRequests, until_ns: int) -> None:
    """Add the requests for all changes of links in the schedule whose time is at most `until_ns`, in ns from the run's
    start, each to take effect at its own time; they are removed from the schedule.
    """
    while (at_ns := requests.schedule.next_ns) is not None and at_ns <= until_ns:
        add_steps(requests, requests.schedule.pop(), at_ns)


def add_steps(requests: PreparedRequests, steps: Iterable[Step], at_ns: int | None = None) -> None:
    """Add the requests for these steps of changes of links, one request (or few) for neighbouring steps of the same
    node, to take effect at `at_ns`, in ns from the run's start, or now if that is None; their command lines are kept in
    `requests.batches` for errors.
    """
    for name, own in itertools.groupby(steps, lambda step: step.node):
        node_messages = [(step.line, step.message(requests.interfaces[name])) for step in own]
        if at_ns is None:
            requests.add(Request.ENTER, requests.number(name))
            _add_netlink(requests, requests.nodes.index(name), node_messages)
            continue
        place = requests.nodes.index(name)
        requests.add(
            Request.AT,
            wire_format.AT.pack(at_ns=at_ns, node=place) + wire.batch([message for _line, message in node_messages]),
        )
        requests.batches.setdefault(place, []).append([line for line, _message in node_messages])


def add_command(requests: PreparedRequests, node: str, effects: Iterable[TcCommand | commands.Setting]) -> None:
    """Add the requests for `effects`, the commands and settings of a user's command in the node with the name `node`,
    to take effect now. Raises RunError if one names an interface that the node does not have.
    """
    own = requests.interfaces[node]
    requests.add(Request.ENTER, requests.number(node))
    for each in effects:
        if isinstance(each, commands.Setting):
            _add_setting(requests, each.key, each.value)
            continue
        try:
            message = each.message(own)
        except KeyError as error:
            raise RunError(f"`{each.line}` names the interface {error}, which {node} does not have.") from None
        _add_netlink(requests, requests.nodes.index(node), [(each.line, message)])


def add_taps(requests: PreparedRequests, plan: Plan, item: CaptureItem) -> list[int]:
    """Add the requests that capture packets for the capture `item` of the plan, at the two ends of each of its
    directions, append the files' names to `requests.taps`, and return the numbers (from 0) of these taps, by which
    answers with packets name them.
    """
    first = len(requests.taps)
    for place in item["directions"]:
        for node, device, leaves, end in capture_ends(plan["directions"][place]):
            requests.add(Request.ENTER, requests.number(node))
            requests.add(
                Request.TAP,
                wire_format.TAP.pack(outgoing=leaves, snap_bytes=item["snap_bytes"], device=device.encode()),
            )
            requests.taps.append(f"{item['name']}.{end}")
    return list(range(first, len(requests.taps)))


def _question_handler(item: Item) -> QuestionHandler:
    """Return a new object that answers the kernel's questions about one connection of the item, whose congestion
    control or programs are the user's own. Raises RunError if no object of the user's class can be made.
    """
    if item["kind"] == "program":
        return ProgramPair(item["label"], item["own"], cast("ProgramItem", item)["num_bytes"])
    return ControlHandler(item["label"], item["own"][0])


def random_key(seed: int) -> tuple[int, tuple[int, int, int, int]]:
    """Return the initial key of Python's `random.Random(seed)` for a `seed` of 0 to 2^128 - 1: the number of its 32-bit
    words, and its words, the lowest first, filled up to four with 0.

    >>> random_key(2**32 + 5)
    (2, (5, 1, 0, 0))
    """
    words = max(1, (seed.bit_length() + 31) // 32)
    return words, (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF, seed >> 64 & 0xFFFFFFFF, seed >> 96 & 0xFFFFFFFF)
