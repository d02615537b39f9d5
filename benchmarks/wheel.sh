#!/bin/sh
# The wheel alone, as a student installs and uses it (wheel_steps.sh); prints a table.
#
#   benchmarks/wheel.sh [--ca-bundle FILE] [--expired] [--with PACKAGE,PACKAGE] WHEEL PYTHON|SUITE...
#   such as dist/netlab-*x86_64*.whl /usr/bin/python3 bookworm
#
# A Python runs with an empty home, which has no kernel in its cache. A suite of Debian is a chroot with Python alone, no compiler,
# no `ip`, and an ordinary user (root and mmdebstrap; --expired as for distributions.sh), and the packages of --with. Needs the
# network for packages. FILE has the certificates that pip trusts; without it, those are taken that this machine's pip trusts: a
# network with a certificate of its own is otherwise refused ("self-signed certificate in certificate chain").
# NETLAB_LOG=DIRECTORY keeps what was printed, in DIRECTORY/PLACE.
set -u
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d "${TMPDIR:-/var/tmp}/netlab-wheel-XXXXXX")
chmod 755 "$place"
trap 'rm -rf "$place"' EXIT
trap 'exit 143' INT TERM
certificates=${PIP_CERT:-${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}}
valid=true packages=ca-certificates,python3,python3-venv
while :; do
    case $1 in
    --ca-bundle) certificates=$2 && shift 2 ;;
    --expired) valid=false && shift ;;
    --with) packages=$packages,$2 && shift 2 ;;
    *) break ;;
    esac
done
mkdir "$place/try"
cp "$1" "$here/wheel_steps.sh" "$place/try" && shift
[ ! -r "$certificates" ] || cp "$certificates" "$place/try/certificates.pem"
cat >"$place/try/inside.sh" <<'X'
set -eu
useradd --create-home student
[ -e /proc/self ] || { mount -t proc proc /proc && trap 'umount /proc' EXIT; }
export PIP_CERT=/opt/try/certificates.pem
[ -s "$PIP_CERT" ] || unset PIP_CERT
. /etc/os-release
setpriv --reuid=student --regid=student --clear-groups env HOME=/home/student \
    sh /opt/try/wheel_steps.sh "$PRETTY_NAME, bare" /opt/try/*.whl python3
cp -r /home/student/said /opt/said
X
echo '| place | Python | user | missing | pip, s | fetched, MB | on disk, MB | lab answers, s | network drawn, s | first measurement, s | demo, s | again, s | doctor | live, s | chapter 1, s | Mininet script, s |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
for one in "$@"; do
    rm -rf "$place/home" "$place/said"
    mkdir "$place/home"
    if [ -x "$one" ]; then
        env -i HOME="$place/home" PATH="$PATH" PIP_CERT="$certificates" LANG=C.UTF-8 \
            sh "$here/wheel_steps.sh" here "$place"/try/*.whl "$one" >"$place/log" 2>&1
        cp -r "$place/home/said" "$place/said"
    else
        mmdebstrap --variant=minbase --include="$packages" \
            --aptopt='Acquire::Languages "none"' --aptopt="Acquire::Check-Valid-Until \"$valid\"" \
            --customize-hook="cp -r $place/try \"\$1/opt/try\"; chmod -R a+rX \"\$1/opt/try\"" \
            --customize-hook='chroot "$1" sh /opt/try/inside.sh' \
            --customize-hook="cp -r \"\$1/opt/said\" $place/said" "$one" /dev/null >"$place/log" 2>&1
    fi
    [ -z "${NETLAB_LOG:-}" ] || cp -r "$place/said" "$NETLAB_LOG/$(basename "$one")"
    grep '^| ' "$place/log" || { tail -n 20 "$place/log" >&2 && echo "| $one | failed |"; }
done
