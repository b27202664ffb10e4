#!/usr/bin/env bash
# The notebooks, executed on studies that are run here, and held against their scripts.
#
# Usage: notebook_checks.sh --islet BINARY --python PYTHON
#   --python: of an environment with Notebooks/requirements.txt.
# The last line is `N passed, N failed`; leaves with 1 on a failure. Writes to a temporary folder only.
set -uo pipefail
export LC_ALL=C.UTF-8

islet="" python=""
while [ $# -gt 0 ]; do
    case $1 in
    --islet) islet=$(realpath "$2"); shift 2 ;;
    --python) python=$(realpath -s "$2"); shift 2 ;;
    *) echo "notebook_checks: unknown option $1" >&2; exit 64 ;;
    esac
done
[ -x "$islet" ] && [ -x "$python" ] || { echo "notebook_checks: --islet BINARY --python PYTHON" >&2; exit 64; }

cd "$(dirname "$0")/../.." || exit 70
folder=$(mktemp -d) || exit 70
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@" >"$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $what"
        tail -n 40 "$folder/log"
    fi
}

# A notebook's cells are those of its script, and nothing of a run is kept.
pair() {
    "$python" - "$1" <<'PYTHON'
import sys

import jupytext

script, notebook = jupytext.read(f"Notebooks/{sys.argv[1]}.py"), jupytext.read(f"Notebooks/{sys.argv[1]}.ipynb")
cells = lambda book: [(cell.cell_type, cell.source) for cell in book.cells]
assert cells(script) == cells(notebook), "other cells than the script's: jupytext --sync"
assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are kept: jupyter nbconvert --clear-output"
PYTHON
}

# Small forms of what the notebooks ask for: the same arms and tables, fewer people and days.
run() { "$islet" run "$@" --quiet; }
check "the study of one-alert" run Cohorts/quickstart.yaml --out "$folder/results/one-alert" \
    --set cohort.generate.count=6 --set duration=3d --set record=full
check "the study of alert-policies" run Cohorts/debounce-cooldown-heard.yaml --out "$folder/results/debounce-cooldown-heard" \
    --set cohort.generate.count=16 --set duration=5d
check "its sensitivity" run Cohorts/waiting-assumptions.yaml --out "$folder/results/waiting-assumptions" --sensitivity \
    --set cohort.generate.count=6 --set duration=2d

for notebook in alert-policies one-alert; do
    check "$notebook and its script" pair "$notebook"
    cp "Notebooks/$notebook.ipynb" "$folder/"
    check "$notebook" env ISLET_RESULTS="$folder/results" MPLBACKEND=agg \
        "$python" -m pytest -q -p no:cacheprovider --nbmake --nbmake-timeout=90 "$folder/$notebook.ipynb"
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
