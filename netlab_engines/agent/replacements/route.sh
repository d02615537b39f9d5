#!/bin/sh
# route over `ip route`, in the format of net-tools
supported="no options, -n, and add or del with -net, -host, default, a destination, netmask, gw, metric and dev"
show() {
    echo "Kernel IP routing table"
    echo "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface"
    ip -4 route show | awk -v everything="$1" "$mask_in_awk"'
        {
            to = $1; start = 2; flags = "U"; bits = 32
            if (to ~ /^(unreachable|blackhole|prohibit)$/) { to = $2; start = 3; flags = "!" }
            if (to == "default") { to = everything; bits = 0 }
            else if (split(to, part, "/") == 2) { to = part[1]; bits = part[2] }
            gateway = "0.0.0.0"; metric = 0; device = "-"
            for (i = start; i < NF; i++) {
                if ($i == "via") { gateway = $(i + 1); flags = flags "G" }
                if ($i == "metric") metric = $(i + 1)
                if ($i == "dev") device = $(i + 1)
            }
            if (bits == 32) flags = flags "H"
            printf "%-15s %-15s %-15s %-5s %-6d 0        0 %s\n", to, gateway, mask(bits), flags, metric, device
        }'
}
[ $# -eq 0 ] && { show default; exit; }
[ $# -eq 1 ] && [ "$1" = -n ] && { show 0.0.0.0; exit; }
verb=$1
line=$*
case $verb in add|del) shift ;; *) reject "$line" ;; esac
kind=
case $1 in -net|-host) kind=$1; shift ;; -*) reject "$line" ;; esac
[ $# -gt 0 ] || reject "$line"
to=$1
shift
length= words=
while [ $# -gt 0 ]; do
    case $1 in
        gw) words="$words via $2"; shift ;;
        netmask) length=$(length_of "$2") || exit; shift ;;
        dev) words="$words dev $2"; shift ;;
        metric) words="$words metric $2"; shift ;;
        reject|mss|window|irtt|mod|dyn|reinstate|-*) reject "$1" ;;
        *) [ $# -eq 1 ] || reject "$1"; words="$words dev $1" ;;
    esac
    shift
done
case $to in
    default|*/*) ;;
    0.0.0.0) to=default ;;
    *) if [ -n "$length" ]; then to=$to/$length; elif [ "$kind" = -net ]; then to=$to/$(by_class "$to"); fi ;;
esac
exec ip route "$verb" "$to" $words
