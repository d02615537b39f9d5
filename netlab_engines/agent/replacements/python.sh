#!/bin/sh
# python on a machine that has only python3, as most distributions do
exec python3 "$@"
