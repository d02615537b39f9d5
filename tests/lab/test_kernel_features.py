"""Features of Linux for the commands of students, tc and ip: a use of each in a guest, with the result that its manual page
promises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import netlab as nl
from netlab_engines.lab.live import Lab
from netlab_engines.lab.script import run_script
from tests.lab.commands_in_hosts import H1, H2, PINGS, PYTHON, R1, bare_lab, counts, done, python, received

pytestmark = [pytest.mark.pocket, pytest.mark.slow]

LACKING = """
from mininet.net import Mininet
net = Mininet()
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2)
net.start()
for _ in range(2):
    h1.cmd("ip link add g9 type geneve id 7 remote 10.0.0.2")
h1.cmd("ip link add d9 type dummy; ip link add d9 type dummy")
h2.cmd("tc qdisc add dev h2-eth0 root handle 1: prio; tc filter add dev h2-eth0 parent 1: protocol ip cgroup")
h1.cmd("tc qdisc add dev h1-eth0 root multiq")
h1.cmd("ip link add v9 numtxqueues 4 type veth peer name w9; tc qdisc add dev v9 root multiq || touch refused")
net.stop()
"""


@pytest.fixture
def lab() -> Iterator[Lab]:
    with bare_lab() as made:
        yield made


def test_gact_takes_every_tenth_packet_or_one_in_ten(lab: Lab) -> None:
    # On arrival, because ping sends again what its own host drops.
    done(lab, "r1", "tc qdisc add dev r1-eth0 clsact")
    add = "tc filter add dev r1-eth0 ingress protocol ip matchall action pass random %s drop 10"
    done(lab, "r1", add % "determ")
    assert received(lab, count=100) == 90
    done(lab, "r1", "tc filter del dev r1-eth0 ingress", add % "netrand")
    # Binomial: 900 with a standard deviation of 9.5.
    assert abs(received(lab, count=1000) - 900) < 40


def test_pedit_rewrites_the_ttl_and_csum_the_checksum(lab: Lab) -> None:
    done(lab, "h2", "tc qdisc add dev h2-eth0 clsact")
    add = "tc filter add dev h2-eth0 egress protocol ip matchall action pedit ex munge ip ttl set 9 pipe action %s"
    done(lab, "h2", add % "pass")
    assert received(lab) == 0, "a header with a wrong checksum is dropped"
    done(lab, "h2", "tc filter del dev h2-eth0 egress", add % "csum ip")
    # The router takes one.
    assert "ttl=8 " in done(lab, "h1", f"ping -c 1 {H2}")


def test_a_classic_bpf_program_selects_packets(lab: Lab) -> None:
    done(lab, "h1", "tc qdisc add dev h1-eth0 clsact")
    # tcpdump -ddd 'icmp and ip[40:4] == 0' has more instructions; these look at the protocol's number.
    icmp = '"4,48 0 0 23,21 0 1 1,6 0 0 262144,6 0 0 0,"'
    done(lab, "h1", f"tc filter add dev h1-eth0 egress protocol ip bpf bytecode {icmp} action drop")
    assert received(lab) == 0
    assert (
        "connection refused"
        in lab["h1"].run(f"{PYTHON} -c 'import socket; socket.create_connection((\"{H2}\", 9))' 2>&1").lower()
    )
    done(lab, "h1", "tc filter del dev h1-eth0 egress")
    # An action's program returns the verdict: 2 is TC_ACT_SHOT, 0 TC_ACT_OK.
    for verdict, count in ((2, 0), (0, PINGS)):
        done(
            lab, "h1", f'tc filter add dev h1-eth0 egress protocol ip matchall action bpf bytecode "1,6 0 0 {verdict},"'
        )
        assert received(lab) == count
        done(lab, "h1", "tc filter del dev h1-eth0 egress")


SEND = """
import socket, sys, time
for priority, port, count in ((6, 6006, 100), (0, 6000, 300)):
    globals()[f"s{priority}"] = s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
for k in range(300):
    s0.sendto(bytes(1000), (sys.argv[1], 6000))
    if k % 3 == 0:
        s6.sendto(bytes(1000), (sys.argv[1], 6006))
    time.sleep(0.001)
