#!/usr/bin/env bash
# The fast tests of what one works on: layout of what has changed, the rules of the house, and the test targets beside what has
# changed since BASE (HEAD where nothing is said). `make check`, `make check BASE=main~3`, `make check TESTS='AlertsTests|LiveTests'`.
set -euo pipefail
cd "$(dirname "$0")/.."

base=${BASE:-HEAD}
changed=$(git diff --name-only "$base" --; git ls-files -o --exclude-standard)
tests=${TESTS:-$(sed -nE 's#^Sources/([A-Za-z]+)/.*#\1Tests#p; s#^Tests/([A-Za-z]+Tests)/.*#\1#p' <<<"$changed" | sort -u | paste -sd'|' -)}

grep '\.swift$' <<<"$changed" | while read -r file; do [ -e "$file" ] && echo "$file"; done |
    xargs -r swift format lint --strict --parallel
swift build --build-tests --traits Serve
echo "tests: TidyTests${tests:+|$tests}"
exec swift test --skip-build --traits Serve --filter "^(TidyTests${tests:+|$tests})\."
