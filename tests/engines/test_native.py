"""The native engine: the same agent with root on a real clock, here in a guest whose own clock is virtual."""

from __future__ import annotations

import json

import numpy as np
import pytest

import netlab as nl
from netlab_engines.native import NativeEngine
from tests.agreement import agrees
from tests.in_guest import json_printed_by
from tests.stand_ins import HOST_PARTS

INNER = nl.Scenario(
    nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=50),
    [
        nl.Udp("h1", "h2", rate_mbps=2, duration_s=2),
        nl.Ping("h1", "h2", interval_s=0.5),
        nl.Command("h1", "echo h1 > name.txt", saves="name.txt"),
    ],
    duration_s=2.5,
)
PROGRAM = """
import json, sys
sys.path.extend({path!r})
import netlab as nl
from netlab_engines import host_kernel

run = nl.run(json.loads({scenario!r}), engine="native", progress=False)
refusals = host_kernel.kernel_errors()
print(json.dumps({{**run.to_dict(), "name": run.artifacts.read_text("name.txt"), "refusals": refusals}}))
"""


@pytest.mark.pocket
def test_the_native_engine_inside_a_guest() -> None:
    """`engine="native"` as root of a kernel that has netem: no pocket kernel in between, same numbers."""
    result = json_printed_by(PROGRAM, within_s=(20, 150), scenario=json.dumps(INNER.to_dict()))
    inner = nl.Run.from_dict(result)
    assert result["name"] == "h1\n"
    assert result["refusals"] == dict.fromkeys(HOST_PARTS, ""), "it has everything, though no `dummy` device"
    assert inner.settings["engine"] == "native"
    assert inner.settings["clock"] == "real"
    flow = inner.flows.iloc[0]
    agrees("goodput (Mbit/s)", flow.goodput_mbps, 2, relative=0.02)
    assert flow.loss_rate == 0
    agrees("RTT (ms)", inner.pings.rtt_ms.median(), 20.3, absolute=2)


CHANGED = nl.Scenario(
    nl.Topology(
        hosts=["h1", "h2"],
        routers=["r1"],
        links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=10, delay_ms=5, queue_packets=20)],
    ),
    [nl.Udp("h1", "h2", rate_mbps=20, spacing="even")],
    duration_s=8,
    changes=[
        nl.Change(at_s=2, link=("r1", "h2"), rate_mbps=2),
        nl.Change(at_s=4, link=("r1", "h2"), up=False),
        nl.Change(at_s=5, link=("r1", "h2"), up=True),
        nl.Change(at_s=6, link=("r1", "h2"), rate_mbps=nl.Trace([(0, 8), (1, 4)])),
    ],
)
CHANGING = """
import json, sys
sys.path.extend({path!r})
import netlab as nl
print(json.dumps(nl.run(json.loads({scenario!r}), engine="native", progress=False).to_dict()))
"""


def follows_its_changes(run: nl.Run) -> None:
    """Second by second, but for what the bucket and the wire hold at each step."""
    rows = run.intervals[run.intervals.flow == run.flows.flow[0]]
    measured = rows.groupby(np.ceil(rows.t_s - 1e-6)).goodput_mbps.mean().to_list()
    limits = {mbps: nl.theory.udp_goodput_limit_mbps(mbps, 1000) for mbps in (10, 2, 8, 4)}
    for second, mbps in ((1, 10), (2, 2), (3, 2), (6, 8), (7, 4)):
        agrees(f"goodput in second {second} (Mbit/s)", measured[second], limits[mbps], relative=0.1)
    agrees("goodput while the link is down (Mbit/s)", measured[4], 0, absolute=0.1)


@pytest.mark.pocket
def test_links_change_and_follow_a_trace_inside_a_guest() -> None:
    text = json_printed_by(CHANGING, within_s=(25, 150), scenario=json.dumps(CHANGED.to_dict()))
    follows_its_changes(nl.Run.from_dict(text))


@pytest.mark.root
def test_links_change_and_follow_a_trace_on_this_machines_own_kernel() -> None:
    lacking = [requirement for requirement in NativeEngine().requirements() if not requirement.ok]
    if lacking:
        pytest.skip(f"this machine has no native engine: {lacking[0].name}, {lacking[0].finding}")
    follows_its_changes(nl.run(CHANGED, engine="native", progress=False))


KILLED = """
import glob, json, os, signal, sys, time
sys.path.extend({path!r})
import netlab as nl
from netlab.base import scratch

nl.live, nl.run  # imported once for all that are forked
NETWORK = {{"hosts": ["h1", "h2"], "links": [{{"a": "h1", "b": "h2", "rate_mbps": 5}}]}}


def batch():
    command = nl.Command("h1", "setsid sleep 1000 & sleep 1001", saves="none")
    nl.run(nl.Topology.from_dict(NETWORK), [command, nl.Tcp("h1", "h2")], duration_s=1000, engine="native", progress=False)


def live():
    os.environ["NETLAB_ENGINE"] = "native"
    lab = nl.live(NETWORK, wall_limit_s=1000)
    lab["h1"].start("setsid sleep 1000")
    lab["h1"].terminal()
    lab["h1"].run("sleep 1001")


def running():
    found = []
    for name in os.listdir("/proc"):
        try:
            words = open("/proc/" + name + "/cmdline").read().split(chr(0))
        except OSError:
            continue
        # Programs of hosts, and whatever is between them and us.
        if words[0] in ("sleep", "unshare", "bash") or "-I" in words and "-S" in words and "/netlab-" in words[-2]:
            found.append(" ".join(words))
    return found


def until(holds):
    end_s = time.monotonic() + 100
    while not holds() and time.monotonic() < end_s:
        time.sleep(0.1)


links = set(os.listdir("/sys/class/net"))
before = len(running())
children = []
for what, how in ((batch, 9), (batch, 2), (live, 9), (live, 15)):
    pid = os.fork()
    if pid == 0:
        try:
            what()
        finally:
            os._exit(0)
    children.append((pid, how))
sleeping = lambda: sum(words.startswith("sleep 100") for words in running())
until(lambda: sleeping() == 8)
told = dict(sleeping=sleeping())
for pid, how in children:
    os.kill(pid, how)
begin_s = time.monotonic()
for pid, _ in children:
    os.waitpid(pid, 0)
until(lambda: len(running()) <= before or time.monotonic() > begin_s + 20)
told["left"] = running()[before:]
with scratch.run_directory(0):
    pass
told["files"] = [
    os.path.join(place, name) for place, _, names in os.walk(os.environ["TMPDIR"]) for name in names if name != "lock"
]
told["more"] = [*(set(os.listdir("/sys/class/net")) - links), *glob.glob("/tmp/netlab-[0-9]*-*")]
print(json.dumps(told))
"""


@pytest.mark.pocket
def test_a_native_run_or_lab_that_is_killed_leaves_nothing() -> None:
    result = json_printed_by(KILLED, within_s=(30, 150))
    assert result["sleeping"] == 8, "all four were at work, with two programs each"
    assert result["left"] == []
    assert result["files"] == []
    assert result["more"] == [], "neither interfaces nor directories"
