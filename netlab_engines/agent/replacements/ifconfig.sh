#!/bin/sh
# ifconfig over `ip`, in the format of net-tools
supported="no options, -a, DEVICE, and after a device: up, down, ADDRESS, ADDRESS/LENGTH, inet, netmask, broadcast, add, del, \
hw ether, mtu, txqueuelen, promisc, arp, multicast and allmulti, the last four also with a minus"
show() {
    { ip -o -4 addr show $1; echo; ip -s -o link show $1; } | awk "$mask_in_awk"'
        function human(bytes,   unit, i) {
            split("B KiB MiB GiB TiB", unit)
            for (i = 1; bytes >= 1024 && i < 5; i++) bytes /= 1024
            return sprintf("%.1f %s", bytes, unit[i])
        }
        BEGIN { split("UP BROADCAST LOOPBACK POINTOPOINT RUNNING NOARP PROMISC ALLMULTI MULTICAST", names)
                split("1 2 8 16 64 128 256 512 4096", values) }
        NF == 0 { links = 1; next }
        !links {
            split($4, address, "/")
            if (!($2 in inet)) {
                inet[$2] = "        inet " address[1] "  netmask " mask(address[2])
                broadcast[$2] = $5 == "brd" ? $6 : "0.0.0.0"
            }
            next
        }
        {
            count = split($0, part, /\\/)
            split(part[1], word, " ")
            name = word[2]; sub(/[:@].*/, "", name)
            given = word[3]; gsub(/[<>]/, "", given); sub(/LOWER_UP/, "RUNNING", given); given = "," given ","
            number = 0; flags = ""
            for (i = 1; i <= 9; i++) if (index(given, "," names[i] ",")) { number += values[i]; flags = flags "," names[i] }
            mtu = part[1]; sub(/.* mtu /, "", mtu); sub(/ .*/, "", mtu)
            queue = part[1]; if (!sub(/.* qlen /, "", queue)) queue = 0; sub(/ .*/, "", queue)
            printf "%s: flags=%d<%s>  mtu %s\n", name, number, substr(flags, 2), mtu
            if (name in inet) print inet[name] (index(given, ",BROADCAST,") ? "  broadcast " broadcast[name] : "")
            split(part[2], word, " ")
            if (word[1] == "link/ether") printf "        ether %s  txqueuelen %d  (Ethernet)\n", word[2], queue
            else printf "        loop  txqueuelen %d  (Local Loopback)\n", queue
            for (i = 3; i < count; i++) {
                if (part[i] !~ /[RT]X:/) continue
                way = part[i] ~ /RX:/ ? "RX" : "TX"
                split(part[i + 1], word, " ")
                printf "        %s packets %d  bytes %d (%s)\n", way, word[2], word[1], human(word[1])
                printf "        %s errors %d  dropped %d", way, word[3], word[4]
                if (way == "RX") print "  overruns 0  frame 0"
                else printf " overruns 0  carrier %d  collisions %d\n", word[5], word[6]
            }
            print ""
        }'
}
case $# in
    0) show up; exit ;;
    1)
        case $1 in
            -a) show; exit ;;
            -*) reject "$1" ;;
            *) ip link show dev "$1" >/dev/null || exit 1; show "dev $1"; exit ;;
        esac ;;
esac
case $1 in -*|*:*) reject "$*" ;; esac
device=$1
shift
address= length= broadcast= state=
while [ $# -gt 0 ]; do
    case $1 in
        up|down) state=$1 ;;
        hw) [ "$2" = ether ] || reject "hw $2"; ip link set dev "$device" address "$3" || exit 1; shift 2 ;;
        mtu|txqueuelen) ip link set dev "$device" "$1" "$2" || exit 1; shift ;;
        promisc|arp|multicast|allmulti) ip link set dev "$device" "$(echo "$1" | sed s/multi$/multicast/)" on || exit 1 ;;
        -promisc|-arp|-multicast|-allmulti) ip link set dev "$device" "$(echo "${1#-}" | sed s/multi$/multicast/)" off || exit 1 ;;
        inet) ;;
        netmask) length=$(length_of "$2") || exit; shift ;;
        broadcast) broadcast=$2; shift ;;
        add|del) ip addr $1 "$2" dev "$device" || exit 1; shift ;;
        0|0.0.0.0) ip -4 addr flush dev "$device" || exit 1 ;;
        *:*|*[!0-9./]*) reject "$1" ;;
        *.*.*.*/*) address=${1%/*} length=${1#*/} ;;
        *.*.*.*) address=$1 ;;
        *) reject "$1" ;;
    esac
    shift
done
if [ -n "$address" ]; then
    ip -4 addr flush dev "$device" &&
        ip addr add "$address/${length:-$(by_class "$address")}" brd "${broadcast:-+}" dev "$device" &&
        ip link set dev "$device" "${state:-up}" || exit 1
elif [ -n "$length$broadcast" ]; then
    reject "a netmask or a broadcast address without an address"
elif [ -n "$state" ]; then
    ip link set dev "$device" "$state"
fi
