"""Mininet's own scripts run in the guest as they are."""

import contextlib
import os
import pty
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import netlab as nl
from netlab_engines.lab.script import run_script
from tests.waiting import wait_for

pytestmark = pytest.mark.pocket

LINEAR = """
    import sys
    from mininet.net import Mininet
    from mininet.topo import LinearTopo
    from mininet.nodelib import LinuxBridge
    from mininet.link import TCLink
    from mininet.log import setLogLevel
    setLogLevel("info")
    net = Mininet(LinearTopo(k=2, lopts=dict(bw=10, delay="5ms")), switch=LinuxBridge, link=TCLink, controller=None)
    net.start()
    net.pingAll()
    print(net["h1"].cmd("ping -c2 -q", net["h2"].IP()))
    open("measured.txt", "w").write("kept\\n")
    net.stop()
    sys.exit(3)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "script.py").write_text(textwrap.dedent(LINEAR))
    return tmp_path


def test_a_script_runs_prints_and_leaves_its_files_and_exit_code(place: Path) -> None:
    parts: list[str] = []
    finished = run_script([str(place / "script.py")], write=parts.append, directory=place)
    text = "".join(parts)
    assert "*** Results: 0% dropped (2/2 received)" in text, text
    assert (finished.code, finished.copies) == (3, {})
    assert 1 < finished.network_s < 3, "a second between two pings, also right after the boot"
    assert (place / "measured.txt").read_text() == "kept\n"


LOOP = """
    from mininet.net import Mininet
    from mininet.topo import Topo
    from mininet.link import TCLink
    class Triangle(Topo):
        def build(self):
            switches = [self.addSwitch(f"s{number}") for number in (1, 2, 3)]
            for number, switch in enumerate(switches, 1):
                self.addLink(self.addHost(f"h{number}"), switch)
                self.addLink(switch, switches[number % 3], bw=10)
    net = Mininet(Triangle(), link=TCLink)
    net.start()
    net.pingAll()
    ports = net["s1"].cmd("bridge link")
    print(ports.count("state blocking"), "blocked,", ports.count("state forwarding"), "forwarding")
    net.stop()
"""


def test_switches_in_a_loop_run_the_spanning_tree_protocol(tmp_path: Path) -> None:
    """A tree over three switches (IEEE 802.1D) has two of their three links: one of nine ports is blocked."""
    (tmp_path / "loop.py").write_text(textwrap.dedent(LOOP))
    parts: list[str] = []
    finished = run_script(["loop.py"], write=parts.append, directory=tmp_path)
    text = "".join(parts)
    assert "the links of the switches s1, s2, s3 form a loop" in text, text
    assert "*** Results: 0% dropped (6/6 received)" in text and "1 blocked, 8 forwarding" in text, text
    assert finished.code == 0 and finished.network_s > 30, "twice the forward delay of 15 s"


def test_the_same_script_prints_the_same_again(place: Path) -> None:
    texts = []
    for _ in range(2):
        parts: list[str] = []
        run_script([str(place / "script.py")], write=parts.append, directory=place)
        texts.append("".join(parts))
    assert texts[0] == texts[1]


def test_script_starts_at_the_same_time_on_every_machine(tmp_path: Path) -> None:
    """The imports before it make thousands of system calls, and each takes time: longer paths and more files make more."""
    short, long = tmp_path / "s", tmp_path / ("x" * 40) / ("y" * 40) / ("z" * 40)
    texts = []
    for place in (short, long):
        place.mkdir(parents=True)
        (place / "script.py").write_text("import time\nprint(time.time_ns(), time.monotonic_ns())\n")
        parts: list[str] = []
        run_script([str(place / "script.py")], write=parts.append, directory=place)
        texts.append("".join(parts))
    assert texts[0] == texts[1]


def test_on_a_terminal_a_script_that_computes_shows_its_text_and_ends_at_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(
        "import time\nprint('computing', flush=True)\ntime.sleep(0.1)\nwhile True:\n    pass\n"
    )
    ours, other = pty.openpty()
    words = [sys.executable, "-m", "netlab.commands.cli", "mininet", str(tmp_path / "busy.py")]
    process = subprocess.Popen(
        words, cwd=Path(nl.__file__).parent.parent, stdin=other, stdout=other, stderr=other, start_new_session=True
    )
    os.close(other)
    os.set_blocking(ours, False)
    said = b""

    def has_said(word: bytes) -> bool:
        nonlocal said
        with contextlib.suppress(OSError):
            said += os.read(ours, 4096)
        return word in said

    try:
        assert wait_for(lambda: has_said(b"computing")), said
        os.write(ours, b"\x03")
        assert wait_for(lambda: has_said(b"KeyboardInterrupt")), (said, process.poll())
        assert wait_for(lambda: process.poll() is not None)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_mininets_own_mn_runs_with_its_defaults(place: Path) -> None:
    own = Path(sys.executable).parent / "mn"
    parts: list[str] = []
    words = [str(own), "--topo", "linear,3", "--link", "tc,bw=10,delay=5ms", "--test", "pingall"]
    finished = run_script(words, write=parts.append, directory=place)
    text = "".join(parts)
    assert "*** Results: 0% dropped (6/6 received)" in text, text
    assert text.count("Linux bridges replace OpenFlow switches") == 1
    assert finished.code == 0


def test_each_test_of_mn_runs(place: Path) -> None:
    """mn itself names them: pingall, pingpair, iperf, iperfudp; over 5 Mbit/s, 1470 of 1512 bytes of iperf's 10 Mbit/s arrive."""
    parts: list[str] = []
    words = ["--topo", "single,2", "--link", "tc,bw=5", "--test", "pingpair+iperfudp"]
    own = Path(sys.executable).parent / "mn"
    finished = run_script([str(own), *words], write=parts.append, directory=place)
    text = "".join(parts)
    (rate,) = re.findall(r"\['10M', '([\d.]+) Mbits/sec', '[\d.]+ Mbits/sec'\]", text)
    assert finished.code == 0 and float(rate) == pytest.approx(5 * 1470 / 1512, rel=0.03), text


