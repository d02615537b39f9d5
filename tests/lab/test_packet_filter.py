"""iptables in a guest's hosts: what it says is what packets meet."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import netlab as nl
from netlab_engines.lab.live import Lab
from netlab_engines.lab.script import run_script

pytestmark = pytest.mark.pocket

FETCH = f"{sys.executable} -S -c \"import urllib.request as r; print(r.urlopen('http://%s/', timeout=3).status)\" 2>&1 | tail -1"


@pytest.fixture
def lab() -> Iterator[Lab]:
    """A home with a host (h1) behind a router (r1), and a host outside (h2)."""
    network = nl.Topology(
        hosts=["h1", "h2"], routers=["r1"], links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=10, delay_ms=5)]
    )
    with nl.live(network, seed=1) as created:
        yield created


def fetch(lab: Lab, node: str, where: str) -> str:
    """The status with which a web server answers, or what went wrong."""
    return lab[node].run(FETCH % where).strip()


def outside_address(lab: Lab) -> str:
    """The router's address on the link to h2."""
    return str(lab["r1"].run("ip -o -4 addr show dev r1-eth1")).split()[3].partition("/")[0]


def test_behind_a_router_that_masquerades_a_server_sees_the_routers_address(lab: Lab) -> None:
    server = lab["h2"].start("python3 -u -m http.server 80")
    lab.advance(1)
    assert fetch(lab, "h1", "h2") == "200"
    assert f"{lab['h1'].address} - - [" in server.output
    assert lab["r1"].run("iptables -t nat -A POSTROUTING -o r1-eth1 -j MASQUERADE") == ""
    # Until the last packets of the first connection have gone.
    lab.advance(1)
    capture = lab.capture("r1", "h2")
    assert fetch(lab, "h1", "h2") == "200"
    assert server.output.count(f"{lab['h1'].address} - - [") == 1
    assert f"{outside_address(lab)} - - [" in server.output
    packets = capture.packets
    assert set(packets.src) == {"r1", "h2"}
    assert set(packets.dst) == {"r1", "h2"}
    listed = lab["r1"].run("iptables -t nat -vnL POSTROUTING")
    # Debian 12's iptables writes 0 for every protocol, others "all".
    assert re.search(r" 1 +60 MASQUERADE +(0|all) +-- +\* +r1-eth1 +0\.0\.0\.0/0 +0\.0\.0\.0/0", listed), listed
    assert "src=" + lab["h1"].address in lab["r1"].run("cat /proc/net/nf_conntrack")


def test_a_port_is_forwarded_to_a_host_inside_and_only_by_the_rule(lab: Lab) -> None:
    lab["h1"].start("python3 -u -m http.server 80")
    lab.advance(1)
    where = f"{outside_address(lab)}:8080"
    rule = f"PREROUTING -i r1-eth1 -p tcp --dport 8080 -j DNAT --to-destination {lab['h1'].address}:80"
    assert "Connection refused" in fetch(lab, "h2", where)
    assert lab["r1"].run(f"iptables -t nat -A {rule}").exit_code == 0
    assert fetch(lab, "h2", where) == "200"
    assert lab["r1"].run(f"iptables -t nat -D {rule}").exit_code == 0
    assert "Connection refused" in fetch(lab, "h2", where)


def test_a_filter_lets_through_what_began_inside_only(lab: Lab) -> None:
    lab["r1"].run(
        "iptables -P FORWARD DROP\n"
        "iptables -A FORWARD -i r1-eth0 -j ACCEPT\n"
        "iptables -A FORWARD -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT"
    )
    assert "2 received" in lab["h1"].run("ping -c2 -i0.2 h2")
    assert "0 received" in lab["h2"].run("ping -c2 -i0.2 -W1 h1")
    lab["r1"].run("iptables -I FORWARD -i r1-eth1 -p icmp -j REJECT --reject-with icmp-host-prohibited")
    assert "Destination Host Prohibited" in lab["h2"].run("ping -c1 -W1 h1")
    lab["r1"].run("iptables -F; iptables -P FORWARD ACCEPT")
    assert "2 received" in lab["h2"].run("ping -c2 -i0.2 h1")


