#!/bin/bash
# telnet, as far as Mininet calls it: is there somebody at a port?
[ "$1" = -e ] && shift 2
exec 3<>"/dev/tcp/$1/${2:-23}" || exit 1
echo "Connected to $1."
