"""A live network on the native engine: the same commands in real time, here as root of a guest's kernel without time travel."""

import pytest

from tests.in_guest import json_printed_by

NETWORK = {"hosts": ["h1", "h2"], "links": [{"a": "h1", "b": "h2", "rate_mbps": 5, "delay_ms": 10}]}
PROGRAM = """
import json, os, signal, sys, threading, time
sys.path.extend({path!r})
import netlab as nl
from netlab.base.errors import NetlabError

hosts = open("/etc/hosts").read()
told = dict()
with nl.live({network!r}, wall_limit_s=30) as lab:
    process = lab.session.guest.process
    told["ping"] = lab["h1"].run("ping -c 3 -i 0.2 h2")
    server = lab["h2"].start("sleep 1000")
    capture = lab.capture("h1", "h2", filter="tcp")
    flow = lab.start(nl.Tcp("h1", "h2"))
    began_s, wall_s = lab.now_s, time.monotonic()
    lab.advance(2)
    told["advanced_s"], told["wall_s"] = lab.now_s - began_s, time.monotonic() - wall_s
    told["goodput_mbps"] = float(flow.row.goodput_mbps)
    flow.stop()
    told["packets"] = int(capture.packets.departs.sum())
    lab.link("h1", "h2").down()
    told["cut"] = lab["h1"].run("ping -c 1 -W 1 h2").exit_code
    lab.link("h1", "h2").up()
    lab.link("h1", "h2").change(delay_ms=50)
    told["mended"] = lab["h1"].run("ping -c 3 -i 0.2 -q h2")
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        lab["h1"].run("sleep 100")
    except KeyboardInterrupt:
        told["interrupted"] = lab["h1"].run("echo usable")
    try:
        lab.advance(1, pace=0.1)
    except NetlabError as error:
        told["pace"] = str(error)
told["ended"] = process.poll()
left = [name for name in os.listdir("/proc") if name.isdigit()]
told["left"] = []
for name in left:
    try:
        words = open("/proc/" + name + "/cmdline").read()
    except OSError:
        continue
    if words.startswith("sleep"):
        told["left"].append(words)
told["hosts"] = open("/etc/hosts").read() == hosts
print(json.dumps(told))
"""


@pytest.mark.pocket
def test_a_live_network_of_the_machines_own_kernel_inside_a_guest() -> None:
    result = json_printed_by(PROGRAM, {"NETLAB_ENGINE": "native"}, within_s=(25, 150), network=NETWORK)
    assert "3 packets transmitted, 3 received" in result["ping"]
    assert result["advanced_s"] == pytest.approx(result["wall_s"], rel=0.2)
    assert result["advanced_s"] >= 2
    # A real clock lets a bucket's content through at once: up to 3 % above the link's share (docs/evidence/agreement.md).
    assert 3 < result["goodput_mbps"] <= 5 * 1448 / 1514 * 1.03
    assert result["packets"] > 300
    assert result["cut"] != 0
    assert " 0% packet loss" in result["mended"]
    assert float(result["mended"].split("rtt min/avg/max/mdev = ")[1].split("/")[0]) >= 100
    assert result["interrupted"] == "usable\n"
    assert "pace must be 1" in result["pace"]
    assert result["ended"] is not None
    assert result["left"] == [], "what its hosts started has ended with it"
    assert result["hosts"], "the machine's own names are as they were"