def test_unavailable_features_of_mininet_are_reported(place: Path) -> None:
    own = Path(sys.executable).parent / "mn"
    parts: list[str] = []
    words = [str(own), "--switch", "ovsk", "--controller", "remote", "--nat", "--test", "pingall"]
    finished = run_script(words, write=parts.append, directory=place)
    text = "".join(parts)
    assert "Open vSwitch is not available. Linux bridges replace" in text, text
    assert text.count("has no connection to the machine's network") == 1
    assert "*** Results: 0% dropped (6/6 received)" in text, "the NAT's node answers as any other"
    assert finished.code == 0
    parts.clear()
    run_script([str(own)], write=parts.append, directory=place, input_text="h1 ip6tables -L\nh1 ovs-vsctl show\n")
    text = "".join(parts)
    assert "ip6tables: not available: the pocket kernel has no IPv6." in text, text
    assert "ovs-vsctl: not available: Linux bridges replace Open vSwitch" in text


SERVERS = """
    from mininet.net import Mininet
    from mininet.link import TCLink
    net = Mininet(link=TCLink)
    h1, h2 = net.addHost("h1"), net.addHost("h2")
    net.addLink(h1, h2, bw=10, delay="20ms")
    net.start()
    h2.cmd("iperf3 -s -D")
    for options in ("-C reno", "-C cubic", "-P 2", "-u -b 2m", "-R", "-J"):
        print(options, h1.cmd("iperf3 -c 10.0.0.2 -t 1 %s >/dev/null 2>&1 && echo good || echo bad" % options).strip())
    print("loop", h1.cmd("for c in reno cubic; do iperf3 -c 10.0.0.2 -t 1 -C $c >/dev/null && echo good; done").split())
    h2.cmd("kill $(pgrep iperf3); iperf3 -s >/dev/null 2>&1 &")
    print("restarted", h1.cmd("iperf3 -c 10.0.0.2 -t 1 >/dev/null 2>&1 && echo good").strip())
    net.stop()
"""


LIMITED = """
    from mininet.net import Mininet
    from mininet.node import CPULimitedHost
    net = Mininet(host=CPULimitedHost)
    h1 = net.addHost("h1", cpu=0.5)
    h1.setCPUFrac(0.2)
    h1.cgroupSet("cfs_quota_us", 50000)
    print([h1.cgroupGet("shares"), h1.chrt(), h1.cgroupDel()])
    net.stop()
"""


def test_limits_on_cpu_time_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "limited.py").write_text(textwrap.dedent(LIMITED))
    parts: list[str] = []
    finished = run_script([str(tmp_path / "limited.py")], write=parts.append, directory=tmp_path)
    text = "".join(parts)
    assert finished.code == 0, text
    assert "['', '', True]" in text


