"""The parts of Linux that netlab uses, and which of them a kernel has built in."""

from dataclasses import dataclass

from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.network.queues import DISCIPLINES
from netlab_engines.kernels.versions import Version, read_config

SECCOMP_SINCE = (6, 16)


@dataclass(frozen=True)
class Part:
    """A part of the kernel, such as a qdisc, that netlab uses if it is built in."""

    symbol: str
    """Its configuration symbol."""
    module: str = ""
    """The name of its module, if it can be a module."""


PARTS = {
    "virtual_time": Part("CONFIG_UML_TIME_TRAVEL_SUPPORT"),
    "seeded_random": Part("CONFIG_NETLAB_SEED"),
    "host_channel": Part("CONFIG_NETLAB_CHANNEL"),
    "pause": Part("CONFIG_NETLAB_PAUSE"),
    "hostfs": Part("CONFIG_HOSTFS"),
    "ecn": Part("CONFIG_INET"),
    "overlay": Part("CONFIG_OVERLAY_FS", "overlay"),
    "veth": Part("CONFIG_VETH", "veth"),
    "ifb": Part("CONFIG_IFB", "ifb"),
    "bridge": Part("CONFIG_BRIDGE", "bridge"),
    "ingress": Part("CONFIG_NET_SCH_INGRESS", "sch_ingress"),
    "matchall": Part("CONFIG_NET_CLS_MATCHALL", "cls_matchall"),
    "mirred": Part("CONFIG_NET_ACT_MIRRED", "act_mirred"),
    "tbf": Part("CONFIG_NET_SCH_TBF", "sch_tbf"),
    "netem": Part("CONFIG_NET_SCH_NETEM", "sch_netem"),
    **{row.name: Part(row.symbol, row.module) for row in DISCIPLINES.values()},
    **{row.name: Part(row.symbol, row.module) for row in CONGESTION_CONTROLS.values()},
}
"""The parts of a kernel that netlab uses, by the name of the capability."""


def capabilities_of(config: str, version: Version) -> frozenset[str]:
    """Return the names of those of netlab's PARTS of the kernel, such as "bbr", that are built in by the kernel
    configuration `config`, the text of a `.config` file; also "seccomp" if the kernel's version is at least
    SECCOMP_SINCE.

    >>> sorted(capabilities_of("CONFIG_INET=y\\nCONFIG_TCP_CONG_BBR=y\\n", (6, 12)))
    ['bbr', 'ecn', 'reno']
    """
    values = read_config(config)
    found = {name for name, part in PARTS.items() if values.get(part.symbol) == "y"}
    return frozenset(found | ({"seccomp"} if version >= SECCOMP_SINCE else set()))
