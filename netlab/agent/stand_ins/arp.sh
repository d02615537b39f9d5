#!/bin/sh
# arp, as far as Mininet calls it
case $1 in
    -s) ip neighbour replace $2 lladdr $3 nud permanent dev $(ip -o route get $2 | sed 's/.* dev \([^ ]*\).*/\1/') ;;
    -d) ip neighbour del $2 dev $(ip -o route get $2 | sed 's/.* dev \([^ ]*\).*/\1/') ;;
    *) ip neighbour show ;;
esac
