#!/bin/sh
echo "${0##*/}: ignored: in a pocket kernel computing takes no virtual time, so limits on CPU time have no effect." >&2
