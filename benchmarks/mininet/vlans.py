"""Two VLANs over one switch. Theory: hosts of one VLAN reach each other, those of different ones do not: 8 of 12 lost."""

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Host
from mininet.nodelib import LinuxBridge
from mininet.topo import SingleSwitchTopo


class VLANHost(Host):
    def config(self, vlan=100, **params):
        found = super().config(**params)
        interface = self.defaultIntf()
        self.cmd(f"ip address flush dev {interface}")
        self.cmd(f"ip link add link {interface} name {interface}.{vlan} type vlan id {vlan}")
        self.cmd(f"ip address add {params['ip']} dev {interface}.{vlan}")
        self.cmd(f"ip link set {interface}.{vlan} up")
        interface.name = f"{interface}.{vlan}"
        self.nameToIntf[interface.name] = interface
        return found


class Topo(SingleSwitchTopo):
    def build(self, k=4, **_options):
        switch = self.addSwitch("s1")
        for n in range(1, k + 1):
            self.addLink(self.addHost(f"h{n}", cls=VLANHost, vlan=100 + n % 2), switch)


setLogLevel("info")
net = Mininet(Topo(), switch=LinuxBridge, controller=None)
net.start()
net.pingAll(timeout="1")
net.stop()
