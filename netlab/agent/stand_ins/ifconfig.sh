#!/bin/sh
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
