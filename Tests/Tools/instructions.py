#!/usr/bin/env python3
"""Instructions a patient-day, counted, beside what Benchmarks/instructions.json holds them to.

Usage: instructions.py --islet PATH [--write]

Each row of the file is a study and changes to it. The study is run twice under valgrind's callgrind, for a few people and two lengths; the difference is what further
days cost, without the program's start, the drawing of people, titration and the results' last words. What is counted is the same on any machine of one processor family,
whatever else it does. `integration` is the body's `advance`; `else` is all that is left.

A row fails where it is more than 3 % above its budget, and where it is more than 3 % below: then `--write` writes the budgets anew, so that what was gained is kept.
Leaves with 69 and `0 passed, 0 failed` where there is no valgrind. The last line is `N passed, N failed`.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUDGET = ROOT / "Benchmarks/instructions.json"
TOLERANCE = 0.03
PEOPLE, SHORT, LONG = 4, 3, 6
# `UVAPadova2008.advance(byMinutes:looks:)`, as the compiler writes it.
INTEGRATION = re.compile(r"^\$s11IsletModels13UVAPadova2008C7advance9byMinutes")


def counted(profile):
    """All instructions of a callgrind file, and those within the body's `advance`, calls from it included."""
    names, function, callee, is_call = {}, "", "", False
    total = within = 0
    with open(profile, errors="replace") as lines:
        for line in lines:
            match = re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line)
            if match:
                if match[3]:
                    names[match[2]] = match[3].strip()
                if match[1]:
                    callee = names[match[2]]
                else:
                    function = names[match[2]]
            elif line.startswith("calls="):
                is_call = True
            elif line[:1] in "0123456789+-*":
                cost = int(line.split()[1])
                if not is_call:
                    total += cost
                # A call from outside holds all that is within; what calls itself is not counted twice.
                elif INTEGRATION.match(callee) and not INTEGRATION.match(function):
                    within += cost
                is_call = False
    return total, within


def patient_day(islet, row, folder):
    """Thousands of instructions that a further day of a person costs: integration, and all else."""
    figures = []
    for days in (SHORT, LONG):
        out, profile = folder / f"out-{days}", folder / f"profile-{days}"
        changes = [f"duration={days}d", f"cohort.generate.count={PEOPLE}", *row.get("set", [])]
        command = [
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", str(islet), "run", str(ROOT / row["study"]),
            *[part for change in changes for part in ("--set", change)],
            "--jobs", "1", "--quiet", "--no-report", "--out", str(out),
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode != 0:
            raise RuntimeError(f"{' '.join(command[3:])} left with {ran.returncode}: {ran.stderr[-800:]}")
        figures.append(counted(profile))
        arms = len(json.loads((out / "summary.json").read_text())["arms"])
    days = PEOPLE * arms * (LONG - SHORT)
    total, within = ((late - early) / days / 1000 for early, late in zip(*figures))
    if not 0 < within < total:
        raise RuntimeError(f"{row['study']}: {within:.0f} of {total:.0f} thousand are within the body's advance, which can't be")
    return {"integration": round(within), "else": round(total - within)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--islet", required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if not shutil.which("valgrind"):
        print("SKIPPED: instructions, because there is no valgrind\n0 passed, 0 failed")
        return 69
    rows = json.loads(BUDGET.read_text())
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="islet-instructions-") as name:
        folder = Path(name)
        # valgrind can't read all of what a debugger may want to know of a Swift program, and needs none of it.
        islet = folder / "islet"
        subprocess.run(["objcopy", "--strip-debug", str(Path(given.islet).resolve()), str(islet)], check=True)
        for number, row in enumerate(rows):
            place = folder / str(number)
            place.mkdir()
            found = patient_day(islet, row, place)
            for part, thousands in found.items():
                budget = row["thousands"].get(part, 0)
                off = thousands / budget - 1 if budget else float("inf")
                holds = abs(off) <= TOLERANCE
                print(f"{row['name']}, {part}: {thousands} thousand a patient-day, budget {budget} ({off:+.1%})", flush=True)
                if holds or given.write:
                    passed += 1
                else:
                    failed += 1
                    print(f"FAILED {row['name']}, {part}: {off:+.1%}{'; --write keeps the gain' if off < 0 else ''}")
            row["thousands"] = found
        first = rows[0]["thousands"]
        for row in rows[1:]:
            ratio = sum(row["thousands"].values()) / sum(first.values())
            print(f"{row['name']}: {ratio:.2f} times {rows[0]['name']}")
    if given.write:
        lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
        BUDGET.write_text(f"[\n{lines}\n]\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
