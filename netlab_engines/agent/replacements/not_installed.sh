#!/bin/sh
echo "$name is not installed on this machine; its package is $packages." >&2
exit 127
