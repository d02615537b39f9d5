#!/bin/sh
# vconfig over `ip link`
supported="add DEVICE VLAN and rem NAME"
case $1 in
    add) [ $# -eq 3 ] || reject "$*"; ip link add link "$2" name "$2.$3" type vlan id "$3" ;;
    rem) [ $# -eq 2 ] || reject "$*"; ip link del dev "$2" ;;
    *) reject "$*" ;;
esac
