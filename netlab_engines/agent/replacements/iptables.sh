#!/bin/sh
# iptables, iptables-save or iptables-restore in the variant for nf_tables
own=iptables-nft${name#iptables}
command -v $own >/dev/null && exec $own "$@"
echo "$name: this machine has no $own; its package is $packages." >&2
exit 1
