#!/bin/sh
echo "${0##*/}: not offered: Linux bridges stand in for Open vSwitch, and they have no flow tables. \
See 'bridge link' and 'bridge fdb' instead." >&2
exit 1
