#!/usr/bin/env bash
# What is tested, in tiers; the last line is `N passed, N failed`.
#   test.sh            what `make test` runs: everything that guards correctness, in its short form
#   test.sh part K     part K of what takes longer (`make test-all PART=K`); where it passes, docs/test-all.md records the commit
#   test.sh changed    the parts that a change since their record may have touched, while time lasts (CI runs it after `make test`)
# HACKING.md says what each step guards and which tier has it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 70

# When all of CI began, and after how many minutes no part may still be under way.
readonly began=${ISLET_CI_BEGAN:-$(date +%s)} minutes_of_ci=${ISLET_CI_MINUTES:-15}
readonly record=docs/test-all.md

passed=0 failed=0 times='' what_failed=''
log=$(mktemp) || exit 70
besides=$(mktemp -d) || exit 70
declare -A beside_pids=()
# What runs beside ends with it, and all that it has begun.
ended() {
    local name
    for name in "${!beside_pids[@]}"; do
        [ -s "$besides/$name.status" ] || kill -- "-${beside_pids[$name]}" 2>/dev/null
    done
    rm -rf "$log" "$besides"
}
trap ended EXIT

step_name='' step_began=0
step() {
    end_step
    step_name=$1 step_began=$SECONDS
    printf '\n== %s\n' "$1"
}
end_step() {
    [ -z "$step_name" ] || times+=$(printf '%6d s  %s' $((SECONDS - step_began)) "$step_name")$'\n'
    step_name=''
}
one_failed() {
    failed=$((failed + 1)) what_failed+="FAILED $1"$'\n'
    echo "FAILED $1"
}
one_passed() { passed=$((passed + 1)); }
# one WHAT COMMAND...: a command that is one check.
one() {
    local what=$1
    shift
    step "$what"
    if "$@"; then one_passed; else one_failed "$what"; fi
}
finish() {
    end_step
    printf '\n%s' "$times"
    # Once more what failed, beside the count: the end of a log is what is read first, and sometimes all that is kept.
    [ -z "$what_failed" ] || printf '\n%s' "$what_failed"
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" = 0 ]
    exit
}
# counted WHAT COMMAND...: a program whose last line is `N passed, N failed`; where it counts nothing and leaves with 69, it was skipped.
counted() {
    local what=$1 status counts
    shift
    step "$what"
    "$@" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1)
    if [ -z "$counts" ]; then
        one_failed "$what left with $status and no count"
        return
    fi
    # It has said itself what it can't do here.
    if [ "$status" = 69 ] && [ "$counts" = "0 0" ]; then
        some_skipped=yes
        return
    fi
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
    [ "${counts#* }" = 0 ] || what_failed+=$(grep -E '^ *(FAILED|FAIL|failed)\b' "$log" | head -n 20)$'\n'
    if [ "$status" != 0 ] && [ "${counts#* }" = 0 ]; then one_failed "$what left with $status"; fi
}
# beside NAME COMMAND...: begun now, on what other steps leave of two cores; `gathered NAME` waits for it, says what it said and
# leaves as it left.
beside() {
    local name=$1
    shift
    # A group of its own, which can be ended whole. A terminal would stop it where it read from there.
    set -m
    { trap - EXIT; "$@"; echo $? >&3; } </dev/null >"$besides/$name" 2>&1 3>"$besides/$name.status" &
    beside_pids[$name]=$!
    set +m
}
gathered() {
    tail --pid="${beside_pids[$1]}" -s 0.2 -n +1 -f "$besides/$1"
    return "$(cat "$besides/$1.status")"
}
# skipped WHAT WHY: said, and not counted; a part that skips something is not recorded.
some_skipped=''
skipped() {
    some_skipped=yes
    echo "SKIPPED: $1, because $2"
}
# environment FOLDER REQUIREMENTS: a virtual environment with what the file lists; fails where it can't be had.
environment() {
    local folder=$1 wanted
    wanted=$(cksum <"$2")
    [ "$(cat "$folder/requirements" 2>/dev/null)" = "$wanted" ] && return 0
    rm -rf "$folder"
    if ! python3 -m venv "$folder"; then
        one_failed "python3 -m venv"
    elif "$folder/bin/python" -m pip install --disable-pip-version-check -q -r "$2" 2>&1 </dev/null | tee "$log"; then
        echo "$wanted" >"$folder/requirements"
        return 0
    elif grep -qE 'NewConnectionError|NameResolutionError|ConnectTimeout|ProxyError|Max retries exceeded' "$log"; then
        skipped "what needs $2" "the Python package index cannot be reached"
    else
        one_failed "the packages of $2 could not be installed"
    fi
    return 1
}
has_python_3_11() { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; }

