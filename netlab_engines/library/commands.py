"""Run commands without programs: translate lines of `tc`, `ip` and `sysctl` to messages for the kernel."""

import functools
import heapq
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Interface, IPv4Network
from typing import cast

from netlab.base.units import NS_PER_S
from netlab.plan import Item, Plan
from netlab.traffic.command import CommandItem
from netlab_engines.library.missing_programs import programs_needed
from netlab_engines.netlink import links, typed_lines
from netlab_engines.netlink.qdiscs import TcCommand
from netlab_engines.netlink.typed_lines import LineWords, TypedRoute
from netlab_engines.netlink.wire import UnknownLineError

QUICKACK_LOOP = re.compile(r"ip route \| while read (\w+); do ip route change \$\1 quickack ([01]); done")
_PARTS = re.compile(r"\n|;|&&")
_PROGRAMS = ("tc", "ip", "sysctl")
_ROUTE_VERBS = ("add", "replace", "change", "del")


@dataclass(frozen=True)
class Setting:
    """A setting of a node's kernel (sysctl), such as "net.ipv4.tcp_sack", with its new value."""

    key: str
    value: str


Routes = list[TypedRoute]
Work = Callable[[Routes], "list[TcCommand | Setting | str]"]
"""Returns the effects of a line in a node: lines, settings and output. It may change the node's list of routes."""


def parse_command(label: str, command: str, saves: Sequence[str] = ()) -> list[Work]:
    """Return one function for each line of a shell command, in order (one for the loop QUICKACK_LOOP); called with the
    node's list of routes, which it may change, it returns the line's effects in a list: commands for the kernel,
    settings, and output as text. `label` names the command in errors; `saves` are the files that the command saves,
    which must be none. Raises NotHereError, which names what is supported, if a line needs a program.
    """
    try:
        if saves:
            raise UnknownLineError("it saves files")
        if each := QUICKACK_LOOP.fullmatch(command.strip()):
            return [_change_each(command, each[2] == "1")]
        return [_work_of_line(part.strip()) for part in _PARTS.split(command) if part.strip()]
    except UnknownLineError as error:
        details = "Only `tc qdisc`, `ip link set`, `ip route` and `sysctl -w` are supported."
        raise programs_needed(f"{label!r} cannot run: {error}", details) from None


def _work_of_line(line: str) -> Work:
    """Return the function that returns the effects of `line`, one line of a command, from the node's list of routes:
    commands for the kernel, settings, and output as text. Raises UnknownLineError if the line needs a shell or is not a
    supported line of `tc`, `ip link set`, `ip route` or `sysctl`.
    """
    name = line.split(maxsplit=1)[0]
    # The program is named before the shell's characters: those of a script say nothing about why it cannot run.
    if re.fullmatch(r"[\w./-]+", name) and name not in _PROGRAMS:
        raise UnknownLineError(f"it needs `{name}`")
    if found := re.search(r"[|<>$`&*?(){}]", line):
        raise UnknownLineError(f"in `{line}`, {found[0]!r} needs a shell")
    try:
        program, *rest = shlex.split(line)
    except ValueError as error:
        raise UnknownLineError(f"`{line}` cannot be split into words: {error}") from None
    words = LineWords(line, rest)
    if program == "tc":
        message_maker = typed_lines.tc(words)
        return lambda _routes: [TcCommand(line, message_maker)]
    if program == "sysctl":
        return _sysctl(words)
    if program == "ip" and words.has("link", "set"):
        return _link(line, words)
    if program == "ip" and (words.has("route") or words.has("r")):
        return _route(line, words)
    raise UnknownLineError(f"`{line}` is not supported")


