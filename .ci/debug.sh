#!/usr/bin/env bash
# Every debug build that tests run from: `.ci/debug.sh build --build-tests`, `.ci/debug.sh test --skip-build`. It has the page's
# server, and TLS where ISLET_TRAITS=Serve,TLS says so: most of such a build is TLS, which no test in Swift speaks.
set -euo pipefail
"$(dirname "$0")/pin.sh"
exec swift "$1" --traits "${ISLET_TRAITS:-Serve}" "${@:2}"
