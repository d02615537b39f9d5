"""Test what the usual lines of iptables and nft and the types of ipset do to packets; values are those of manual pages and RFCs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest

from netlab_engines.lab.live import Lab
from tests.lab.commands_in_hosts import H1, H2, PINGS, PYTHON, R1, bare_lab, counts, done, python, received

pytestmark = [pytest.mark.pocket, pytest.mark.slow]

R1_TO_H2 = "10.0.3.1"
SERVER = """
import socket, threading, time
def answer(s):
    while True:
        connection, _ = s.accept()
        print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG), flush=True)
        kept.append(connection)
kept = []
for port in 80, 81:
    s = socket.create_server(("", port))
    threading.Thread(target=answer, args=(s,)).start()
"""
CLIENT = """
import socket, sys, time
for port in map(int, sys.argv[2:]):
    s = socket.socket()
    s.settimeout(0.5)
    began = time.monotonic()
    try:
        s.connect((sys.argv[1], port))
        print("connected", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG))
    except OSError as error:
        print(type(error).__name__, time.monotonic() - began < 0.1)
    globals()[f"kept{port}"] = s
"""


@pytest.fixture
def lab() -> Iterator[Lab]:
    with bare_lab() as made:
        yield made


def connect(lab: Lab, *ports: int) -> list[str]:
    return python(lab, "h1", CLIENT, H2, *map(str, ports)).splitlines()


def serve(lab: Lab) -> None:
    lab["h2"].start(f"{PYTHON} -u - <<'END'\n{SERVER}\nEND")
    lab.advance(0.5)


# With -Q 0xb8 a ping has DSCP 46 (0xb8 >> 2, Expedited Forwarding of RFC 3246); it has 20 + 8 + 56 bytes and crosses one router.
MATCHES = {
    "-m ttl --ttl-eq 63": PINGS,
    "-m ttl --ttl-gt 63": 0,
    "-m dscp --dscp 46": PINGS,
    "-m dscp --dscp-class EF": PINGS,
    "-m tos --tos 0xb8/0xff": PINGS,
    "-m length --length 84": PINGS,
    "-m length --length 85:": 0,
    f"-m iprange --src-range 10.0.1.0-{H1}": PINGS,
    "-m iprange ! --src-range 10.0.1.0-10.0.1.9": 0,
    "-m addrtype --dst-type LOCAL": PINGS,
    "-m addrtype --src-type LOCAL": 0,
    "-m icmp --icmp-type echo-request": PINGS,
    "-m icmp --icmp-type echo-reply": 0,
    "-m conntrack --ctstate NEW": 1,
    f"-m conntrack --ctorigsrc {H1} --ctproto icmp": PINGS,
    "-m state --state ESTABLISHED": PINGS - 1,
    "-m statistic --mode random --probability 1": PINGS,
    "-m limit --limit 1/minute --limit-burst 4": 4,
    f"-s 10.0.0.0/16 ! -d {H1}": PINGS,
    "-i h2-eth0 -m comment --comment any": PINGS,
    "-i h2-eth1": 0,
    "-f": 0,
}


def test_usual_matches_count_the_packets_that_they_describe(lab: Lab) -> None:
    done(lab, "h2", *(f"iptables -A INPUT -p icmp {rule}" for rule in MATCHES))
    assert received(lab, "-Q 0xb8") == PINGS
    assert dict(zip(MATCHES, counts(done(lab, "h2", "iptables -vnxL INPUT")), strict=True)) == MATCHES


def test_one_of_four_packets_is_dropped(lab: Lab) -> None:
    done(lab, "r1", "iptables -A FORWARD -p icmp -s 10.0.1.0/24 -m statistic --mode nth --every 4 --packet 0 -j DROP")
    assert received(lab, count=12) == 9


def test_after_three_packets_in_a_minute_an_address_is_locked_out(lab: Lab) -> None:
    """The manual's use of `recent`: the fourth packet is the first with --hitcount 4."""
    done(
        lab,
        "h2",
        "iptables -A INPUT -p icmp -m recent --name guests --set",
        "iptables -A INPUT -p icmp -m recent --name guests --rcheck --seconds 60 --hitcount 4 -j DROP",
    )
    assert received(lab) == 3
    lab.advance(61)
    assert received(lab, count=2) == 2


