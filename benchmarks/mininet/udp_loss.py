"""UDP faster than the link. Theory: 10 Mbit/s offered, 5 Mbit/s carried: 4.86 arrive (1470 of 1512 bytes), half is lost."""

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet

setLogLevel("info")
net = Mininet(link=TCLink, controller=None)
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2, bw=5, max_queue_size=50)
net.start()
net.iperf((h1, h2), l4Type="UDP", udpBw="10M", seconds=10)
net.stop()
