#!/bin/sh
# Set-up from nothing, self-check and the tests that boot no kernel, on each Python given; prints a table.
#
#   benchmarks/pythons.sh PYTHON...          such as /usr/bin/python3 ~/.pyenv/versions/*/bin/python3
#
# The kernels are those of this machine's cache. Needs the network for the Python packages. NETLAB_LOG=FILE keeps what was
# printed, in FILE.VERSION.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d "${TMPDIR:-/var/tmp}/netlab-pythons-XXXXXX")
trap 'rm -rf "$place"' EXIT
trap 'exit 143' INT TERM
echo '| Python | packages | set-up | self-check | tests without a kernel |'
echo '|---|---|---|---|---|'
for python in "$@"; do
    rm -rf "$place/clone"
    git clone -q "$here" "$place/clone"
    cd "$place/clone" || exit 1
    "$python" -m venv .venv
    began=$(date +%s)
    if make setup >"$place/setup.log" 2>&1; then setup="$(($(date +%s) - began)) s"; else setup="failed: $(tail -n 1 "$place/setup.log")"; fi
    check=$(grep -o 'Theory and measurement .*' "$place/setup.log")
    case $("$python" -V) in *" 3.10."*) lock=requirements-3.10.lock ;; *) lock=requirements.lock ;; esac
    NETLAB_PROGRESS=0 .venv/bin/pytest -q -n 0 -m 'not pocket and not root' tests >"$place/tests.log" 2>&1
    [ -z "${NETLAB_LOG:-}" ] || tail -n 60 "$place/setup.log" .setup-pip.log "$place/tests.log" >"$NETLAB_LOG.$("$python" -V | tr -d ' ')" 2>&1
    echo "| $("$python" -V) | $lock | $setup | ${check:-none} | $(tail -n 1 "$place/tests.log") |"
    cd /
done
