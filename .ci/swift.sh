#!/usr/bin/env bash
# `swift`, with the versions that are recorded, and with a folder of its own for what it leaves in the machine's: SwiftPM's integrated
# driver makes one for each job, some 300 a build, and removes none.
set -euo pipefail
"$(dirname "$0")/pin.sh"
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
swift "$@"
