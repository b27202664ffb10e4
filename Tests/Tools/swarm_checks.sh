#!/usr/bin/env bash
# The swarm on the built program: 2000 seeds and a thousand faulty days without a breach, the same twice, and its ways out.
# Usage: swarm_checks.sh --islet PATH [--seeds A..B]. The last line is `N passed, N failed`.
set -uo pipefail

islet='' seeds=1..2000
while [ $# -gt 0 ]; do
    case $1 in
    --islet) islet=$2 ;;
    --seeds) seeds=$2 ;;
    *) echo "unknown argument $1" >&2; exit 64 ;;
    esac
    shift 2
done
[ -x "$islet" ] || { echo "--islet: no program at '$islet'" >&2; exit 66; }
islet=$(realpath "$islet")

passed=0 failed=0
folder=$(mktemp -d) || exit 70
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 70

# check WHAT STATUS COMMAND...: the status that a command must leave with.
check() {
    local what=$1 wanted=$2 status
    shift 2
    "$@" >output 2>errors
    status=$?
    if [ "$status" = "$wanted" ]; then
        passed=$((passed + 1))
        echo "ok      $what"
    else
        failed=$((failed + 1))
        echo "FAILED  $what: left with $status, not $wanted"
        head -n 20 output
        tail -n 5 errors
    fi
}

check "seeds $seeds break no invariant" 0 "$islet" swarm --seeds "$seeds" --quiet
tail -n 2 output
cp output first
check "and again on one worker" 0 "$islet" swarm --seeds "$seeds" --quiet --jobs 1
cp output second
check "with the same words" 0 cmp first second
check "nor do 500 seeds of five days" 0 "$islet" swarm --seeds 1..500 --duration 5d --quiet --out days
# Every other algorithm that a study can name, as the program lists them.
others=$("$islet" swarm --seeds 1 --algorithm '' 2>&1 | sed -n 's/.*takes one of \([a-z0-9, -]*\).*/\1/p' | tr -d ',')
check "the program lists its algorithms" 0 test "$(echo $others | wc -w)" -gt 4
for algorithm in $others; do
    [ "$algorithm" = pid-insulin-feedback ] && continue
    check "seeds $seeds under $algorithm" 0 "$islet" swarm --seeds "$seeds" --algorithm "$algorithm" --quiet
    tail -n 2 output
done

# Every kind at rates that put it into most days; whole days, drawn inside the session rather than scheduled.
cat >faulty.yaml <<'STUDY'
study: faulty
seed: 5
duration: 1d
cohort: { generate: { model: uva-padova-2008, group: adult, count: 1000 } }
sensor: dexcom-g7
faults:
  compression-low: true
  signal-loss: { rate: 6 }
  temporary-sensor-error: { rate: 3 }
  sensor-failure: { rate: 0.5 }
  late-sensor-change: true
  pump-outage: { rate: 6 }
  command-failure: { rate: 0.05 }
  uncertain-delivery: { rate: 0.5 }
  occlusion: { rate: 1 }
  site-failure: { rate: 0.02 }
  pod-fault: { rate: 1 }
  late-pod-change: true
  app-relaunch: { rate: 4 }
  app-quit: { rate: 2 }
arms: [{ algorithm: pid-insulin-feedback }]
STUDY
check "the ledger and all else hold in 1000 faulty days" 0 "$islet" swarm --replay faulty.yaml --quiet
tail -n 2 output
check "a seed's plan is a study" 0 sh -c '"$1" swarm --seeds 17 --plan >plan.yaml && "$1" study check plan.yaml' - "$islet"
check "and can be watched again" 0 "$islet" swarm --replay plan.yaml --quiet
check "seeds that are none" 64 "$islet" swarm --seeds 9..3
check "nothing to do" 64 "$islet" swarm
check "no such study" 66 "$islet" swarm --replay missing.yaml

printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
