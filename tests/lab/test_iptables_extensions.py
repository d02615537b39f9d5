"""Extensions of iptables in a guest: a use of each, with the result that its manual page promises."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest

from netlab_engines.lab.live import Lab
from tests.lab.commands_in_hosts import H2, PINGS, PYTHON, R1, bare_lab, counts, done, python, received

pytestmark = [pytest.mark.pocket, pytest.mark.slow]


@pytest.fixture
def lab() -> Iterator[Lab]:
    with bare_lab() as made:
        yield made


ICMP_RULES = {
    "-m hashlimit --hashlimit-upto 10/sec --hashlimit-burst 2 --hashlimit-mode srcip --hashlimit-name a": 2,
    "-m string --algo bm --hex-string '|6e65746c6162|'": PINGS,
    "-m string --algo kmp --string nothing": 0,
    "-m u32 --u32 '6&0xFF=1'": PINGS,
    "-m bpf --bytecode '4,48 0 0 9,21 0 1 1,6 0 0 1,6 0 0 0'": PINGS,
    "-m pkttype --pkt-type unicast": PINGS,
    "-m quota --quota 420": 5,
    "-m connbytes --connbytes 4: --connbytes-dir original --connbytes-mode packets": 7,
    "-m time --timestart 00:00 --timestop 23:59:59": PINGS,
    "-m cpu --cpu 0": PINGS,
    "-m devgroup --src-group 7": PINGS,
    "-m mark --mark 5": PINGS,
    "-m connmark --mark 6": PINGS,
    "-m cluster --cluster-total-nodes 1 --cluster-local-node 1 --cluster-hash-seed 1": PINGS,
    "-m helper --helper ftp": 0,
    "-m realm --realm 3": 0,
    "-m conntrack --ctstate NEW,ESTABLISHED": PINGS,
}


def test_matches_of_iptables_count_the_packets_that_they_describe(lab: Lab) -> None:
    done(lab, "h2", "ip link set h2-eth0 group 7", "sysctl -qw net.netfilter.nf_conntrack_acct=1")
    mangle = "iptables -t mangle -A PREROUTING -p icmp"
    done(lab, "h2", f"{mangle} -j MARK --set-mark 5", f"{mangle} -j CONNMARK --set-mark 6", f"{mangle} -m rpfilter")
    done(lab, "h2", *(f"iptables -A INPUT -p icmp {rule}" for rule in ICMP_RULES))
    # "netlab" in hexadecimal digits.
    assert received(lab, "-p 6e65746c6162") == PINGS
    assert dict(zip(ICMP_RULES, counts(done(lab, "h2", "iptables -vnxL INPUT")), strict=True)) == ICMP_RULES
    assert counts(done(lab, "h2", "iptables -t mangle -vnxL PREROUTING")) == [PINGS, PINGS, PINGS]


def test_hashlimit_lets_its_rate_through(lab: Lab) -> None:
    limit = "-m hashlimit --hashlimit-upto 10/sec --hashlimit-burst 5 --hashlimit-mode srcip --hashlimit-name pings"
    done(lab, "h2", f"iptables -A INPUT -p icmp {limit} -j ACCEPT", "iptables -A INPUT -p icmp -j DROP")
    said = done(lab, "h1", f"ping -q -i 0.01 -W 1 -c 1000 {H2}")
    found = re.search(r"(\d+) received.* time (\d+)ms", said)
    assert found, said
    # The burst, and 10 a second.
    assert int(found[1]) == pytest.approx(5 + 10 * int(found[2]) / 1000, abs=2)


CONNECT = """
import os, socket, sys
os.setuid(int(sys.argv[1]))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    s.sendto(b"x", (sys.argv[2], 9))
    print("sent")
except PermissionError:
    print("refused")
"""


def test_owner_tells_users_apart(lab: Lab) -> None:
    done(lab, "h1", "iptables -A OUTPUT -m owner --uid-owner 65534 -j DROP")
    assert python(lab, "h1", CONNECT, "65534", H2).strip() == "refused"
    assert python(lab, "h1", CONNECT, "0", H2).strip() == "sent"


def test_classify_chooses_the_class_of_a_queue(lab: Lab) -> None:
    done(
        lab,
        "h1",
        "tc qdisc add dev h1-eth0 root handle 1: htb default 10",
        *(f"tc class add dev h1-eth0 parent 1: classid 1:{minor} htb rate 10mbit" for minor in (10, 20)),
        "iptables -t mangle -A POSTROUTING -p icmp -j CLASSIFY --set-class 1:20",
    )
    assert received(lab) == PINGS
    assert re.search(
        rf"htb 1:20 .*\n Sent {PINGS * 98} bytes {PINGS} pkt", done(lab, "h1", "tc -s class show dev h1-eth0")
    )


def test_packets_of_the_raw_table_can_go_untracked(lab: Lab) -> None:
    done(
        lab,
        "h1",
        "iptables -t raw -A OUTPUT -p icmp -j NOTRACK",
        "iptables -A OUTPUT -m conntrack --ctstate UNTRACKED",
        "iptables -A OUTPUT -p icmp -m conntrack --ctstate NEW,ESTABLISHED",
    )
    assert received(lab) == PINGS
    assert counts(done(lab, "h1", "iptables -vnxL OUTPUT")) == [PINGS, 0]


QUEUE = """
import socket, struct, sys

