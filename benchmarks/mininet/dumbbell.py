"""Two pairs over one bottleneck. Theory: 10 Mbit/s are shared, 9.57 of data together."""

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo


class Dumbbell(Topo):
    def build(self) -> None:
        left, right = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(left, right, bw=10, delay="10ms", max_queue_size=50)
        for n in (1, 2):
            self.addLink(self.addHost(f"h{n}"), left)
            self.addLink(self.addHost(f"h{n + 2}"), right)


setLogLevel("info")
net = Mininet(Dumbbell(), switch=LinuxBridge, link=TCLink, controller=None)
net.start()
net.pingAll()
for n in (3, 4):
    net[f"h{n}"].cmd("iperf -s > server.txt &")
net["h1"].sendCmd("iperf -t 20 -c", net["h3"].IP())
second = net["h2"].cmd("iperf -t 20 -c", net["h4"].IP())
print(net["h1"].waitOutput(), second)
net.stop()
