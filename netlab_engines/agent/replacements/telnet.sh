#!/bin/bash
# telnet that only tests a connection: it connects, reports the result and exits
supported="-e CHARACTER, HOST and PORT: it reports whether a connection can be made, and carries no text"
while [ $# -gt 0 ]; do
    case $1 in
        -e) shift ;;
        -*) reject "$1" ;;
        *) break ;;
    esac
    shift
done
[ $# -ge 1 ] && [ $# -le 2 ] || reject "$*"
echo "Trying $1..."
exec 3<>"/dev/tcp/$1/${2:-23}" || exit 1
echo "Connected to $1."
if [ -t 0 ]; then reject "a conversation"; fi
