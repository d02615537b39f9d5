"""The features of Linux that commands such as `tc`, `iptables` and `ip` ask for by name, the options of the kernel's
configuration that include them, and advice for those that netlab's pocket kernel leaves out or refuses.
"""

import gzip
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from netlab_engines.kernels.versions import read_config

Names = Iterator[tuple[str, str]]
"""A place in a command, a key of NAMES, and the name there, which need not be in the table."""
RUNNING_CONFIG = Path("/proc/config.gz")

NAMES = {
    "tc qdisc": (
        "NET_SCH_{}",
        (
            "bpf cake cbs choke codel drr dualpi2 ets etf fq fq_codel fq_pie gred hfsc hhf htb ingress mqprio multiq netem pie plug"
            " prio qfq red sfb sfq skbprio taprio tbf teql0=TEQL clsact=INGRESS"
        ),
    ),
    "tc filter": ("NET_CLS_{}", "basic bpf cgroup flow flower fw matchall route=ROUTE4 u32"),
    "tc ematch": ("NET_EMATCH_{}", "canid cmp ipset ipt meta nbyte text u32"),
    "tc action": (
        "NET_ACT_{}",
        (
            "bpf connmark csum ct ctinfo gact gate ife mirred mpls nat pedit police sample simple=SIMP skbedit skbmod tunnel_key"
            " vlan"
        ),
    ),
    "tc action gact random": ("{}", "determ=GACT_PROB netrand=GACT_PROB"),
    "tc bpf": ("{}", "obj=BPF_SYSCALL object-file=BPF_SYSCALL object-pinned=BPF_SYSCALL pinned=BPF_SYSCALL"),
    "iptables target": (
        "NETFILTER_XT_TARGET_{}",
        (
            "AUDIT CHECKSUM CLASSIFY CONNMARK CONNSECMARK CT DNAT=/NETFILTER_XT_NAT DSCP ECN=/IP_NF_TARGET_ECN HMARK IDLETIMER LED"
            " LOG MARK MASQUERADE NETMAP NFLOG NFQUEUE NOTRACK=CT RATEEST REDIRECT REJECT=/IP_NF_TARGET_REJECT SECMARK"
            " SET=/NETFILTER_XT_SET SNAT=/NETFILTER_XT_NAT SYNPROXY=/IP_NF_TARGET_SYNPROXY TCPMSS TCPOPTSTRIP TEE TOS=DSCP TPROXY"
            " TRACE TTL=HL"
        ),
    ),
    "iptables match": (
        "NETFILTER_XT_MATCH_{}",
        (
            "addrtype ah=/IP_NF_MATCH_AH bpf cgroup cluster comment connbytes connlabel connlimit connmark conntrack cpu dccp"
            " devgroup dscp ecn esp hashlimit helper ipcomp iprange ipvs length limit mac mark multiport nfacct osf owner physdev"
            " pkttype policy quota rateest realm recent rpfilter=/IP_NF_MATCH_RPFILTER sctp set=/NETFILTER_XT_SET socket state"
            " statistic string tcpmss time tos=DSCP ttl=HL u32"
        ),
    ),
    "ip link type": (
        "{}",
        (
            "bareudp batadv=BATMAN_ADV bond=BONDING bridge can dummy erspan=NET_IPGRE geneve gre=NET_IPGRE gretap=NET_IPGRE gtp hsr"
            " ifb ip6gre=IPV6 ip6gretap=IPV6 ip6tnl=IPV6 ipip=NET_IPIP ipvlan ipvtap macsec macvlan macvtap nlmon sit=IPV6"
            " team=NET_TEAM tun vcan=CAN veth vlan=VLAN_8021Q vrf=NET_VRF vti=NET_IPVTI vxcan=CAN vxlan wireguard xfrm"
        ),
    ),
    "ip link set": ("{}", "xdp=BPF_SYSCALL xdpdrv=BPF_SYSCALL xdpgeneric=BPF_SYSCALL"),
    "ip tunnel mode": ("{}", "gre=NET_IPGRE ipip=NET_IPIP sit=IPV6 vti=NET_IPVTI"),
    "ip": ("{}", "l2tp macsec mptcp mroute=IP_MROUTE xfrm -6=IPV6"),
    "ip route encap": ("{}", "bpf=LWTUNNEL ip=LWTUNNEL mpls=LWTUNNEL seg6=LWTUNNEL"),
    "nft family": ("{}", "arp=NF_TABLES_ARP bridge=NF_TABLES_BRIDGE inet=NF_TABLES_INET netdev=NF_TABLES_NETDEV"),
    "ipset type": (
        "IP_SET_{}",
        (
            "bitmap:ip bitmap:ip,mac bitmap:port hash:ip hash:ip,mac hash:ip,mark hash:ip,port hash:ip,port,ip hash:ip,port,net"
            " hash:mac hash:net hash:net,iface hash:net,net hash:net,port hash:net,port,net list:set"
        ),
    ),
    "congestion control": (
        "TCP_CONG_{}",
        "bbr bic cdg cubic dctcp highspeed=HSTCP htcp hybla illinois lp nv scalable vegas veno westwood yeah",
    ),
    "program": (
        "{}",
        "arptables=NF_TABLES_ARP ebtables=BRIDGE_NF_EBTABLES ip6tables=IPV6 ipvsadm=IP_VS mptcpize=MPTCP ping6=IPV6 wg=WIREGUARD",
    ),
}
"""For each place in a command, the pattern of the options' names without CONFIG_, and the names that the place may have:
`name` for the option with that name in upper case, or `name=NAME`; an option after `/` does not follow the pattern."""

