#!/usr/bin/env bash
# bash tools/before.sh COMMIT: set that version of netlab up (about 8 minutes), let it write all that a student of it has, and keep
# this in tests/data/before.tar.xz, from which tests/test_upgrade.py updates. Without the kernels' programs: they are large, and
# what an update decides about a kernel is in a file next to it.
set -euo pipefail
cd "$(dirname "$0")/.."

commit=$(git rev-parse --verify "$1^{commit}")
target=$PWD/tests/data/before.tar.xz
work=$(mktemp -d /var/tmp/netlab-before-XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{clone,home/cache}
git archive "$commit" | tar -x -C "$work/clone"
sources=${NETLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/netlab}/sources
if [ -d "$sources" ]; then cp -R "$sources" "$work/home/cache/"; fi

cd "$work/clone"
export NETLAB_CACHE=$work/home/cache NETLAB_DATA=$work/home/data NETLAB_CHAPTERS=$work/home/chapters NETLAB_WARM=0
unset NETLAB_KERNEL NETLAB_LIBRARY NETLAB_ENGINE
make setup
.venv/bin/netlab lab --update-only
.venv/bin/python - <<'STUDENT'
import netlab as nl
from netlab_course import passed
from netlab_course import catalogue

for chapter in catalogue.chapters():
    for exercise in chapter.exercises:
        passed.record(chapter.topic, exercise)
network = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=20)
nl.sweep([nl.Scenario(network, [nl.Tcp("h1", "h2")], duration_s=5, seed=1)])
STUDENT

echo "$commit" > "$work/home/commit"
mkdir "$work/home/clone"
cp requirements*.lock pyproject.toml "$work/home/clone"
cd "$work/home"
find chapters data cache/runs cache/kernels/*/{build.json,config} cache/libraries/*/{build.json,config} clone commit -type f -print0 |
    sort -z | tar --null -T - -c --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 | xz -9e > "$target"
