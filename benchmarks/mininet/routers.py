"""Two Linux routers in a row. Theory: 0 % lost, 10 Mbit/s give 9.57 (1448 of 1514 bytes)."""

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Node


class LinuxRouter(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl net.ipv4.ip_forward=1")


setLogLevel("info")
net = Mininet(link=TCLink, controller=None)
h1 = net.addHost("h1", ip="10.0.1.2/24", defaultRoute="via 10.0.1.1")
h2 = net.addHost("h2", ip="10.0.3.2/24", defaultRoute="via 10.0.3.1")
r1 = net.addHost("r1", cls=LinuxRouter, ip="10.0.1.1/24")
r2 = net.addHost("r2", cls=LinuxRouter, ip="10.0.3.1/24")
net.addLink(h1, r1)
net.addLink(h2, r2)
net.addLink(
    r1, r2, bw=10, delay="5ms", max_queue_size=100, params1={"ip": "10.0.2.1/24"}, params2={"ip": "10.0.2.2/24"}
)
net.build()
r1.cmd("ip route add 10.0.3.0/24 via 10.0.2.2")
r2.cmd("ip route add 10.0.1.0/24 via 10.0.2.1")
net.pingAll()
net.iperf((h1, h2), seconds=10)
net.stop()
