#!/bin/sh
# iptables, iptables-save or iptables-restore in the variant for nf_tables
program=${0##*/}
own=iptables-nft${program#iptables}
command -v $own >/dev/null && exec $own "$@"
echo "$program: this machine has no $own. Install the package iptables (Debian, Ubuntu), iptables-nft (Fedora, Arch) or your \
distribution's." >&2
exit 1