def test_rules_are_kept_in_order_and_each_node_has_its_own(lab: Lab) -> None:
    text = lab["r1"].run(
        "iptables -N WEB; iptables -A WEB -p tcp --dport 80 -j ACCEPT\n"
        "iptables -A INPUT -j WEB; iptables -I INPUT -s h2 -j DROP; iptables -I INPUT 2 -p icmp -j RETURN\n"
        "iptables -C INPUT -j WEB && echo there; iptables -D INPUT 2; iptables -X WEB || echo used; iptables -S"
    )
    first, second, *others = text.splitlines()
    assert first == "there"
    assert "(Device or resource busy): chain WEB" in second
    assert others == [
        "used",
        "-P INPUT ACCEPT",
        "-P FORWARD ACCEPT",
        "-P OUTPUT ACCEPT",
        "-N WEB",
        f"-A INPUT -s {lab['h2'].address}/32 -j DROP",
        "-A INPUT -j WEB",
        "-A WEB -p tcp -m tcp --dport 80 -j ACCEPT",
    ]
    assert "*filter\n:INPUT ACCEPT [0:0]\n" in lab["r1"].run("iptables-save")
    assert lab["h1"].run("iptables -S INPUT") == "-P INPUT ACCEPT\n"
    refused = lab["r1"].run("iptables -A INPUT -j WEBB")
    assert (refused.exit_code, "Chain 'WEBB' does not exist" in refused) == (2, True)
    assert "has no IPv6" in lab["r1"].run("ip6tables -L")


USUAL_COMMANDS = [
    "-A INPUT -p tcp --syn -m connlimit --connlimit-above 3 -j REJECT --reject-with tcp-reset",
    "-A INPUT -p tcp -m multiport --dports 22,80 -m state --state NEW -m comment --comment 'a web server' -j ACCEPT",
    "-A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 500",
    "-A FORWARD -m limit --limit 5/second -m mac --mac-source 02:00:00:00:00:01 -j LOG --log-prefix seen",
    "-A FORWARD -p icmp --icmp-type echo-request -m ttl --ttl-lt 5 -m length --length 0:100 -j DROP",
    "-A FORWARD -m iprange --src-range 10.0.0.1-10.0.0.9 -m statistic --mode nth --every 3 --packet 0 -j DROP",
    "-t mangle -A POSTROUTING -p udp -j DSCP --set-dscp 46",
    "-t mangle -A PREROUTING -m dscp --dscp 46 -m mark --mark 0 -j MARK --set-mark 7",
    "-t mangle -A PREROUTING -m addrtype --dst-type LOCAL -j TTL --ttl-set 64",
    "-t mangle -A PREROUTING -p tcp -m ecn --ecn-tcp-ece -m tcpmss --mss 500:1460 -j RETURN",
    "-t nat -A PREROUTING -p tcp --dport 81 -j REDIRECT --to-ports 80",
    "-t nat -A POSTROUTING -s 10.0.0.0/8 -o r1-eth1 -j SNAT --to-source 10.0.0.1",
]


def test_the_kernel_has_what_the_usual_lines_need(lab: Lab) -> None:
    for line in USUAL_COMMANDS:
        text = lab["r1"].run(f"iptables {line}")
        assert (text.exit_code, text) == (0, ""), line
    saved = lab["r1"].run("iptables-save")
    assert saved.count("\n-A ") == len(USUAL_COMMANDS), saved


HOME = """
    import sys
    from mininet.net import Mininet
    from mininet.nodelib import NAT
    from mininet.topo import Topo
    from mininet.log import setLogLevel
    setLogLevel("info")

    class Home(Topo):
        def build(self):
            inside, outside = self.addSwitch("s1"), self.addSwitch("s2")
            nat = self.addNode("nat1", cls=NAT, subnet="192.168.1.0/24", inetIntf="nat1-eth0", localIntf="nat1-eth1")
            self.addLink(nat, outside, intfName1="nat1-eth0")
            self.addLink(nat, inside, intfName1="nat1-eth1", params1={"ip": "192.168.1.1/24"})
            h1 = self.addHost("h1", ip="192.168.1.100/24", defaultRoute="via 192.168.1.1")
            self.addLink(h1, inside)
            self.addLink(self.addHost("h2"), outside)

    net = Mininet(topo=Home(), controller=None)
    net.start()
    print(net["h1"].cmd("ping -c2 -q", net["h2"].IP()))
    print(net["h2"].cmd("ping -c1 -W1 -q 192.168.1.100"))
    print(net["nat1"].cmd("iptables -t nat -S POSTROUTING; cat /proc/net/nf_conntrack"))
    net.stop()
"""


def test_mininets_own_nat_translates(tmp_path: Path) -> None:
    (tmp_path / "home.py").write_text(textwrap.dedent(HOME))
    parts: list[str] = []
    finished = run_script([str(tmp_path / "home.py")], write=parts.append, directory=tmp_path)
    text = "".join(parts)
    assert finished.code == 0, text
    assert "2 packets transmitted, 2 received" in text, text
    assert "-A POSTROUTING -s 192.168.1.0/24 ! -d 192.168.1.0/24 -j MASQUERADE" in text
    assert "src=192.168.1.100" in text
    assert "Network is unreachable" in text, "who is behind the NAT has no address outside"
    assert "has no connection to the machine's network" not in text
