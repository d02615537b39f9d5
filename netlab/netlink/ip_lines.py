"""`ip` lines as netlink messages, and those lines that every plan has."""

from netlab.netlink import links
from netlab.netlink.wire import UnknownLineError
from netlab.protocol.plan import Plan


class Interfaces:
    """Numbers of a node's interfaces, which the kernel lets us choose: 1 is `lo`, others follow in the order of their making."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"lo": 1}

    def make(self, name: str) -> int:
        """The next number, for a new interface."""
        return self._numbers.setdefault(name, max(self._numbers.values()) + 1)

    def note(self, name: str, number: int) -> None:
        """Note an interface that the kernel has numbered itself."""
        self._numbers[name] = number

    def __call__(self, name: str) -> int:
        """The number of an interface that is there."""
        return self._numbers[name]


def node_lines(plan: Plan) -> dict[str, list[str]]:
    """The `ip` lines of every node once its links are there: bridges, addresses, routes, neighbours."""
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
    """The message of one line of those that netlab writes, as `ip -batch` would read it; a new interface gets its
    number here.

    Raises UnknownLineError for any other line.

    >>> len(ip_line("link set dev lo up", Interfaces()))
    32
    """
    match line.split():
        case ["link", "set", "dev", name, "up"]:
            return links.up(interface(name))
        case ["link", "set", "dev", name, "down"]:
            return links.down(interface(name))
        case ["link", "del", "dev", name]:
            return links.remove(interface(name))
        case ["link", "set", "dev", name, "up", "master", bridge]:
            return links.up(interface(name), interface(bridge))
        case ["link", "set", "dev", name, "address", mac, "txqueuelen", frames]:
            return links.hardware(interface(name), mac, int(frames))
        case ["link", "set", "dev", name, "gso_max_segs", segments]:
            return links.number(interface(name), "gso_max_segs", int(segments))
        case ["link", "add", "name", name, "type", "ifb"]:
            return links.intermediate(interface.make(name), name)
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
    raise UnknownLineError(f"`ip {line}` is not a line that netlab has a message for")
