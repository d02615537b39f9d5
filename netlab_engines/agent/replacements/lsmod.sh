#!/bin/sh
# lsmod for a kernel without modules: list what is built in under the names of its modules
[ $# -eq 0 ] || { echo "Usage: lsmod" >&2; exit 1; }
printf '%-19s %8s  %s\n' Module Size "Used by"
zcat /proc/config.gz | sed -n \
    -e 's/^CONFIG_TCP_CONG_\([A-Z0-9_]*\)=y$/tcp_\1/p' \
    -e 's/^CONFIG_NET_SCH_\([A-Z0-9_]*\)=y$/sch_\1/p' \
    -e 's/^CONFIG_NET_CLS_\([A-Z0-9_]*\)=y$/cls_\1/p' \
    -e 's/^CONFIG_NET_ACT_\([A-Z0-9_]*\)=y$/act_\1/p' \
    -e 's/^CONFIG_\(IFB\|BRIDGE\|BONDING\)=y$/\1/p' -e 's/^CONFIG_VLAN_8021Q=y$/8021q/p' |
    tr A-Z a-z | while read -r module; do printf '%-19s %8s  0\n' "$module" 0; done
