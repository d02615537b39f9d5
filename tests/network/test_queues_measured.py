"""The queue disciplines in the kernel: each takes what it is told, and does what its row says."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab.network.queues import DISCIPLINES
from tests.agreement import agrees, tcp_limit_mbps

pytestmark = pytest.mark.pocket

ROOM_PACKETS = 50
FRAME_BYTES = 1514

# The link's fields, and the queue's settings that the kernel then reports. CoDel keeps times in units of 1.024 us.
SAID: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "fifo": ({}, {"limit": ROOM_PACKETS}),
    "red": (
        {"min_packets": 5, "max_packets": 15, "probability": 0.02, "ecn": True},
        {"limit": ROOM_PACKETS * FRAME_BYTES, "min": 5 * FRAME_BYTES, "max": 15 * FRAME_BYTES, "ecn": True},
    ),
    "codel": (
        {"target_ms": 7, "interval_ms": 70, "ecn": True},
        {"limit": ROOM_PACKETS, "target": 6999, "interval": 69999, "ecn": True},
    ),
    "fq_codel": (
        {"target_ms": 7, "interval_ms": 70, "ecn": True, "flows": 64},
        {"limit": ROOM_PACKETS, "target": 6999, "interval": 69999, "ecn": True, "flows": 64},
    ),
    "pie": ({"target_ms": 7, "ecn": True}, {"limit": ROOM_PACKETS, "target": 7000, "ecn": True}),
    "fq_pie": (
        {"target_ms": 7, "ecn": True, "flows": 64},
        {"limit": ROOM_PACKETS, "target": 7000, "ecn": True, "flows": 64},
    ),
    "cake": ({"rtt_ms": 50}, {"rtt": 50_000, "memlimit": ROOM_PACKETS * FRAME_BYTES}),
    "fq": (
        {"flow_packets": 20, "flow_rate_mbps": 2, "pacing": False},
        {"limit": ROOM_PACKETS, "flow_limit": 20, "maxrate": 250_000, "pacing": False},
    ),
    "sfq": ({"flow_packets": 20}, {"limit": ROOM_PACKETS, "depth": 20}),
    "choke": (
        {"min_packets": 5, "max_packets": 15, "probability": 0.02, "ecn": True},
        {"limit": ROOM_PACKETS, "min": 5, "max": 15, "ecn": True},
    ),
    "drr": ({"quanta_bytes": [3000, 1500], "classify": "flow"}, {}),
    "ets": (
        {"strict": 1, "quanta_bytes": [3000, 1500]},
        {"bands": 3, "strict": 1, "quanta": [3000, 1500]},
    ),
    # By the numbers of linux/pkt_sched.h, because this tc may not know it.
    "dualpi2": (
        {"target_ms": 7, "tupdate_ms": 8, "step_ms": 2, "step_packets": 3, "coupling": 4, "any_ecn": True},
        {"1": ROOM_PACKETS, "3": 7000, "4": 8000, "8": 2000, "9": 3, "10": 4, "14": 3, "15": 0},
    ),
}

OPTIONS_BY_NETLINK = """
import json, socket, sys
sys.path.insert(0, {root!r})
from netlab_engines.netlink import wire
kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, wire.NETLINK_ROUTE)
kernel.bind((0, 0))
kernel.send(wire.message(38, 0x301, wire.TCMSG.pack(0, 0, 0, 0, 0)))
found, done = {{}}, False
while not done:
    for kind, body in wire.messages(kernel.recv(65536)):
        done = done or kind == wire.NLMSG_DONE
        parts = dict(wire.attributes(body[wire.TCMSG.size:])) if kind == wire.RTM_NEWQDISC else {{}}
        if parts.get(wire.TCA_KIND) == b"dualpi2\\0":
            options = wire.attributes(parts[wire.TCA_OPTIONS])
            found = {{number: int.from_bytes(value, "little") for number, value in options}}