time.sleep(5)
"""


def test_skbprio_drops_packets_of_the_lowest_priority(lab: Lab) -> None:
    done(
        lab,
        "h1",
        "tc qdisc add dev h1-eth0 root handle 1: tbf rate 4mbit burst 3000 limit 1000000",
        "tc qdisc add dev h1-eth0 parent 1: skbprio limit 20",
    )
    done(lab, "h2", *(f"iptables -A INPUT -p udp --dport {port} -j ACCEPT" for port in (6000, 6006)))
    python(lab, "h1", SEND, H2)
    low, high = counts(done(lab, "h2", "iptables -vnxL INPUT"))
    assert high == 100
    # 4 Mbit/s of frames of 1042 bytes for 0.3 s are 144, and 20 that waited, 100 of them the others.
    assert 50 < low < 75


MATCHES = {
    "basic match 'cmp(u8 at 9 layer network eq 1)'": PINGS,
    "basic match 'u32(u8 0x01 0xff at 9)'": PINGS,
    # The first byte of an IPv4 header is 0x45.
    "basic match 'nbyte(\"E\" at 0 layer 1)'": PINGS,
    "basic match 'nbyte(\"F\" at 0 layer 1)'": 0,
    "basic match 'meta(pkt_len gt 90)'": PINGS,
    "basic match 'not meta(priority eq 6) and cmp(u8 at 9 layer network eq 1)'": PINGS,
    "u32 match mark 9 0xff": PINGS,
    "route to 7": PINGS,
}


def test_extended_matches_and_filters_count_the_packets_that_they_describe(lab: Lab) -> None:
    done(
        lab,
        "h1",
        "ip route replace 10.0.3.0/24 via 10.0.1.2 realm 7",
        "iptables -t mangle -A OUTPUT -p icmp -j MARK --set-mark 9",
    )
    done(lab, "h1", "tc qdisc add dev h1-eth0 root handle 1: prio")
    for number, rule in enumerate(MATCHES, 1):
        done(lab, "h1", f"tc filter add dev h1-eth0 parent 1: protocol ip pref {number} {rule} action continue")
    assert received(lab) == PINGS
    found = {}
    for number, rule in enumerate(MATCHES, 1):
        said = done(lab, "h1", f"tc -s filter show dev h1-eth0 parent 1: pref {number}")
        sent = re.search(r"Sent \d+ bytes (\d+) pkt", said)
        found[rule] = int(sent[1]) if sent else said
    assert found == MATCHES


ACTIONS = [
    "simple sdata seen",
    "skbmod set smac 02:00:00:00:00:77",
    "nat egress 10.0.1.1/32 10.0.1.1",
    "connmark",
    "ctinfo cpmark",
    "sample rate 1 group 5",
    "mpls push protocol mpls_uc label 16",
    "vlan push id 10",
]


def test_other_actions_are_taken_and_act(lab: Lab) -> None:
    done(lab, "h1", "tc qdisc add dev h1-eth0 clsact")
    for action in ACTIONS:
        done(lab, "h1", f"tc filter add dev h1-eth0 egress protocol ip matchall action {action}")
        arrives = action.split()[0] not in ("mpls", "vlan")
        assert received(lab) == (PINGS if arrives else 0), action
        done(lab, "h1", "tc filter del dev h1-eth0 egress")
    # A frame with a tag arrives at the device of that VLAN alone.
    done(
        lab,
        "r1",
        "ip link add link r1-eth0 name v10 type vlan id 10",
        "ip addr add 10.0.10.2/24 dev v10",
        "ip link set v10 up",
    )
    done(lab, "h1", "tc filter add dev h1-eth0 egress protocol ip matchall action vlan push id 10")
    received(lab)
    assert re.search(rf"RX:.*\n *\d+ +{PINGS} ", done(lab, "r1", "ip -s link show v10"))


def test_a_gate_is_open_for_its_part_of_a_cycle(lab: Lab) -> None:
    done(
        lab,
        "r1",
        "tc qdisc add dev r1-eth0 clsact",
        "tc filter add dev r1-eth0 ingress protocol ip matchall action gate clockid CLOCK_TAI "
        "sched-entry open 30ms sched-entry close 70ms",
    )
    assert abs(received(lab, count=1000) - 300) <= 10


def test_taprio_sends_in_its_window(lab: Lab) -> None:
    done(lab, "h1", "ip link add q0 numtxqueues 2 type veth peer name q1", "ip link set q0 up", "ip link set q1 up")
    done(
        lab,
        "h1",
        "tc qdisc replace dev q0 parent root handle 100 taprio num_tc 2 map 0 1 queues 1@0 1@1 base-time 0 "
        "sched-entry S 01 50000000 sched-entry S 02 50000000 clockid CLOCK_TAI",
        "tc qdisc add dev q1 clsact",
    )
    assert "taprio 100:" in done(lab, "h1", "tc qdisc show dev q0")
    done(lab, "h1", "ip link add m0 numtxqueues 2 type veth peer name m1")
    done(lab, "h1", "tc qdisc add dev m0 root mqprio num_tc 2 map 0 1 queues 1@0 1@1 hw 0")


def test_a_vxlan_tunnel_carries_frames(lab: Lab) -> None:
    for node, a, b, last in (("h1", H1, H2, 1), ("h2", H2, H1, 2)):
        done(
            lab,
            node,
            f"ip link add x9 type vxlan id 5 local {a} remote {b} dstport 4789",
            f"ip addr add 10.8.0.{last}/24 dev x9",
            "ip link set x9 up",
        )
    assert received(lab, to="10.8.0.2") == PINGS
    # The router is outside the tunnel, so it takes nothing of the inner TTL.
    assert "ttl=64 " in done(lab, "h1", "ping -c 1 10.8.0.2")


def test_devices_of_further_kinds(lab: Lab) -> None:
    assert not {"dummy0", "bond0"} & set(done(lab, "h1", "ip -br link").split())
    done(lab, "h1", "ip link add d9 type dummy", "ip addr add 10.7.0.1/24 dev d9", "ip link set d9 up")
    assert received(lab, to="10.7.0.9") == 0
    assert re.search(rf"TX:.*\n *\d+ +{PINGS} ", done(lab, "h1", "ip -s link show d9"))
    # The new device alone answers for its address then.
    done(lab, "h1", "sysctl -qw net.ipv4.conf.all.arp_ignore=1")
    for kind, mode in (("macvlan", "bridge"), ("ipvlan", "l2")):
        done(
            lab,
            "h1",
            f"ip link add link h1-eth0 name x9 type {kind} mode {mode}",
            "ip addr add 10.0.1.77/24 dev x9",
            "ip link set x9 up",
        )
        assert received(lab, "-I x9", to=R1) == PINGS, kind
        done(lab, "h1", "ip link del x9")
    done(lab, "h1", "ip link add vrf9 type vrf table 9", "ip link set vrf9 up", "ip link set h1-eth1 master vrf9")
    assert "10.0.2.0/24 dev h1-eth1" in done(lab, "h1", "ip route show table 9")


def test_a_bond_shares_packets_between_its_links(lab: Lab) -> None:
    for node, last in (("h1", 1), ("r1", 2)):
        done(lab, node, "ip link add b9 type bond mode balance-rr")
        for number in (0, 1):
            done(lab, node, f"ip link set {node}-eth{number} down", f"ip link set {node}-eth{number} master b9")
        done(lab, node, "ip link set b9 up", f"ip addr add 10.6.0.{last}/24 dev b9")
    done(lab, "h1", "ping -c 1 10.6.0.2")

    def sent() -> list[int]:
        shown = (done(lab, "h1", f"ip -s link show h1-eth{k}") for k in (0, 1))
        return [int(found[1]) for text in shown if (found := re.search(r"TX:.*\n *\d+ +(\d+) ", text))]

    before = sent()
    assert received(lab, to="10.6.0.2") == PINGS
    assert [b - a for a, b in zip(before, sent(), strict=True)] == [PINGS // 2, PINGS // 2]


def test_all_congestion_controls_of_linux_are_there(lab: Lab) -> None:
    names = "bbr cdg cubic dctcp highspeed htcp hybla illinois lp nv reno scalable vegas veno westwood yeah"
    assert set(names.split()) <= set(done(lab, "h1", "sysctl -n net.ipv4.tcp_available_congestion_control").split())


SWITCH = """
from mininet.net import Mininet
net = Mininet(controller=None)
s1 = net.addSwitch("s1")
h1, h2, h3 = (net.addHost(f"h{k}") for k in (1, 2, 3))
for h in (h1, h2, h3):
    net.addLink(h, s1)
