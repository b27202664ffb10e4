#!/usr/bin/env bash
# The fast tests of what one works on: layout of what has changed, the rules of the house, and the test targets beside what has
# changed since BASE (HEAD where nothing is said); only what those stand on is built. `make check`, `make check BASE=main~3`, `make check TESTS='AlertsTests|LiveTests'`.
set -euo pipefail
cd "$(dirname "$0")/.."

base=${BASE:-HEAD}
changed=$(git diff --name-only "$base" --; git ls-files -o --exclude-standard)
# A target's tests bear its folders' names: Sources/IsletAlerts/AlertMetrics has AlertMetricsTests.
tests=${TESTS:-$(sed -nE 's#^Sources/(Islet)?([A-Za-z]+)/([A-Za-z]+)(/.*|\.swift)#\2Tests\n\3Tests#p; s#^Tests/([A-Za-z]+Tests)/.*#\1#p' <<<"$changed" |
    grep -xFf <(cd Tests && printf '%s\n' *Tests) | sort -u | paste -sd'|' - || true)}

grep '\.swift$' <<<"$changed" | while read -r file; do [ -e "$file" ] && echo "$file"; done |
    xargs -r swift format lint --strict --parallel
export ISLET_TESTS="TidyTests${tests:+|$tests}"
.ci/debug.sh build --build-tests
echo "tests: TidyTests${tests:+|$tests}"
exec .ci/debug.sh test --skip-build --filter "^(TidyTests${tests:+|$tests})\."
