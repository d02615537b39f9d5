"""Replacements for the programs that Mininet calls: they do and print what the real ones do, and reject the rest."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import netlab as nl
from netlab_engines.agent import replacements
from netlab_engines.distributions import packages_of
from netlab_engines.lab.live import Lab
from netlab_engines.lab.script import run_script

pytestmark = pytest.mark.pocket

OWN = f"{replacements.BINARIES}/last"
FIRST = f"{replacements.BINARIES}/filter"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    network = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=10, delay_ms=5)])
    with nl.live(network, seed=1) as created:
        created["h1"].run("ip link add p1 type veth peer name p2; ip link set p1 up; ip link set p2 up")
        yield created


def installed(lab: Lab, program: str) -> bool:
    return lab["h1"].run(f"PATH=/usr/sbin:/sbin:/usr/bin:/bin command -v {program}").exit_code == 0


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        ("", "ifconfig h1-eth0"),
        ("", "ifconfig lo"),
        ("ifconfig p1 192.168.5.7", "ifconfig p1"),
        ("ifconfig p1 172.20.0.1", "ifconfig p1"),
        ("ifconfig p1 10.9.0.1 netmask 255.255.240.0 broadcast 10.9.15.255 mtu 1400 up", "ifconfig p1"),
        ("ifconfig p1 hw ether 02:00:00:00:00:09 promisc allmulti txqueuelen 77", "ifconfig p1"),
        ("ifconfig p1 10.9.0.1/8 down", "ifconfig p1"),
        ("ifconfig p1 10.9.0.1/8 up; ifconfig p1 inet 0", "ifconfig p1"),
        ("ifconfig p1 10.9.0.1/24; ip addr add 10.8.0.1/24 dev p1", "ifconfig p1"),
        ("ifconfig p1 10.9.0.1/24 up; route add -net 172.16.0.0 netmask 255.240.0.0 gw 10.9.0.2", "route -n"),
        (
            "ifconfig p1 10.9.0.1/24 up; route add -host 1.2.3.4 dev p1; route add -net 1.1.0.0/16 metric 7 p1",
            "route -n",
        ),
        (
            "ifconfig p1 10.9.0.1/24 up; route add default gw 10.9.0.2; route del default; route add default gw 10.9.0.3 p1",
            "route -n",
        ),
        ("ifconfig p1 10.9.0.1/24 up; arp -s 10.9.0.7 02:00:00:00:00:07", "arp -n"),
        ("ifconfig p1 10.9.0.1/24 up; arp -s 10.9.0.7 02:00:00:00:00:07; arp -d 10.9.0.7", "arp -an"),
        ("brctl addbr s1; brctl stp s1 on; brctl setfd s1 2.5; brctl addif s1 p1; brctl addif s1 p2", "brctl show"),
    ],
)
def test_a_replacement_does_and_prints_what_the_real_program_does(lab: Lab, before: str, shown: str) -> None:
    program = shown.split(maxsplit=1)[0]
    if not installed(lab, program):
        pytest.skip(f"{program} is not installed")
    prepared = lab["h1"].run(f"PATH={OWN}:$PATH; {before}")
    assert (prepared, prepared.exit_code) == ("", 0)
    own = lab["h1"].run(f"{OWN}/{shown}")
    real = lab["h1"].run(f"PATH=/usr/sbin:/sbin:/usr/bin:/bin {shown}")
    lab["h1"].run("ip link del s1; ip addr flush dev p1; ip link set p1 up mtu 1500 promisc off allmulticast off")
    assert own == real


@pytest.mark.parametrize(
    "command",
    [
        "ifconfig h1-eth0:1 10.0.0.9",
        "ifconfig h1-eth0 tunnel 10.0.0.9",
        "ifconfig h1-eth0 netmask 255.0.0.0",
        "ifconfig -s",
        "route -F",
        "route add -net 1.0.0.0 reject",
        "route flush",
        "arp -f file",
        "arp -s 10.0.0.9",
        "brctl setgcint s1 4",
        "brctl setbridgeprio 100",
        "brctl stp s1 maybe",
        "vconfig set_flag h1-eth0 1 1",
        "telnet -l user 10.0.0.1",
    ],
)
def test_an_option_that_a_replacement_lacks_is_rejected_in_one_line(lab: Lab, command: str) -> None:
    program = command.split(maxsplit=1)[0]
    text = lab["h1"].run(f"{OWN}/{command}")
    assert text.exit_code != 0
    (line,) = text.splitlines()
    assert re.match(rf"{program}: netlab's replacement does not support '.*'\. It supports .*\.", line)
    assert line.endswith(f"The real {program} is in the package {packages_of(program)}.")


def test_vlans_and_telnet_work_with_the_replacements(lab: Lab) -> None:
    text = lab["h1"].run(f"{OWN}/vconfig add h1-eth0 5 && ip -d -o link show h1-eth0.5 && {OWN}/vconfig rem h1-eth0.5")
    assert text.exit_code == 0 and "vlan protocol 802.1Q id 5" in text
    lab["h2"].start("python3 -m http.server 80")
    lab.advance(1)
    assert "Connected to 10." in lab["h1"].run(f"echo A | {OWN}/telnet -e A {lab['h2'].address} 80")
    refused = lab["h1"].run(f"echo A | {OWN}/telnet -e A {lab['h2'].address} 81")
    assert "Connection refused" in refused and "Connected" not in refused


@pytest.mark.slow
def test_telnet_carries_lines_of_text_as_the_real_program_does(lab: Lab) -> None:
    """A request by hand is the usual first look at HTTP (RFC 9112); Debian's telnet 2.4 prints the same for it."""
    lab["h2"].start("python3 -m http.server 8080")
    lab.advance(1)
    words = f"telnet {lab['h2'].address} 8080"
    own = lab["h1"].run(f"(printf 'GET /nosuch HTTP/1.0\n\n'; sleep 1) | {OWN}/{words} 2>&1")
    assert "Escape character is '^]'.\nHTTP/1.0 404 File not found\n" in own.replace("\r", ""), own
    assert own.endswith("Connection closed by foreign host.\n")
    assert lab["h1"].run(f"{OWN}/{words} < /dev/null 2>&1").splitlines()[-1] == "Connection closed by foreign host."