_MARK = "mark packets with `iptables -t mangle -j MARK` (-m owner tells users apart) and use the filter fw"
INSTEAD = {
    "BPF_SYSCALL": "programs of clang cannot be loaded; `bytecode`, from `tcpdump -ddd EXPRESSION`, can",
    "NET_SCH_BPF": "use another queue discipline",
    "NET_SCH_TEQL": "use `ip link add bond0 type bond mode balance-rr`",
    "NET_CLS_CGROUP": _MARK,
    "NET_EMATCH_CANID": "there are no CAN devices",
    "NET_ACT_CT": "use iptables with -m conntrack, -j CONNMARK and -j MARK",
    "NET_ACT_TUNNEL_KEY": "use a vxlan device for each tunnel",
    "NETFILTER_XT_TARGET_AUDIT": "use -j LOG or -j NFLOG",
    "NETFILTER_XT_TARGET_CONNSECMARK": "use -j CONNMARK; there are no security contexts",
    "NETFILTER_XT_TARGET_LED": "use the counters of `iptables -vnL`; there are no LEDs",
    "NETFILTER_XT_TARGET_SECMARK": "use -j MARK; there are no security contexts",
    "NETFILTER_XT_TARGET_TRACE": "use -j NFLOG or the counters of `iptables -vnL`",
    "NETFILTER_XT_MATCH_CGROUP": "use -m owner --uid-owner",
    "NETFILTER_XT_MATCH_DCCP": "use -m multiport or -m u32",
    "NETFILTER_XT_MATCH_IPVS": "use -m conntrack; there are no virtual servers (IPVS)",
    "NETFILTER_XT_MATCH_PHYSDEV": "use ebtables, because iptables does not see what a bridge forwards",
    "NETFILTER_XT_MATCH_POLICY": "use a vxlan device; there is no IPsec",
    "IPV6": "use IPv4 addresses",
    "LWTUNNEL": "use a vxlan device as the route's device",
    "IP_MROUTE": "use the sender's and each receiver's own subnet, or unicast",
    "IP_VS": "use `iptables -t nat` with -m statistic and -j DNAT to share connections among servers",
    "NF_TABLES_INET": "use the family ip",
    "NF_TABLES_NETDEV": "use `tc filter` with the qdisc clsact",
    "TCP_CONG_BIC": "use cubic, its successor",
    **dict.fromkeys(
        ("CAN", "MACSEC", "HSR", "NLMON", "XFRM", "BATMAN_ADV", "NET_TEAM"), "use devices of Ethernet and bridges"
    ),
    **dict.fromkeys(
        ("BAREUDP", "GENEVE", "GTP", "L2TP", "NET_IPVTI", "WIREGUARD", "NET_IPGRE", "NET_IPIP"), "use a vxlan device"
    ),
    **dict.fromkeys(("MACVTAP", "IPVTAP"), "use macvlan or ipvlan"),
}
"""Advice for what the pocket kernel of this version leaves out, by the option's name without CONFIG_."""
FOR_SEVERAL_QUEUES = frozenset(["multiq", "mqprio", "taprio"])
"""Queue disciplines that Linux refuses on a device with one transmit queue."""
ONE_QUEUE = (
    "`{}` needs a device with several transmit queues, and the links of hosts have one each: use `prio`, or a device of your "
    "own, such as that of `ip link add v0 numtxqueues 4 type veth peer name v1`."
)
REFUSALS = ("Operation not supported", "Multi-queue device is required")
"""The errors that tc prints if a device has too few queues for a queue discipline."""
OTHER_VERSION = "it was built by another version of netlab; `netlab kernel build` builds this version's"


