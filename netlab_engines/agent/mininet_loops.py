"""Spanning trees for switches whose links form a loop.

In a loop of switches without a spanning tree, a broadcast circles forever. Mininet's scripts with loops rely on a
controller that prevents it, which netlab does not have. In virtual time it would be the end of the run: packets that
circle without a delay never let time pass.
"""

import time
from typing import Any

from mininet.log import warn
from mininet.nodelib import LinuxBridge

START_S = 31.0
"""The time in s until the ports of bridges forward: twice the forward delay of IEEE 802.1D, 15 s, and a hello."""
LOOP = (
    "*** netlab: the links of the switches {names} form a loop, in which a broadcast would circle forever. The switches run the "
    "spanning tree protocol, which needs {seconds:g} s of network time first; links that it blocks carry nothing\n"
)


def install() -> None:
    """Let Mininet's networks start a spanning tree where their switches form a loop; to be called after the classes of
    `mininet.node` are replaced and before a script imports modules of Mininet.
    """
    # The module takes its default classes from `mininet.node` when it is imported.
    import mininet.net

    plain_start = mininet.net.Mininet.start

    def start(self: Any) -> None:
        """Start the network `self` as Mininet does. If the links of some switches form a loop and none of these runs the
        spanning tree protocol, they run it, a line in Mininet's log says so, and START_S s of network time pass.
        """
        if not self.built:
            self.build()
        looped = _looped_switches(self)
        for switch in looped:
            switch.stp = True
        plain_start(self)
        if looped:
            warn(LOOP.format(names=", ".join(switch.name for switch in looped), seconds=START_S))
            time.sleep(START_S)

    mininet.net.Mininet.start = start


def _looped_switches(net: Any) -> list[Any]:
    """Return the bridges of a network in each of its parts, connected by links between bridges, in which these links
    form a loop and no bridge runs the spanning tree protocol.
    """
    parts = {switch: [switch] for switch in net.switches if isinstance(switch, LinuxBridge)}
    looped: dict[Any, None] = {}
    extra = []
    for link in net.links:
        ends = [getattr(intf, "node", None) for intf in (link.intf1, link.intf2)]
        if not all(end in parts for end in ends):
            continue
        first, second = (parts[end] for end in ends)
        if first is second:
            extra.append(first[0])
        else:
            first += second
            parts.update(dict.fromkeys(second, first))
    for switch in extra:
        part = parts[switch]
        if not any(each.stp for each in part):
            looped |= dict.fromkeys(part)
    return [switch for switch in net.switches if switch in looped]
