"""Interfaces, addresses, routes and neighbours as netlink messages (rtnetlink(7))."""

import ipaddress
import struct

from netlab_engines.netlink import wire
from netlab_engines.netlink.wire import NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, attribute, message, text, u32

IFLA_ADDRESS, IFLA_IFNAME, IFLA_MASTER, IFLA_TXQLEN, IFLA_LINKINFO, IFLA_NET_NS_FD = 1, 3, 10, 13, 18, 28
IFLA_INFO_KIND, IFLA_INFO_DATA = 1, 2
VETH_INFO_PEER = 1
IFLA_BR_FORWARD_DELAY, IFLA_BR_MCAST_SNOOPING = 1, 23
IFA_ADDRESS, IFA_LOCAL = 1, 2
NDA_DST, NDA_LLADDR = 1, 2
NUD_PERMANENT = 0x80
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PREFSRC, RTA_METRICS = 1, 4, 5, 7, 8
RTAX_INITCWND, RTAX_QUICKACK = 11, 15
RT_SCOPE_LINK = 253
RTPROT_KERNEL, RTPROT_BOOT = 2, 3
RT_TABLE_MAIN = 254
RTN_UNICAST = 1
AF_INET = 2
IFF_UP = 1
NUMBERS = {"gso_max_segs": 40, "mtu": 4, "txqueuelen": IFLA_TXQLEN}
"""The attributes of an interface's numeric properties, by their names in `ip`."""

_IFINFO = struct.Struct("=BxHiII")
_IFADDR = struct.Struct("=BBBBI")
_RTMSG = struct.Struct("=BBBBBBBBI")
_NDMSG = struct.Struct("=BxxxiHBB")


def veth(index: int, name: str, mac: str, peer_index: int, peer: str, peer_mac: str, peer_space: int) -> bytes:
    """Return the netlink message that makes a veth pair, both ends off: one end with the number `index`, the name
    `name` and the hardware address `mac` in the namespace of the socket that sends the message, the other with
    `peer_index`, `peer` and `peer_mac` in the namespace with the file descriptor `peer_space`.
    """
    other = _IFINFO.pack(0, 0, peer_index, 0, 0) + b"".join(
        (text(IFLA_IFNAME, peer), attribute(IFLA_ADDRESS, mac_bytes(peer_mac)), u32(IFLA_NET_NS_FD, peer_space))
    )
    return _new_link(
        index, name, "veth", attribute(IFLA_ADDRESS, mac_bytes(mac)), data=attribute(VETH_INFO_PEER, other)
    )


def ifb(index: int, name: str) -> bytes:
    """Return the netlink message that makes an `ifb` device with the number `index` and the name `name`; it is off."""
    return _new_link(index, name, "ifb")


def bridge(index: int, name: str) -> bytes:
    """Return the netlink message that makes a bridge with the number `index` and the name `name`, which forwards at
    once (no delay) and does not snoop multicast; it is off.
    """
    settings = u32(IFLA_BR_FORWARD_DELAY, 0) + attribute(IFLA_BR_MCAST_SNOOPING, b"\0")
    return _new_link(index, name, "bridge", data=settings)


def _new_link(index: int, name: str, kind: str, *attributes: bytes, data: bytes = b"") -> bytes:
    """Return the netlink message that makes a device of a kind such as "veth", with the number `index` and the name
    `name`; the kernel refuses it if the device exists. `attributes` are further attributes as bytes, and `data` are the
    attributes of its kind.
    """
    # iproute2 sends the kind without a zero byte at its end.
    info = attribute(IFLA_INFO_KIND, kind.encode()) + (attribute(IFLA_INFO_DATA, data) if data else b"")
    body = (
        _IFINFO.pack(0, 0, index, 0, 0)
        + text(IFLA_IFNAME, name)
        + b"".join(attributes)
        + attribute(IFLA_LINKINFO, info)
    )
    return message(wire.RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, body)


def _set(index: int, attributes: bytes = b"", *, flags: int = 0, mask: int = 0) -> bytes:
    """Return the netlink message that changes the interface with the number `index`: it sets the `attributes`
    (bytes), and the interface's flags in `mask` to their values in `flags`.
    """
    return message(wire.RTM_NEWLINK, 0, _IFINFO.pack(0, 0, index, flags, mask) + attributes)


def bring_up(index: int, master: int | None = None) -> bytes:
    """Return the netlink message that switches the interface with the number `index` on and, unless `master` is None,
    makes it a port of the bridge with the number `master`.
    """
    return _set(index, b"" if master is None else u32(IFLA_MASTER, master), flags=IFF_UP, mask=IFF_UP)


