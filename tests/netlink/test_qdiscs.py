"""The netlink messages of qdiscs are those that iproute2 sends, byte for byte."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

import netlab as nl
from netlab.network import queues
from netlab.runs.scenario import Scenario
from netlab_engines.netlink import classes, disciplines, links
from netlab_engines.netlink.disciplines import DRR_CLASSES, ETS_QUANTA_BYTES
from netlab_engines.netlink.qdiscs import AttachedQdisc, Queueing, fifo, ingress, netem, redirect, removal, tbf
from netlab_engines.netlink.queue_spec import QueueSpec
from netlab_engines.netlink.red import AverageLength, red
from netlab_engines.netlink.wire import batch, message
from netlab_engines.planning.shaping import shape_network

RECORDED = {
    frozenset(case["line"].split()): case
    for case in json.loads((Path(__file__).parent.parent / "data/tc_messages.json").read_text())["cases"]
}
NLM_F_ACK = 4
TCA_OPTIONS_OF_TBF = 36 + 8
TABLE_OF_TIMES = 2
LIMIT = 10_000_000
TIMES = {"target_ms": 5, "interval_ms": 100, "ecn": True}


def queue(aqm: str, packets: int | None = None, **options: object) -> Queueing:
    spec = QueueSpec(5, queue_packets=packets, options=options)
    return AttachedQdisc("lo", disciplines.qdisc(aqm, spec), inner=True)


def with_classes(aqm: str, packets: int | None = None, **options: object) -> list[Queueing]:
    qdisc = disciplines.qdisc(aqm, QueueSpec(5, queue_packets=packets, options=options))
    assert qdisc.classes is not None
    return [AttachedQdisc("lo", qdisc, inner=True), *classes.class_elements("lo", qdisc.classes)]


QDISCS: list[Queueing] = [
    AttachedQdisc("lo", tbf(4_798_000, 2018, 10**9)),
    AttachedQdisc("lo", tbf(4_798_000, 2018, 10**9, overhead_bytes=24, min_bytes=84)),
    AttachedQdisc("lo", tbf(10**11, 80_504, 10**9)),
    queue("fifo", packets=100),
    AttachedQdisc("lo", disciplines.qdisc("fifo", QueueSpec(5, queue_bytes=151_400)), inner=True),
    AttachedQdisc("lo", red(151_400, AverageLength(12_617, 37_850, 21, 0.1, 5_000_000), ecn=False), inner=True),
    AttachedQdisc("lo", red(1_514_000, AverageLength(30_280, 90_840, 50, 0.02, 30 * 10**9), ecn=True), inner=True),
    queue("codel"),
    queue("codel", **TIMES),
    queue("fq_codel", ecn=False),
    queue("fq_codel", flows=64, **TIMES),
    queue("pie"),
    queue("pie", target_ms=15, ecn=True),
    queue("cake", packets=100),
    queue("cake", packets=100, rtt_ms=20),
    AttachedQdisc("lo", netem(LIMIT, rate_bps=5_000_000)),
    AttachedQdisc("lo", netem(LIMIT, delay_us=10_000, rate_bps=5_000_000, overhead_bytes=24)),
    AttachedQdisc("lo", netem(LIMIT, delay_us=10_000, jitter_us=2000, rate_bps=10**12)),
    AttachedQdisc("lo", netem(LIMIT, delay_us=0, jitter_us=2000)),
    AttachedQdisc("lo", netem(LIMIT, delay_us=10_000, loss_rate=0.02, duplicate_rate=0.01, rate_bps=5_000_000)),
    AttachedQdisc("lo", netem(LIMIT, burst_loss=(0.01, 0.3, 1.0, 0.0), rate_bps=5_000_000)),
    ingress("lo"),
    redirect("lo", "lo"),
    queue("fq"),
    queue("fq", flow_packets=50, flow_rate_mbps=4.798, pacing=False),
    queue("sfq"),
    queue("sfq", flow_packets=50),
    queue("fq_pie"),
    queue("fq_pie", flows=64, target_ms=15, ecn=True),
    queue("choke"),
    queue("choke", packets=100),
    queue("choke", packets=100, min_packets=5, max_packets=15, probability=0.1, ecn=True),
    *with_classes("drr", packets=50, classes=2),
    *with_classes("drr", packets=50, quanta_bytes=[3000, 1500], classify="flow")[1:3],
    with_classes("drr", packets=50, quanta_bytes=[3000, 1500], classify="flow")[-1],
    with_classes("ets", packets=50)[0],
    *with_classes("ets", packets=50)[3:],
    with_classes("ets", packets=50, strict=2)[0],
    with_classes("ets", packets=50, quanta_bytes=[1500, 3000])[0],
]


def netlab_form(recorded: str) -> str:
    """iproute2's message without its number and its wish for an answer, and without tbf's table, which no kernel reads."""
    data = bytearray.fromhex(recorded)
    data[8:12] = bytes(4)
    struct.pack_into("=H", data, 6, struct.unpack_from("=H", data, 6)[0] & ~NLM_F_ACK)
    if b"tbf\0" in data[:48]:
        options, kept, at = bytes(data[TCA_OPTIONS_OF_TBF + 4 :]), b"", 0
        while at < len(options):
            length, kind = struct.unpack_from("=HH", options, at)
            padded = (length + 3) & ~3
            kept += b"" if kind == TABLE_OF_TIMES else options[at : at + padded]
            at += padded
        data = data[:TCA_OPTIONS_OF_TBF] + struct.pack("=HH", len(kept) + 4, 2) + kept
        struct.pack_into("=I", data, 0, len(data))
    return data.hex()


def test_every_recorded_message_is_compared() -> None:
    assert {frozenset(each.line.split()) for each in QDISCS} == set(RECORDED)


@pytest.mark.parametrize("qdisc", QDISCS, ids=[each.line[15:70] for each in QDISCS])
def test_a_qdisc_becomes_the_message_that_tc_sends(qdisc: Queueing) -> None:
    """`tc` takes a line's options in any order, and sends them in its own."""
    case = RECORDED[frozenset(qdisc.line.split())]
    assert sorted(qdisc.line.split()) == sorted(case["line"].split())
    assert qdisc.message(lambda name: 1).hex() == netlab_form(case["message"])