# --- Builds: a tier builds what its steps need, once -------------------------------------------------------------------

debug='' islet='' release=''
build_debug() {
    [ -z "$debug" ] || return 0
    step "debug build, with all tests"
    if ! .ci/debug.sh build --build-tests; then
        one_failed "swift build --build-tests"
        finish
    fi
    debug=$(.ci/debug.sh build --show-bin-path)
}
# `islet` as `make trial` builds it: what digests are compared with.
build_islet() {
    [ -z "$islet" ] || return 0
    step "release build of islet"
    if ! .ci/release.sh build --product islet; then
        one_failed "the release build of islet"
        finish
    fi
    islet=$(.ci/release.sh build --show-bin-path)/islet
    one "what is built is not built again" compiles_nothing
}
compiles_nothing() {
    local said
    said=$(.ci/release.sh build --product islet 2>&1) && ! grep -E ' (Compiling|Emitting) ' <<<"$said"
}
build_release() {
    build_islet
    [ -z "$release" ] || return 0
    step "release build of the programs beside islet"
    local program traits
    for program in islet-thresholds islet-swarm islet-live; do
        # The page's server is a trait, which the others have no use for.
        [ $program = islet-live ] && traits=(--traits Serve) || traits=()
        if ! .ci/release.sh build --product $program "${traits[@]}"; then
            one_failed "the release build of $program"
            finish
        fi
    done
    release=$islet
}

# --- Short form --------------------------------------------------------------------------------------------------------

# What a first trial resolves, asked of SwiftPM: nothing of the page's server, and that in the versions that are recorded; so
# what the build with everything has resolved.
resolves_what_is_recorded() {
    local manifest status
    manifest=$(mktemp -d) || return 1
    cp Package.swift "$manifest"
    cp Tests/resolved.json "$manifest/Package.resolved"
    swift package --package-path "$manifest" resolve >/dev/null 2>&1 &&
        python3 Tests/Tools/resolved_versions.py "$manifest/Package.resolved" --count 3 &&
        python3 Tests/Tools/resolved_versions.py Package.resolved
    status=$?
    rm -rf "$manifest"
    return $status
}

# A process of tests has as many threads as there are cores, and a test that waits, for a program or for seconds to pass, holds
# one: so those of programs, and suites that wait more than they reckon, have processes of their own.
readonly waiting='LinkedProgramTests|LoopbackDriverTests|FeedProgramTests|LiveProgramTests|GlucoseServerTests'
readonly of_programs='^IsletTests\.'

# tests_of NAME ARGUMENTS...: the tests that the arguments leave; $results/NAME.xml has what became of each. Without colours, which
# would stand before the word that failures are found by.
tests_of() {
    NO_COLOR=1 "$debug/isletPackageTests.xctest" --testing-library swift-testing "${@:2}" --xunit-output "$results/$1.xml"
}

