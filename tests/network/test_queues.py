"""The table of queue disciplines: every row is whole, and what a link says of it comes back as it was said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.base.rules import Choice, Flag, Ranges, Rule
from netlab.network import queues
from netlab.network.link import LinkShape
from netlab.network.queues import DISCIPLINES
from netlab_engines.netlink import disciplines, wire
from netlab_engines.netlink.queue_spec import QueueSpec
from netlab_kernel import fragment
from netlab_kernel.edit import RECIPE

NEWEST = (99, 0)


def ends(option: Rule) -> tuple[Any, ...]:
    """The values at the ends of an option's range."""
    if isinstance(option, Flag):
        return (False, True)
    if isinstance(option, Choice):
        return tuple(option.words)
    if isinstance(option, Ranges):
        return ([option.each.low], [option.each.high] * option.most)
    return (option.low, option.high)


OPTIONS = [
    pytest.param(row.name, name, value, id=f"{row.name}-{name}-{value}")
    for row in DISCIPLINES.values()
    for name, option in row.options.items()
    for value in ends(option)
]


def test_the_disciplines_are_these() -> None:
    assert set(DISCIPLINES) == {
        "fifo", "red", "codel", "fq_codel", "pie", "fq_pie", "cake", "dualpi2", "fq", "sfq", "choke", "drr", "ets",
    }  # fmt: skip
    assert set(disciplines.ENCODINGS) == set(DISCIPLINES)


@pytest.mark.parametrize("name", DISCIPLINES)
def test_the_pocket_kernel_has_each_discipline(name: str) -> None:
    config = fragment.render(fragment.parse((RECIPE / "pocket.config").read_text()), NEWEST)
    assert f"{DISCIPLINES[name].symbol}=y\n" in config


@pytest.mark.parametrize("name", DISCIPLINES)
def test_row_has_a_name_description_and_source(name: str) -> None:
    row = DISCIPLINES[name]
    assert row.name == name
    assert row.description.endswith(".")
    assert row.source
    assert row.counts in ("packets", "bytes", "packets or bytes", "kernel memory")
    assert disciplines.marks(row.name, b"") == 0, "statistics that are shorter than expected count nothing"
    qdisc = disciplines.qdisc(row.name, QueueSpec(10))
    assert qdisc.kind == qdisc.words.split()[0]
    assert qdisc.kind in (name, "pfifo")


@pytest.mark.parametrize(("aqm", "name", "value"), OPTIONS)
def test_every_option_reaches_the_kernel_and_is_shown(aqm: str, name: str, value: Any) -> None:
    """A row whose function leaves an option out is found here, not by a student whose queue ignores it."""
    row = DISCIPLINES[aqm]
    usual, text = (
        disciplines.qdisc(row.name, QueueSpec(10, queue_packets=1000, options=options))
        for options in ({}, {name: value})
    )
    is_default = value is (name == "pacing" or (aqm, name) == ("fq_codel", "ecn")) or value == "port"
    assert ((text.options, text.classes) != (usual.options, usual.classes)) is not is_default
    assert ((text.words, text.classes) != (usual.words, usual.classes)) is not is_default


@pytest.mark.parametrize(("aqm", "name", "value"), OPTIONS)
def test_every_option_at_both_ends_comes_back_from_a_file(aqm: str, name: str, value: Any) -> None:
    options = {name: value, **({"quanta_bytes": [1500]} if (aqm, name, value) == ("ets", "strict", 0) else {})}
    link = nl.Link("h1", "h2", rate_mbps=10, aqm=aqm, aqm_options=options)
    assert link.forward.problems("") == []
    topology = nl.Topology(["h1", "h2"], links=[link])
    read = nl.Topology.from_dict(json.loads(json.dumps(topology.to_dict())))
    assert read.links[0].forward.aqm_options == options


