#!/bin/sh
echo "${0##*/}: there is no IPv6 here." >&2
exit 1
