#!/bin/sh
# modprobe for a kernel without modules: succeed for what is built in, and fail for the rest as the real program does
fail() { [ -n "$quiet" ] || echo "modprobe: $1" >&2; exit 1; }
quiet= remove= all=
while [ $# -gt 0 ]; do
    case $1 in
        -q|--quiet) quiet=1 ;;
        -r|--remove) remove=1 ;;
        -a|--all) all=1 ;;
        -v|--verbose|-n|--dry-run|-f|--force|-s|--syslog|-i|--ignore-install|--first-time) ;;
        --) shift; break ;;
        -*) fail "netlab's replacement does not support '$1'. It supports -q, -r, -a, -v, -n, -f, -s, -i and --first-time" ;;
        *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || fail "the name of a module is missing, such as: modprobe tcp_bbr"
# The kernel's options under which a module of this name is built.
options() {
    rest=$(echo "${1#*_}" | tr a-z A-Z)
    case $1 in
        tcp_*) echo "TCP_CONG_$rest" ;;
        sch_*) echo "NET_SCH_$rest" ;;
        act_*) echo "NET_ACT_$rest" ;;
        cls_*) echo "NET_CLS_$rest" ;;
        xt_*) echo "NETFILTER_XT_MATCH_$rest|NETFILTER_XT_TARGET_$rest" ;;
        8021q) echo VLAN_8021Q ;;
        ip_tables) echo IP_NF_IPTABLES ;;
        *) echo "$1" | tr a-z A-Z ;;
    esac
}
load() {
    name=$(echo "$1" | tr - _)
    zcat /proc/config.gz | grep -Eq "^CONFIG_($(options "$name"))=y$" ||
        fail "$1 is not in the pocket kernel, which loads no modules"
    [ -z "$remove" ] || fail "$1 is built in"
}
# As the module, ifb makes its interfaces in the first namespace only.
add_ifbs() {
    [ "$(readlink /proc/self/ns/net)" = "$(readlink /proc/1/ns/net)" ] || return 0
    count=2
    for word in "$@"; do
        case $word in numifbs=*) count=${word#numifbs=} ;; esac
    done
    number=0
    while [ "$number" -lt "$count" ]; do
        [ -e "/sys/class/net/ifb$number" ] || ip link add "ifb$number" type ifb
        number=$((number + 1))
    done
}
if [ -n "$all" ]; then
    for each in "$@"; do load "$each"; done
else
    load "$1"
    if [ "$1" = ifb ]; then add_ifbs "$@"; fi
fi
