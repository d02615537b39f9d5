#!/bin/sh
# hostname: print or set the name of the host
supported="no options, -s, -f, -i, -I and NAME"
addresses() { ip -o -4 addr show scope global | sed 's/.* inet \([^/ ]*\).*/\1/'; }
case $1 in
    ""|-s|--short|-f|--fqdn|--long) cat /proc/sys/kernel/hostname ;;
    -I|--all-ip-addresses) addresses | tr '\n' ' '; echo ;;
    -i|--ip-address) addresses | head -1 ;;
    -*) reject "$1" ;;
    *) echo "$1" >/proc/sys/kernel/hostname ;;
esac