print(json.dumps(found))
"""


def test_every_discipline_accepts_its_options() -> None:
    """A router has a link for each discipline; the kernel reports the settings of its queues."""
    hosts = {f"h{number}": aqm for number, aqm in enumerate(SAID, start=1)}
    links = [
        nl.Link(
            "r1",
            host,
            rate_mbps=10,
            queue_packets=ROOM_PACKETS,
            aqm=aqm,
            aqm_options=SAID[aqm][0],
            reverse={"aqm": "fifo", "aqm_options": {}},
        )
        for host, aqm in hosts.items()
    ]
    program = base64.b64encode(OPTIONS_BY_NETLINK.format(root=str(Path(nl.__file__).parent.parent)).encode()).decode()
    commands = [nl.Command("r1", f"tc -j qdisc show dev r1-eth{number}") for number in range(len(links) - 1)]
    commands.append(nl.Command("r1", f"printf %s {program} | base64 -d > /tmp/options.py; python3 /tmp/options.py"))
    run = nl.run(nl.Topology(list(hosts), ["r1"], links=links), commands, duration_s=1)
    assert set(SAID) == set(DISCIPLINES), "a row without a test"
    message: dict[str, dict[str, Any]] = {}
    for aqm, text in zip(SAID, run.commands.stdout, strict=True):
        answer = json.loads(text)
        message[aqm] = answer if aqm == "dualpi2" else next(q["options"] for q in answer if q["handle"] == "2:")
    assert {aqm: {name: message[aqm].get(name) for name in meant} for aqm, (_, meant) in SAID.items()} == {
        aqm: meant for aqm, (_, meant) in SAID.items()
    }


def queue_of(run: nl.Run, after_s: float = 5) -> Any:
    """Return the contents of the bottleneck's queue of one pair, a row for each sample."""
    return run.queues[(run.queues.interface == "r1-eth1") & (run.queues.t_s > after_s)]


@pytest.mark.parametrize("target_ms", [5, 15, 30])
def test_dualpi2_holds_its_target(target_ms: float) -> None:
    """The mean time in the queue of a CUBIC flow, from the packets in it, and the link stays busy."""
    topology = nl.topologies.dumbbell(
        pairs=1, rate_mbps=10, delay_ms=10, queue_packets=300, aqm="dualpi2", aqm_options={"target_ms": target_ms}
    )
    run = nl.run(topology, [nl.Tcp("h1", "h2")], duration_s=30)
    frame_ms = FRAME_BYTES * 8 / 10e3
    # A rare loss halves the window and the next wait is long: a saw-tooth about the target, wider than a frame or two.
    agrees("time in the queue (ms)", queue_of(run).backlog_packets.mean() * frame_ms, target_ms, absolute=2.5)
    assert run.goodput_mbps(after_s=5).iloc[0] > 0.97 * tcp_limit_mbps(10)


def test_dualpi2_keeps_the_low_latency_queue_at_its_step_and_only_marks() -> None:
    """A DCTCP flow, sorted by any ECN: the queue stays near the step of 1 ms, and every mark reaches the sender."""
    topology = nl.topologies.dumbbell(
        pairs=1, rate_mbps=50, delay_ms=2, queue_packets=500, aqm="dualpi2", aqm_options={"any_ecn": True}
    )
    run = nl.run(topology, [nl.Tcp("h1", "h2", congestion="dctcp")], duration_s=10)
    queue = queue_of(run, after_s=2)
    frame_ms = FRAME_BYTES * 8 / 50e3
    agrees("time in the queue (ms)", queue.backlog_packets.mean() * frame_ms, 1, absolute=0.5)
    assert queue.drops.iloc[-1] == 0
    agrees("goodput (Mbit/s)", run.goodput_mbps(after_s=2).iloc[0], tcp_limit_mbps(50), relative=0.01)
    agrees(
        "marks that the sender heard of",
        run.flows.marks[0],
        run.queues[run.queues.interface == "r1-eth1"].marks.max(),
        relative=0.02,
    )


def test_dualpi2_shares_between_classic_and_scalable_flows() -> None:
    """CUBIC in its queue and DCTCP in the other: neither gets less than a third of the link, at equal RTTs (RFC 9332, 2.1)."""
    topology = nl.topologies.dumbbell(
        pairs=2, rate_mbps=50, delay_ms=5, queue_packets=1000, aqm="dualpi2", aqm_options={"any_ecn": True}
    )
    traffic = [nl.Tcp("h1", "h3", congestion="dctcp"), nl.Tcp("h2", "h4", congestion="cubic")]
    run = nl.run(topology, traffic, duration_s=20)
    scalable, classic = run.goodput_mbps(after_s=5)
    assert min(scalable, classic) > tcp_limit_mbps(50) / 3, (scalable, classic)