def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)

def send(kind, flags, queue, *attributes):
    data = struct.pack(">BBH", 2, 0, queue) + b"".join(attributes)
    s.send(struct.pack("=IHHII", 16 + len(data), 3 << 8 | kind, flags, 1, 0) + data)

s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
s.bind((0, 0))
send(2, 5, 3, attribute(1, struct.pack(">BxH", 1, 2)))
send(2, 5, 3, attribute(2, struct.pack(">IB", 64, 2)))
print("listens", flush=True)
count = 0
while True:
    data = s.recv(1 << 16)
    if data[4:6] == b"\\x00\\x03":
        # Drop every second one.
        number = struct.unpack_from(">I", data, 24)[0]
        send(1, 1, 3, attribute(2, struct.pack(">II", count % 2, number)))
        count += 1
"""


def test_a_program_decides_on_the_packets_of_an_nfqueue(lab: Lab) -> None:
    rule = "INPUT -p icmp -j NFQUEUE --queue-num 3"
    done(lab, "h2", f"iptables -A {rule}")
    assert received(lab) == 0, "without a program, they are dropped"
    server = lab["h2"].start(f"{PYTHON} -u - <<'END'\n{QUEUE}\nEND")
    lab.advance(0.5)
    assert "listens" in server.output
    assert received(lab) == PINGS // 2
    server.stop()
    done(lab, "h2", f"iptables -R {rule} --queue-bypass".replace("INPUT", "INPUT 1"))
    assert received(lab) == PINGS, "with --queue-bypass, they are accepted"


TARGETS = [
    "-t mangle -A POSTROUTING -p icmp -j HMARK --hmark-tuple src,dst --hmark-mod 10 --hmark-rnd 7",
    "-t mangle -A POSTROUTING -p udp -j CHECKSUM --checksum-fill",
    "-t mangle -A POSTROUTING -p tcp -j TCPOPTSTRIP --strip-options timestamp",
    "-t mangle -A POSTROUTING -p tcp -j ECN --ecn-tcp-remove",
    "-t mangle -A PREROUTING -p icmp -j CONNMARK --save-mark",
    "-t mangle -A PREROUTING -p tcp -j TPROXY --on-port 1080 --tproxy-mark 1",
    "-t mangle -A PREROUTING -p tcp -m socket --transparent",
    "-t mangle -A PREROUTING -p icmp -j IDLETIMER --timeout 5 --label pings",
    "-t mangle -A PREROUTING -p icmp -j RATEEST --rateest-name pings --rateest-interval 250ms --rateest-ewmalog 0.5s",
    "-A INPUT -p tcp -m osf --genre Linux",
    "-A INPUT -p sctp --dport 5",
    "-A INPUT -p esp -m esp --espspi 5",
    "-A INPUT -p ah -m ah --ahspi 5",
    "-A INPUT -p ipcomp -m ipcomp --ipcompspi 5",
    "-A INPUT -m rateest --rateest pings --rateest-lt --rateest-bps 1mbit",
    "-A INPUT -m connlabel --label 1",
    "-A INPUT -p icmp -j NFLOG --nflog-group 5",
    "-A INPUT -p tcp --syn -m conntrack --ctstate INVALID,UNTRACKED -j SYNPROXY --sack-perm --timestamp --wscale 7 --mss 1460",
    "-t raw -A PREROUTING -p icmp -j CT --zone 5",
    "-t nat -A PREROUTING -d 10.77.0.0/16 -j NETMAP --to 10.0.0.0/16",
]


def test_other_lines_of_iptables_are_taken_and_do_not_harm(lab: Lab) -> None:
    for line in TARGETS:
        said = lab["r1"].run(f"iptables {line}")
        assert (said.exit_code, said) == (0, ""), line
    assert received(lab) == PINGS
    # NETMAP keeps the host's part of an address.
    done(lab, "h1", f"ip route add 10.77.0.0/16 via {R1}")
    assert received(lab, to=H2.replace("10.0.", "10.77.")) == PINGS


def test_tee_sends_a_copy_to_another_host(lab: Lab) -> None:
    done(lab, "h2", "iptables -t mangle -A PREROUTING -p icmp --icmp-type echo-request")
    done(lab, "r1", f"iptables -t mangle -A PREROUTING -i r1-eth0 -p icmp -j TEE --gateway {H2}")
    assert received(lab, to=R1) == PINGS
    assert counts(done(lab, "h2", "iptables -t mangle -vnxL PREROUTING")) == [PINGS]


@pytest.mark.skipif(not shutil.which("ipset", path="/usr/sbin:/sbin:/usr/bin"), reason="ipset is not installed")
def test_a_set_of_addresses_is_matched(lab: Lab) -> None:
    done(lab, "h2", "ipset create known hash:net", "ipset add known 10.0.1.0/24")
    done(lab, "h2", "iptables -A INPUT -m set --match-set known src -j DROP")
    assert received(lab) == 0
    done(lab, "h2", "ipset del known 10.0.1.0/24")
    assert received(lab) == PINGS