def test_ttl_and_dscp_are_written(lab: Lab) -> None:
    done(
        lab,
        "h1",
        "iptables -t mangle -A POSTROUTING -p icmp -j TTL --ttl-set 10",
        "iptables -t mangle -A POSTROUTING -p icmp -j DSCP --set-dscp-class AF41",
    )
    done(
        lab,
        "r1",
        "iptables -t mangle -A FORWARD -p icmp -j TTL --ttl-dec 3",
        "iptables -t mangle -A POSTROUTING -s 10.0.3.0/24 -j TOS --set-tos 0x20",
    )
    # 10, less 3, less 1 of the router; AF41 is 34 (RFC 2597: 4 * 8 + 1 * 2).
    done(lab, "h2", "iptables -A INPUT -m ttl --ttl-eq 6 -m dscp --dscp 34")
    # 0x20 is DSCP 8.
    done(lab, "h1", "iptables -A INPUT -m ttl --ttl-eq 60 -m dscp --dscp 8")
    assert received(lab) == PINGS
    assert [counts(done(lab, host, "iptables -vnxL INPUT")) for host in ("h2", "h1")] == [[PINGS], [PINGS]]


@pytest.mark.parametrize(
    ("target", "seen"),
    [
        ("REJECT", "Destination Port Unreachable"),
        ("REJECT --reject-with icmp-host-prohibited", "Destination Host Prohibited"),
        ("REJECT --reject-with icmp-admin-prohibited", "Packet filtered"),
        ("REJECT --reject-with icmp-net-unreachable", "Destination Net Unreachable"),
        ("DROP", "100% packet loss"),
    ],
)
def test_a_sender_learns_why_its_packets_were_rejected(lab: Lab, target: str, seen: str) -> None:
    """ping prints the codes of RFC 792 and RFC 1812 (5.2.7.1)."""
    done(lab, "r1", f"iptables -A FORWARD -p icmp -j {target}")
    said = str(lab["h1"].run(f"ping -c 1 -W 1 {H2}"))
    assert seen in said, said
    assert (f"From {R1} icmp_seq=1" in said) == (target != "DROP")


def test_connections_are_refused_at_once_or_only_time_out(lab: Lab) -> None:
    serve(lab)
    done(
        lab,
        "h2",
        "iptables -A INPUT -p tcp --dport 80 -m connlimit --connlimit-above 1 -j REJECT --reject-with tcp-reset",
        "iptables -A INPUT -p tcp -m multiport --dports 82,90:92 -j DROP",
        "iptables -t nat -A PREROUTING -p tcp --dport 8081 -j REDIRECT --to-ports 81",
    )
    mss = "connected 1448"
    said = connect(lab, 80, 8081, 91, 93)
    assert said == [mss, mss, "TimeoutError False", "ConnectionRefusedError True"]
    lab["h1"].start(f"{PYTHON} -c 'import socket, time; s = socket.create_connection((\"{H2}\", 80)); time.sleep(9)'")
    lab.advance(0.5)
    assert connect(lab, 80) == ["ConnectionRefusedError True"], "a second one from this address"


def test_the_segment_size_of_a_handshake_is_changed(lab: Lab) -> None:
    """RFC 6691: the option counts no other options, and the timestamps take 12 bytes of each segment (RFC 7323)."""
    serve(lab)
    done(lab, "r1", "iptables -t mangle -A FORWARD -p tcp --dport 80 --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 500")
    done(lab, "r1", "iptables -t mangle -A FORWARD -p tcp --dport 81 -j TCPOPTSTRIP --strip-options timestamp")
    assert connect(lab, 80, 81) == ["connected 1448", "connected 1460"]
    done(lab, "r1", "iptables -t mangle -A FORWARD -p tcp --sport 80 --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 500")
    assert connect(lab, 80) == [f"connected {500 - 12}"]


