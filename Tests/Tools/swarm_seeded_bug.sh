#!/usr/bin/env bash
# Builds the program with a bug in a folder of its own (.build-seeded) and lets the swarm find it: the pump keeps no record
# of the request that it accepted, so it can neither tell of it nor know it again, and an unanswered bolus comes twice.
# Not part of `make test`: the build takes minutes. Usage: swarm_seeded_bug.sh --islet SOUND_PROGRAM
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${1:-}" = --islet ] && [ -x "${2:-}" ] || { echo "Usage: $0 --islet SOUND_PROGRAM" >&2; exit 64; }
sound=$(realpath "$2")

home=$PWD/.build-seeded
source=$home/source
mkdir -p "$source"
git ls-files -z -- Package.swift Sources Benchmarks Tests | tar -c --null -T - | tar -x -C "$source"
bolus=$source/Sources/IsletModels/SimulatedDevices/Pump/SimulatedPump+Bolus.swift
sed -i '/^        lastRequest = request$/d' "$bolus"
if cmp -s "$bolus" Sources/IsletModels/SimulatedDevices/Pump/SimulatedPump+Bolus.swift; then
    echo "the line to lose is not there any more" >&2
    exit 70
fi
.ci/release.sh build --package-path "$source" --scratch-path "$home/build" --product islet
.ci/release.sh build --package-path "$source" --scratch-path "$home/build" --product islet-swarm
islet=$home/build/release/islet

cd "$home"
rm -rf swarm-failures
status=0
"$islet" swarm --seeds 1..200 --quiet --shrink 3 >found || status=$?
grep -A 6 -m 1 '^seed .*: double-delivery' found
[ "$status" = 1 ] || { echo "the swarm left with $status" >&2; exit 1; }
# Of the seeds that break this invariant; others fall to what follows from it.
faults=$(grep -A 1 '^seed .*: double-delivery' found | sed -nE 's/^  shrunk to ([0-9]+) fault.*/\1/p' | sort -n | tail -n 1)
[ "$faults" -le 3 ] || { echo "$faults faults are left" >&2; exit 1; }
for plan in swarm-failures/*.yaml; do
    ! "$islet" swarm --replay "$plan" --quiet >/dev/null 2>&1 || { echo "$plan: not again" >&2; exit 1; }
    "$sound" swarm --replay "$plan" --quiet >/dev/null || { echo "$plan: the sound program breaks too" >&2; exit 1; }
done
echo "found, shrunk to $faults or fewer, broken again by each plan, and borne by the sound program"
