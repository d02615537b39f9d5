#!/bin/sh
# vconfig, as far as Mininet's example of VLANs calls it
case $1 in
    add) ip link add link "$2" name "$2.$3" type vlan id "$3" ;;
    rem) ip link del dev "$2" ;;
    *) echo "vconfig: $1 is not known to this stand-in" >&2; exit 1 ;;
esac