def test_fq_pie_marks_and_we_count_as_tc_does() -> None:
    """With ECN nothing is lost once slow start is over."""
    topology = nl.topologies.dumbbell(
        pairs=1, rate_mbps=10, queue_packets=300, aqm="fq_pie", aqm_options={"ecn": True, "target_ms": 5}
    )
    traffic = [
        nl.Tcp("h1", "h2", congestion="reno", duration_s=15),
        nl.Command("r1", "tc -s -j qdisc show dev r1-eth1", start_s=16),
    ]
    run = nl.run(topology, traffic, duration_s=17, sysctls={"net.ipv4.tcp_ecn": 1})
    queue = queue_of(run)
    assert queue.marks.iloc[-1] > queue.marks.iloc[0]
    assert queue.drops.iloc[-1] == queue.drops.iloc[0]
    output = next(q for q in json.loads(run.commands.stdout[0]) if q["handle"] == "2:")
    assert queue.marks.iloc[-1] == output["ecn_mark"]


@pytest.mark.parametrize(("aqm", "own_packets"), [("fq", 100), ("sfq", 127)])
def test_flow_may_hold_only_its_limit_of_packets(aqm: str, own_packets: int) -> None:
    """The kernel's own limit for a flow, however large the room; `flow_packets` changes it."""
    most = {}
    for options in ({}, {"flow_packets": 40}):
        topology = nl.topologies.dumbbell(pairs=1, rate_mbps=10, queue_packets=1000, aqm=aqm, aqm_options=options)
        run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=20)], duration_s=3)
        most[len(options)] = queue_of(run, 0).backlog_packets.max()
    # The rate limit holds one more, which has left the flow's own queue.
    agrees("packets of one flow", most[0], own_packets, absolute=1)
    agrees("packets of one flow, with flow_packets", most[1], 40, absolute=1)


def test_fq_and_sfq_give_a_small_flow_its_rate_next_to_a_flood() -> None:
    """1 Mbit/s of datagrams with 20 Mbit/s, over 10 Mbit/s: nothing of it is lost, where drop-tail loses half."""
    lost = {}
    for aqm in ("fifo", "fq", "sfq"):
        topology = nl.topologies.dumbbell(pairs=2, rate_mbps=10, queue_packets=200, aqm=aqm)
        run = nl.run(topology, [nl.Udp("h1", "h3", rate_mbps=1), nl.Udp("h2", "h4", rate_mbps=20)], duration_s=5)
        lost[aqm] = run.flows.loss_rate[0]
    assert lost["fifo"] > 0.4, lost
    assert lost["fq"] == lost["sfq"] == 0, lost


