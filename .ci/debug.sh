#!/usr/bin/env bash
# Every debug build that tests run from: `.ci/debug.sh build --build-tests`, `.ci/debug.sh test --skip-build`. It has the page's
# server, and TLS where ISLET_TRAITS=Serve,TLS says so: most of such a build is TLS, which no test in Swift speaks. It has no
# debug information, which took a twentieth of its time and a third of its room: `swift build` has it. Each module is compiled as a
# whole, which takes a quarter less: nothing is read, checked and expanded once for every group of its files. An output file for each
# source (`-num-threads`) is what SwiftPM looks for in a debug build.
set -euo pipefail
export ISLET_OPTIMISED=1
whole=(-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2)
exec "$(dirname "$0")/swift.sh" "$1" -debug-info-format none "${whole[@]}" --traits "${ISLET_TRAITS:-Serve}" "${@:2}"