MEMBERS = {
    # The type, a member that has the pings of h1 to h2, the directions, and a member that has not.
    "hash:ip": (H1, "src", "10.0.1.9"),
    "hash:net": ("10.0.1.0/24", "src", "10.0.9.0/24"),
    "hash:ip,mark": (f"{H1},0x5", "src,src", f"{H1},0x6"),
    "hash:net,iface": ("10.0.1.0/24,h2-eth0", "src,src", "10.0.1.0/24,lo"),
    "hash:net,net": ("10.0.1.0/24,10.0.3.0/24", "src,dst", "10.0.3.0/24,10.0.1.0/24"),
    "hash:ip,port": (f"{H1},icmp:echo-request", "src,dst", f"{H1},icmp:echo-reply"),
    "hash:net,port": ("10.0.1.0/24,icmp:8/0", "src,dst", "10.0.1.0/24,icmp:0/0"),
    "hash:ip,port,ip": (f"{H1},icmp:8/0,{H2}", "src,dst,dst", f"{H1},icmp:8/0,{H1}"),
    "hash:ip,port,net": (f"{H1},icmp:8/0,10.0.3.0/24", "src,dst,dst", f"{H1},icmp:8/0,10.0.4.0/24"),
    "hash:net,port,net": ("10.0.1.0/24,icmp:8/0,10.0.3.0/24", "src,dst,dst", "10.0.1.0/24,udp:8,10.0.3.0/24"),
    "bitmap:ip range 10.0.1.0/24": (H1, "src", "10.0.1.9"),
}


@pytest.mark.skipif(not shutil.which("ipset", path="/usr/sbin:/sbin:/usr/bin"), reason="ipset is not installed")
@pytest.mark.parametrize("kind", MEMBERS)
def test_a_set_of_each_type_has_the_packets_of_its_members(lab: Lab, kind: str) -> None:
    member, directions, other = MEMBERS[kind]
    done(
        lab,
        "h2",
        "iptables -t mangle -A PREROUTING -j MARK --set-mark 5",
        f"ipset create known {kind}",
        f"iptables -A INPUT -p icmp -m set --match-set known {directions}",
        f"ipset add known {other}",
    )
    assert received(lab) == PINGS
    done(lab, "h2", f"ipset add known {member}")
    assert received(lab) == PINGS
    assert counts(done(lab, "h2", "iptables -vnxL INPUT")) == [PINGS]


@pytest.mark.skipif(not shutil.which("ipset", path="/usr/sbin:/sbin:/usr/bin"), reason="ipset is not installed")
def test_an_entry_of_a_set_ends_after_its_time(lab: Lab) -> None:
    done(
        lab,
        "h2",
        "ipset create known hash:ip timeout 30",
        "ipset create all list:set",
        "ipset add all known",
        f"ipset add known {H1}",
        "iptables -A INPUT -m set --match-set all src -j DROP",
    )
    assert received(lab) == 0
    lab.advance(31)
    assert received(lab) == PINGS
    assert re.search(r"Number of entries: 0", done(lab, "h2", "ipset list known"))


@pytest.mark.skipif(not shutil.which("ipset", path="/usr/sbin:/sbin:/usr/bin"), reason="ipset is not installed")
def test_sets_of_hardware_addresses_and_of_ports(lab: Lab) -> None:
    serve(lab)
    (mac,) = re.findall(r"link/ether (\S+)", done(lab, "r1", "ip link show dev r1-eth2"))
    done(
        lab,
        "h2",
        "ipset create senders hash:mac",
        f"ipset add senders {mac}",
        "ipset create both hash:ip,mac",
        f"ipset add both {H1},{mac}",
        "ipset create map bitmap:ip,mac range 10.0.1.0/24",
        f"ipset add map {H1},{mac}",
        "ipset create closed bitmap:port range 80-90",
        "ipset add closed 81-82",
        "iptables -A INPUT -p icmp -m set --match-set senders src",
        "iptables -A INPUT -p icmp -m set --match-set both src,src",
        "iptables -A INPUT -p icmp -m set --match-set map src,src",
        "iptables -A INPUT -p tcp -m set --match-set closed dst -j REJECT --reject-with tcp-reset",
    )
    assert received(lab) == PINGS
    assert counts(done(lab, "h2", "iptables -vnxL INPUT"))[:3] == [PINGS] * 3
    assert connect(lab, 80, 81) == ["connected 1448", "ConnectionRefusedError True"]


