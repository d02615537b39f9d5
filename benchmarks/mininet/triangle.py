"""Three routers in a triangle. Theory: RTT 20 ms on the direct link and, when that has failed, 40 ms over the third router."""

from mininet.link import TCLink
from mininet.log import info, setLogLevel
from mininet.net import Mininet
from mininet.node import Node


class LinuxRouter(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl net.ipv4.ip_forward=1")


setLogLevel("info")
net = Mininet(link=TCLink, controller=None)
h1 = net.addHost("h1", ip="10.0.1.2/24", defaultRoute="via 10.0.1.1")
h2 = net.addHost("h2", ip="10.0.2.2/24", defaultRoute="via 10.0.2.1")
r1 = net.addHost("r1", cls=LinuxRouter, ip="10.0.1.1/24")
r2 = net.addHost("r2", cls=LinuxRouter, ip="10.0.2.1/24")
r3 = net.addHost("r3", cls=LinuxRouter, ip=None)
net.addLink(h1, r1)
net.addLink(h2, r2)
net.addLink(r1, r2, delay="10ms", params1={"ip": "10.0.12.1/24"}, params2={"ip": "10.0.12.2/24"})
net.addLink(r2, r3, delay="10ms", params1={"ip": "10.0.23.2/24"}, params2={"ip": "10.0.23.3/24"})
net.addLink(r1, r3, delay="10ms", params1={"ip": "10.0.13.1/24"}, params2={"ip": "10.0.13.3/24"})
net.build()
r1.cmd("ip route add 10.0.2.0/24 via 10.0.12.2 metric 1; ip route add 10.0.2.0/24 via 10.0.13.3 metric 2")
r2.cmd("ip route add 10.0.1.0/24 via 10.0.12.1 metric 1; ip route add 10.0.1.0/24 via 10.0.23.3 metric 2")
r3.cmd("ip route add 10.0.1.0/24 via 10.0.13.1; ip route add 10.0.2.0/24 via 10.0.23.2")
# The first ping of each way waits for addresses.
info(h1.cmd("ping -c1 -q", h2.IP(), ">/dev/null; ping -c4", h2.IP()))
net.configLinkStatus("r1", "r2", "down")
info(h1.cmd("ping -c1 -q", h2.IP(), ">/dev/null; ping -c4", h2.IP()))
net.stop()