def _sysctl(words: LineWords) -> Work:
    """Return the function that returns the effects of a line of `sysctl -w` in a list: its settings, and last its
    output as text ("" with -q); the node's routes, its argument, are ignored. `words` are the words after the program's
    name. Raises UnknownLineError for a word that is not a setting, which includes reading one.
    """
    quiet, found = False, []
    for word in words:
        if word in ("-w", "-q", "-qw"):
            quiet = quiet or "q" in word
        elif re.fullmatch(r"[\w./-]+=.+", word):
            key, _, value = word.partition("=")
            found.append(Setting(key.replace("/", "."), value))
        else:
            raise words.problem(f"{word!r} is not a setting with a value, such as net.ipv4.tcp_sack=0")
    output = "" if quiet else "".join(f"{each.key} = {each.value}\n" for each in found)
    return lambda _routes: [*found, output]


def _link(line: str, words: LineWords) -> Work:
    """Return the function that returns the effects of the line `line` of `ip link set`: one command for the kernel for
    each of up, down and the numbers that can be set; the node's routes, its argument, are ignored. `words` are the
    words after "set". Raises UnknownLineError for a word that is not supported.
    """
    words.has("dev")
    device = words.next_word("the interface")
    effects: list[TcCommand | Setting | str] = []

    def add_command(message_of: Callable[[int], bytes]) -> None:
        """Add a command for the kernel to the effects of the line; `message_of` returns its netlink message from the
        number of the interface.
        """
        effects.append(TcCommand(line, lambda index: message_of(index(device))))

    for word in words:
        if word in ("up", "down"):
            add_command(links.bring_up if word == "up" else links.down)
        elif word in links.NUMBERS:
            add_command(functools.partial(links.number, word=word, value=round(words.value({"": 1}, word))))
        else:
            raise words.problem(f"{word!r} is not supported; there are up, down, {', '.join(links.NUMBERS)}")
    return lambda _routes: effects


def _route(line: str, words: LineWords) -> Work:
    """Return the function that changes the node's list of routes as the line `line` of `ip route` says, and returns the
    line's only effect in a list: a command for the kernel, or, for show, the routes as text, one a line. `words` are
    the words after "route". Raises UnknownLineError for a word that is not supported.
    """
    verb = next(words, "show")
    if verb in ("show", "list", "ls"):
        words.end()
        return lambda routes: ["".join(f"{route.line}\n" for route in routes)]
    if verb not in _ROUTE_VERBS:
        raise words.problem(f"{verb!r} is not supported; there are show, {', '.join(_ROUTE_VERBS)}")
    way = typed_lines.route(words, needs_device=verb != "del")

    def work(routes: Routes) -> list[TcCommand | Setting | str]:
        """Add or replace the line's route in `routes`, the node's list, or remove all routes to the same network, and
        return the command that does the same in the kernel, as a list; to remove a route that is not in the list is
        left to the kernel.
        """
        existing = next((route for route in routes if route.to == way.to), way)
        effects = existing if verb == "del" else way
        routes[:] = sorted(
            [*(route for route in routes if route.to != way.to), *([way] if verb != "del" else [])], key=_place
        )
        return [TcCommand(line, functools.partial(effects.message, verb))]

    return work


def _change_each(line: str, quick: bool) -> Work:
    """Return the function that switches immediate acknowledgements on (`quick`) or off in each of a node's routes, and
    returns the commands that do the same in the kernel; `line` is the command line in errors.
    """

    def work(routes: Routes) -> list[TcCommand | Setting | str]:
        """Change each route in `routes`, the node's list, and return the commands that do the same in the kernel, one
        for each.
        """
        routes[:] = [replace(route, quickack=quick) for route in routes]
        return [TcCommand(line, functools.partial(route.message, "change")) for route in routes]

    return work


def _place(route: TypedRoute) -> tuple[int, int]:
    """Return a key that sorts routes as `ip route` shows them: by network address, then by prefix length."""
    network = IPv4Network(route.to)
    return int(network.network_address), network.prefixlen


