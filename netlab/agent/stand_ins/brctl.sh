#!/bin/sh
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
