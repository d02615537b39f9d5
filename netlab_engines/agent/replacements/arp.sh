#!/bin/sh
# arp over `ip neighbour`, in the format of net-tools
supported="no options, -a, -n, -an, a host, -i DEVICE, -s HOST ADDRESS and -d HOST"
device_to() { ip -o route get "$1" | sed -n 's/.* dev \([^ ]*\).*/\1/p'; }
list() {
    [ "$style" = bsd ] || echo "Address                  HWtype  HWaddress           Flags Mask            Iface"
    ip neighbour show ${host:+to "$host"} ${device:+dev "$device"} | while read -r address rest; do
        where=$device hardware= flags=C
        set -- $rest
        while [ $# -gt 0 ]; do
            case $1 in
                dev) where=$2; shift ;;
                lladdr) hardware=$2; shift ;;
                PERMANENT) flags=CM ;;
            esac
            shift
        done
        if [ "$style" = bsd ]; then
            echo "? ($address) at ${hardware:-<incomplete>}${hardware:+ [ether]}$([ $flags = CM ] && echo ' PERM') on $where"
        elif [ -n "$hardware" ]; then
            printf '%-24s %-7s %-19s %-21s %s\n' "$address" ether "$hardware" "$flags" "$where"
        else
            printf '%-24s %-7s %-19s %-21s %s\n' "$address" "" "(incomplete)" "" "$where"
        fi
    done
}
style= host= device= action=list
while [ $# -gt 0 ]; do
    case $1 in
        -n|--numeric) ;;
        -a|-an|-na) style=bsd ;;
        -i) device=$2; shift ;;
        -s|-d) action=$1 ;;
        -*) reject "$1" ;;
        *) break ;;
    esac
    shift
done
case $action in
    list) [ $# -le 1 ] || reject "$*"; host=$1; list ;;
    -s)
        [ $# -eq 2 ] || reject "-s $*"
        ip neighbour replace "$1" lladdr "$2" nud permanent dev "${device:-$(device_to "$1")}" ;;
    -d)
        [ $# -eq 1 ] || reject "-d $*"
        ip neighbour del "$1" dev "${device:-$(device_to "$1")}" ;;
esac
