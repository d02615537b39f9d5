"""A fat tree of 4-port switches, its spare links cut by the spanning tree. Theory: 16 hosts, every ping answered."""

import time

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo


class FatTree(Topo):
    def build(self, k: int = 4) -> None:
        cores = [self.addSwitch(f"c{n}", stp=True, prio=n) for n in range(1, (k // 2) ** 2 + 1)]
        host = 0
        for pod in range(1, k + 1):
            upper = [self.addSwitch(f"a{pod}{n}", stp=True) for n in range(1, k // 2 + 1)]
            lower = [self.addSwitch(f"e{pod}{n}", stp=True) for n in range(1, k // 2 + 1)]
            for number, switch in enumerate(upper):
                for core in cores[number * k // 2 : (number + 1) * k // 2]:
                    self.addLink(switch, core)
                for edge in lower:
                    self.addLink(switch, edge)
            for edge in lower:
                for _ in range(k // 2):
                    host += 1
                    self.addLink(edge, self.addHost(f"h{host}"))


setLogLevel("info")
net = Mininet(FatTree(), switch=LinuxBridge, controller=None)
net.start()
time.sleep(60)
net.pingAll()
net.stop()
