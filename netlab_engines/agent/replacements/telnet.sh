#!/bin/bash
# telnet for lines of text: it connects, and then sends its input and prints what comes until one side ends
supported="-e CHARACTER, HOST and PORT"
escape=
while [ $# -gt 0 ]; do
    case $1 in
        -e) escape=$2; shift ;;
        -*) reject "$1" ;;
        *) break ;;
    esac
    shift
done
[ $# -ge 1 ] && [ $# -le 2 ] || reject "$*"
echo "Trying $1..."
exec 3<>"/dev/tcp/$1/${2:-23}" || exit 1
echo "Connected to $1."
echo "Escape character is '${escape:-^]}'."
close() {
    echo "Connection closed by foreign host." >&2
    exit 0
}
# The real program opens a prompt at the escape character, which ends with the input. Mininet sends that character to
# see if a server listens; the connection ends there without another program, which would take time.
if [ -n "$escape" ]; then
    IFS= read -r line
    [[ $line == *"$escape"* ]] && close
    printf '%s\r\n' "$line" >&3
fi
cat <&3 &
printer=$!
# A background program reads from /dev/null unless its input is another descriptor.
exec 4<&0
while IFS= read -r line <&4; do printf '%s\r\n' "$line" >&3; done &
wait -n
kill $printer $! 2> /dev/null
close
