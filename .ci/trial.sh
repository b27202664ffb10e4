#!/usr/bin/env bash
# Builds Islet and runs the quickstart into the first free results/quickstart, results/quickstart-2, ...
set -euo pipefail
cd "$(dirname "$0")/.."

.ci/release.sh build --product islet
islet=$(.ci/release.sh build --show-bin-path)/islet

out=results/quickstart
number=1
while [ -e "$out" ]; do
    number=$((number + 1))
    out=results/quickstart-$number
done
"$islet" run Cohorts/quickstart.yaml --out "$out"
echo
echo "The question: should low and high alarms wait 15 minutes? \`claims\` answers it, the table says what each policy did,"
echo "with 95 % intervals over people; docs/results.md explains its rows."
if [ -e "$out/report.html" ]; then echo "The same as a page, with figures and example sessions: $out/report.html"; fi
echo "Everything is in $out: summary.json, sessions.csv, study.sqlite, manifest.json."
