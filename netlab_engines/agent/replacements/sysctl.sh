#!/bin/sh
# sysctl over /proc/sys
supported="-w, -n, -b, -N, -q, -e, -a, -p FILE, NAME and NAME=VALUE"
status=0 write= values_only= quiet= ignore= names_only=
fail() { echo "sysctl: $1" >&2; status=1; }
path_of() { case $1 in */*) echo "/proc/sys/$1" ;; *) echo "/proc/sys/$(echo "$1" | tr . /)" ;; esac; }
name_of() { echo "$1" | tr / .; }
missing() { [ -n "$ignore" ] || fail "cannot stat $1: No such file or directory"; }
show() {
    path=$(path_of "$1")
    if [ -d "$path" ]; then
        find "$path" -type f 2>/dev/null | while read -r each; do show "${each#/proc/sys/}"; done
    elif [ ! -e "$path" ]; then
        missing "$path"
    elif [ -n "$names_only" ]; then
        name_of "$1"
    elif [ -n "$values_only" ]; then
        cat "$path" || status=1
    else
        text=$(cat "$path" 2>/dev/null) && echo "$text" | while read -r line; do echo "$(name_of "$1") = $line"; done
    fi
}
set_to() {
    path=$(path_of "$1")
    if [ ! -e "$path" ]; then
        missing "$path"
    elif ! { echo "$2" >"$path"; } 2>/dev/null; then
        fail "setting key \"$(name_of "$1")\": Invalid argument"
    elif [ -n "$quiet" ]; then
        :
    elif [ -n "$values_only" ]; then
        echo "$2"
    else
        echo "$(name_of "$1") = $2"
    fi
}
set_from() {
    while IFS= read -r line; do
        case $line in
            [\#\;]*|"") ;;
            *=*) set_to "$(echo "${line%%=*}" | sed 's/^-//; s/[[:space:]]//g')" "$(echo "${line#*=}" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//')" ;;
        esac
    done <"$1"
}
[ $# -gt 0 ] || { echo "usage: sysctl [-n] [-e] [-q] [-N] [-w] [-a] [-p [file...]] [name[=value]...]" >&2; exit 1; }
while [ $# -gt 0 ]; do
    case $1 in
        -w|--write) write=1 ;;
        -n|--values|-b|--binary) values_only=1 ;;
        -N|--names) names_only=1 ;;
        -q|--quiet) quiet=1 ;;
        -e|--ignore) ignore=1 ;;
        -qw|-wq) write=1 quiet=1 ;;
        -a|-A|-X|--all) show "" ;;
        -p|--load|--load=*|-f)
            file=/etc/sysctl.conf
            case $1 in --load=*) file=${1#--load=} ;; *) [ $# -gt 1 ] && { file=$2; shift; } ;; esac
            if [ -r "$file" ]; then set_from "$file"; else fail "cannot open \"$file\": No such file or directory"; fi ;;
        -*) reject "$1" ;;
        *=*) set_to "$(echo "${1%%=*}" | sed 's/[[:space:]]//g')" "${1#*=}" ;;
        *) if [ -n "$write" ]; then fail "\"$1\" must be of the form name=value"; else show "$1"; fi ;;
    esac
    shift
done
exit $status
