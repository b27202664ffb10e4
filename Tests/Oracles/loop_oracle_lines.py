#!/usr/bin/env python3
# Writes a recording's head and rows: `loop_oracle.sh` calls it.
#
# Arguments: what `llvm-cov export` says of the oracle's lines, and a file with all rows. The rows to keep are its input. Lines count that belong to a
# function which the draws entered: the rest of the package reads files, draws time lines, or doses by schedules that Islet has none of.
import hashlib
import json
import sys

lines, rows = sys.argv[1:]
hashed = hashlib.sha256(open(rows, "rb").read()).hexdigest()
spans = {}
counts = {}
for function in json.load(open(lines, encoding="utf-8"))["data"][0]["functions"]:
    # Regions of code: from line and column, to line and column, how often, which file, which file it expands, kind.
    regions = [region for region in function["regions"] if region[7] == 0]
    file = function["filenames"][0]
    if "/LoopAlgorithm/" not in file:
        continue
    first, last = regions[0][0], regions[0][2]
    spans[file, first, last] = spans.get((file, first, last), False) or function["count"] > 0
    # A line is reached as often as the innermost region that it lies in, which comes last.
    own = {}
    for start, _, end, _, count, *_ in regions:
        for line in range(start, end + 1):
            own[line] = count
    for line, count in own.items():
        counts[file, line] = max(counts.get((file, line), 0), count)
entered = {(file, line) for (file, first, last), called in spans.items() if called for line in range(first, last + 1)}
reached = sum(counts[place] > 0 for place in entered)
for place in sorted(entered):
    if counts[place] == 0:
        print("not reached:", *place, file=sys.stderr)
head = sys.stdin.readline().rstrip("\n")
print(f"{head}; SHA-256 of all: {hashed}; {100 * reached / len(entered):.1f} % of the lines of the oracle's functions reached")
print("# kind sensitivity ratio basal low high suspend maxBolus maxBasal maxIOB peak duration absorption integral share"
      " | seconds since the first reading, readings (seconds after the last one@, where they are not 300)"
      " | boluses, U@cell | rates, U/h*cells, = for the programme | meals, g@seconds"
      " | rate bolus IOB retrospective | course")
sys.stdout.write(sys.stdin.read())
