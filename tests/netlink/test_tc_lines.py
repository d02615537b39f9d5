"""The netlink messages of `tc` lines are those that iproute2 sends, byte for byte."""

import json
import struct
from pathlib import Path

import pytest

import netlab as nl
from netlab.agent.shaping import shape_network
from netlab.netlink import links
from netlab.netlink.messages import UnknownLineError, batch, message
from netlab.netlink.tc_lines import tc_line
from netlab.network import queues
from netlab.runs.experiment import Scenario

RECORDED = json.loads((Path(__file__).parent.parent / "data/tc_messages.json").read_text())["cases"]
NLM_F_ACK = 4
TCA_OPTIONS_OF_TBF = 36 + 8
TABLE_OF_TIMES = 2


def as_we_send_it(recorded: str) -> str:
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


@pytest.mark.parametrize("case", RECORDED, ids=[case["line"][15:70] for case in RECORDED])
def test_a_line_becomes_the_message_that_tc_sends(case):
    assert tc_line(case["line"], lambda name: 1).hex() == as_we_send_it(case["message"])


@pytest.mark.parametrize(
    "line",
    [
        "qdisc add dev lo root handle 1: hfsc default 1",
        "qdisc add dev lo root handle 1: tbf rate 5mbps burst 2018b limit 1000000000b",
        "qdisc add dev lo parent 1: handle 2: codel limit 1000 ce_threshold 1ms",
        "qdisc add dev nowhere root handle 1: pfifo limit 3",
        "qdisc change dev lo root handle 1: pfifo limit 3",
        "qdisc add dev lo root handle 1: netem limit 10 slot 1ms",
        "class add dev lo",
    ],
)
def test_a_line_with_a_word_that_netlab_does_not_write_is_refused(line):
    with pytest.raises(UnknownLineError, match="tc"):
        tc_line(line, {"lo": 1}.__getitem__)


def test_every_queue_discipline_of_the_scenarios_has_a_message():
    aqms = list(queues.DISCIPLINES)
    network = nl.Topology(
        hosts=["h1", "h2"],
        links=[nl.Link("h1", "h2", rate_mbps=10, delay_ms=5, queue_packets=100, aqm=aqm) for aqm in aqms],
    )
    plan = Scenario(network, [nl.Ping("h1", "h2")]).plan()
    _ip, tc = shape_network(plan["directions"], "virtual", [])
    lines = [line for own in tc.values() for line in own]
    assert len(lines) == len(aqms) * 2 * 5
    for line in lines:
        assert len(tc_line(line, lambda name: 3)) > 36


@pytest.mark.parametrize("aqm", queues.DISCIPLINES)
def test_every_option_has_a_message_at_both_ends_of_its_range(aqm):
    row = queues.DISCIPLINES[aqm]
    for name, kind in row.options.items():
        for value in (True, False) if isinstance(kind, queues.Flag) else (kind.low, kind.high):
            if list(row.problems({name: value}, 1000, None)):
                continue
            line = f"qdisc add dev lo parent 1: handle 2: {row.tc(queues.Wanted(10, 1000, None, {name: value}))}"
            assert len(tc_line(line, lambda name: 1)) > 36, line


def test_only_the_last_of_several_messages_asks_for_an_answer():
    data = batch([links.up(2), links.up(3), links.address(3, "10.0.0.1/24")])
    seen = []
    at = 0
    while at < len(data):
        length, _kind, flags, number, _pid = struct.unpack_from("=IHHII", data, at)
        seen.append((number, bool(flags & NLM_F_ACK)))
        at += length
    assert seen == [(0, False), (1, False), (2, True)]
    assert len(message(16, 0, bytes(16))) == 32