RULESETS = {
    # Expressions of nft(8), and the packets of ten pings that they count.
    "ip ttl 63": PINGS,
    "ip dscp ef": PINGS,
    "meta length 84": PINGS,
    "icmp type echo-request": PINGS,
    "icmp sequence 3": 1,
    "ip saddr 10.0.1.0/24 ip daddr != 10.0.9.0/24": PINGS,
    f"ip saddr . ip daddr {{ {H1} . {H2} }}": PINGS,
    "fib daddr type local": PINGS,
    "fib saddr . iif oif missing": 0,
    "numgen inc mod 5 == 0": 2,
    "jhash ip saddr mod 1 == 0": PINGS,
    "ct state new": 1,
    "ct state established": PINGS - 1,
    "ct original packets > 3": PINGS - 3,
    "quota 420 bytes": 5,
    "quota over 420 bytes": 5,
    "limit rate 1/minute burst 4 packets": 4,
    "limit rate over 1/minute burst 4 packets": 6,
    "meta iifname h2-eth0 meta protocol ip": PINGS,
    "@nh,64,8 63": PINGS,
    "ct count over 1": 0,
    "meta skuid 5": 0,
}


@pytest.mark.skipif(not shutil.which("nft", path="/usr/sbin:/sbin:/usr/bin"), reason="nft is not installed")
def test_expressions_of_nft_count_the_packets_that_they_describe(lab: Lab) -> None:
    done(lab, "h2", "sysctl -qw net.netfilter.nf_conntrack_acct=1", "nft add table ip t")
    done(lab, "h2", "nft 'add chain ip t in { type filter hook input priority 0; }'")
    done(lab, "h2", *(f"nft 'add rule ip t in ip protocol icmp {text} counter'" for text in RULESETS))
    assert received(lab, "-Q 0xb8") == PINGS
    listed = done(lab, "h2", "nft list chain ip t in")
    assert dict(zip(RULESETS, map(int, re.findall(r"counter packets (\d+)", listed)), strict=True)) == RULESETS


@pytest.mark.skipif(not shutil.which("nft", path="/usr/sbin:/sbin:/usr/bin"), reason="nft is not installed")
def test_statements_of_nft_translate_copy_and_mark(lab: Lab) -> None:
    serve(lab)
    done(
        lab,
        "h2",
        "nft add table ip t",
        "nft 'add chain ip t pre { type nat hook prerouting priority -100; }'",
        "nft add rule ip t pre tcp dport 8081 redirect to :81",
        "nft 'add rule ip t pre tcp dport vmap { 82 : drop, 83 : accept }'",
        "nft 'add chain ip t in { type filter hook input priority 0; }'",
        "nft add rule ip t in tcp dport 84 reject with tcp reset",
        "nft 'add set ip t seen { type ipv4_addr; flags dynamic, timeout; timeout 60s; }'",
        "nft 'add chain ip t copies { type filter hook prerouting priority -150; }'",
        "nft 'add rule ip t copies icmp type echo-request add @seen { ip saddr } counter'",
    )
    assert connect(lab, 8081, 82, 84) == ["connected 1448", "TimeoutError False", "ConnectionRefusedError True"]
    done(
        lab,
        "r1",
        "nft add table ip t",
        "nft 'add chain ip t pre { type filter hook prerouting priority -150; }'",
        f"nft add rule ip t pre iifname r1-eth0 ip daddr {R1} icmp type echo-request dup to {H2}",
        "nft 'add chain ip t post { type nat hook postrouting priority 100; }'",
        "nft add rule ip t post oifname r1-eth2 masquerade",
    )
    assert received(lab, to=R1) == PINGS
    # A copy keeps its destination, so h2 drops it after the routing.
    assert f"counter packets {PINGS} " in done(lab, "h2", "nft list chain ip t copies")
    assert seen(lab) == [H1]
    lab.advance(61)
    assert seen(lab) == []
    assert received(lab) == PINGS
    assert seen(lab) == [R1_TO_H2], "translated"


def seen(lab: Lab) -> list[str]:
    return re.findall(
        r"([\d.]+) (?:timeout|expires)", done(lab, "h2", "nft list set ip t seen").partition("elements")[2]
    )
