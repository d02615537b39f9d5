#!/bin/sh
# Set-up from nothing in a chroot of each suite given, with sudo and apt for real; prints a table.
#
#   benchmarks/distributions.sh [--ca-bundle FILE] [--expired] [--tests] SUITE...        such as bookworm trixie testing
#
# Root and mmdebstrap. Debian's suites come from this machine's own mirror; for Ubuntu's NETLAB_UBUNTU is the address of a mirror,
# and mmdebstrap must find their keys. The kernels come packed from this machine, so none is compiled. FILE: as for vm/build.sh.
# testing and unstable: their lists hold for a week only; --expired takes those of a mirror that is behind, too.
# --tests adds the tests that boot no kernel. NETLAB_LOG=FILE keeps what was printed, in FILE.SUITE.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d "${TMPDIR:-/var/tmp}/netlab-suites-XXXXXX")
chmod 755 "$place"
trap 'rm -rf "$place"' EXIT
trap 'exit 143' INT TERM
: >"$place/certificates.pem"
tests=''
valid=true
while [ $# -gt 0 ]; do
    case $1 in
    --ca-bundle) cp "$2" "$place/certificates.pem" && shift 2 ;;
    --expired) valid=false && shift ;;
    --tests) tests=yes && shift ;;
    *) break ;;
    esac
done
git -C "$here" bundle create -q "$place/netlab.bundle" HEAD
"$here/.venv/bin/netlab" kernel pack --output "$place" >/dev/null
cat >"$place/inside.sh" <<X
set -eu
useradd --create-home --shell /bin/bash student
echo 'student ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/student
cd /home/student
cp /opt/try/* . && chown student: ./*
[ ! -s certificates.pem ] || export PIP_CERT=/home/student/certificates.pem
sudo --preserve-env=PIP_CERT -u student -H sh -c '
    set -eu
    git clone -q netlab.bundle netlab && cd netlab
    began=\$(date +%s)
    sh tools/setup.sh --system
    python3 -m netlab_kernel.command unpack ../netlab-kernel-*.tar.xz
    make setup
    echo "TABLE \$(. /etc/os-release; echo "\$PRETTY_NAME") | \$(.venv/bin/python -V) | \$((\$(date +%s) - began)) s"
    .venv/bin/netlab doctor
    if [ -n "$tests" ]; then
        NETLAB_PROGRESS=0 .venv/bin/pytest -q -n 0 -m "not pocket and not root" tests 2>&1 | tail -n 40 || true
    fi'
X
echo '| distribution | Python | set-up | self-check | doctor | tests without a kernel |'
echo '|---|---|---|---|---|---|'
for suite in "$@"; do
    mirror='' components=main
    case $suite in
    jammy | noble | resolute) mirror=${NETLAB_UBUNTU:?the address of a mirror of Ubuntu} components=main,universe ;;
    esac
    mmdebstrap --variant=minbase --components=$components --include=apt,ca-certificates,git,make,sudo,python3 \
        --aptopt='Acquire::Languages "none"' --aptopt="Acquire::Check-Valid-Until \"$valid\"" \
        --customize-hook="mkdir \"\$1/opt/try\"; cp $place/netlab* $place/certificates.pem $place/inside.sh \"\$1/opt/try\"; chmod -R a+rX \"\$1/opt/try\"" \
        --customize-hook='chroot "$1" sh /opt/try/inside.sh' "$suite" /dev/null ${mirror:+"$mirror"} >"$place/log" 2>&1 ||
        tail -n 20 "$place/log" >&2
    [ -z "${NETLAB_LOG:-}" ] || cp "$place/log" "$NETLAB_LOG.$suite"
    row=$(sed -n 's/^TABLE //p' "$place/log")
    check=$(grep -o 'Theory and measurement .*' "$place/log")
    ready=$(grep '^Ready' "$place/log")
    passed=$(grep -E '^[0-9]+ (passed|failed)' "$place/log" | tail -n 1)
    echo "| ${row:-$suite | | failed} | $check | $ready | ${passed:-not asked for} |"
done