net.start()

def answers(to):
    words = h1.cmd("ping -q -i 0.01 -W 1 -c 10", to.IP()).split()
    return int(words[words.index("received,") - 1])

print(answers(h2), s1.cmd("ebtables -A FORWARD -p IPv4 --ip-protocol icmp -j DROP"), answers(h2), s1.cmd("ebtables -F"))
print(s1.cmd("ip link set s1 type bridge vlan_filtering 1"))
for port, vlan in ((1, 10), (2, 20), (3, 10)):
    print(s1.cmd(f"bridge vlan add dev s1-eth{port} vid {vlan} pvid untagged; bridge vlan del dev s1-eth{port} vid 1"))
print(answers(h2), answers(h3))
net.stop()
"""


def test_a_bridge_separates_vlans_and_ebtables_filters(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(SWITCH)
    printed: list[str] = []
    assert run_script(["case.py"], write=printed.append, directory=tmp_path).code == 0, printed
    assert "".join(printed).split()[-4:] == ["10", "0", "0", "10"]


TRANSFER = """
import socket, sys, time
MPTCP = 262
if sys.argv[1] == "serve":
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    s.bind(("", 5000))
    s.listen()
    print("listens", flush=True)
    # Linux takes further paths at the listening socket, so it stays open.
    peer, _ = s.accept()
    began, count = time.monotonic(), 0
    while data := peer.recv(1 << 16):
        if time.monotonic() - began > 2:
            count += len(data)
    print(count * 8 / (time.monotonic() - began - 2) / 1e6, flush=True)
