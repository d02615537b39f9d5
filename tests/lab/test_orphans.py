"""Processes that outlive their parents disappear when they end, as on any Linux."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import netlab as nl
from netlab_engines.lab.script import run_script

pytestmark = pytest.mark.pocket

SCRIPT = """
    import os
    import signal
    import subprocess
    import time
    from mininet.net import Mininet
    net = Mininet()
    h1, h2 = net.addHost("h1"), net.addHost("h2")
    net.addLink(h1, h2)
    net.start()

    def states(name):
        return [word[0] for word in h1.cmd(f"ps -C {name} -o stat=").split()]

    for _ in range(3):
        h1.cmd("(sleep 1000 &) ; (sleep 2000 &)")
        print("running", states("sleep"))
        h1.cmd("pkill -x sleep; sleep 0.1")
        print("ended", states("sleep"))
    h1.cmd("iperf3 -s -D")
    begin = time.time()
    print(repr(h1.cmd("killall -w iperf3")), "waited", time.time() - begin < 3)
    child = h1.popen("exit 5", shell=True)
    time.sleep(1)
    print("status", child.wait(), h2.cmd("sh -c 'exit 6'; echo $?").strip())
    print("status", os.system("kill -9 $$"), subprocess.run("exit 7", shell=True).returncode)
    net.stop()
"""


def test_orphans_of_a_script_are_collected_and_its_children_are_not(tmp_path: Path) -> None:
    (tmp_path / "case.py").write_text(textwrap.dedent(SCRIPT))
    parts: list[str] = []
    finished = run_script([str(tmp_path / "case.py")], write=parts.append, directory=tmp_path, wall_limit_s=100)
    printed = "".join(parts).splitlines()
    assert finished.code == 0
    assert printed == [
        *["running ['S', 'S']", "ended []"] * 3,
        "'' waited True",
        "status 5 6",
        "status 9 7",
    ]


def test_orphans_of_a_live_host_are_collected_and_statuses_stay() -> None:
    with nl.live(nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2")])) as lab:
        host = lab["h1"]
        started = [host.start(f"sleep 0.01; exit {status}") for status in (1, 2, 3)]
        host.run("(sleep 1000 &) >/dev/null; (sleep 2000 &) >/dev/null")
        assert host.run("pkill -x sleep; sleep 0.1; ps -C sleep -o stat=") == ""
        assert host.run("exit 4").exit_code == 4
        assert [process.wait().exit_code for process in started] == [1, 2, 3]
