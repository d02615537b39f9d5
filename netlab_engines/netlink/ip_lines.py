"""The `ip` lines of a plan's nodes, and their translation to netlink messages."""

from netlab.plan import Plan
from netlab_engines.netlink import links
from netlab_engines.netlink.wire import UnknownLineError


class Interfaces:
    """The numbers of one node's interfaces, by their names.

    netlab chooses the number of each interface that it makes: 1 is `lo`, and the others follow in the order in which
    they are made.
    """

    def __init__(self) -> None:
        """Start with the loopback device `lo`, which has the number 1."""
        self._numbers: dict[str, int] = {"lo": 1}

    def make(self, name: str) -> int:
        """Return the number of the new interface with the name `name`: one more than the highest so far, or its own if
        it has one already.
        """
        return self._numbers.setdefault(name, max(self._numbers.values()) + 1)

    def note(self, name: str, number: int) -> None:
        """Record that the interface with the name `name` has the number that the kernel has given it."""
        self._numbers[name] = number

    def __call__(self, name: str) -> int:
        """Return the number of the existing interface with the name `name`. Raises KeyError if there is none."""
        return self._numbers[name]


def node_lines(plan: Plan) -> dict[str, list[str]]:
    """Return the lines of `ip`, without that word, that configure each node after the links are made, in order, by the
    node's name: its loopback device, its bridge if it is a switch, interfaces, addresses, routes and permanent
    neighbours.
    """
    lines: dict[str, list[str]] = {
        name: ["link set dev lo up"] for name in [*plan["hosts"], *plan["routers"], *plan["switches"]]
    }
    switches = set(plan["switches"])
    for switch in plan["switches"]:
        lines[switch].append(f"link add name {switch} type bridge forward_delay 0 mcast_snooping 0")
        lines[switch].append(f"link set dev {switch} up")
    for direction in plan["directions"]:
        name, interface = direction["src"], direction["interface"]
        lines[name].append(f"link set dev {interface} up" + (f" master {name}" if name in switches else ""))
    for own in plan["addresses"]:
        lines[own["node"]].append(f"address add {own['address']} dev {own['interface']}")
    for route in plan["routes"]:
        line = f"route add {route['to']} via {route['via']}"
        segments = route.get("initial_window_segments")
        lines[route["node"]].append(line if segments is None else f"{line} initcwnd {segments}")
    for other in plan["neighbours"]:
        lines[other["node"]].append(
            f"neighbour replace {other['address']} lladdr {other['mac']} dev {other['interface']} nud permanent"
        )
    return lines


def ip_line(line: str, interface: Interfaces) -> bytes:
    """Return the netlink message for one of the lines of `ip` that netlab writes, given without the word `ip`.
    `interface` has the numbers of the node's interfaces, and gets a new one if the line makes an interface. Raises
    UnknownLineError for any other line, and KeyError for an interface that it does not have.

    >>> len(ip_line("link set dev lo up", Interfaces()))
    32
    """
    match line.split():
        case ["link", "set", "dev", name, "up"]:
            return links.bring_up(interface(name))
        case ["link", "set", "dev", name, "down"]:
            return links.down(interface(name))
        case ["link", "del", "dev", name]:
            return links.remove(interface(name))
        case ["link", "set", "dev", name, "up", "master", bridge]:
            return links.bring_up(interface(name), interface(bridge))
        case ["link", "set", "dev", name, "address", mac, "txqueuelen", frames]:
            return links.hardware(interface(name), mac, int(frames))
        case ["link", "set", "dev", name, "gso_max_segs", segments]:
            return links.number(interface(name), "gso_max_segs", int(segments))
        case ["link", "add", "name", name, "type", "ifb"]:
            return links.ifb(interface.make(name), name)
        case ["link", "add", "name", name, "type", "bridge", "forward_delay", "0", "mcast_snooping", "0"]:
            return links.bridge(interface.make(name), name)
        case ["address", "add", address, "dev", name]:
            return links.address(interface(name), address)
        case ["route", "add", to, "via", via]:
            return links.route(to, via)
        case ["route", "add", to, "via", via, "initcwnd", segments]:
            return links.route(to, via, int(segments))
        case ["neighbour", "replace", address, "lladdr", mac, "dev", name, "nud", "permanent"]:
            return links.neighbour(interface(name), address, mac)
    raise UnknownLineError(f"netlab has no netlink message for the line `ip {line}`")
