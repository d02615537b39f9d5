"""Programs that Mininet calls and a plain machine lacks, as small shell scripts over `ip`, `tc` and `bridge`.

They are found last, so that a machine's own are used where there are any; but for iperf, whose later versions Mininet waits
for in vain, for programs of which a guest has no use, and for iptables, whose older variant asks for parts that the pocket
kernel has not.
"""

from __future__ import annotations

import json
import os
import sys

IFCONFIG = r"""#!/bin/sh
# ifconfig, as far as Mininet calls it
mask() {
    [ -n "$1" ] || { echo 24; return; }
    bits=0; old=$IFS; IFS=.
    for part in $1; do while [ "$part" -gt 0 ]; do bits=$((bits + part % 2)); part=$((part / 2)); done; done
    IFS=$old; echo $bits
}
show() {
    for name in $(ip -o link show $1 | sed 's/^[0-9]*: \([^:@]*\).*/\1/'); do
        flags=$(ip -o link show dev $name | sed 's/.*<\(.*\)>.*/\1/')
        mtu=$(cat /sys/class/net/$name/mtu 2>/dev/null || ip -o link show dev $name | sed 's/.*mtu \([0-9]*\).*/\1/')
        echo "$name: flags=4163<$flags>  mtu $mtu"
        ip -o -4 addr show dev $name | while read -r _ _ _ address _; do echo "        inet ${address%/*}  netmask ${address#*/}"; done
        ether=$(ip -o link show dev $name | sed -n 's/.*link\/ether \([0-9a-f:]*\).*/\1/p')
        [ -n "$ether" ] && echo "        ether $ether  txqueuelen 1000"
        echo
    done
}
[ "$1" = -a ] && { show; exit; }
[ $# -eq 0 ] && { show "up"; exit; }
[ $# -eq 1 ] && { ip link show dev "$1" >/dev/null || exit 1; show "dev $1"; exit; }
device=$1; shift
while [ $# -gt 0 ]; do
    case $1 in
        up|down) ip link set dev $device $1 ;;
        hw) ip link set dev $device down; ip link set dev $device address $3; shift 2 ;;
        mtu) ip link set dev $device mtu $2; shift ;;
        txqueuelen) ip link set dev $device txqueuelen $2; shift ;;
        promisc) ip link set dev $device promisc on ;;
        -promisc) ip link set dev $device promisc off ;;
        arp|-arp|broadcast|-broadcast) ;;
        inet) ;;
        0|0.0.0.0) ip -4 addr flush dev $device ;;
        *.*.*.*)
            address=$1
            case $address in */*) ;; *) [ "$2" = netmask ] && { address=$1/$(mask $3); shift 2; } || address=$1/8 ;; esac
            ip -4 addr flush dev $device; ip addr add $address brd + dev $device; ip link set dev $device up ;;
        *) echo "ifconfig: $1 is not known to this stand-in" >&2; exit 1 ;;
    esac || exit 1
    shift
done
"""

BRCTL = r"""#!/bin/sh
# brctl, as far as Mininet calls it
on() { case $1 in on|yes|1) echo 1 ;; *) echo 0 ;; esac; }
case $1 in
    addbr) ip link add name "$2" type bridge forward_delay 0 ;;
    delbr) ip link del dev "$2" ;;
    addif) bridge=$2; shift 2; for port; do ip link set dev $port master $bridge || exit 1; done ;;
    delif) shift 2; for port; do ip link set dev $port nomaster || exit 1; done ;;
    stp) ip link set dev "$2" type bridge stp_state $(on $3) ;;
    setfd) ip link set dev "$2" type bridge forward_delay $(($3 * 100)) ;;
    setbridgeprio) ip link set dev "$2" type bridge priority $3 ;;
    show|showmacs|showstp) bridge link show; bridge fdb show ${2:+br $2} ;;
    --version) echo "netlab's stand-in for bridge-utils" ;;
    "") exit 1 ;;
    *) echo "brctl: $1 is not known to this stand-in" >&2; exit 1 ;;
esac
"""

ROUTE = r"""#!/bin/sh
# route, as far as Mininet calls it
[ $# -eq 0 ] || [ "$1" = -n ] && { ip route show; exit; }
what=$1; shift
[ "$1" = -net ] || [ "$1" = -host ] && shift
to=$1; shift
words=
while [ $# -gt 0 ]; do
    case $1 in
        gw) words="$words via $2"; shift ;;
        netmask)
            bits=0
            for part in $(echo $2 | tr . ' '); do while [ $part -gt 0 ]; do bits=$((bits + part % 2)); part=$((part / 2)); done; done
            to=$to/$bits; shift ;;
        dev) words="$words dev $2"; shift ;;
        metric) shift ;;
        *) words="$words dev $1" ;;
    esac
    shift
done
case $what in
    add) ip route replace $to $words ;;
    del) ip route del $to $words ;;
    *) exit 1 ;;
esac
"""

