#!/usr/bin/env bash
# What a browser and other clients see of the live page. `page.sh short LIVE RELEASED`, in about 9 minutes: with an `islet-live` that has it, and for what has a bar of
# time with one that is built for release, as people run it. `page.sh soak` builds one and takes an hour and a half. Each check's last line is `N passed, N failed`; so is
# this script's.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 70

passed=0 failed=0
log=$(mktemp) || exit 70
trap 'rm -f "$log"' EXIT
python=.build-page/bin/python

check() {
    local what=$1 counts
    shift
    printf '\n-- %s\n' "$what"
    "$@" 2>&1 | tee "$log"
    counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$log" | tail -n 1)
    if [ -z "$counts" ]; then
        echo "FAILED $what: no count"
        failed=$((failed + 1))
        return
    fi
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
}

if [ "${1:-}" = short ]; then
    live=$2 released=$3
    check "the page in Chromium" "$python" Tests/Tools/check_page.py --islet-live "$live" --short
    check "the API, attacked" "$python" Tests/Tools/check_api.py --islet-live "$live" --examples 12
    check "the server, attacked" "$python" Tests/Tools/attack_page.py --islet-live "$released" --short
    check "10 kills with pages open" "$python" Tests/Tools/kill_page.py --islet-live "$live" --kills 10
    check "a disk, an algorithm and threads that stall" "$python" Tests/Tools/stall_page.py --islet-live "$live"
else
    .ci/setup.sh build python browser || exit
    live=$(ISLET_TRAITS=Serve,TLS .ci/serve.sh build | tail -n 1)
    python3 -m venv .build-page && "$python" -m pip install --disable-pip-version-check -q -r Tests/Tools/page_requirements.txt || exit
    check "the page in Chromium" "$python" Tests/Tools/check_page.py --islet-live "$live"
    check "the API, attacked for 10 minutes" "$python" Tests/Tools/check_api.py --islet-live "$live" --minutes 10
    check "the server, attacked" "$python" Tests/Tools/attack_page.py --islet-live "$live"
    check "100 kills with pages open" "$python" Tests/Tools/kill_page.py --islet-live "$live" --kills 100
    check "200 pages for 10 minutes" "$python" Tests/Tools/load_page.py --islet-live "$live" --minutes 10
    check "an hour of clicks" "$python" Tests/Tools/click_hour.py --islet-live "$live" --minutes 60
fi
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
