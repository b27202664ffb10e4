#!/bin/bash
# Draws scenarios, asks LoopAlgorithm (https://github.com/tidepool-org/LoopAlgorithm, MIT) about them, and writes both down for Islet's tests.
#
#     Tests/Oracles/loop_oracle.sh CHECKOUT ROWS SEED > all.txt
#     Tests/Oracles/loop_oracle.sh CHECKOUT ROWS SEED KEEP > Tests/Oracles/recordings/loop.txt
#
# CHECKOUT is a clone of it. With KEEP so many of the rows are kept, each way through the program among them; the head then has the hash of all that they
# stand for, and the share of the oracle's lines that the draws reached. It is built in Swift's language mode 5, in a folder that is removed, or
# in LOOP_ORACLE_BUILD.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$1" && pwd)
shift
build=${LOOP_ORACLE_BUILD:-$(mktemp -d)}
[ -n "${LOOP_ORACLE_BUILD:-}" ] || trap 'rm -rf "$build"' EXIT
mkdir -p "$build/Sources/loop_oracle"
ln -sfn "$checkout/Sources/LoopAlgorithm" "$build/Sources/LoopAlgorithm"
cp "$here/loop_oracle.swift" "$build/Sources/loop_oracle/main.swift"
cat > "$build/Package.swift" <<'PACKAGE'
// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "loop_oracle",
    targets: [
        .target(name: "LoopAlgorithm"),
        .executableTarget(name: "loop_oracle", dependencies: ["LoopAlgorithm"]),
    ],
    swiftLanguageModes: [.v5])
PACKAGE
swift build --package-path "$build" -c release -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping >&2
program=$build/.build/release/loop_oracle
export LLVM_PROFILE_FILE=$build/rows.profraw
if [ $# -lt 3 ]; then exec "$program" "$@"; fi
"$program" "$@" > "$build/kept.txt" 2> "$build/all.txt"
# Of Swift's own toolchain: another one may not know its format.
tools=$(dirname "$(readlink -f "$(command -v swift)")")
"$tools/llvm-profdata" merge "$build/rows.profraw" -o "$build/rows.profdata"
"$tools/llvm-cov" export "$program" -instr-profile "$build/rows.profdata" > "$build/lines.json"
commit=$(git -C "$checkout" rev-parse HEAD 2> /dev/null || echo unknown)
echo "# Recorded from LoopAlgorithm (https://github.com/tidepool-org/LoopAlgorithm, MIT), commit $commit, by Tests/Oracles/loop_oracle.sh $*"
python3 "$here/loop_oracle_lines.py" "$build/lines.json" "$build/all.txt" < "$build/kept.txt"