swift_tests() {
    local results counts='' status
    step "swift test"
    results=$(mktemp -d) || exit 70
    beside waiting tests_of waiting --filter "$waiting"
    beside programs tests_of programs --filter "$of_programs" --skip "$waiting"
    tests_of rest --skip "$of_programs|$waiting" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    gathered programs | tee -a "$log"
    status=$((status | PIPESTATUS[0]))
    gathered waiting | tee -a "$log"
    status=$((status | PIPESTATUS[0]))
    if [ -s "$results/rest.xml" ] && [ -s "$results/programs.xml" ] && [ -s "$results/waiting.xml" ] &&
        counts=$(python3 Tests/Tools/xunit_counts.py "$results"/*.xml); then
        passed=$((passed + ${counts% *}))
        failed=$((failed + ${counts#* }))
        [ "${counts#* }" = 0 ] || what_failed+=$(grep -E '^✘ Test |: error: -\[' "$log" | cut -c1-600 | head -n 60)$'\n'
        if [ "$status" != 0 ] && [ "${counts#* }" = 0 ]; then one_failed "swift test left with $status"; fi
    else
        one_failed "swift test left with $status and no count"
    fi
    rm -rf "$results"
}

is_formatted() { git ls-files '*.swift' | xargs swift format lint --strict --parallel; }

short() {
    one "format" is_formatted
    one "traceability" python3 Tests/Tools/trace_requirements.py --check
    one "breaks of the alert engine find their place" python3 Tests/Tools/mutate_alerts.py --check
    counted "links of README, docs and notebooks" python3 Tests/Tools/check_links.py
    counted "pages that people write, and decisions" python3 Tests/Tools/check_docs.py
    counted "the picture of the floors" python3 Tests/Tools/draw_floors.py --check
    # Where nobody has made a trial there is one build: the digests that are recorded for this engine (Tests/Golden) stand
    # for the release build's then. CI makes a trial first.
    [ ! -e "$(.ci/release.sh build --show-bin-path)/islet" ] || build_islet
    # Packages come while the compiler works.
    local packages=(environment .build-python Python/tests/requirements.txt) has_packages=''
    beside packages "${packages[@]}"
    build_debug
    gathered packages >/dev/null
    # Asked again here: what can't be had is counted.
    ! "${packages[@]}" || has_packages=yes
    [ -n "$islet" ] || skipped "digests of the release build beside the debug build's" "there is none yet: make trial"
    one "a build without the page resolves GRDB, swift-argument-parser and Yams alone, in recorded versions" resolves_what_is_recorded
    swift_tests
    # Three at a time, as each waits now and then.
    [ -z "$has_packages" ] || beside python python_tests .build-python "$debug/islet"
    beside examples python3 Tests/Tools/examples.py --islet "${islet:-$debug/islet}" --programs "$debug"
    counted "digest checks${islet:+, release and debug build}" env SEED="${SEED:-24}" \
        Tests/Tools/digest_checks.sh --islet "${islet:-$debug/islet}" ${islet:+--other "$debug/islet"}
    counted "swarm, 300 seeds" Tests/Tools/swarm_checks.sh --islet "$debug/islet" --seeds 1..300
    counted "fuzz of every reader, 200 inputs each" python3 Tests/Tools/fuzz_readers.py --bench "$debug/islet-bench" --inputs 200
    counted "damaged frames told to an algorithm in Python" python3 Tests/Tools/fuzz_algorithm.py
    counted "fuzz, 400 mutations" python3 Tests/Tools/fuzz.py --islet "${islet:-$debug/islet}" --mutations 400
    counted "every example of README, docs and --help, begun after swift test" gathered examples
    [ -z "$has_packages" ] || counted "the Python package: studies, results, environments, begun after swift test" gathered python
}

# python_tests FOLDER PROGRAM [--long]: the tests of the Python package, as it stands here, in an environment of their own.
python_tests() {
    PYTHONPATH=$PWD/Python "$1/bin/python" Python/tests/run.py --islet "$2" ${3:+"$3"}
}

# cluster_tests FOLDER PROGRAM: the tests of islet.cluster, counted as those of Swift are.
cluster_tests() {
    local results counts
    results=$(mktemp -d) || return 70
    ISLET=$2 "$1/bin/python" -m pytest -q -p no:cacheprovider --junitxml="$results/tests.xml" Python/tests/cluster
    counts=$(python3 Tests/Tools/xunit_counts.py "$results/tests.xml")
    rm -rf "$results"
    [ -n "$counts" ] && echo "${counts% *} passed, ${counts#* } failed"
}

# --- Parts: what takes longer -------------------------------------------------------------------------------------------

# Each part: what it is, the minutes that it takes on two cores once built, and what may touch it (prefixes of paths; a part's
# own tools are among them).
core='Package.swift .ci/test.sh .ci/release.sh .ci/swift.sh Sources/C Sources/islet/ Sources/islet-swarm Sources/Swarm'
for module in Kernel Numerics Devices Models Alerts Loop People Files Trials Results Commands; do core+=" Sources/Islet$module"; done
readonly core
part_name=([1]="library, package, instructions, breaks of the alert engine, swarm" [2]="findings, oracles, notebooks" [3]="report and live page in a browser, API, kills")
part_minutes=([1]=27 [2]=21 [3]=17)
part_touched=(
    [1]="$core Sources/ Cohorts .ci/package Tests/Tools/package_checks.sh Tests/LibraryUser Tests/AlertScenarios Tests/AlertsTests Tests/Tools/mutate_alerts.py Tests/Tools/swarm_checks.sh Tests/Tools/library_checks.sh Tests/Tools/instructions.py Benchmarks/instructions.json"
    [2]="$core Cohorts Python Notebooks docs/findings docs/validation.md README.md Tests/Oracles Tests/Tools/findings.py Tests/Tools/notebook_checks.sh Tests/Tools/cluster_checks.py Tests/Tools/slurm_checks.sh"
    [3]="$core Sources/ Cohorts/wards .ci/page.sh Tests/Tools/check_ Tests/Tools/page_ Tests/Tools/kill_page.py Tests/Tools/stall_page.py"
)

part_1() {
    build_release
    counted "a package that depends on this one" Tests/Tools/library_checks.sh
    .ci/setup.sh bare || true
    counted "the programs of \`make package\` in a bare Debian" Tests/Tools/package_checks.sh --islet "$release"
    .ci/setup.sh count || true
    counted "instructions a patient-day against Benchmarks/instructions.json" \
        python3 Tests/Tools/instructions.py --islet "$release"
    counted "alert tests against broken engines" python3 Tests/Tools/mutate_alerts.py
    counted "swarm, 2000 seeds" Tests/Tools/swarm_checks.sh --islet "$release"
}

part_2() {
    build_release
    counted "the numbers of docs/findings and README, run again" \
        python3 Tests/Tools/findings.py --islet "$release" --check
    if environment .build-oracles Tests/Oracles/requirements.txt; then
        local python=.build-oracles/bin/python
        if has_python_3_11; then
            counted "islet metrics against iglu" "$python" Tests/Oracles/metrics_oracle.py --islet "$release"
            counted "glucose outcomes from the exported truth, with iglu" \
                "$python" Tests/Oracles/truth_oracle.py --islet "$release"
        else
            skipped "islet metrics and outcomes against iglu" "it needs Python 3.11"
        fi
        counted "islet trace against simglucose, 30 subjects" \
            "$python" Tests/Oracles/trace_oracle.py --islet "$release"
        counted "simglucose's basal-bolus controller through the adapter, a day" \
            "$python" Tests/Oracles/simglucose_oracle.py --islet "$release"
    fi
    if environment .build-python Python/tests/requirements.txt; then
        counted "the Python package, long: 1000 seeds, 10 000 resets" python_tests .build-python "$release" --long
    fi
    if environment .build-python-oldest Python/tests/requirements-oldest.txt; then
        counted "the Python package with the oldest libraries that it takes" python_tests .build-python-oldest "$release"
    fi
    if environment .build-cluster Python/tests/cluster/requirements.txt; then
        counted "shards on Dask, stores of objects, scripts for schedulers" cluster_tests .build-cluster "$release"
    fi
    counted "shards tried twice, killed, on full disks, and joined" python3 Tests/Tools/cluster_checks.py --islet "$release"
    .ci/setup.sh slurm || true
    counted "an array job of Slurm, one of whose nodes is killed" Tests/Tools/slurm_checks.sh --islet "$release"
    if ! has_python_3_11; then
        skipped "statistics oracles and the notebooks" "they need Python 3.11"
    else
        if environment .build-oracles-statistics Tests/Oracles/statistics_requirements.txt; then
            build_debug
            counted "statistics against scipy, statsmodels and lifelines" \
                .build-oracles-statistics/bin/python Tests/Oracles/statistics_oracle.py --bench "$debug/islet-bench"
        fi
        if environment .build-notebooks Notebooks/requirements.txt; then
            counted "notebooks, executed on small studies" \
                Tests/Tools/notebook_checks.sh --islet "$release" --python .build-notebooks/bin/python
            counted "every example of README, docs and --help, with pandas" \
                .build-notebooks/bin/python Tests/Tools/examples.py --islet "$release"
        fi
    fi
}

part_3() {
    if ! .ci/setup.sh browser; then
        skipped "report.html and the live page in Chromium" "it cannot be installed"
        return
    fi
    build_release
    step "debug build of islet-live, with TLS"
    if ! ISLET_TRAITS=Serve,TLS .ci/debug.sh build --product islet-live; then
        one_failed "the debug build of islet-live with TLS"
        return
    fi
    local live
    live=$(ISLET_TRAITS=Serve,TLS .ci/debug.sh build --show-bin-path)/islet-live
    if environment .build-browser Tests/Tools/report_requirements.txt; then
        counted "report.html in Chromium (make look: nine kinds of studies)" \
            .build-browser/bin/python Tests/Tools/check_report.py --islet "$release" --short
    fi
    if environment .build-page Tests/Tools/page_requirements.txt; then
        counted "the live page, its API and its ward after kills (make soak: longer)" .ci/page.sh short "$live" "$(dirname "$release")/islet-live"
    fi
    if environment .build-clients Tests/Tools/client_requirements.txt; then
        counted "follower clients of the package index against a virtual person" \
            .build-clients/bin/python Tests/Tools/check_clients.py --islet-live "$live"
    fi
}

# Writes the commit at which a part passed whole into its row of docs/test-all.md.
note_passed() {
    local commit
    commit=$(git rev-parse --short=12 HEAD 2>/dev/null) || return 0
    if [ -n "$(git status --porcelain -- ':!docs/test-all.md')" ]; then
        echo "docs/test-all.md is left as it is: the tree has changes that no commit holds."
        return 0
    fi
    sed -i -E "s/^(\| $1 \|.*\|) [^|]* \|\$/\1 $commit |/" "$record"
    echo "docs/test-all.md: part $1 passed at $commit"
}

run_part() {
    local failed_before=$failed
    some_skipped=''
    printf '\n==== part %d: %s\n' "$1" "${part_name[$1]}"
    "part_$1"
    [ "$failed" = "$failed_before" ] && [ -z "$some_skipped" ]
}

# is_touched PART: whether anything that it hangs on may have changed since its record; so where the record names no ancestor.
is_touched() {
    local commit changed prefix
    commit=$(sed -nE "s/^\| $1 \|.*\| ([0-9a-f]+) \|\$/\1/p" "$record")
    [ -n "$commit" ] && git merge-base --is-ancestor "$commit" HEAD 2>/dev/null || return 0
    changed=$(git diff --name-only "$commit" HEAD) || return 0
    for prefix in ${part_touched[$1]}; do
        if grep -q "^$prefix" <<<"$changed"; then return 0; fi
    done
    return 1
}

case ${1:-} in
'') short ;;
part)
    if [ -z "${part_name[${2:-0}]:-}" ]; then
        echo "test.sh part: 1 to ${#part_name[@]}, not '${2:-}'" >&2
        exit 64
    fi
    if run_part "$2"; then note_passed "$2"; fi
    ;;
changed)
    left=''
    for part in "${!part_name[@]}"; do
        if ! is_touched "$part"; then
            echo "part $part (${part_name[$part]}): nothing that it hangs on has changed since it passed"
        elif [ $((($(date +%s) - began) / 60 + part_minutes[part])) -gt "$minutes_of_ci" ]; then
            left+="NOT RUN, no time left: part $part (${part_name[$part]}), make test-all PART=$part"$'\n'
        else
            run_part "$part" || true
        fi
    done
    printf '\n%s' "$left"
    # A count of nothing would read as a run without tests.
    if [ "$passed$failed" = 00 ]; then exit 0; fi
    ;;
*) echo "test.sh: nothing, part K, or changed; not '$1'" >&2; exit 64 ;;
esac
finish
