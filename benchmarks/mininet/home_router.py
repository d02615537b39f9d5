"""A home router with one address outside. Theory: the server sees only 203.0.113.1, and its port 8080 leads to h2 by a rule alone."""

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Node
from mininet.nodelib import LinuxBridge


class HomeRouter(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl net.ipv4.ip_forward=1")
        print(
            self.cmd(
                "iptables -t nat -A POSTROUTING -o r1-eth1 -j MASQUERADE;"
                "iptables -P FORWARD DROP;"
                "iptables -A FORWARD -i r1-eth0 -o r1-eth1 -j ACCEPT;"
                "iptables -A FORWARD -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT"
            )
        )

    def forward(self, action):
        print(
            self.cmd(
                f"iptables -t nat -{action} PREROUTING -i r1-eth1 -p tcp --dport 8080 -j DNAT --to-destination 192.168.1.12:80;"
                f"iptables -{action} FORWARD -d 192.168.1.12 -p tcp --dport 80 -j ACCEPT"
            )
        )


FETCH = "python3 -c \"import urllib.request as r; print(r.urlopen('http://%s/', timeout=5).status)\" 2>&1 | tail -1"


def fetch(host, where):
    said = host.cmd(FETCH % where).strip()
    return "refused" if "Connection refused" in said else said


setLogLevel("info")
net = Mininet(controller=None, switch=LinuxBridge)
inside = net.addSwitch("s1")
h1, h2 = (net.addHost(f"h{n}", ip=f"192.168.1.1{n}/24", defaultRoute="via 192.168.1.1") for n in (1, 2))
server = net.addHost("h3", ip="203.0.113.2/24")
r1 = net.addHost("r1", cls=HomeRouter, ip="192.168.1.1/24")
net.addLink(r1, inside)
for host in (h1, h2):
    net.addLink(host, inside)
net.addLink(r1, server, params1={"ip": "203.0.113.1/24"})
net.start()

h2.cmd("python3 -u -m http.server 80 >/dev/null 2>&1 &")
server.cmd("python3 -u -m http.server 80 >log.txt 2>&1 &")
server.cmd("sleep 1")
print(h1.cmd("ping -c3 -q 203.0.113.2"))
print("inside to server:", fetch(h1, "203.0.113.2"))
print("seen from outside:", server.cmd("grep GET log.txt").split()[0])
print("forwarded port, no rule:", fetch(server, "203.0.113.1:8080"))
r1.forward("A")
print("forwarded port, with rule:", fetch(server, "203.0.113.1:8080"))
r1.forward("D")
print("forwarded port, rule gone:", fetch(server, "203.0.113.1:8080"))
print(r1.cmd("iptables -t nat -vnL; iptables -S"))
net.stop()
