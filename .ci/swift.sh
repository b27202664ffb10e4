#!/usr/bin/env bash
# `swift`, as release.sh and debug.sh run it: with the versions that are recorded, and with SwiftPM's integrated driver, which has
# modules imported before they are compiled (Package.swift, `early`): three quarters of the time.
#
# That driver makes a folder for each of its jobs and removes none: in the build's folder, where they are gone within days. What it
# tells the compiler in files there has another name each time, and all would be built again each time: no list is too long to be said.
set -euo pipefail
"$(dirname "$0")/pin.sh"
export ISLET_EARLY=1
# Programs and tests have the machine's.
if [ "$1" = build ]; then
    TMPDIR=$(realpath "$(dirname "$0")/..")/.build/temporary
    export TMPDIR
    mkdir -p "$TMPDIR"
    find "$TMPDIR" -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -rf {} +
fi
exec swift "$1" --use-integrated-swift-driver -Xswiftc -driver-filelist-threshold -Xswiftc 1000000 "${@:2}"
