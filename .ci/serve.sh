#!/usr/bin/env bash
# Builds `islet-live` with its page (a folder of its own: what `make trial` built stays) and shows the demonstration ward.
set -euo pipefail
cd "$(dirname "$0")/.."

build() { .ci/release.sh build --traits "${ISLET_TRAITS:-Serve}" --scratch-path .build-serve --product islet-live "$@"; }
build
islet_live=$(build --show-bin-path)/islet-live
if [ "${1:-8080}" = build ]; then
    echo "$islet_live"
    exit 0
fi
echo
echo "A minute a second. What happens is kept in ward/: Ctrl-C, and the same command goes on with it; rm -r ward begins anew."
exec "$islet_live" serve --demo --data ward --port "${1:-8080}"
