"""The packages of Debian and of other distributions that the set-up names or installs."""

from __future__ import annotations

import release_programs

PACKAGES = {
    "ip": "iproute2",
    "tc": "iproute2",
    "headers": "libc6-dev",
    "iptables-nft": "iptables",
    "ping": "iputils-ping",
    "venv": "python3-venv",
    **release_programs.PACKAGES,
}
# Tools of other distributions, and what they call the packages that have another name there ("" for what they need not).
OTHER_TOOLS = {
    "dnf": (
        "dnf install",
        {
            "iproute2": "iproute iproute-tc",
            "iptables": "iptables-nft",
            "libc6-dev": "glibc-devel kernel-headers",
            "iputils-ping": "iputils",
            "xz-utils": "xz",
            "python3-venv": "python3",
        },
    ),
    "pacman": (
        "pacman -S --needed",
        {
            "libc6-dev": "glibc linux-api-headers",
            "iptables": "iptables-nft",
            "iputils-ping": "iputils",
            "xz-utils": "xz",
            "python3-venv": "python",
        },
    ),
    "zypper": (
        "zypper install",
        {
            "libc6-dev": "glibc-devel linux-glibc-devel",
            "iputils-ping": "iputils",
            "iperf": "iperf2",
            "iperf3": "iperf",
            "xz-utils": "xz",
            # Leap's python3 is 3.6.
            "python3-venv": "python311",
        },
    ),
}
# Programs that only commands in hosts use. Without root they are installed only together with others.
OPTIONAL_PROGRAMS = frozenset({"ip", "iperf", "iperf3", "iptables-nft", "ping", "tc"})