@pytest.mark.skipif(
    not shutil.which("iperf3"), reason="iperf3 is the program that opens its socket anew after each test"
)
def test_clients_one_after_another_find_their_server_ready(tmp_path: Path) -> None:
    """The server closes its socket after each test and opens it again, for which it needs the time in which a client starts."""
    text = output_of(tmp_path, SERVERS)
    assert text.count(" good") == 7 and "loop ['good', 'good']" in text, text


NAMES = """
    from mininet.net import Mininet
    net = Mininet()
    h1, h2 = net.addHost("h1"), net.addHost("h2")
    net.addLink(h1, h2)
    net.start()
    print("names", h1.cmd("hostname").split(), h2.cmd("hostname").split(), h2.popen("hostname").communicate()[0])
    print("sudo", h1.cmd("sudo tc qdisc add dev h1-eth0 root pfifo limit 5; sudo hostname").split())
    print("known", h1.cmd("getent hosts h1 h2").split())
    h2.setIP("10.0.0.77")
    print("moved", h1.cmd("getent hosts h2").split())
    import socket
    print("machine", socket.gethostbyname(socket.gethostname()))
    net.stop()
"""


def test_each_host_has_its_name_and_sudo_prints_nothing(tmp_path: Path) -> None:
    text = output_of(tmp_path, NAMES)
    assert "names ['h1'] ['h2'] b'h2\\n'" in text, text
    assert "sudo ['h1']" in text, text
    assert "known ['10.0.0.1', 'h1', '10.0.0.2', 'h2']" in text and "moved ['10.0.0.77', 'h2']" in text, text
    # hosts(5): every machine finds its own name; without it, servers on it fail or wait for a name server.
    assert "machine 127.0.0.1" in text, text


PROCESSES = """
    from mininet.net import Mininet
    net = Mininet()
    h1, h2 = net.addHost("h1"), net.addHost("h2")
    net.addLink(h1, h2)
    net.start()
    h1.cmd("sleep 100 &")
    print("left", h1.cmd("ps aux | grep '[s]leep 100' | awk '{print $11, $12}'; ps -ef | grep -c '[s]leep 100'").split())
    h1.cmd("ps -ef | grep '[s]leep 100' | awk '{print $2}' | xargs kill; wait")
    print("killed", h1.cmd("ps aux | grep -c '[s]leep'").split())
    print("vmstat", h1.cmd("vmstat > /dev/null; echo $?"))
    net.stop()
"""


@pytest.mark.slow
def test_ps_lists_all_processes_for_scripts_that_end_them_by_name(tmp_path: Path) -> None:
    text = output_of(tmp_path, PROCESSES)
    assert "left ['sleep', '100', '1']" in text and "vmstat 0" in text, text
    assert "killed ['0']" in text, text


def output_of(folder: Path, script: str) -> str:
    """Return the output of a script."""
    (folder / "script.py").write_text(textwrap.dedent(script))
    parts: list[str] = []
    run_script([str(folder / "script.py")], write=parts.append, directory=folder)
    return "".join(parts)


def test_iperf3_holds_its_rate_from_the_first_moment(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(
        textwrap.dedent("""
        import json
        from mininet.net import Mininet
        net = Mininet()
        h1, h2 = net.addHost("h1"), net.addHost("h2")
        net.addLink(h1, h2)
        net.start()
        h2.cmd("iperf3 -s -D")
        for options in ("-u", "-u -R", ""):
            done = json.loads(h1.cmd("iperf3 -J -c 10.0.0.2 -b 5m -t 1 -i 0.25", options))
            end = done["end"]["sum"] if "-u" in options else done["end"]["sum_received"]
            first = done["intervals"][0]["sum"]["bits_per_second"]
            print(options or "tcp", round(end["bits_per_second"]), round(first), end.get("lost_packets"))
        """)
    )
    output_of: list[str] = []
    run_script(["case.py"], write=output_of.append, directory=tmp_path)
    rows = [line.split() for line in "".join(output_of).splitlines() if line.startswith(("-u", "tcp"))]
    assert len(rows) == 3, output_of
    for *_, rate, first, lost in rows:
        assert 4.7e6 < int(rate) < 5.3e6
        assert int(first) < 5.5e6 or lost == "None", "TCP's first block is 128 kB"
        assert lost in ("0", "None")
