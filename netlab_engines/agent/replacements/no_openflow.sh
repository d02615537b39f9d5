#!/bin/sh
echo "${0##*/}: not available: Linux bridges replace Open vSwitch, and they have no flow tables. \
Use 'bridge link' and 'bridge fdb' instead." >&2
exit 1
