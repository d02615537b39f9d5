"""Names of the packages that contain a program, for each Linux distribution."""

DEBIAN, FEDORA, ARCH, SUSE, ALPINE = "Debian, Ubuntu", "Fedora", "Arch", "openSUSE", "Alpine"


def _packages(debian: str, fedora: str = "", arch: str = "", suse: str = "", alpine: str = "") -> dict[str, str]:
    """Return the names of one program's package by the name of the distribution, from its name in each; "" stands for
    the same name as in Debian.
    """
    names = {DEBIAN: debian, FEDORA: fedora, ARCH: arch, SUSE: suse, ALPINE: alpine}
    return {distribution: name or debian for distribution, name in names.items()}


_PROCESSES = _packages("procps", "procps-ng", "procps-ng", alpine="procps-ng")
_NET_TOOLS = _packages("net-tools", suse="net-tools-deprecated")
_PING = _packages("iputils-ping", "iputils", "iputils", "iputils", "iputils")
_NETCAT = _packages("netcat-openbsd", "nmap-ncat", "openbsd-netcat")
_NAMES = _packages("bind9-dnsutils", "bind-utils", "bind", "bind-utils", "bind-tools")
_WEB_BENCHMARK = _packages("apache2-utils", "httpd-tools", "apache")
_SAME_NAME = [
    "bash",
    "bc",
    "bwm-ng",
    "curl",
    "dnsmasq",
    "ethtool",
    "fping",
    "gnuplot",
    "hostapd",
    "iftop",
    "ipset",
    "iw",
    "jq",
    "lftp",
    "lighttpd",
    "nginx",
    "nload",
    "nmap",
    "openssl",
    "socat",
    "sudo",
    "tcpdump",
    "tcpreplay",
    "tmux",
    "vsftpd",
    "wget",
    "xterm",
]
PACKAGES = {
    **{name: _packages(name) for name in _SAME_NAME},
    "iperf": _packages("iperf", suse="iperf2"),
    "iperf3": _packages("iperf3", suse="iperf"),
    **dict.fromkeys(("ifconfig", "route", "arp", "netstat"), _NET_TOOLS),
    **dict.fromkeys(("ip", "ss", "bridge"), _packages("iproute2", "iproute")),
    "tc": _packages("iproute2", "iproute-tc"),
    "brctl": _packages("bridge-utils"),
    "telnet": _packages("telnet", arch="inetutils", alpine="busybox-extras"),
    "vconfig": {DEBIAN: "vlan", FEDORA: "vconfig", ALPINE: "busybox"},
    **dict.fromkeys(("sysctl", "ps", "pgrep", "pkill", "top", "watch", "free", "vmstat"), _PROCESSES),
    **dict.fromkeys(("killall", "pstree", "fuser"), _packages("psmisc")),
    "hostname": _packages("hostname", arch="inetutils", alpine="busybox"),
    **dict.fromkeys(
        ("iptables", "iptables-save", "iptables-restore"), _packages("iptables", "iptables-nft", "iptables-nft")
    ),
    "nft": _packages("nftables"),
    "ping": _PING,
    "tracepath": _PING | {DEBIAN: "iputils-tracepath"},
    "arping": _PING | {DEBIAN: "iputils-arping", ALPINE: "iputils-arping"},
    "traceroute": _packages("traceroute", alpine="busybox"),
    "mtr": _packages("mtr-tiny", "mtr", "mtr", "mtr", "mtr"),
    **dict.fromkeys(("nc", "netcat"), _NETCAT),
    "ncat": _packages("ncat", "nmap-ncat", "nmap", "ncat", "nmap-ncat"),
    "nping": _packages("nmap", suse="nping", alpine="nmap-nping"),
    "tshark": _packages("tshark", "wireshark-cli", "wireshark-cli", "wireshark"),
    "wireshark": _packages("wireshark", arch="wireshark-qt", suse="wireshark-ui-qt"),
    "hping3": {DEBIAN: "hping3", FEDORA: "hping3", ARCH: "hping", ALPINE: "hping3"},
    **dict.fromkeys(("dig", "host", "nslookup"), _NAMES),
    "ab": _WEB_BENCHMARK,
    "conntrack": _packages("conntrack", "conntrack-tools", "conntrack-tools", "conntrack-tools", "conntrack-tools"),
    "dhclient": _packages("isc-dhcp-client", "dhcp-client", "dhclient", "dhcp-client", "dhclient"),
    "dhcpd": _packages("isc-dhcp-server", "dhcp-server", "dhcp", "dhcp-server", "dhcp"),
    **dict.fromkeys(("zebra", "ospfd", "bgpd", "ripd", "vtysh"), _packages("frr")),
    "sshd": _packages("openssh-server", arch="openssh"),
    **dict.fromkeys(
        ("ssh", "scp", "sftp"), _packages("openssh-client", "openssh-clients", "openssh", "openssh-clients")
    ),
    "wpa_supplicant": _packages(
        "wpasupplicant", "wpa_supplicant", "wpa_supplicant", "wpa_supplicant", "wpa_supplicant"
    ),
    "ffmpeg": _packages("ffmpeg", "ffmpeg-free"),
    **dict.fromkeys(("vlc", "cvlc"), _packages("vlc")),
    **dict.fromkeys(("mosquitto_pub", "mosquitto_sub"), _packages("mosquitto-clients", *["mosquitto"] * 2)),
    "mosquitto": _packages("mosquitto"),
    "g++": _packages("g++", "gcc-c++", "gcc", "gcc-c++"),
    **{name: _packages(name) for name in ("gcc", "make", "git")},
    "node": _packages("nodejs"),
    "python": {DEBIAN: "python-is-python3", FEDORA: "python-unversioned-command", ARCH: "python", ALPINE: "python3"},
}
"""The package of each program, by distribution."""


def packages_of(program: str) -> str:
    """Return a phrase with the package that contains the program with this name, in each distribution. Raises KeyError
    if `PACKAGES` lacks the program.

    >>> packages_of("telnet")
    'telnet (Debian, Ubuntu, Fedora, openSUSE), inetutils (Arch) or busybox-extras (Alpine)'
    """
    distributions: dict[str, list[str]] = {}
    for distribution, package in PACKAGES[program].items():
        distributions.setdefault(package, []).append(distribution)
    names = [f"{package} ({', '.join(users)})" for package, users in distributions.items()]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def not_installed(program: str) -> str:
    """Return a sentence for a user whose machine lacks the program with this name; it names the packages that contain
    it. Raises KeyError if `PACKAGES` lacks the program.

    >>> not_installed("iperf")
    'iperf is not installed on this machine; its package is iperf (Debian, Ubuntu, Fedora, Arch, Alpine) or iperf2 (openSUSE).'
    """
    return f"{program} is not installed on this machine; its package is {packages_of(program)}."
