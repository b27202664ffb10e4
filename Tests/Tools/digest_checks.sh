#!/usr/bin/env bash
# One digest whatever the way, and nothing broken left behind: what DETERMINISM.md and the exit codes promise, asked of
# the built program as a user would.
#
# Usage: digest_checks.sh --islet BINARY [--other BINARY]...
#   --other: a build whose digest must be the same (a debug build beside a release build).
# Prints a line a check that failed and, last, `N passed, N failed`; leaves with 1 on a failure. Writes to a temporary
# folder only. Kills and interrupts happen at random moments: RANDOM's seed is printed, SEED=n repeats it.
set -uo pipefail
export LC_ALL=C

islet="" others=()
while [ $# -gt 0 ]; do
    case $1 in
    --islet) islet=$(realpath "$2"); shift 2 ;;
    --other) others+=("$(realpath "$2")"); shift 2 ;;
    *) echo "digest_checks: unknown option $1" >&2; exit 64 ;;
    esac
done
[ -x "$islet" ] || { echo "digest_checks: --islet BINARY" >&2; exit 64; }

seed=${SEED:-$(($(date +%s) % 32768))}
RANDOM=$seed
echo "digest checks, random moments from SEED=$seed"
folder=$(mktemp -d) || exit 70
mounted=""
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$folder"' EXIT
cd "$folder" || exit 70

passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED $1${2:+: $2}"; }
check() { # check WHAT FOUND WANTED
    if [ "$2" = "$3" ]; then ok; else bad "$1" "found '$2', expected '$3'"; fi
}
digest() { sed -n 's/^ *"digest": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json" 2>/dev/null; }
run() { "$islet" run "$@" --quiet; } # run STUDY --out DIR ...
seconds() { awk -v milliseconds="$1" 'BEGIN { printf "%.3f", milliseconds / 1000 }'; }
now() { date +%s%3N; }

# --- One digest -----------------------------------------------------------------------------------------------------

cat >small.yaml <<'STUDY'
study: small
seed: 11
duration: 1d
cohort: { generate: { group: adult, count: 6 } }
arms:
  - { name: open-loop, algorithm: basal-bolus }
  - { name: closed-loop, algorithm: pid-insulin-feedback }
STUDY

run small.yaml --out one --jobs 1
check "a small run" $? 0
whole=$(digest one)
[ ${#whole} = 64 ] && ok || bad "a digest of 64 hexadecimal digits" "$whole"
run small.yaml --out two --jobs 2
check "2 workers" "$(digest two)" "$whole"
run small.yaml --out nine --jobs 9
check "9 workers" "$(digest nine)" "$whole"
check "sessions.csv of 2 workers" "$(cmp one/sessions.csv two/sessions.csv && echo same)" same
check "alerts.csv of 2 workers" "$(cmp one/alerts.csv two/alerts.csv && echo same)" same

for part in 1 2 3; do run small.yaml --out "shard$part" --shard "$part/3"; done
"$islet" merge shard3 shard1 shard2 --out merged --quiet
check "3 shards merged" "$(digest merged)" "$whole"
check "sessions.csv of the merge" "$(cmp one/sessions.csv merged/sessions.csv && echo same)" same
check "alerts.csv of the merge" "$(cmp one/alerts.csv merged/alerts.csv && echo same)" same
varying='wall_seconds|patient_days_per_second|"jobs"'
check "summary.json of the merge" \
    "$(diff <(grep -vE "$varying" one/summary.json) <(grep -vE "$varying" merged/summary.json) && echo same)" same
"$islet" merge shard3 shard1 --out lacking --quiet 2>said
check "a merge that lacks a shard" $? 65
[ ! -e lacking ] && ok || bad "a refused merge leaves nothing"
"$islet" merge shard1 no-such --out lacking --quiet 2>said
check "a merge of a folder that is not there" $? 66

for level in summary full; do
    run small.yaml --out "record-$level" --set "record=$level"
    check "record: $level" "$(digest "record-$level")" "$whole"
done
for other in ${others+"${others[@]}"}; do
    rm -rf other
    "$other" run small.yaml --out other --quiet
    check "another build ($other)" "$(digest other)" "$whole"
done
run small.yaml --out seed --seed 12
[ "$(digest seed)" != "$whole" ] && [ -n "$(digest seed)" ] && ok || bad "another seed's digest differs"

"$islet" cohort export small.yaml --out people.csv
check "cohort export" $? 0
run small.yaml --out table --set 'cohort={table: people.csv}'
check "the exported cohort as a table" "$(digest table)" "$whole"
printf '%s\n' 'duration: 1d' 'cohort: { generate: { count: 1 } }' 'scenario: { meals: none }' 'arms: [{}]' >least.yaml
run least.yaml --out least
check "one subject, no meals, one day" $? 0
run least.yaml --out year --set duration=364d --set scenario.meals=moderate
check "one subject, 52 weeks" $? 0

# --- Killed, interrupted, out of space ------------------------------------------------------------------------------

long=(small.yaml --set cohort.generate.count=40 --set duration=28d)
start=$(now)
run "${long[@]}" --out long
length=$(($(now) - start))
wanted=$(digest long)

hits=0
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12; do
    # The odd ones early, where the folder is made; the others anywhere.
    if [ $((attempt % 2)) = 1 ]; then span=$((length / 16 + 5)); else span=$((length / 2 + 1)); fi
    "$islet" run "${long[@]}" --out killed --resume --quiet 2>/dev/null &
    runner=$!
    sleep "$(seconds $((RANDOM % span)))"
    kill -9 $runner 2>/dev/null
    wait $runner 2>/dev/null
    [ $? = 137 ] && hits=$((hits + 1))
done
[ $hits -ge 3 ] && ok || bad "at least 3 kills that met a running process" "$hits"
run "${long[@]}" --out killed --resume
check "resume after kills" $? 0
check "digest after $hits kills" "$(digest killed)" "$wanted"
check "sessions.csv after kills" "$(cmp long/sessions.csv killed/sessions.csv && echo same)" same
check "no leftovers after kills" "$(ls -A killed | tr '\n' ' ')" "alerts.csv cohort.csv manifest.json people.csv plan.json policies.json report.html sessions.csv study.sqlite summary.json "

run "${long[@]}" --out long 2>said
check "a folder that is not empty" $? 73
check "and it is as it was" "$(digest long)" "$wanted"
mkdir stranger && touch stranger/thesis.txt
run small.yaml --out stranger --resume 2>said
check "resume in a folder of something else" $? 65
check "which keeps what is in it" "$(ls -A stranger)" thesis.txt
before=$(cat long/* | cksum)
run small.yaml --out long --resume 2>said
check "resume with another study" $? 65
check "which leaves every byte" "$(cat long/* | cksum)" "$before"
run small.yaml --out shard1 --resume --shard 2/3 2>said
check "resume with another shard" $? 65

for share in 3 6 12 24; do # sooner where the run was done before the signal came
    rm -rf stopped
    "$islet" run "${long[@]}" --out stopped --quiet 2>said &
    runner=$!
    sleep "$(seconds $((length / share)))"
    kill -INT $runner 2>/dev/null
    wait $runner
    status=$?
    [ $status = 0 ] || break
done
check "SIGINT" $status 75
grep -q -- '--resume' said && ok || bad "SIGINT says how to resume" "$(cat said)"
run "${long[@]}" --out stopped --resume
check "digest after SIGINT" "$(digest stopped)" "$wanted"

for limit in 8 64; do # KiB a file
    (ulimit -f $limit && run "${long[@]}" --out "limit$limit" 2>said)
    code=$?
    case $code in 73 | 75) ok ;; *) bad "a file size limit of $limit KiB" "exit code $code" ;; esac
    grep -q -- '--resume' said && ok || bad "a file size limit says how to resume" "$(cat said)"
    check "no partial files at the limit" "$(ls -A "limit$limit" | grep -c partial)" 0
    [ ! -e "limit$limit/summary.json" ] && ok || bad "no summary of half a run"
    run "${long[@]}" --out "limit$limit" --resume
    check "digest after a file size limit" "$(digest "limit$limit")" "$wanted"
done
mkdir disk
for size in 16 128 300; do # KiB of disk
    if ! mount -t tmpfs -o size=${size}k none disk 2>/dev/null; then
        echo "skipped: full disks (no right to mount one)"
        break
    fi
    mounted=$folder/disk
    run "${long[@]}" --out disk/full 2>said
    code=$?
    case $code in 73 | 75) ok ;; *) bad "a full disk of $size KiB" "exit code $code" ;; esac
    check "no partial files on a full disk" "$(ls -A disk/full | grep -c partial)" 0
    if mount -o remount,size=64m disk 2>/dev/null; then
        run "${long[@]}" --out disk/full --resume
        check "digest after a full disk" "$(digest disk/full)" "$wanted"
    fi
    umount disk && mounted=""
done

# --- Input that nobody vouches for ----------------------------------------------------------------------------------

# refused CODE WHAT COMMAND...: the exit code, one line `place: found ..., expected ...`, nothing written, in 20 s and 2 GiB.
refused() {
    local code=$1 what=$2 said status
    shift 2
    said=$(ulimit -v 2097152; timeout 20 "$islet" "$@" 2>&1 >/dev/null)
    status=$?
    if [ $status != "$code" ]; then
        bad "$what" "exit code $status, expected $code: ${said:0:200}"
    elif [ "$(printf '%s\n' "$said" | wc -l)" != 1 ] || [[ $said != *": found "*", expected "* ]]; then
        bad "$what" "says '${said:0:300}'"
    elif [ -e refused ]; then
        bad "$what" "left $(ls -A refused) behind"
        rm -rf refused
    else
        ok
    fi
}
study() { # study WHAT: a study on standard input that must be refused, with its line
    cat >bad.yaml
    refused 65 "study: $1" run bad.yaml --out refused
    refused 65 "study check: $1" study check bad.yaml
}
arms='arms: [{ algorithm: basal-bolus }]'
people='cohort: { generate: { count: 2 } }'

refused 66 "a missing study" run no-such.yaml --out refused
refused 66 "a folder as a study" run one --out refused
study "empty" </dev/null
for length in 1 100 5000; do study "$length random bytes" < <(head -c $length /dev/urandom; printf '\0'); done
study "an unknown key" <<<"$people"$'\n'"$arms"$'\nsed: 1'
study "a wrong type" <<<"$people"$'\n'"$arms"$'\nseed: many'
study "NaN" <<<"$people"$'\n'"$arms"$'\nscenario: { meals: [{ at: "08:00", carbs: .nan }] }'
study "a negative duration" <<<"$people"$'\n'"$arms"$'\nduration: -1d'
study "an absurd duration" <<<"$people"$'\n'"$arms"$'\nduration: 99999999999999999999d'
study "10 million subjects" <<<"cohort: { generate: { count: 10000000 } }"$'\n'"$arms"
study "more than a million subjects in two arms" \
    <<<"cohort: { generate: { count: 1000001 } }"$'\narms: [{ name: a }, { name: b }]'
study "no subjects" <<<"cohort: { generate: { count: 0 } }"$'\n'"$arms"
study "no arms" <<<"$people"
study "arms of one name" <<<"$people"$'\narms: [{ name: a }, { name: a }]'
study "a reference that is no arm" <<<"$people"$'\n'"$arms"$'\ncompare: { reference: none-such }'
study "an unknown model" <<<"cohort: { generate: { model: bergman } }"$'\n'"$arms"
study "deep nesting" < <(head -c 500000 /dev/zero | tr '\0' '[')
study "an alias loop" <<<$'cohort: &a [*a]\narms: *a'
study "an alias bomb" < <(
    echo 'a: &a [x, x, x, x, x, x, x, x, x, x]'
    for pair in ab bc cd de ef fg gh hi; do
        a=${pair:0:1} b=${pair:1:1}
        echo "$b: &$b [*$a, *$a, *$a, *$a, *$a, *$a, *$a, *$a, *$a, *$a]"
    done
)
study "a key twice" <<<"$people"$'\n'"$people"$'\n'"$arms"
study "2 MiB" < <(head -c 2100000 /dev/zero | tr '\0' '#')

table() { # table WHAT: a table on standard input that must be refused wherever it is read
    cat >bad.csv
    printf '%s\n' 'cohort: { table: bad.csv }' "$arms" >table.yaml
    refused 65 "table: $1" run table.yaml --out refused
    refused 65 "table, study check: $1" study check table.yaml
    refused 65 "table, trace: $1" trace --model uva-padova-2008 --parameters bad.csv --subject 'adult#001' \
        --inputs inputs.csv --out refused
}
printf 'minute,carbs_g,insulin_u\n0,0,0.02\n30,40,4\n120,0,0.02\n' >inputs.csv
header=$(head -n 1 people.csv) first=$(sed -n 2p people.csv)
printf '%s\n' 'cohort: { table: none-such.csv }' "$arms" >table.yaml
refused 66 "a missing table" run table.yaml --out refused
refused 66 "study check: a missing table" study check table.yaml
printf '%s\n' 'cohort: { table: people.csv, subjects: [nobody] }' "$arms" >table.yaml
refused 65 "an unknown patient" run table.yaml --out refused
refused 65 "study check: an unknown patient" study check table.yaml
table "empty" </dev/null
table "a header only" <<<"$header"
for length in 1 100 5000; do table "$length random bytes" < <(head -c $length /dev/urandom; printf '\0'); done
table "a column missing" < <(cut -d, -f1-5,7- people.csv)
table "no names" < <(cut -d, -f2- people.csv)
table "a ragged row" <<<"$header"$'\n'"${first%,*}"
for value in nan inf -inf 1e999 0x10 '' many -5 1e30; do
    table "the value '$value'" < <(awk -F, -v OFS=, -v v="$value" 'NR == 2 { $3 = v } 1' people.csv)
done
table "a subject twice" <<<"$header"$'\n'"$first"$'\n'"$first"
table "an open quote" <<<"$header"$'\n"'"$first"
table "a column twice" < <(awk -F, -v OFS=, 'NR == 1 { $3 = $2 } 1' people.csv)

trace=(trace --model uva-padova-2008 --parameters people.csv --subject 'adult#001')
refused 66 "missing inputs" "${trace[@]}" --inputs none-such.csv --out refused
inputs() {
    cat >bad.csv
    refused 65 "inputs: $1" "${trace[@]}" --inputs bad.csv --out refused
}
inputs "empty" </dev/null
inputs "no rows" <<<"minute,carbs_g,insulin_u"
inputs "random bytes" < <(head -c 5000 /dev/urandom; printf '\0')
for row in 0,nan,0 0,-1,0 0,1e9,0 0.5,0,0 -1,0,0 99999999999,0,0 0,0 x,y,z; do
    inputs "$row" <<<$'minute,carbs_g,insulin_u\n'"$row"
done
inputs "falling minutes" <<<$'minute,carbs_g,insulin_u\n5,0,0\n4,0,0'
"$islet" "${trace[@]}" --inputs inputs.csv --out no-such-folder/out.csv 2>said
check "trace into a folder that is not there" $? 73
"$islet" "${trace[@]}" --inputs inputs.csv --out /dev/full 2>said
check "trace to a full device" $? 75
(ulimit -f 1 && "$islet" "${trace[@]}" --inputs inputs.csv --out limited.csv 2>said)
case $? in 73 | 75) ok ;; *) bad "trace beyond a file size limit" "$(cat said)" ;; esac
check "and no broken trace" "$(ls -A | grep -c limited)" 0

readings() {
    cat >bad.csv
    refused 65 "readings: $1" metrics bad.csv
}
refused 66 "missing readings" metrics none-such.csv
readings "empty" </dev/null
readings "random bytes" < <(head -c 5000 /dev/urandom; printf '\0')
for row in 2026-03-02T06:00:00Z,nan 2026-03-02T06:00:00Z,-5 2026-13-02T06:00:00Z,100 yesterday,100; do
    readings "$row" <<<$'time,glucose_mgdl\n'"$row"
done
readings "falling times" <<<$'time,glucose_mgdl\n2026-03-02T06:05:00Z,100\n2026-03-02T06:00:00Z,100'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