def test_size_table_of_extra_bytes_equals_that_of_tc() -> None:
    """The message of iproute2 6.1.0 for this line, its sendmsg written down."""
    sent = (
        "5800000024000506f8a1076b00000000000000000100000000000100ffffffff000000000a000100706669666f000000080002006400000020000800"
        "1c00010000000000f2ffffff00000000000000000000000000000000"
    )
    created = AttachedQdisc("lo", fifo(100, in_bytes=False), overhead_bytes=-14)
    assert created.line == "qdisc add dev lo root handle 1: stab overhead -14 pfifo limit 100"
    assert created.message(lambda name: 1).hex() == netlab_form(sent)
    # A change that does not name it would take it away.
    assert replace(created, changed=True).message(lambda name: 1).hex()[32:] == sent[32:]


def test_a_qdisc_is_changed_in_place_and_removed() -> None:
    """RTM_NEWQDISC (36) without the flags that make one, and RTM_DELQDISC (37), as rtnetlink(7) has them."""
    created = AttachedQdisc("lo", tbf(10**6, 2018, 10**9))
    new, changed = created.message(lambda name: 7), replace(created, changed=True).message(lambda name: 7)
    assert struct.unpack_from("=HH", new, 4) == (36, 0x601)
    assert struct.unpack_from("=HH", changed, 4) == (36, 1)
    assert new[8:] == changed[8:]
    assert struct.unpack_from("=HH16xIII", removal("lo").message(lambda name: 7), 4)[:1] == (37,)
    assert removal("lo", arriving=True).line == "qdisc del dev lo ingress"


def test_every_queue_discipline_of_the_scenarios_has_a_message() -> None:
    aqms = list(queues.DISCIPLINES)
    network = nl.Topology(
        hosts=["h1", "h2"],
        links=[nl.Link("h1", "h2", rate_mbps=10, delay_ms=5, queue_packets=100, aqm=aqm) for aqm in aqms],
    )
    plan = Scenario(network, [nl.Ping("h1", "h2")]).plan()
    _ip, queueing = shape_network(plan["directions"], "virtual", [], plan["seed"])
    created = [each for own in queueing.values() for each in own]
    # A class of drr is two lines, a band of ets one, and two filters sort into each one's.
    assert len(created) == (len(aqms) * 5 + 2 * DRR_CLASSES + 2 + len(ETS_QUANTA_BYTES) + 1 + 2) * 2
    for each in created:
        assert len(each.message(lambda name: 3)) > 36


def test_only_the_last_of_several_messages_asks_for_an_answer() -> None:
    data = batch([links.bring_up(2), links.bring_up(3), links.address(3, "10.0.0.1/24")])
    seen = []
    at = 0
    while at < len(data):
        length, _kind, flags, number, _pid = struct.unpack_from("=IHHII", data, at)
        seen.append((number, bool(flags & NLM_F_ACK)))
        at += length
    assert seen == [(0, False), (1, False), (2, True)]
    assert len(message(16, 0, bytes(16))) == 32


def test_a_wires_seed_is_the_kernels_attribute_14() -> None:
    """iproute2 knows it from 6.6 on; TCA_NETEM_PRNG_SEED of linux/pkt_sched.h."""
    wire = AttachedQdisc("lo", netem(10, loss_rate=0.01, seed=2**64 - 1))
    assert wire.line.endswith("loss random 1.0000000000% seed 18446744073709551615")
    assert wire.message(lambda name: 1).endswith(struct.pack("=HHQ", 12, 14, 2**64 - 1))
