"""A ring of four switches with a spanning tree. Theory: the tree cuts one link, and when another fails it mends the ring."""

import time

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo


class Ring(Topo):
    def build(self) -> None:
        switches = [self.addSwitch(f"s{n}", stp=True, prio=n) for n in range(1, 5)]
        for n, switch in enumerate(switches):
            self.addLink(switch, switches[(n + 1) % 4])
            self.addLink(switch, self.addHost(f"h{n + 1}"))


setLogLevel("info")
net = Mininet(Ring(), switch=LinuxBridge, controller=None)
net.start()
time.sleep(60)
net.pingAll()
net.configLinkStatus("s1", "s2", "down")
time.sleep(60)
net.pingAll()
net.stop()
