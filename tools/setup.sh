#!/bin/sh
# Find a Python that can run the set-up (installing one through apt if there is none), then hand over to setup.py.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

# Before anything is installed: no Python of this machine could build the kernels (building.kinds_here says so too).
case "$(uname -s) $(uname -m)" in
"Linux x86_64" | "Linux aarch64") ;;
*)
    echo "netlab runs on Linux on x86_64 or aarch64; this is $(uname -s) on $(uname -m)." >&2
    echo "docs/how-to/install.md has the lines for other systems: Lima, Multipass or an image on a Mac, WSL2 on Windows." >&2
    exit 1
    ;;
esac

find_python() {
    for name in python3.14 python3.13 python3.12 python3.11 python3.10 python3; do
        if "$name" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
}

python=$(find_python)
if [ -z "$python" ] && command -v apt-get >/dev/null; then
    as_root=''
    [ "$(id -u)" = 0 ] || as_root=sudo
    echo "Installing Python through apt"
    $as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qq -y --no-install-recommends python3 python3-venv
    python=$(find_python)
fi
if [ -z "$python" ]; then
    seen=$(python3 --version 2>/dev/null) || seen="no python3"
    echo "netlab needs Python 3.10 to 3.14 with the modules venv and ensurepip; here is $seen." >&2
    echo "Install one of these (docs/how-to/install.md has the names of packages), then run make again." >&2
    exit 1
fi
exec "$python" "$here/setup.py" "$@"
