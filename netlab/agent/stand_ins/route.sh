#!/bin/sh
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
