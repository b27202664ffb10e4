#!/usr/bin/env bash
# Every debug build that tests run from: `.ci/debug.sh build --build-tests`, `.ci/debug.sh test --skip-build`. It has the page's
# server, and TLS where ISLET_TRAITS=Serve,TLS says so: most of such a build is TLS, which no test in Swift speaks. It has no
# debug information, which took a twentieth of its time and a third of its room: `swift build` has it.
set -euo pipefail
"$(dirname "$0")/pin.sh"
export ISLET_OPTIMISED=1
exec swift "$1" -debug-info-format none --traits "${ISLET_TRAITS:-Serve}" "${@:2}"
