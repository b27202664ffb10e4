#!/usr/bin/env bash
# Every debug build that tests run from, with all that there is: `.ci/debug.sh build --build-tests`, `.ci/debug.sh test --skip-build`.
set -euo pipefail
"$(dirname "$0")/pin.sh"
exec swift "$1" --traits Serve,TLS "${@:2}"