@pytest.mark.parametrize(
    "words",
    [
        "tcp_bbr",
        "-q tcp_westwood",
        "sch_netem",
        "sch-fq_codel limit=5",
        "-a act_mirred cls_u32",
        "8021q",
        "bridge",
        "ip_tables",
    ],
)
def test_a_module_that_is_built_in_loads_without_a_word(lab: Lab, words: str) -> None:
    text = lab["h1"].run(f"{FIRST}/modprobe {words}")
    assert (text, text.exit_code) == ("", 0)


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("tcp_probe port=5001 full=1", "modprobe: tcp_probe is not in the pocket kernel, which loads no modules\n"),
        ("-a tcp_bbr openvswitch", "modprobe: openvswitch is not in the pocket kernel, which loads no modules\n"),
        ("-q tcp_probe", ""),
        ("-r tcp_bbr", "modprobe: tcp_bbr is built in\n"),
        ("", "modprobe: the name of a module is missing, such as: modprobe tcp_bbr\n"),
    ],
)
def test_a_module_that_the_kernel_lacks_fails_as_with_the_real_program(lab: Lab, words: str, printed: str) -> None:
    text = lab["h1"].run(f"{FIRST}/modprobe {words}")
    assert (text, text.exit_code) == (printed, 1)


def test_modules_are_listed_and_cannot_be_removed(lab: Lab) -> None:
    """The sentences are those of kmod's rmmod 30."""
    assert lab["h1"].run("rmmod tcp_probe; modprobe -q tcp_bbr") == (
        "rmmod: ERROR: Module tcp_probe is not currently loaded\n"
    )
    text = lab["h1"].run("rmmod tcp_bbr")
    assert (text, text.exit_code) == ("rmmod: ERROR: Module tcp_bbr is builtin.\n", 1)
    assert lab["h1"].run("rmmod").exit_code == 1
    listed = lab["h1"].run("lsmod").splitlines()
    assert listed[0].split() == ["Module", "Size", "Used", "by"]
    names = {line.split()[0] for line in listed[1:]}
    assert {"tcp_bbr", "tcp_cubic", "sch_fq_codel", "sch_netem", "8021q"} <= names and "tcp_probe" not in names


def test_a_login_by_sudo_begins_in_roots_home(lab: Lab) -> None:
    assert lab["h1"].run("cd /tmp; sudo -i pwd; sudo -H sh -c 'echo $HOME'; pwd") == "/root\n/root\n/tmp\n"
    assert lab["h1"].run("cd /tmp; echo pwd | sudo -i") == "/root\n"


def test_sudo_lists_what_root_may_do(lab: Lab) -> None:
    assert lab["h1"].run("sudo -l").splitlines()[-1].split()[-1] == "ALL"
    assert lab["h1"].run("sudo -nl && echo yes").splitlines()[-1] == "yes"


SCRIPT = """
    import os, shutil, sys
    from mininet.log import setLogLevel
    from mininet.net import Mininet
    from mininet.nodelib import LinuxBridge
    from mininet.util import waitListening
    for name in sys.argv[1:]:
        while (own := shutil.which(name)) and not own.startswith("/run/netlab"):
            os.remove(own)
    setLogLevel("info")
    net = Mininet(switch=LinuxBridge, controller=None, autoSetMacs=True)
    hosts = [net.addHost(f"h{number}") for number in (1, 2, 3)]
    switches = [net.addSwitch(f"s{number}", stp=True) for number in (1, 2)]
    for host, switch in zip(hosts, [*switches, switches[0]]):
        net.addLink(host, switch)
    net.addLink(*switches)
    net.start()
    net.waitConnected()
    print("programs", [shutil.which(name) for name in ("ifconfig", "brctl", "route", "arp", "telnet")])
    print("dropped", net.pingAll())
    print("address", hosts[0].intf().updateIP(), hosts[0].intf().updateMAC(), hosts[0].intf().isUp())
    net.configLinkStatus("h1", "s1", "down")
    print("up", hosts[0].intf().isUp())
    net.configLinkStatus("h1", "s1", "up")
    hosts[1].cmd("python3 -m http.server 80 > /dev/null 2>&1 &")
    print("listens", waitListening(hosts[2], hosts[1], 80))
    net.stop()
"""


@pytest.mark.parametrize("programs", [[], ["ifconfig", "brctl", "route", "arp", "telnet", "vconfig"]])
def test_mininet_works_with_the_machines_programs_and_with_the_replacements(
    tmp_path: Path, programs: list[str]
) -> None:
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    parts: list[str] = []
    finished = run_script([str(tmp_path / "script.py"), *programs], write=parts.append, directory=tmp_path)
    text = "".join(parts)
    assert finished.code == 0, text
    assert "dropped 0.0" in text
    assert "address 10.0.0.1 00:00:00:00:00:01 True" in text
    assert "up False" in text and "listens True" in text
    if programs:
        (where,) = re.findall(r"^programs (.*)$", text, re.MULTILINE)
        assert where.count(OWN) == 5, where
