#!/bin/sh
# Pin what an environment holds: tools/lock.sh [.venv] [requirements.lock], after `pip install -U` of what is to be newer.
set -eu
environment=${1:-.venv}
target=${2:-requirements.lock}
{
    sed -n '/^#/p' "$target"
    "$environment/bin/pip" freeze --all --exclude-editable --exclude pip --exclude netlab | LC_ALL=C sort -f
} > "$target.new"
mv "$target.new" "$target"
