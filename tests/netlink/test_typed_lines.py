"""Lines of `tc` and `ip` that a person types become the messages that iproute2 sends, byte for byte."""

import struct

import pytest

from netlab_engines.netlink import typed_lines
from netlab_engines.netlink.links import route
from netlab_engines.netlink.typed_lines import LineWords, TypedRoute
from netlab_engines.netlink.wire import UnknownLineError
from tests.netlink.test_qdiscs import RECORDED, netlab_form

NOT_READ = (
    "ingress",
    "filter",
    "choke",
    "drr",
    "ets",
    "red",
    "cake",
    "sfq",
    "fq",
    "fq_pie",
    "overhead",
    "gemodel",
    "5000000bit 24",
)
LINES = {case["line"]: case["message"] for case in RECORDED.values()}
READ = [line for line in LINES if not any(f" {words} " in f" {line} " for words in NOT_READ)]


def message(line: str) -> bytes:
    return typed_lines.tc(LineWords(line, line.split()))(lambda _name: 1)


def test_most_kinds_are_read() -> None:
    assert {line.split()[7 + ("parent" in line)] for line in READ} >= {"netem", "tbf"}
    assert len(READ) >= 14


@pytest.mark.parametrize("line", READ)
def test_a_line_becomes_the_message_that_tc_sends(line: str) -> None:
    assert message(line).hex() == netlab_form(LINES[line])


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("netem delay 300ms", "netem limit 1000 delay 300000us"),
        ("netem delay 0.3s 10ms loss 2%", "netem loss random 2 delay 300000 10000us limit 1000"),
        ("netem rate 1mbps", "netem rate 8Mbit limit 1000"),
        ("tbf rate 1mbit burst 10kb latency 100ms", "tbf limit 22740b rate 1000kbit burst 10240"),
        ("bfifo limit 2kb", "bfifo limit 2048"),
        ("codel target 5ms ecn", "codel target 5000us ecn"),
    ],
)
def test_units_are_those_of_the_manuals(line: str, same: str) -> None:
    begin = "qdisc add dev lo root "
    assert message(begin + line) == message(begin + same)


def test_unsupported_line_is_refused() -> None:
    for line in sorted(set(LINES) - set(READ)):
        with pytest.raises(UnknownLineError, match="in the line"):
            message(line)


def test_to_replace_is_to_make_or_change_and_to_delete_needs_no_kind() -> None:
    flags = {verb: struct.unpack_from("=HH", message(f"qdisc {verb} dev lo root pfifo limit 5"), 4)
             for verb in ("add", "change", "replace")}  # fmt: skip
    assert flags == {"add": (36, 0x601), "change": (36, 1), "replace": (36, 0x501)}
    assert struct.unpack_from("=HH", message("qdisc del dev lo root"), 4) == (37, 1)


def test_a_way_that_was_shown_is_read_again() -> None:
    for shown in (
        TypedRoute("10.0.1.0/24", "h1-eth0", None, "10.0.1.1"),
        TypedRoute("0.0.0.0/0", "h1-eth0", "10.0.1.2"),
        TypedRoute("10.0.3.0/24", "h1-eth0", "10.0.1.2", quickack=True),
    ):
        assert typed_lines.route(LineWords(shown.line, shown.line.split())) == shown


def test_a_way_through_a_router_is_made_as_in_a_plan_with_its_interface() -> None:
    """RTA_OIF is attribute 4 of rtnetlink(7), behind the gateway."""
    ours, planned = (
        TypedRoute("10.0.3.0/24", "h1-eth0", "10.0.1.2").message("add", lambda _name: 7),
        route("10.0.3.0/24", "10.0.1.2"),
    )
    assert ours[4:] == planned[4:] + struct.pack("=HHI", 8, 4, 7)