@pytest.mark.parametrize(
    ("aqm", "options", "packets", "sentence"),
    [
        ("dualpi2", {"target_ms": 5000}, {}, "aqm_options: target_ms must be a number from 0.001 to 4000, got 5000"),
        ("dualpi2", {"coupling": 0}, {}, "aqm_options: coupling must be a whole number from 1 to 255, got 0"),
        ("dualpi2", {"coupling": 1.5}, {}, "aqm_options: coupling must be a whole number from 1 to 255, got 1.5"),
        ("dualpi2", {"any_ecn": 1}, {}, "aqm_options: any_ecn must be True or False, got 1; write any_ecn=True"),
        (
            "dualpi2",
            {"ecn": True},
            {},
            (
                "aqm_options of dualpi2: got 'ecn'; allowed: target_ms, tupdate_ms, step_ms, step_packets, coupling, any_ecn; "
                "did you mean any_ecn?"
            ),
        ),
        ("fq", {"ecn": True}, {}, "aqm_options of fq: got 'ecn'; allowed: flow_packets, flow_rate_mbps, pacing"),
        (
            "drr",
            {"quanta_bytes": [1500, 10]},
            {},
            "aqm_options: quanta_bytes[1] must be a whole number from 64 to 10000000, got 10",
        ),
        (
            "drr",
            {"quanta_bytes": []},
            {},
            "aqm_options: quanta_bytes must be a list of 1 to 256 numbers, got []",
        ),
        (
            "drr",
            {"quanta_bytes": [1500], "classes": 2},
            {},
            "aqm_options: give quanta_bytes, one for each class, or classes, which have equal quanta; not both",
        ),
        ("drr", {"classify": "dscp"}, {}, "aqm_options: classify: got 'dscp'; allowed: port, flow"),
        (
            "ets",
            {"strict": 10, "quanta_bytes": [1500] * 7},
            {},
            "aqm_options: strict and the number of quanta_bytes must give 1 to 16 bands together, got 10 and 7",
        ),
        (
            "ets",
            {"strict": 0},
            {},
            "aqm_options: strict and the number of quanta_bytes must give 1 to 16 bands together, got 0 and 0",
        ),
        (
            "choke",
            {"min_packets": 10, "max_packets": 5},
            {},
            "aqm_options: min_packets must be below max_packets, got 10 and 5",
        ),
        (
            "choke",
            {},
            {"queue_packets": 200_000},
            "aqm='choke' needs room for 4 to 131072 packets, got queue_packets=200000",
        ),
        ("sfq", {}, {"queue_packets": 1}, "aqm='sfq' needs room for 2 to 1000000 packets, got queue_packets=1"),
        (
            "fq",
            {},
            {"queue_bytes": 30_000},
            "aqm='fq' limits its queue in packets; give queue_packets instead of queue_bytes",
        ),
    ],
)
def test_a_wrong_option_is_one_sentence(
    aqm: str, options: dict[str, Any], packets: dict[str, Any], sentence: str
) -> None:
    assert LinkShape(rate_mbps=10, aqm=aqm, aqm_options=options, **packets).problems("here") == [f"here: {sentence}"]


@pytest.mark.parametrize("name", ["htb", "DualPI2", "", None, 5, ["red"]])
def test_an_unknown_discipline_raises(name: Any) -> None:
    with pytest.raises(ValueError, match="allowed: fifo, red, .*dualpi2, fq, sfq, choke, drr, ets"):
        queues.discipline(name)
    with pytest.raises(ScenarioError, match="aqm: got "):
        nl.run(nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=1, aqm=name)]), [nl.Ping("h1", "h2")])