class Feature(NamedTuple):
    """A feature of Linux as a command names it, such as "tc action pedit", and the name, without CONFIG_, of the
    configuration's option that includes it.
    """

    phrase: str
    option: str

    def sentence(self) -> str:
        """Return a sentence saying that the kernel lacks the feature and what to do instead."""
        return (
            f"netlab's kernel has no `{self.phrase}` (CONFIG_{self.option}): {INSTEAD.get(self.option, OTHER_VERSION)}."
        )


def _read_names() -> dict[str, dict[str, str]]:
    """Return the option, without CONFIG_, of each name in NAMES, by the place and the name."""
    options: dict[str, dict[str, str]] = {}
    for place, (pattern, names) in NAMES.items():
        options[place] = {}
        for entry in names.split():
            name, _, own = entry.partition("=")
            part = own or name.upper().replace(":", "_").replace(",", "")
            options[place][name] = part[1:] if part.startswith("/") else pattern.format(part)
    return options


OPTIONS = _read_names()
"""The option, without CONFIG_, of each name, by the place in a command where the name stands."""
CONTROL_SETTING = re.compile(r"net[./]ipv4[./]tcp_(?:allowed_|default_)?congestion_control=(.+)")


def requested(program: str, words: Sequence[str]) -> Iterator[Feature]:
    """Yield the features of Linux that a program, such as "tc", asks for with its arguments `words`, as far as the
    table NAMES knows them.

    >>> [feature.option for feature in requested("tc", "filter add dev eth0 u32 match u32 0 0 action csum ip".split())]
    ['NET_CLS_U32', 'NET_ACT_CSUM']
    """
    if program in OPTIONS["program"]:
        yield Feature(program, OPTIONS["program"][program])
    program = program.removesuffix("-nft").removesuffix("-legacy")
    if program in _PARSERS:
        for place, name in _PARSERS[program](words):
            if name in OPTIONS.get(place, ()):
                yield Feature(f"{place} {name}", OPTIONS[place][name])


def missing(program: str, words: Sequence[str], config: Mapping[str, str]) -> list[str]:
    """Return a sentence for each feature that a program asks for with its arguments `words` and that a kernel with the
    options `config` (values by names such as CONFIG_IPV6) lacks; [] if `config` is empty, for nothing is known then.
    """
    if not config:
        return []
    named = dict.fromkeys(requested(program, words))
    return [feature.sentence() for feature in named if config.get(f"CONFIG_{feature.option}") != "y"]


def refused(program: str, words: Sequence[str], error: str) -> list[str]:
    """Return a sentence with the reason, in a list, why the kernel refused a program with its arguments `words`, if it
    is known from what the program printed as its `error`; [] if not.
    """
    if program != "tc" or not any(text in error for text in REFUSALS):
        return []
    kinds = [name for place, name in _tc(words) if place == "tc qdisc" and name in FOR_SEVERAL_QUEUES]
    return [ONE_QUEUE.format(kind) for kind in kinds]


def running_config() -> dict[str, str]:
    """Return the options of the kernel that runs this program, by their names; {} if it does not tell."""
    try:
        return read_config(gzip.decompress(RUNNING_CONFIG.read_bytes()).decode())
    except OSError:
        return {}


def _after(words: Sequence[str], *keys: str) -> Iterator[str]:
    """Yield each word that stands behind one of the words `keys`."""
    return (value for key, value in itertools.pairwise(words) if key in keys)


