#!/usr/bin/env python3
"""Computes the glucose outcomes of a study again, from its exported truth, with iglu_python.

Usage: python3 truth_oracle.py --islet PATH [--verbose]

Guarantees: a study with faults, and one at another time of day, are run at `record: full`; `islet export --what truth` gives the true
plasma glucose every five minutes; every glucose outcome of every session in sessions.csv is computed from it by iglu or by the few lines of
metrics_oracle.py, and compared (1e-6 relative; ADRR and MODD 5e-3). The table `truth` of study.sqlite, and what the Python package tells of
truth and outcomes, must say the same as the export and sessions.csv.
Prints one line a metric and, last, `N passed, N failed`; leaves with 1 on a failure, 2 if it could not run.
"""

import argparse
import csv
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from metrics_oracle import DEFAULT_TOLERANCE, KEYS, TOLERANCE, deviation, expectations

try:
    import pandas as pd
except ImportError as error:
    print(f"truth_oracle: {error}; pip install -r {Path(__file__).with_name('requirements.txt').name}")
    sys.exit(2)

STUDIES = {
    "faults": """
study: faults
seed: 5
duration: 5d
faults: all
record: full
cohort: { generate: { group: adolescent, count: 4 } }
arms: [{ name: open-loop, algorithm: basal-bolus }, { name: closed-loop, algorithm: pid-insulin-feedback }]
""",
    "evening": """
study: evening
seed: 6
start: 2026-11-30T19:35:00+01:00
duration: 61h
record: full
scenario: { meals: hard }
cohort: { generate: { group: child, count: 3 } }
arms: [{ name: closed-loop, algorithm: pid-insulin-feedback }]
""",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--islet", required=True, help="the islet binary")
    parser.add_argument("--verbose", action="store_true", help="one line a failed comparison")
    options = parser.parse_args()
    os.environ["ISLET"] = os.path.abspath(options.islet)
    sys.path.insert(0, str(Path(__file__).parents[2] / "Python"))
    import islet

    worst, judged, failed = {}, {}, {}

    def fail(name, what):
        failed[name] = failed.get(name, 0) + 1
        if options.verbose:
            print(f"{name}: {what}")

    with tempfile.TemporaryDirectory() as folder:
        for name, text in STUDIES.items():
            study, out = Path(folder) / f"{name}.yaml", Path(folder) / name
            study.write_text(text)
            truth_path = Path(folder) / f"{name}-truth.csv"
            for command in (
                ["run", str(study), "--quiet", "--out", str(out)],
                ["export", str(out), "--what", "truth", "--quiet", "--out", str(truth_path)],
            ):
                run = subprocess.run([options.islet, *command], capture_output=True, text=True, timeout=600, check=False)
                if run.returncode != 0:
                    print(f"islet {command[0]} left with {run.returncode}: {run.stderr.strip()}")
                    return 2
            truth = pd.read_csv(truth_path)
            # Local wall-clock time: metrics of days begin at its midnight.
            truth["time"] = pd.to_datetime(truth["time"].str[:19])
            with sqlite3.connect(out / "study.sqlite") as base:
                stored = base.execute(
                    "SELECT session, time_ns / 1e9, plasma_mgdl, sensor_mgdl FROM truth ORDER BY session, seq"
                ).fetchall()
            exported = list(
                truth[["session", "time_s", "plasma_mgdl", "sensor_mgdl"]].itertuples(index=False, name=None)
            )
            same = len(stored) == len(exported) and all(
                a[:3] == b[:3] and (a[3] == b[3] or (a[3] is None and math.isnan(b[3])))
                for a, b in zip(stored, exported)
            )
            judged["table truth"] = judged.get("table truth", 0) + 1
            if not same or not stored:
                fail("table truth", f"{name}: the store's differs from the export")
            with open(out / "sessions.csv", encoding="utf-8", newline="") as file:
                sessions = list(csv.DictReader(file))
            results = islet.open(out)
            told = results.truth()[["session", "time_s", "plasma_mgdl", "sensor_mgdl"]].reset_index(drop=True)
            judged["package, truth"] = judged.get("package, truth", 0) + 1
            if not told.equals(truth[["session", "time_s", "plasma_mgdl", "sensor_mgdl"]].astype(told.dtypes.to_dict())):
                fail("package, truth", f"{name}: the package's differs from the export")
            judged["package, outcomes"] = judged.get("package, outcomes", 0) + 1
            for mine, row in zip(results.using("rows").sessions, sessions, strict=True):
                for key in KEYS:
                    if (None if row[key] == "" else float(row[key])) != mine[key]:
                        fail("package, outcomes", f"{name}, session {row['session']}: {key} is {mine[key]}, not {row[key]}")
            for session in sessions:
                frame = truth[truth["session"] == int(session["session"])]
                frame = frame.rename(columns={"plasma_mgdl": "gl"})[["time", "gl"]].reset_index(drop=True)
                for found_name, (value, _) in expectations(frame, True).items():
                    key = found_name.split()[0]
                    found = float(session[key]) if session[key] else None
                    away = deviation(found, value)
                    worst[found_name] = max(worst.get(found_name, 0.0), away)
                    judged[found_name] = judged.get(found_name, 0) + 1
                    if away > TOLERANCE.get(key, DEFAULT_TOLERANCE):
                        fail(found_name, f"{name}, session {session['session']}: {found}, expected {value}")

    missing = [key for key in KEYS if key not in judged]
    for key in missing:
        fail(key, "never compared")
    for found_name in judged:
        verdict = f"FAILED in {failed[found_name]}" if found_name in failed else "ok"
        print(f"{found_name:26} largest deviation {worst.get(found_name, 0.0):.2e}, {judged[found_name]} compared: {verdict}")
    print(f"{sum(name not in failed for name in judged)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
