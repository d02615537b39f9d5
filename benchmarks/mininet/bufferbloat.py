"""A ping during a download. Theory: 242 ms (100 frames) + 20 ms; more, as Mininet counts a segment of many frames once."""

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import SingleSwitchTopo

setLogLevel("info")
net = Mininet(SingleSwitchTopo(k=2), switch=LinuxBridge, link=TCLink, controller=None, build=False)
net.topo = None
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2, bw=5, delay="10ms", max_queue_size=100)
net.start()
print(h1.cmd("ping -c4 -q", h2.IP()))
h2.cmd("iperf -s > server.txt &")
h1.cmd("iperf -t 20 -c", h2.IP(), "> client.txt &")
h1.cmd("sleep 8")
print(h1.cmd("ping -c10 -q", h2.IP()))
net.stop()
