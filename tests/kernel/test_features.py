"""Features of Linux by the words of commands: complete, and consistent with the recipe of the pocket kernel."""

from __future__ import annotations

import re

import pytest

from netlab_engines.kernels import features
from netlab_kernel import fragment
from netlab_kernel.edit import RECIPE

NOT_NAMED = {"NET_CLS_ACT", "NETFILTER_XT_MARK", "NETFILTER_XT_NAT", "TCP_CONG_ADVANCED", "TCP_CONG_TAHOE"}
"""Options that belong to no single name, and netlab's own congestion control."""
FAMILIES = re.compile(r"NET_(SCH|CLS|ACT|EMATCH)_|NETFILTER_XT_|IP_NF_(MATCH|TARGET)_|IP_SET_|TCP_CONG_|NF_TABLES_")


def recipe() -> dict[str, str]:
    """The values of the recipe's options, without CONFIG_ before their names."""
    options = fragment.parse((RECIPE / "pocket.config").read_text())
    return {option.name.removeprefix("CONFIG_"): option.value for option in options}


def named_options() -> set[str]:
    return {option for names in features.OPTIONS.values() for option in names.values()}


def test_every_name_is_in_the_kernel_or_has_advice() -> None:
    built_in = {name for name, value in recipe().items() if value == "y"}
    assert named_options() - built_in == set(features.INSTEAD)


def test_every_option_of_the_recipe_for_commands_has_a_name() -> None:
    options = {name for name, value in recipe().items() if value == "y" and FAMILIES.match(name)}
    assert options - named_options() - NOT_NAMED == {"NF_TABLES_IPV4"}


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("tc qdisc add dev prio root handle 1: skbprio limit 64", ["NET_SCH_SKBPRIO"]),
        ("tc qdisc add dev h1-eth0 clsact", ["NET_SCH_INGRESS"]),
        ("tc class add dev h1-eth0 parent 1: classid 1:1 htb rate 1mbit", ["NET_SCH_HTB"]),
        (
            "tc filter add dev x parent 1: prio 1 protocol ip u32 match u8 0 0 action pedit ex munge ip ttl set 5 pipe action csum ip",
            ["NET_CLS_U32", "NET_ACT_PEDIT", "NET_ACT_CSUM"],
        ),
        (
            "tc -n x filter add dev h1-eth0 parent 1: basic match cmp(u8 at 9 layer 1 eq 1)",
            ["NET_CLS_BASIC", "NET_EMATCH_CMP"],
        ),
        ("tc filter add dev h1-eth0 ingress bpf da obj prog.o sec main", ["NET_CLS_BPF", "BPF_SYSCALL"]),
        ("tc filter add dev h1-eth0 ingress bpf bytecode 1,6", ["NET_CLS_BPF"]),
        ("tc actions add action pass random netrand drop 10", ["GACT_PROB"]),
        ("iptables -t raw -A OUTPUT -p udp -j NOTRACK", ["NETFILTER_XT_TARGET_CT"]),
        (
            "iptables-nft -A INPUT -m hashlimit --hashlimit-above 1/s -m owner --uid-owner 0 --jump DROP",
            ["NETFILTER_XT_MATCH_HASHLIMIT", "NETFILTER_XT_MATCH_OWNER"],
        ),
        ("ip6tables -L", ["IPV6"]),
        ("ip link add name v9 type vxlan id 5 remote 10.0.0.2", ["VXLAN"]),
        ("ip link set h1-eth0 up", []),
        ("ip link set dev h1-eth0 xdp obj prog.o", ["BPF_SYSCALL"]),
        ("ip tunnel add t9 mode ipip remote 10.0.0.2", ["NET_IPIP"]),
        ("ip -6 route", ["IPV6"]),
        ("ip addr add 2001:db8::1/64 dev h1-eth0", ["IPV6"]),
        ("ip link set h1-eth0 address 00:00:00:00:00:01", []),
        ("ip mptcp endpoint show", ["MPTCP"]),
        ("nft add table inet filter", ["NF_TABLES_INET"]),
        ("ipset create known hash:ip,port", ["IP_SET_HASH_IPPORT"]),
        ("sysctl -w net.ipv4.tcp_congestion_control=bic", ["TCP_CONG_BIC"]),
        ("iperf3 -c 10.0.0.2 -C bic", ["TCP_CONG_BIC"]),
        ("ping 10.0.0.2", []),
        ("tc", []),
        ("ip", []),
    ],
)
def test_the_words_of_a_command_name_options(command: str, options: list[str]) -> None:
    program, *words = command.split()
    assert [feature.option for feature in features.requested(program, words)] == options


def test_a_missing_feature_is_a_sentence_with_advice() -> None:
    words = ["filter", "add", "dev", "h1-eth0", "parent", "1:", "cgroup"]
    (sentence,) = features.missing("tc", words, {"CONFIG_NET": "y"})
    assert sentence.startswith("netlab's kernel has no `tc filter cgroup` (CONFIG_NET_CLS_CGROUP): mark packets with ")
    assert features.missing("tc", words, {"CONFIG_NET_CLS_CGROUP": "y"}) == []
    assert features.missing("tc", words, {}) == [], "nothing is known of the kernel"
    (sentence,) = features.missing("tc", ["qdisc", "add", "dev", "x", "root", "red"], {"CONFIG_NET": "y"})
    assert "`netlab kernel build`" in sentence


@pytest.mark.parametrize("kind", ["multiq", "mqprio num_tc 1", "taprio num_tc 1"])
def test_a_queue_discipline_for_several_queues_gets_the_reason_why_it_is_refused(kind: str) -> None:
    """net/sched: each returns EOPNOTSUPP on a device that is not netif_is_multiqueue()."""
    words = f"qdisc add dev h1-eth0 root {kind}".split()
    (sentence,) = features.refused("tc", words, "RTNETLINK answers: Operation not supported\n")
    assert sentence.startswith(f"`{kind.split(maxsplit=1)[0]}` needs a device with several transmit queues")
    assert features.refused("tc", words, "Error: sch_taprio: Multi-queue device is required.\n") == [sentence]
    assert features.refused("tc", words, "Error: Exclusivity flag on, cannot modify.\n") == []
    assert features.refused("tc", ["qdisc", "add", "dev", "multiq", "root", "etf"], "Operation not supported") == []
    assert features.refused("ip", words, "Operation not supported") == []