def routes_by_node(plan: Plan) -> dict[str, Routes]:
    """Return the routes that the kernel has in the nodes of a plan, including the routes to their own subnets, by the
    node's name, in the order in which `ip route` shows them; nodes without an address are left out.
    """
    found: dict[str, Routes] = {}
    networks: dict[str, dict[str, IPv4Interface]] = {}
    for own in plan["addresses"]:
        address = IPv4Interface(own["address"])
        networks.setdefault(own["node"], {})[own["interface"]] = address
        own_route = TypedRoute(str(address.network), own["interface"], None, str(address.ip))
        found.setdefault(own["node"], []).append(own_route)
    for route in plan["routes"]:
        gateway = IPv4Interface(route["via"]).ip
        device = next(name for name, address in networks[route["node"]].items() if gateway in address.network)
        found[route["node"]].append(TypedRoute(route["to"], device, route["via"]))
    return {node: sorted(routes, key=_place) for node, routes in found.items()}


def read_item(item: CommandItem) -> list[Work]:
    """Return one function for each line of a command in the plan's traffic, in order; called with the node's list of
    routes, it returns the line's effects: commands for the kernel, settings, and output as text. Raises NotHereError if
    a line needs a program or the command saves files.
    """
    return parse_command(item["label"], item["command"], item["saves"])


class Commands:
    """The commands of a lab that are still to run, in the order of their times, and the nodes' routes; `outputs` has
    the output of those that ran, by their labels.
    """

    def __init__(self, plan: Plan) -> None:
        """Add all commands in the plan's traffic, each at its time. Raises NotHereError if one needs a program or saves
        files.
        """
        self._plan = plan
        self._scheduled: list[tuple[int, int, str, str, list[Work]]] = []
        self.outputs: dict[str, str] = {}
        for item in plan["traffic"]:
            self.add(item)

    def add(self, item: Item) -> None:
        """Add an item of traffic if it is a command, to run at its `start_s` in s from the run's start; ignore all
        others. Raises NotHereError if it needs a program or saves files.
        """
        if item["kind"] == "command":
            command = cast("CommandItem", item)
            moment_ns, place = round(item["start_s"] * NS_PER_S), len(self._scheduled) + len(self.outputs)
            heapq.heappush(self._scheduled, (moment_ns, place, command["host"], item["label"], read_item(command)))

    @functools.cached_property
    def _routes(self) -> dict[str, Routes]:
        """The present routes of each node, by the node's name; commands change them."""
        return routes_by_node(self._plan)

    @property
    def next_ns(self) -> int | None:
        """The time of the next command in ns from the run's start; None if there is none."""
        return self._scheduled[0][0] if self._scheduled else None

    def pop(self) -> tuple[str, list[TcCommand | Setting]]:
        """Remove the next command in time, keep its output in `outputs` by its label, and return the name of its node
        and its commands and settings for the kernel, in order, which the caller must send; it may change the node's
        list of routes. Raises IndexError if there is none.
        """
        _moment_ns, _place, node, label, lines = heapq.heappop(self._scheduled)
        self.outputs[label], effects = self._do(node, lines)
        return node, effects

    def run(self, node: str, command: str) -> tuple[str, list[TcCommand | Setting]]:
        """Return the output of the shell command `command` that runs now in the node with the name `node`, and its
        commands and settings for the kernel, in order, which the caller must send; it may change the node's list of
        routes. Raises NotHereError if it needs a program.
        """
        return self._do(node, parse_command(f"{node} command", command))

    def _do(self, node: str, lines: list[Work]) -> tuple[str, list[TcCommand | Setting]]:
        """Return the output of a command in the node with the name `node`, and its commands and settings for the
        kernel, in order. `lines` has a function for each line of the command, which may change the node's list of
        routes.
        """
        done = [each for line in lines for each in line(self._routes.setdefault(node, []))]
        output = "".join(each for each in done if isinstance(each, str))
        return output, [each for each in done if not isinstance(each, str)]
