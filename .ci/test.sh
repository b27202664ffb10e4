#!/usr/bin/env bash
# Everything that is tested, in one go; the last line is `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 70

passed=0 failed=0
log=$(mktemp) || exit 70
trap 'rm -f "$log"' EXIT

step() { printf '\n== %s\n' "$1"; }
one_failed() { failed=$((failed + 1)); echo "FAILED $1"; }
finish() {
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" = 0 ]
    exit
}
# counted WHAT COMMAND...: a program whose last line is `N passed, N failed`.
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
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
    if [ "$status" != 0 ] && [ "${counts#* }" = 0 ]; then one_failed "$what left with $status"; fi
}

step "build"
# With all that there is; the release build has what a first trial has, and no more.
if ! swift build --build-tests --traits Serve; then
    one_failed "swift build --build-tests"
    finish
fi
debug=$(swift build --traits Serve --show-bin-path)/islet
if ! .ci/release.sh build --product islet || ! .ci/release.sh build --product islet-live; then
    one_failed "the release build"
    finish
fi
# What a first trial resolves, asked of SwiftPM: nothing of the page's server.
manifest=$(mktemp -d) || exit 70
cp Package.swift "$manifest"
if swift package --package-path "$manifest" resolve >/dev/null 2>&1 &&
    [ "$(grep -c '"identity"' "$manifest/Package.resolved")" = 3 ]; then
    passed=$((passed + 1))
else
    one_failed "a build without the page resolves other packages than GRDB, swift-argument-parser and Yams"
fi
rm -rf "$manifest"
release=$(.ci/release.sh build --show-bin-path)/islet

step "swift test"
results=$(mktemp -d) || exit 70
trap 'rm -rf "$log" "$results"' EXIT
swift test --skip-build --traits Serve --xunit-output "$results/tests.xml" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
# Swift Testing adds `-swift-testing` to the name of its file.
if counts=$(python3 Tests/Tools/xunit_counts.py "$results"/*.xml); then
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
    if [ "$status" != 0 ] && [ "${counts#* }" = 0 ]; then one_failed "swift test left with $status"; fi
else
    one_failed "swift test left with $status and no count"
fi

counted "a package that depends on this one" Tests/Tools/library_checks.sh

counted "digest checks, release and debug build" \
    Tests/Tools/digest_checks.sh --islet "$release" --other "$debug"

counted "swarm, 2000 seeds" Tests/Tools/swarm_checks.sh --islet "$release"

counted "alert tests against broken engines" python3 Tests/Tools/mutate_alerts.py
counted "fuzz, 400 mutations (make soak: 10 000)" python3 Tests/Tools/fuzz.py --islet "$release" --mutations 400

counted "the numbers of docs/findings and README, run again" \
    python3 Tests/Tools/findings.py --islet "$release" --check

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
        echo "SKIPPED: what needs $2, because the Python package index cannot be reached"
    else
        one_failed "the packages of $2 could not be installed"
    fi
    return 1
}

step "oracles"
python=.build-oracles/bin/python
if environment .build-oracles Tests/Oracles/requirements.txt; then
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        counted "islet metrics against iglu" "$python" Tests/Oracles/metrics_oracle.py --islet "$release"
        counted "glucose outcomes from the exported truth, with iglu" \
            "$python" Tests/Oracles/truth_oracle.py --islet "$release"
    else
        echo "SKIPPED: islet metrics and outcomes against iglu, which needs Python 3.11"
    fi
    counted "islet trace against simglucose, 30 subjects (2 minutes)" \
        "$python" Tests/Oracles/trace_oracle.py --islet "$release"
fi
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "SKIPPED: statistics against scipy, statsmodels and lifelines, which need Python 3.11"
elif environment .build-oracles-statistics Tests/Oracles/statistics_requirements.txt; then
    counted "statistics against scipy, statsmodels and lifelines" \
        .build-oracles-statistics/bin/python Tests/Oracles/statistics_oracle.py --bench "${debug%islet}islet-bench"
fi

step "notebooks"
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "SKIPPED: the notebooks, which need Python 3.11"
elif environment .build-notebooks Notebooks/requirements.txt; then
    counted "notebooks, executed on small studies" \
        Tests/Tools/notebook_checks.sh --islet "$release" --python .build-notebooks/bin/python
    with_pandas=.build-notebooks/bin/python
fi
counted "every example of README, docs and --help" "${with_pandas:-python3}" Tests/Tools/examples.py --islet "$release"

step "report.html in a browser"
if ! .ci/setup.sh browser; then
    echo "SKIPPED: report.html in Chromium, because it cannot be installed"
elif environment .build-browser Tests/Tools/report_requirements.txt; then
    counted "report.html in Chromium (make look: nine kinds of studies)" \
        .build-browser/bin/python Tests/Tools/check_report.py --islet "$release" --short
fi

step "the live page in a browser"
if ! .ci/setup.sh browser; then
    echo "SKIPPED: the live page in Chromium, because it cannot be installed"
elif environment .build-page Tests/Tools/page_requirements.txt; then
    counted "the live page, its API and its ward after kills (make soak: longer)" .ci/page.sh short "${debug%islet}islet-live"
fi

counted "links of README, docs and notebooks" python3 Tests/Tools/check_links.py

step "traceability"
if python3 Tests/Tools/trace_requirements.py --check; then
    passed=$((passed + 1))
else
    one_failed "Tests/Traceability/TRACEABILITY.md"
fi

step "format"
if git ls-files '*.swift' | xargs swift format lint --strict --parallel; then
    passed=$((passed + 1))
else
    one_failed "swift format lint --strict"
fi

finish
