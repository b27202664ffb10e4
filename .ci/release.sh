#!/usr/bin/env bash
# Every release build of Islet, with the flags that a manifest may not hold if others are to depend on the package:
# `.ci/release.sh build --product islet`, `.ci/release.sh run islet-bench`, `.ci/release.sh build --show-bin-path`.
#
# Dynamic exclusivity checks cost 8 to 20 % of a session. Debug builds and tests keep them.
set -euo pipefail
if [ "$1" = run ]; then
    # Built before it is run, so that what is temporary stands where a build has it.
    "$0" build --product "$2"
    exec "$("$0" build --show-bin-path)/$2" "${@:3}"
fi
exec "$(dirname "$0")/swift.sh" "$1" -c release -Xswiftc -enforce-exclusivity=unchecked "${@:2}"
