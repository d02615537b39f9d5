#!/bin/sh
# sudo where every program runs as root: run the command, or run it as another user
fail() { echo "sudo: $1" >&2; exit 1; }
user=root shell= background= own_home= login=
while [ $# -gt 0 ]; do
    case $1 in
        -E|--preserve-env|--preserve-env=*|-n|--non-interactive|-S|--stdin|-A|--askpass|-P|--preserve-groups) ;;
        -H|--set-home) own_home=1 ;;
        -k|--reset-timestamp) [ $# -gt 1 ] || exit 0 ;;
        -u|--user) user=$2; shift ;;
        --user=*) user=${1#--user=} ;;
        -u?*) user=${1#-u} ;;
        -[EHnSAPkKbsivl]?*)
            # Several options in one word, such as -nE or -su root.
            rest=${1#-?}
            first=${1%"$rest"}
            shift
            set -- "$first" "-$rest" "$@"
            continue ;;
        -p|--prompt|-g|--group) shift ;;
        -b|--background) background=1 ;;
        -s|--shell) shell=1 ;;
        -i|--login) shell=1 own_home=1 login=1 ;;
        -v|--validate|-K|--remove-timestamp) exit 0 ;;
        -l|--list)
            echo "User root may run the following commands on $(hostname):"
            echo "    (ALL : ALL) NOPASSWD: ALL"
            exit 0 ;;
        -V|--version) echo "netlab's stand-in for sudo"; exit 0 ;;
        --) shift; break ;;
        -*) fail "the option $1 is not known to this stand-in; it knows -E -H -n -S -A -P -k -K -u -g -p -b -s -i -l -v -V" ;;
        [A-Za-z_]*=*) export "$1" ;;
        *) break ;;
    esac
    shift
done
if [ -n "$shell" ]; then
    if [ $# -gt 0 ]; then set -- "${SHELL:-/bin/sh}" -c "$*"; else set -- "${SHELL:-/bin/sh}"; fi
fi
[ $# -gt 0 ] || fail "a command is missing, such as: sudo ip link"
if [ -n "$own_home" ]; then
    account=$(getent passwd "${user#\#}") || fail "unknown user $user"
    HOME=$(echo "$account" | cut -d: -f6)
    export HOME
fi
if [ -n "$login" ]; then
    USER=${account%%:*} LOGNAME=${account%%:*}
    export USER LOGNAME
    # sudo goes on, too, where an ordinary user's guest may not enter it.
    cd "$HOME" 2>/dev/null || echo "sudo: unable to change directory to $HOME" >&2
fi
# The hosts of a script are its own root's, and so is every other user in them.
case $user in
    root|\#0|0) ;;
    *) set -- setpriv --reuid="${user#\#}" --init-groups -- "$@" ;;
esac
command -v "$1" >/dev/null || fail "$1: command not found"
if [ -n "$background" ]; then "$@" & else exec "$@"; fi
