"""Names of the packages that contain a program, for each Linux distribution."""

DEBIAN, FEDORA, ARCH, SUSE, ALPINE = "Debian, Ubuntu", "Fedora", "Arch", "openSUSE", "Alpine"
_EVERYWHERE = (DEBIAN, FEDORA, ARCH, SUSE, ALPINE)
_NET_TOOLS = dict.fromkeys(_EVERYWHERE, "net-tools") | {SUSE: "net-tools-deprecated"}

PACKAGES = {
    "iperf": dict.fromkeys(_EVERYWHERE, "iperf") | {SUSE: "iperf2"},
    "iperf3": dict.fromkeys(_EVERYWHERE, "iperf3") | {SUSE: "iperf"},
    **dict.fromkeys(("ifconfig", "route", "arp"), _NET_TOOLS),
    "brctl": dict.fromkeys(_EVERYWHERE, "bridge-utils"),
    "telnet": dict.fromkeys(_EVERYWHERE, "telnet") | {ARCH: "inetutils", ALPINE: "busybox-extras"},
    "vconfig": {DEBIAN: "vlan", FEDORA: "vconfig", ALPINE: "busybox"},
    "sysctl": {DEBIAN: "procps", FEDORA: "procps-ng", ARCH: "procps-ng", SUSE: "procps", ALPINE: "procps-ng"},
    "hostname": dict.fromkeys(_EVERYWHERE, "hostname") | {ARCH: "inetutils", ALPINE: "busybox"},
    "iptables": {
        DEBIAN: "iptables",
        FEDORA: "iptables-nft",
        ARCH: "iptables-nft",
        SUSE: "iptables",
        ALPINE: "iptables",
    },
}
"""The package of each program, by distribution."""


def packages_of(program: str) -> str:
    """Return the names of a program's packages, each with its distributions.

    >>> packages_of("telnet")
    'telnet (Debian, Ubuntu, Fedora, openSUSE), inetutils (Arch) or busybox-extras (Alpine)'
    """
    distributions: dict[str, list[str]] = {}
    for distribution, package in PACKAGES[program].items():
        distributions.setdefault(package, []).append(distribution)
    names = [f"{package} ({', '.join(users)})" for package, users in distributions.items()]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def not_installed(program: str) -> str:
    """Return the sentence for a user whose machine lacks a program.

    >>> not_installed("iperf")
    'iperf is not installed on this machine; its package is iperf (Debian, Ubuntu, Fedora, Arch, Alpine) or iperf2 (openSUSE).'
    """
    return f"{program} is not installed on this machine; its package is {packages_of(program)}."
