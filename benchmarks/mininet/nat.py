"""A host behind network address translation. Theory: it reaches the outside, the outside sees the router's address."""

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Node

setLogLevel("info")
net = Mininet(controller=None)
inside = net.addHost("h1", ip="192.168.1.2/24", defaultRoute="via 192.168.1.1")
outside = net.addHost("h2", ip="10.0.0.2/24")
gateway = net.addHost("r1", cls=Node, ip="192.168.1.1/24")
net.addLink(inside, gateway)
net.addLink(gateway, outside, params1={"ip": "10.0.0.1/24"})
net.build()
gateway.cmd("sysctl net.ipv4.ip_forward=1")
print(gateway.cmd("iptables -t nat -A POSTROUTING -o r1-eth1 -j MASQUERADE"))
outside.cmd("python3 -m http.server 80 > seen.txt 2>&1 &")
net["h2"].cmd("sleep 1")
print(inside.cmd("ping -c3 -q 10.0.0.2"))
print(inside.cmd("python3 -c \"import urllib.request as u; print(u.urlopen('http://10.0.0.2/').status)\""))
print("seen from outside:", outside.cmd("cut -d' ' -f1 seen.txt | tail -1"))
net.stop()