def test_fq_paces_each_flow() -> None:
    """Two flows at 2 Mbit/s each, counted with 14 bytes of Ethernet header, over a link of 10."""
    topology = nl.topologies.dumbbell(
        pairs=2, rate_mbps=10, queue_packets=200, aqm="fq", aqm_options={"flow_rate_mbps": 2}
    )
    run = nl.run(topology, [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h4")], duration_s=20)
    for goodput_mbps in run.goodput_mbps(after_s=5):
        agrees("goodput (Mbit/s)", goodput_mbps, tcp_limit_mbps(2), relative=0.01)


def shares(aqm: str, options: dict[str, Any], flows: list[Any], **words: Any) -> list[float]:
    """The goodput in Mbit/s of each flow over a bottleneck of 10 Mbit/s, from h1 to h2 and so on."""
    count = len(flows)
    topology = nl.topologies.dumbbell(
        pairs=count, rate_mbps=10, delay_ms=5, queue_packets=100, aqm=aqm, aqm_options=options, **words
    )
    return list(nl.run(topology, flows, duration_s=20).flows.goodput_mbps)


def udp(pair: int, pairs: int, rate_mbps: float = 10, payload_bytes: int = 1000) -> Any:
    return nl.Udp(f"h{pair}", f"h{pair + pairs}", rate_mbps=rate_mbps, payload_bytes=payload_bytes)


def udp_limit_mbps(rate_mbps: float, payload_bytes: int = 1000) -> float:
    return rate_mbps * payload_bytes / (payload_bytes + 42)


def test_drr_shares_by_quanta_whatever_is_offered() -> None:
    """Shreedhar and Varghese, 1996, theorem 3: backlogged classes get bytes in the ratio of their quanta."""
    got = shares("drr", {"quanta_bytes": [1000, 2000, 4000]}, [udp(1, 3, 8), udp(2, 3, 9), udp(3, 3, 10)])
    for one, share in zip(got, (1 / 7, 2 / 7, 4 / 7), strict=True):
        agrees("goodput (Mbit/s)", one, udp_limit_mbps(10) * share, relative=0.01)


def test_drr_gives_equal_bytes_to_large_and_small_packets_and_spares_a_modest_flow() -> None:
    """The paper's second claim: packets' sizes do not matter. A class that asks for less than its share gets all of it."""
    got = shares("drr", {}, [udp(1, 3, 10, 200), udp(2, 3, 10, 1400), udp(3, 3, 1)])
    agrees("goodput of the modest flow (Mbit/s)", got[2], 1, relative=0.01)
    rest_mbps = (10 - 1 * 1042 / 1000) / 2
    for one, payload_bytes in zip(got, (200, 1400), strict=False):
        agrees("goodput (Mbit/s)", one, udp_limit_mbps(rest_mbps, payload_bytes), relative=0.01)


def test_drr_protects_tcp_from_udp_that_a_fifo_lets_starve_it() -> None:
    flows = [nl.Tcp("h1", "h3"), udp(2, 2, 12)]
    alone, fair = shares("fifo", {}, flows)[0], shares("drr", {}, flows)[0]
    assert alone < 0.1 * tcp_limit_mbps(10)
    agrees("goodput of TCP (Mbit/s)", fair, tcp_limit_mbps(5), relative=0.03)


def test_drr_by_flow_tells_connections_to_one_port_apart() -> None:
    """A hash into many classes; UDP's share then is that of one flow among three, unless two of them share a class."""
    flows = [nl.Tcp("h1", "h4"), nl.Tcp("h2", "h5"), udp(3, 3, 12)]
    got = shares("drr", {"classes": 256, "classify": "flow"}, flows)
    for one in got[:2]:
        agrees("goodput of TCP (Mbit/s)", one, tcp_limit_mbps(10 / 3), relative=0.05)


def test_ets_serves_a_strict_band_first_and_shares_the_rest_by_quanta() -> None:
    """tc-ets(8): 4 Mbit/s of the strict band pass untouched; the two others share what is left, 3 to 1."""
    got = shares("ets", {"strict": 1, "quanta_bytes": [3000, 1000]}, [udp(1, 3, 4), udp(2, 3), udp(3, 3)])
    agrees("goodput of the strict band (Mbit/s)", got[0], 4, relative=0.01)
    left_mbps = 10 - 4 * 1042 / 1000
    for one, share in zip(got[1:], (0.75, 0.25), strict=True):
        agrees("goodput (Mbit/s)", one, udp_limit_mbps(left_mbps * share), relative=0.01)


def test_an_overloaded_strict_band_starves_the_others() -> None:
    first, second = shares("ets", {"strict": 2}, [udp(1, 2, 12), udp(2, 2, 5)])
    agrees("goodput of the first band (Mbit/s)", first, udp_limit_mbps(10), relative=0.01)
    # Packets in its queue before the queue of the first band grows.
    assert second < 0.05


def test_choke_limits_udp_that_does_not_slow_down() -> None:
    """Pan, Prabhakar and Psounis, 2000, section 3: many TCP flows and one of UDP at twice the link's rate. With RED it takes nearly
    all; with CHOKe about a quarter of the link at most, whatever it offers."""
    flows = [*(nl.Tcp(f"h{pair}", f"h{pair + 9}") for pair in range(1, 9)), udp(9, 9, 20)]
    options = {"min_packets": 20, "max_packets": 60}
    red, choke = (shares(aqm, options, flows)[-1] for aqm in ("red", "choke"))
    assert red > 0.7 * udp_limit_mbps(10), red
    assert choke < 0.35 * udp_limit_mbps(10), choke


@pytest.mark.parametrize(
    ("aqm", "options"),
    [("choke", {"min_packets": 5, "max_packets": 15}), ("drr", {"classes": 4, "classify": "flow"}), ("ets", {})],
)
def test_both_kernels_give_the_same_numbers(aqm: str, options: dict[str, Any]) -> None:
    topology = nl.topologies.dumbbell(
        pairs=3, rate_mbps=5, delay_ms=5, queue_packets=30, aqm=aqm, aqm_options=options, loss_rate=0.001
    )
    traffic = [nl.Tcp("h1", "h4"), nl.Udp("h2", "h5", rate_mbps=4), nl.Ping("h3", "h6")]
    pocket, library = (nl.run(topology, traffic, duration_s=3, engine=engine) for engine in ("pocket", "library"))
    for table in ("flows", "intervals", "queues", "pings"):
        assert getattr(pocket, table).equals(getattr(library, table)), table
    assert pocket.queues.drops.max() > 0
