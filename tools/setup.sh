#!/bin/sh
# Find a Python that can run the set-up (installing one through apt if there is none), then hand over to setup.py.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3.10 python3; do
        if "$name" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
}

python=$(find_python)
if [ -z "$python" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "netlab needs Python 3.10 to 3.14 with the modules venv and ensurepip. Install it, then run make again." >&2
        exit 1
    fi
    as_root=''
    [ "$(id -u)" = 0 ] || as_root=sudo
    echo "Installing Python through apt"
    $as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qq -y --no-install-recommends python3 python3-venv
    python=$(find_python)
fi
exec "$python" "$here/setup.py" "$@"
