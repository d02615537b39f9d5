#!/bin/sh
# The wheel alone, installed by pip with what it asks for, and the first experiment twice; prints a table.
#
#   benchmarks/wheel.sh [--ca-bundle FILE] [--expired] WHEEL PYTHON|SUITE...        such as dist/netlab-*-any.whl /usr/bin/python3 bookworm
#
# A Python runs with an empty home, which has no kernel in its cache. A suite of Debian is a chroot with Python alone, no compiler,
# no `ip`, and an ordinary user (root and mmdebstrap; --ca-bundle and --expired as for distributions.sh). Needs the network for packages.
set -u
place=$(mktemp -d "${TMPDIR:-/var/tmp}/netlab-wheel-XXXXXX")
chmod 755 "$place"
trap 'rm -rf "$place"' EXIT
trap 'exit 143' INT TERM
: >"$place/certificates.pem"
valid=true
while :; do
    case $1 in
    --ca-bundle) cp "$2" "$place/certificates.pem" && shift 2 ;;
    --expired) valid=false && shift ;;
    *) break ;;
    esac
done
cp "$1" "$place" && shift
cat >"$place/try.sh" <<'X'
set -eu
python=$1 wheel=$2 home=$3
cd "$home"
now() { date +%s.%N; }
since() { echo "$1 $(now)" | awk '{ printf "%.1f s", $2 - $1 }'; }
"$python" -m venv env
began=$(now)
env/bin/python -m pip install -q --disable-pip-version-check "$wheel"
took=$(since "$began")
began=$(now)
env -i HOME="$home" PATH="$PATH" env/bin/netlab demo >said
first=$(since "$began")
began=$(now)
env -i HOME="$home" PATH="$PATH" env/bin/netlab demo >said
missing=$(for name in cc ip; do command -v $name >/dev/null || printf '%s ' $name; done)
echo "TABLE $("$python" -V) | $(id -un) | ${missing:-nothing} | $took | $first | $(since "$began") | $(grep -o 'Theory and measurement .*' said), $(grep -o '[a-z]* engine' said | head -n 1)"
X
echo '| place | Python | user | missing | pip install | first run | second run | seen |'
echo '|---|---|---|---|---|---|---|---|'
for one in "$@"; do
    rm -rf "$place/home"
    mkdir "$place/home"
    if [ -x "$one" ]; then
        sh "$place/try.sh" "$one" "$place"/*.whl "$place/home" >"$place/log" 2>&1
        name=here
    else
        name=$one
        cat >"$place/inside.sh" <<'X'
set -eu
useradd --create-home student
export PIP_CERT=/opt/try/certificates.pem
[ -s "$PIP_CERT" ] || unset PIP_CERT
setpriv --reuid=student --regid=student --clear-groups env HOME=/home/student sh /opt/try/try.sh python3 /opt/try/*.whl /home/student
X
        mmdebstrap --variant=minbase --include=ca-certificates,python3,python3-venv \
            --aptopt='Acquire::Languages "none"' --aptopt="Acquire::Check-Valid-Until \"$valid\"" \
            --customize-hook="mkdir \"\$1/opt/try\"; cp $place/*.whl $place/*.sh $place/certificates.pem \"\$1/opt/try\"; chmod -R a+rX \"\$1/opt/try\"" \
            --customize-hook='chroot "$1" sh /opt/try/inside.sh' "$one" /dev/null >"$place/log" 2>&1
    fi
    row=$(sed -n 's/^TABLE //p' "$place/log")
    [ -n "$row" ] || tail -n 20 "$place/log" >&2
    echo "| $name | ${row:-failed} |"
done
