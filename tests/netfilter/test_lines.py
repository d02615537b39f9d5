"""Lines of iptables become the messages that nft sends for the same rules, and are written and refused as they should be."""

import json
import re
from pathlib import Path

import pytest

from netlab.netfilter import messages
from netlab.netfilter.lines import LineError, read
from netlab.netfilter.messages import BUILT_IN
from netlab.netlink import wire

RECORDED = json.loads((Path(__file__).parent.parent / "data/nft_messages.json").read_text())


def as_we_send_it(line: str) -> str:
    read_line = read(line.split())
    assert read_line.rule is not None
    rule = messages.new_rule(
        read_line.table, read_line.chain, read_line.rule.expressions, first=read_line.action == "-I"
    )
    return messages.batch([rule]).hex()


@pytest.mark.parametrize("case", RECORDED["rules"], ids=[case["iptables"][:60] for case in RECORDED["rules"]])
def test_a_rule_becomes_the_message_that_nft_sends(case):
    assert as_we_send_it(case["iptables"]) == case["message"]


@pytest.mark.parametrize(
    ("nft", "made"),
    [
        ("add table ip nat", messages.new_table("nat")),
        ("add chain ip filter TOGO", messages.new_chain("filter", "TOGO")),
        ("add chain ip filter FORWARD { policy drop ; }", messages.new_chain("filter", "FORWARD", policy="DROP")),
        ("delete rule ip filter FORWARD handle 1", messages.delete_rule("filter", "FORWARD", 1)),
        *(
            (
                (
                    f"add chain ip {table} {chain} {{ type {table} hook {chain.lower()} "
                    f"priority {BUILT_IN[table][chain].priority} ; policy accept ; }}"
                ),
                messages.new_chain(table, chain, BUILT_IN[table][chain], "ACCEPT"),
            )
            for table, chain in (
                ("nat", "PREROUTING"),
                ("nat", "POSTROUTING"),
                ("filter", "FORWARD"),
                ("filter", "INPUT"),
            )
        ),
    ],
)
def test_tables_and_chains_are_made_with_the_messages_that_nft_sends(nft, made):
    assert messages.batch([made]).hex() == RECORDED["others"][nft]


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("-A FORWARD -j DROP -i h1-eth0 -d 10.0/8", "-A FORWARD -d 10.0.0.0/8 -i h1-eth0 -j DROP"),
        ("-A INPUT -p 6 --dport http ! -s 10.0.0.1 -j DROP", "-A INPUT ! -s 10.0.0.1/32 -p tcp -m tcp --dport 80 -j DROP"),
        ("--append INPUT --protocol=udp --sport :53", "-A INPUT -p udp -m udp --sport 0:53"),
        ("-A INPUT -s ! 10.0.0.0/255.255.0.0 -p all -j RETURN", "-A INPUT ! -s 10.0.0.0/16 -j RETURN"),
        ("-A INPUT -s 0/0 -j ACCEPT", "-A INPUT -j ACCEPT"),
        ("-A INPUT -p icmp --icmp-type 8 -j REJECT",
         "-A INPUT -p icmp -m icmp --icmp-type 8 -j REJECT --reject-with icmp-port-unreachable"),
        ("-A FORWARD -p tcp ! --syn -m state --state established,new",
         "-A FORWARD -p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN -m state --state NEW,ESTABLISHED"),
        ("-A POSTROUTING -o r-eth1 -j MASQUERADE -t nat", "-A POSTROUTING -o r-eth1 -j MASQUERADE"),
    ],
)  # fmt: skip
def test_a_rule_is_written_as_iptables_writes_it_and_read_again(typed, written):
    line = read(typed.split())
    assert line.rule is not None
    assert line.rule.line(line.chain) == written
    again = read(["-t", line.table, *written.split()])
    assert again.rule == line.rule


def test_letters_may_stand_together():
    line = read(["-t", "nat", "-nvL", "POSTROUTING", "--line-numbers"])
    assert (line.table, line.action, line.chain) == ("nat", "-L", "POSTROUTING")
    assert (line.numeric, line.verbose, line.numbered) == (True, True, True)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("", "no command given. Known are the tables filter and nat"),
        ("-A FORWARD -m multiport --dports 80,443 -j ACCEPT", "the match 'multiport' is not offered. Known are"),
        ("-t mangle -L", "the table 'mangle' is not offered. Known are"),
        ("-A FORWARD -p sctp -j DROP", "the protocol 'sctp' is not offered"),
        ("-A FORWARD --dport 80 -j DROP", "--sport and --dport want '-p tcp' or '-p udp'"),
        ("-A FORWARD -j MASQUERADE", "MASQUERADE works in the table nat only: begin with '-t nat'"),
        ("-t nat -A PREROUTING -j MASQUERADE", "MASQUERADE works in POSTROUTING only, not in PREROUTING"),
        ("-t nat -A PREROUTING -p tcp --dport 80 -j DNAT", "DNAT wants --to-destination"),
        ("-t nat -A PREROUTING -j DNAT --to-destination 10.0.0.2:80", "another port wants '-p tcp' or '-p udp'"),
        ("-t nat -A POSTROUTING -j MASQUERADE --random", "--random wants a value behind it"),
        ("-t nat -A POSTROUTING -j DROP", "the table nat is no filter"),
        ("-A INPUT -o h1-eth0 -j DROP", "-o cannot be used in INPUT"),
        ("-A INPUT -s 10.0.0.300 -j DROP", "an address is written as"),
        ("-A INPUT -m state --state OPEN -j DROP", "a connection's state is one of"),
        ("-A INPUT -p tcp --dport 99999 -j DROP", "a port is at most 65535"),
        ("-P INPUT REJECT", "-P takes one of INPUT, FORWARD, OUTPUT and ACCEPT or DROP, got INPUT REJECT"),
        ("-L -s 10.0.0.1", "'-s' does not go with -L"),
    ],
)
def test_what_is_wrong_or_not_known_is_said(typed, told):
    with pytest.raises(LineError, match=f"^{re.escape(told)}"):
        read(typed.split())


def test_a_rule_that_is_too_long_to_be_kept_is_refused():
    with pytest.raises(ValueError, match="a rule may be 249 characters long"):
        messages.new_rule("filter", "INPUT", b"", line="x" * 250)


def test_what_the_kernel_tells_of_a_rule_is_read():
    line = read(["-A", "INPUT", "-s", "10.0.0.1", "-j", "DROP"])
    assert line.rule is not None
    made = messages.new_rule("filter", "INPUT", line.rule.expressions, line.rule.line("INPUT"))
    # In a dump the kernel adds the rule's handle.
    told = messages.read_rule(made[wire.HEADER.size :] + messages.be64(3, 7))
    assert (told.chain, told.handle, told.line) == ("INPUT", 7, "-A INPUT -s 10.0.0.1/32 -j DROP")