def _without_options(words: Sequence[str], with_value: Sequence[str]) -> list[str]:
    """Return the words without options at their front, and the values of those options that are in `with_value`."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        del rest[: 2 if rest[0] in with_value else 1]
    return rest


TC_KEYS = frozenset(
    ["dev", "parent", "handle", "classid", "protocol", "pref", "prio", "preference", "priority", "chain", "block"]
)
"""Words of `tc filter` with a value behind them, before the filter's kind; those of `tc qdisc` are among them."""


def _tc(words: Sequence[str]) -> Names:
    """Yield the places and names that the arguments of tc may ask for: the kind of a queue discipline or filter, its
    actions and extended matches.
    """
    rest = _without_options(words, ("-n", "-netns", "-b", "-batch", "-cf", "-conf"))
    if not rest:
        return
    place = next((f"tc {kind}" for kind in ("qdisc", "class", "filter", "action") if kind.startswith(rest[0])), "")
    place = "tc qdisc" if place == "tc class" else place
    at = 2
    while at < len(rest) and rest[at] not in OPTIONS.get(place, ()):
        at += 2 if rest[at] in TC_KEYS else 1
    kinds = rest[at : at + 1]
    if place in ("tc qdisc", "tc filter"):
        yield from ((place, kind) for kind in kinds)
    if place == "tc qdisc":
        return
    actions = [*_after(rest, "action")]
    yield from (("tc action", action) for action in actions)
    yield from (("tc action gact random", word) for word in _after(rest, "random"))
    if "bpf" in (*kinds, *actions):
        yield from (("tc bpf", word) for word in rest)
    yield from (("tc ematch", name) for name in re.findall(r"\b(\w+)\(", " ".join(rest)))


def _iptables(words: Sequence[str]) -> Names:
    """Yield the targets and matches that the arguments of iptables name."""
    yield from (("iptables target", name) for name in _after(words, "-j", "--jump"))
    yield from (("iptables match", name) for name in _after(words, "-m", "--match"))


def _ip(words: Sequence[str]) -> Names:
    """Yield the places and names that the arguments of ip may ask for: kinds of devices and tunnels, objects, IPv6."""
    if words[:1] == ["-6"] or "inet6" in words or any("::" in word for word in words):
        yield "ip", "-6"
    rest = _without_options(words, ("-n", "-netns", "-f", "-family", "-b", "-batch", "-rc", "-rcvbuf"))
    if not rest:
        return
    yield "ip", rest[0]
    if "link".startswith(rest[0]):
        yield from (("ip link type", name) for name in [*_after(rest, "type")][:1])
        yield from (("ip link set", name) for name in rest[2:])
    if "tunnel".startswith(rest[0]):
        yield from (("ip tunnel mode", name) for name in _after(rest, "mode"))
    if "route".startswith(rest[0]):
        yield from (("ip route encap", name) for name in _after(rest, "encap"))


def _nft(words: Sequence[str]) -> Names:
    """Yield the families of the tables that the arguments of nft name."""
    yield from (
        ("nft family", name) for name in _after(" ".join(words).split(), "table", "chain", "rule", "set", "map")
    )


def _ipset(words: Sequence[str]) -> Names:
    """Yield the types of sets that the arguments of ipset name."""
    yield from (("ipset type", name) for name in words)


def _iperf(words: Sequence[str]) -> Names:
    """Yield the congestion controls that the arguments of iperf or iperf3 name."""
    yield from (
        ("congestion control", name) for name in _after(words, "-C", "-Z", "--congestion", "--linux-congestion")
    )


def _sysctl(words: Sequence[str]) -> Names:
    """Yield the congestion controls that the arguments of sysctl set."""
    found = filter(None, map(CONTROL_SETTING.fullmatch, words))
    yield from (("congestion control", name) for match in found for name in match[1].split())


_PARSERS: dict[str, Callable[[Sequence[str]], Names]] = {
    "tc": _tc, "iptables": _iptables, "ip": _ip, "nft": _nft, "ipset": _ipset, "iperf": _iperf, "iperf3": _iperf, "sysctl": _sysctl,
}  # fmt: skip
"""The function that finds the places and names in a program's arguments, by the program."""
