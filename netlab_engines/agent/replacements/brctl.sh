#!/bin/sh
# brctl over `ip` and `bridge`
supported="addbr, delbr, addif, delif, stp, setageing, setfd, sethello, setmaxage, setbridgeprio, setpathcost, setportprio, \
hairpin, show, showmacs, showstp and --version"
need() { [ "$1" -eq "$2" ] || reject "$line"; }
centiseconds() { awk -v s="$1" 'BEGIN { if (s !~ /^[0-9]+([.][0-9]+)?$/) exit 1; printf "%d", s * 100 }' || reject "$line"; }
set_time() { time=$(centiseconds "$3") || exit; ip link set dev "$1" type bridge "$2" "$time"; }
on() { case $1 in on|yes|1) echo 1 ;; off|no|0) echo 0 ;; *) reject "$line" ;; esac; }
field() { sed -n "s/.* $1 \([^ ]*\).*/\1/p"; }
names() { sed 's/^[0-9]*: \([^:@]*\).*/\1/'; }
ports() { ip -o link show master "$1" | names; }
show() {
    [ $# -gt 0 ] || set -- $(ip -o link show type bridge | names)
    printf 'bridge name\tbridge id\t\tSTP enabled\tinterfaces\n'
    for bridge; do
        state=$(ip -d -o link show dev "$bridge" type bridge) || exit 1
        [ "$(echo "$state" | field stp_state)" = 0 ] && stp=no || stp=yes
        printf '%s\t\t%s\t%s\t\t' "$bridge" "$(echo "$state" | field bridge_id)" $stp
        indent=
        for port in $(ports "$bridge"); do
            printf "$indent%s\n" "$port"
            indent='\t\t\t\t\t\t\t'
        done
        [ -n "$indent" ] || echo
    done
}
showstp() {
    state=$(ip -d -o link show dev "$1" type bridge) || exit 1
    [ -n "$state" ] || { echo "$name: $1 is not a bridge" >&2; exit 1; }
    printf '%s\n bridge id\t\t%s\n' "$1" "$(echo "$state" | field bridge_id)"
    printf ' designated root\t%s\n\n' "$(echo "$state" | field designated_root)"
    for port in $(ports "$1"); do
        state=$(ip -d -o link show dev "$port" | sed 's/.* bridge_slave/bridge_slave/')
        printf '%s (%d)\n' "$port" "$(($(echo "$state" | field port_no)))"
        printf ' port id\t\t%s\t\t\tstate\t\t%s\n' "$(echo "$state" | field port_id)" "$(echo "$state" | field state)"
        printf ' path cost\t\t%s\n\n' "$(echo "$state" | field cost)"
    done
}
line=$*
command=$1
[ $# -gt 0 ] && shift
case $command in
    addbr) need $# 1; ip link add name "$1" type bridge forward_delay 0 ;;
    delbr) need $# 1; ip link del dev "$1" ;;
    addif)
        [ $# -ge 2 ] || reject "$line"
        bridge=$1; shift
        for port; do ip link set dev "$port" master "$bridge" || exit 1; done ;;
    delif)
        [ $# -ge 2 ] || reject "$line"
        shift
        for port; do ip link set dev "$port" nomaster || exit 1; done ;;
    stp) need $# 2; state=$(on "$2") || exit; ip link set dev "$1" type bridge stp_state "$state" ;;
    setageing) need $# 2; set_time "$1" ageing_time "$2" ;;
    setfd) need $# 2; set_time "$1" forward_delay "$2" ;;
    sethello) need $# 2; set_time "$1" hello_time "$2" ;;
    setmaxage) need $# 2; set_time "$1" max_age "$2" ;;
    setbridgeprio) need $# 2; ip link set dev "$1" type bridge priority "$2" ;;
    setpathcost) need $# 3; bridge link set dev "$2" cost "$3" ;;
    setportprio) need $# 3; bridge link set dev "$2" priority "$3" ;;
    hairpin) need $# 3; bridge link set dev "$2" hairpin "$3" ;;
    show) show "$@" ;;
    showmacs) need $# 1; bridge fdb show br "$1" ;;
    showstp) need $# 1; showstp "$1" ;;
    --version|-V) echo "netlab's replacement for bridge-utils" ;;
    "") echo "brctl: no command given; the commands are $supported" >&2; exit 1 ;;
    *) reject "$line" ;;
esac