else:
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
    s.connect((sys.argv[1], 5000))
    end = time.monotonic() + 12
    while time.monotonic() < end:
        s.send(bytes(1 << 14))
"""


def transfer_rate(lab: Lab) -> float:
    """The goodput in Mbit/s of a transfer by MPTCP from h1 to h2, from its third second on."""
    server = lab["h2"].start(f"{PYTHON} -u - serve <<'END'\n{TRANSFER}\nEND")
    lab.advance(0.5)
    python(lab, "h1", TRANSFER, str(lab["h2"].address))
    lab.advance(3)
    assert server.output.startswith("listens"), server.output
    return float(server.output.split()[1])


def test_mptcp_reaches_the_sum_of_two_links() -> None:
    links = [nl.Link("h1", "r1", rate_mbps=5, delay_ms=5, queue_packets=100) for _ in range(2)]
    network = nl.Topology(hosts=["h1", "h2"], routers=["r1"], links=[*links, nl.Link("r1", "h2")])
    payload = 5 * 1428 / 1518
    with nl.live(network, seed=1) as lab:
        assert transfer_rate(lab) == pytest.approx(payload, rel=0.05)
        done(
            lab,
            "h1",
            "ip mptcp limits set subflows 2 add_addr_accepted 2",
            "ip mptcp endpoint add 10.0.2.1 dev h1-eth1 subflow",
            "ip rule add from 10.0.2.1 table 7",
            "ip route add default via 10.0.2.2 dev h1-eth1 table 7",
        )
        done(lab, "h2", "ip mptcp limits set subflows 2 add_addr_accepted 2")
        assert transfer_rate(lab) == pytest.approx(2 * payload, rel=0.08)


def test_a_script_that_asks_for_what_the_kernel_lacks_is_told_so_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "case.py").write_text(LACKING)
    assert run_script(["case.py"], write=[].append, directory=tmp_path).code == 0
    first, second, third = capsys.readouterr().err.splitlines()
    geneve = "h1: ip link add g9 type geneve id 7 remote 10.0.0.2 exited with status 2: "
    assert first.startswith(f"{geneve}Error: Unknown device type. netlab's kernel has no `ip link type geneve` ")
    assert second.startswith("h2: tc filter add dev h2-eth0 parent 1: protocol ip cgroup exited with status ")
    assert "netlab's kernel has no `tc filter cgroup` (CONFIG_NET_CLS_CGROUP): mark packets with " in second
    multiq = (
        "h1: tc qdisc add dev h1-eth0 root multiq exited with status 2: RTNETLINK answers: Operation not supported. "
    )
    assert third.startswith(f"{multiq}`multiq` needs a device with several transmit queues")
    assert not (tmp_path / "refused").exists()
