#!/bin/sh
# rmmod for a kernel without modules: fail as the real program does for what is built in and for what is not loaded
while [ $# -gt 0 ]; do
    case $1 in
        -f|--force|-s|--syslog|-v|--verbose) shift ;;
        --) shift; break ;;
        -*) echo "rmmod: netlab's replacement does not support '$1'. It supports -f, -s and -v" >&2; exit 1 ;;
        *) break ;;
    esac
done
[ $# -gt 0 ] || { echo "rmmod: ERROR: missing module name." >&2; exit 1; }
for module in "$@"; do
    case $(modprobe -r "$module" 2>&1) in
        *"is built in") echo "rmmod: ERROR: Module $module is builtin." >&2 ;;
        *) echo "rmmod: ERROR: Module $module is not currently loaded" >&2 ;;
    esac
done
exit 1
