"""A star: eight hosts at one switch. Theory: every ping is answered, in 4 delays of 2 ms."""

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import SingleSwitchTopo

setLogLevel("info")
net = Mininet(SingleSwitchTopo(k=8, lopts={"delay": "2ms"}), switch=LinuxBridge, link=TCLink, controller=None)
net.start()
net.pingAll()
net["h1"].cmd("ping -c1", net["h8"].IP())
print(net["h1"].cmd("ping -c4 -q", net["h8"].IP()))
net.stop()
