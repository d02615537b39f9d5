#!/bin/sh
echo "${0##*/}: not available: the pocket kernel has no IPv6." >&2
exit 1