ARP = r"""#!/bin/sh
# arp, as far as Mininet calls it
case $1 in
    -s) ip neighbour replace $2 lladdr $3 nud permanent dev $(ip -o route get $2 | sed 's/.* dev \([^ ]*\).*/\1/') ;;
    -d) ip neighbour del $2 dev $(ip -o route get $2 | sed 's/.* dev \([^ ]*\).*/\1/') ;;
    *) ip neighbour show ;;
esac
"""

VCONFIG = r"""#!/bin/sh
# vconfig, as far as Mininet's example of VLANs calls it
case $1 in
    add) ip link add link "$2" name "$2.$3" type vlan id "$3" ;;
    rem) ip link del dev "$2" ;;
    *) echo "vconfig: $1 is not known to this stand-in" >&2; exit 1 ;;
esac
"""

TELNET = r"""#!/bin/bash
# telnet, as far as Mininet calls it: is there somebody at a port?
[ "$1" = -e ] && shift 2
exec 3<>"/dev/tcp/$1/${2:-23}" || exit 1
echo "Connected to $1."
"""

NO_GROUPS = r"""#!/bin/sh
echo "${0##*/}: a pocket kernel has no limits on CPU time: computing takes none of its virtual time. Ignored." >&2
"""

IPTABLES = r"""#!/bin/sh
# iptables, iptables-save or iptables-restore in the variant that tells nf_tables its rules
name=${0##*/}
own=iptables-nft${name#iptables}
command -v $own >/dev/null && exec $own "$@"
echo "$name: this machine has no $own. Install the package iptables (Debian, Ubuntu), iptables-nft (Fedora, Arch) or your \
distribution's." >&2
exit 1
"""

NO_IPV6 = r"""#!/bin/sh
echo "${0##*/}: there is no IPv6 here." >&2
exit 1
"""

NO_OPENFLOW = r"""#!/bin/sh
echo "${0##*/}: not offered: Linux bridges stand in for Open vSwitch, and they have no flow tables. \
See 'bridge link' and 'bridge fdb' instead." >&2
exit 1
"""

INSTEAD = {
    **dict.fromkeys(("ovs-vsctl", "ovs-ofctl", "ovs-dpctl", "ovs-appctl", "dpctl"), NO_OPENFLOW),
}
"""In place of a machine's own, which would say less clearly that they cannot work."""

PROGRAMS = {
    "ifconfig": IFCONFIG,
    "brctl": BRCTL,
    "route": ROUTE,
    "arp": ARP,
    "telnet": TELNET,
    "vconfig": VCONFIG,
    "cgcreate": NO_GROUPS,
    "cgset": NO_GROUPS,
    "cgdelete": NO_GROUPS,
    "cgclassify": NO_GROUPS,
}

OWN_KERNEL = "/dev/netlab"

IPERF = """#!/bin/sh
exec {python} -S -c 'import sys; sys.path.extend({packages}); from netlab.agent.iperf import main; main(sys.argv[1:])' "$@"
"""


def search_path(directory: str) -> str:
    """The search path of hosts whose other programs are the machine's own: on the pocket kernel iptables is the variant for nf_tables."""
    own = f"{directory}/filter"
    machine = os.environ["PATH"]
    ordered = (own, machine) if os.path.exists(OWN_KERNEL) else (machine, own)
    return ":".join([*ordered, f"{directory}/last"])


def install(directory: str, packages: list[str]) -> str:
    """Write the programs below a directory; returns the search path for programs with all of them."""
    python = {"python": sys.executable, "packages": json.dumps(packages)}
    places = {
        "first": {"iperf": IPERF.format(**python), **INSTEAD},
        "filter": {
            **dict.fromkeys(("iptables", "iptables-save", "iptables-restore"), IPTABLES),
            **dict.fromkeys(("ip6tables", "ip6tables-save", "ip6tables-restore"), NO_IPV6),
        },
        "last": PROGRAMS,
    }
    for place, programs in places.items():
        os.makedirs(f"{directory}/{place}", exist_ok=True)
        for name, text in programs.items():
            path = f"{directory}/{place}/{name}"
            with open(path, "w") as file:
                file.write(text)
            os.chmod(path, 0o755)  # noqa: S103 (in the guest, everybody is root)
    return f"{directory}/first:{search_path(directory)}"