@pytest.mark.parametrize(
    ("aqm", "options", "arguments"),
    [
        ("fq_pie", {"flows": 64, "target_ms": 5, "ecn": True}, "fq_pie limit 100 flows 64 target 5000us ecn"),
        ("fq", {}, "fq limit 100"),
        (
            "fq",
            {"flow_packets": 20, "flow_rate_mbps": 2, "pacing": False},
            "fq limit 100 flow_limit 20 nopacing maxrate 2000000bit",
        ),
        ("sfq", {"flow_packets": 20}, "sfq limit 100 depth 20 flows 65408"),
        ("dualpi2", {"target_ms": 5}, "dualpi2 limit 100 target 5000us l4s_ect no_split_gso"),
    ],
)
def test_the_arguments_for_tc(aqm: str, options: dict[str, Any], arguments: str) -> None:
    """The tests of shaping cover the other disciplines."""
    assert disciplines.qdisc(aqm, QueueSpec(10, queue_packets=100, options=options)).words == arguments


def test_the_options_of_dualpi2_are_the_kernels_attributes() -> None:
    """linux/pkt_sched.h: limit 1, target 3, tupdate 4, step threshold in us 8, its least queue 9, coupling 10 and the
    mask of what is L4S 14, which are of 8 bits, and splitting off (15). No recorded `tc` knows them yet."""

    def attributes(**spec: Any) -> dict[int, bytes]:
        ((_kind, inside),) = wire.attributes(disciplines.qdisc("dualpi2", QueueSpec(10, **spec)).options)
        return dict(wire.attributes(inside))

    options = {"target_ms": 5, "tupdate_ms": 4, "step_ms": 0.5, "step_packets": 2, "coupling": 3, "any_ecn": True}
    found = {
        kind: int.from_bytes(value, "little") for kind, value in attributes(queue_packets=100, options=options).items()
    }
    assert found == {1: 100, 3: 5000, 4: 4000, 8: 500, 9: 2, 10: 3, 14: 3, 15: 0}
    plain = attributes()
    assert plain == {1: (1000).to_bytes(4, "little"), 14: b"\1", 15: b"\0"}, "the kernel's own choice for all others"


def test_a_qdisc_that_no_link_has_counts_no_marks() -> None:
    assert disciplines.marks("tbf", b"\xff" * 64) == 0


PACKETS = st.one_of(st.integers(1, 10_000), st.floats(1, 10_000))


@given(
    st.floats(-3, 5).map(lambda power: 10**power),
    st.none() | st.integers(1, queues.MAX_PACKETS),
    st.fixed_dictionaries(
        {}, optional={"min_packets": PACKETS, "max_packets": PACKETS, "probability": st.floats(0.01, 1)}
    ),
)
@example(0.001, None, {"min_packets": 2, "max_packets": 1000})
@example(0.001, None, {"max_packets": 10_000})
def test_red_can_be_set_up_with_all_options_that_are_accepted(
    rate_mbps: float, queue_packets: int | None, options: dict[str, Any]
) -> None:
    row = DISCIPLINES["red"]
    assume(not list(row.problems(options, queue_packets, None)))
    assert disciplines.qdisc(
        row.name, QueueSpec(rate_mbps, queue_packets=queue_packets, options=options)
    ).words.startswith("red limit")


@pytest.mark.library
def test_red_works_on_the_slowest_link() -> None:
    link = nl.Link("h1", "h2", rate_mbps=0.001, aqm="red", aqm_options={"min_packets": 2, "max_packets": 1000})
    flow = nl.Udp("h1", "h2", rate_mbps=0.01, payload_bytes=100)
    run = nl.run(nl.Topology(["h1", "h2"], links=[link]), [flow], 60, engine="library", progress=False)
    assert run.queues.backlog_packets.max() > 100 and run.queues.drops.max() >= 1


def test_reds_idle_rate_is_at_most_30_gbits() -> None:
    messages = [
        disciplines.qdisc("red", QueueSpec(rate, queue_packets=1000)).words for rate in (100_000, 30_000, 29_999)
    ]
    assert "bandwidth 30000000000bit" in messages[0].replace("30Gbit", "30000000000bit")
    assert messages[0] == messages[1] != messages[2]