def down(index: int) -> bytes:
    """Return the netlink message that switches the interface with the number `index` off."""
    return _set(index, mask=IFF_UP)


def remove(index: int) -> bytes:
    """Return the netlink message that removes the device with the number `index`."""
    return message(wire.RTM_DELLINK, 0, _IFINFO.pack(0, 0, index, 0, 0))


def hardware(index: int, mac: str, frames: int) -> bytes:
    """Return the netlink message that sets the hardware address `mac`, such as "02:00:00:00:00:0a", of the interface
    with the number `index`, and the length of its own queue to `frames` frames.
    """
    return _set(index, attribute(IFLA_ADDRESS, mac_bytes(mac)) + u32(IFLA_TXQLEN, frames))


def number(index: int, word: str, value: int) -> bytes:
    """Return the netlink message that sets a numeric property of the interface with the number `index` to `value`;
    `word` is its name in `ip`, one of NUMBERS, such as "mtu" (in bytes).
    """
    return _set(index, u32(NUMBERS[word], value))


def address(index: int, with_prefix: str) -> bytes:
    """Return the netlink message that adds the IPv4 address `with_prefix`, such as "10.0.0.1/24", to the interface with
    the number `index`; without a prefix length, 32 is meant.
    """
    host, _, prefix = with_prefix.partition("/")
    packed = ipaddress.IPv4Address(host).packed
    body = (
        _IFADDR.pack(AF_INET, int(prefix or 32), 0, 0, index)
        + attribute(IFA_LOCAL, packed)
        + attribute(IFA_ADDRESS, packed)
    )
    return message(wire.RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, body)


def route(to: str, via: str, initial_window_segments: int | None = None) -> bytes:
    """Return the netlink message that adds a route to a network such as "10.0.1.0/24", or to "default", by the router
    with the IPv4 address `via`. TCP connections over it begin with a window of `initial_window_segments` segments
    (None: Linux's default, 10).
    """
    metrics = b"" if initial_window_segments is None else u32(RTAX_INITCWND, initial_window_segments)
    return device_route(None, to, via, None, NLM_F_CREATE | NLM_F_EXCL, metrics=metrics)


def device_route(
    index: int | None, to: str, via: str | None, source: str | None, flags: int, *, metrics: bytes, remove: bool = False
) -> bytes:
    """Return the netlink message that adds, changes (as `flags` say) or, if `remove`, removes the IPv4 route to the
    network `to` (such as 10.0.1.0/24, or "default") by the interface with the number `index` (None: the kernel chooses
    it) and the router `via` (None: directly attached). `source` is the node's own address in a route that the kernel
    made (None: any other route), `flags` are those of the message, such as NLM_F_REPLACE, and `metrics` the route's
    metrics, netlink attributes as bytes.
    """
    network = ipaddress.IPv4Network("0.0.0.0/0" if to == "default" else to)
    protocol, scope = RTPROT_KERNEL if source else RTPROT_BOOT, 0 if via else RT_SCOPE_LINK
    body = _RTMSG.pack(AF_INET, network.prefixlen, 0, 0, RT_TABLE_MAIN, protocol, scope, RTN_UNICAST, 0)
    body += attribute(RTA_DST, network.network_address.packed) if network.prefixlen else b""
    body += attribute(RTA_GATEWAY, ipaddress.IPv4Address(via).packed) if via else b""
    body += attribute(RTA_PREFSRC, ipaddress.IPv4Address(source).packed) if source else b""
    body += b"" if index is None else u32(RTA_OIF, index)
    body += attribute(RTA_METRICS, metrics) if metrics else b""
    return message(wire.RTM_DELROUTE if remove else wire.RTM_NEWROUTE, flags, body)


def neighbour(index: int, host: str, mac: str) -> bytes:
    """Return the netlink message that adds a permanent neighbour on the interface with the number `index`: the hardware
    address `mac` of the IPv4 address `host`, so that no ARP is needed.
    """
    body = _NDMSG.pack(AF_INET, index, NUD_PERMANENT, 0, 0)
    body += attribute(NDA_DST, ipaddress.IPv4Address(host).packed) + attribute(NDA_LLADDR, mac_bytes(mac))
    return message(wire.RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, body)


def mac_bytes(mac: str) -> bytes:
    """Return the six bytes of a hardware address such as "02:00:00:00:00:0a".

    >>> mac_bytes("02:00:00:00:00:0a").hex()
    '02000000000a'
    """
    return bytes.fromhex(mac.replace(":", ""))
