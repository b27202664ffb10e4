#!/usr/bin/env python3
"""Compares `islet metrics` with iglu_python on random traces.

Usage: python3 metrics_oracle.py --islet PATH [--traces N] [--seed N] [--verbose]

Guarantees: every key of `islet metrics` is compared, with iglu where iglu has the metric (its conventions, to 1e-6
relative; ADRR and MODD to 5e-3), else with a few lines of Python here that follow the project's own definition.
Prints one line a metric with the largest deviation and, last, `N passed, N failed`; leaves with 1 on a failure,
2 if it could not run.

Where the project's definition wins over iglu's:
  coverage_percent, days   readings over what the median spacing allows from first to last ROW, an empty glucose
                           included; iglu drops empty rows first and rounds the days to one decimal.
  tir_70_180, titr_70_140  the same as iglu: both ends in.
  *_events_*               no event spans a gap over 30 min; iglu bridges up to 45 min by a straight line. iglu decides
                           on traces whose gaps are over 45 min or none; the definition written out here, on all.
  adrr                     10·f², where iglu rounds 10·1.509² to 22.77 (4e-5).
  modd                     iglu's grid, so equal where the spacing divides a day.
iglu has no n: rows with a glucose are counted here.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import iglu_python as iglu
    import numpy as np
    import pandas as pd
except ImportError as error:
    print(f"metrics_oracle: {error}; pip install -r {Path(__file__).with_name('requirements.txt').name}")
    sys.exit(2)

warnings.filterwarnings("ignore")

TOLERANCE = {"adrr": 5e-3, "modd_mgdl": 5e-3}
DEFAULT_TOLERANCE = 1e-6
KEYS = (
    "n days coverage_percent mean_mgdl sd_mgdl cv_percent gmi_percent tir_70_180_percent titr_70_140_percent "
    "tbr_70_percent tbr_54_percent tar_180_percent tar_250_percent lbgi hbgi gri adrr modd_mgdl mage_mgdl j_index "
    "conga_1h hypo_events_l1 hypo_events_l2 hyper_events_l1 hyper_events_l2"
).split()
EVENTS = {
    "hypo_events_l1": ("hypo", "lv1", lambda g: g < 70),
    "hypo_events_l2": ("hypo", "lv2", lambda g: g < 54),
    "hyper_events_l1": ("hyper", "lv1", lambda g: g > 180),
    "hyper_events_l2": ("hyper", "lv2", lambda g: g > 250),
}


def make_trace(rng, kind):
    """A random trace: (rows of naive time and glucose or NaN, whether iglu may judge its events)."""
    interval = [5, 5, 5, 15, 1, 5][kind % 6]
    days = float(rng.choice([0.5, 1.0, 2.5, 7.0, 14.0])) if interval > 1 else float(rng.choice([0.5, 1.5, 3.0]))
    steps = int(days * 1440 / interval) + int(rng.integers(0, 3))
    minutes = np.arange(steps) * interval
    start_minute = int(rng.integers(0, 1440 // interval)) * interval if kind % 4 else 0
    start = pd.Timestamp("2026-03-02") + pd.Timedelta(minutes=start_minute)

    level = rng.uniform(90, 190)
    glucose = level + rng.uniform(10, 60) * np.sin(2 * np.pi * minutes / rng.uniform(300, 1500) + rng.uniform(0, 6))
    noise = np.zeros(steps)
    for k in range(1, steps):
        noise[k] = 0.9 * noise[k - 1] + rng.normal(0, 4 * math.sqrt(interval / 5))
    glucose += noise
    for _ in range(max(1, int(3 * days))):
        center, width = rng.uniform(0, minutes[-1] + 1), rng.uniform(15, 120)
        glucose += rng.uniform(-120, 200) * np.exp(-(((minutes - center) / width) ** 2))
    glucose = np.clip(glucose, 25, 420)
    if kind % 3 == 0:
        glucose = np.round(glucose)
    if kind % 7 == 3:  # long flat stretches, as of a simulated fasting night
        glucose[: steps // 2] = 110.0
    if kind % 5 == 4:  # readings exactly at the ends of the ranges
        glucose[rng.integers(0, steps, 40)] = rng.choice([54.0, 70.0, 140.0, 180.0, 250.0], 40)

    judge_events = True
    gaps = kind % 4
    if gaps == 1:  # none between half an hour and 45 min, so that iglu's rule and ours agree: only long ones
        lengths = [rng.integers(50, 400) for _ in range(int(rng.integers(1, 4)))]
    elif gaps == 2:  # lost readings here and there: iglu draws lines
        judge_events = False
        glucose[rng.random(steps) < 0.04] = np.nan
        lengths = []
    elif gaps == 3:
        judge_events = False
        lengths = [20, 35, 40, 60, 170, 200, 300]
    else:
        lengths = []
    # A trace that is mostly gaps has no sampling interval to speak of, and iglu stumbles over it.
    lost = 0.0
    for length in lengths:
        lost += length + interval
        if lost > 0.3 * minutes[-1]:
            break
        at = int(rng.integers(1, max(2, steps - 2)))
        glucose[at : min(steps - 1, at + int(length / interval))] = np.nan
    glucose[0] = 120.0 if math.isnan(glucose[0]) else glucose[0]
    glucose[-1] = 120.0 if math.isnan(glucose[-1]) else glucose[-1]
    return pd.DataFrame({"time": start + pd.to_timedelta(minutes, unit="m"), "gl": glucose}), judge_events


def write_csv(frame, path, rng):
    """Half of the traces leave missing rows out, half leave the cell empty; offsets and fractions vary."""
    suffix = str(rng.choice(["", "Z", "-05:00", "+05:30", ".000Z"]))
    leave_out = rng.random() < 0.5
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("time,glucose_mgdl\n")
        for time, glucose in zip(frame["time"], frame["gl"]):
            if not math.isnan(glucose):
                file.write(f"{time:%Y-%m-%dT%H:%M:%S}{suffix},{float(glucose)!r}\n")
            elif not leave_out:
                file.write(f"{time:%Y-%m-%dT%H:%M:%S}{suffix},\n")


def count_events(frame, beyond):
    """The project's definition, on the readings that are there."""
    minutes = ((frame["time"] - frame["time"].iloc[0]).dt.total_seconds() / 60).to_numpy()
    if len(minutes) < 2:
        return 0
    interval = min(30.0, float(np.median(np.diff(minutes))))
    runs = []  # (starts a new stretch, is beyond, first, last)
    for k, (at, glucose) in enumerate(zip(minutes, frame["gl"])):
        torn = k == 0 or at - minutes[k - 1] > 30
        if torn or runs[-1][1] != beyond(glucose):
            runs.append([torn, beyond(glucose), at, at])
        runs[-1][3] = at
    count, active = 0, False
    for torn, is_beyond, first, last in runs:
        active = active and not torn
        if last - first + interval >= 15 - 1e-9:
            count += is_beyond and not active
            active = is_beyond
    return count


def expectations(frame, judge_events):
    """{key: (value or None, source)}"""
    full = frame.dropna(subset=["gl"]).reset_index(drop=True)
    glucose = full["gl"]

    def series():  # iglu changes what it is given
        return pd.Series(glucose.to_numpy().copy(), index=pd.DatetimeIndex(full["time"]))

    def number(value):
        value = float(value)
        return None if math.isnan(value) else value

    spacing = np.diff(full["time"].to_numpy()).astype("timedelta64[s]").astype(float) / 60
    length = (frame["time"].iloc[-1] - frame["time"].iloc[0]).total_seconds() / 60
    above = iglu.above_percent(glucose, targets_above=[180, 250])
    below = iglu.below_percent(glucose, targets_below=[54, 70])
    inside = iglu.in_range_percent(glucose, target_ranges=[[70, 180], [70, 140]])
    if isinstance(inside, pd.DataFrame):
        inside = inside.iloc[0]
    answer = {
        "n": (len(full), "own"),
        "days": (length / 1440, "own"),
        "coverage_percent": (iglu.active_percent(series())["active_percent"], "iglu"),
        "mean_mgdl": (float(glucose.mean()), "iglu" if hasattr(iglu, "mean_glu") else "own"),
        "sd_mgdl": (number(iglu.sd_glu(glucose)), "iglu"),
        "cv_percent": (number(iglu.cv_glu(glucose)), "iglu"),
        "gmi_percent": (number(iglu.gmi(glucose)), "iglu"),
        "tir_70_180_percent": (number(inside["in_range_70_180"]), "iglu"),
        "titr_70_140_percent": (number(inside["in_range_70_140"]), "iglu"),
        "tbr_70_percent": (number(below["below_70"]), "iglu"),
        "tbr_54_percent": (number(below["below_54"]), "iglu"),
        "tar_180_percent": (number(above["above_180"]), "iglu"),
        "tar_250_percent": (number(above["above_250"]), "iglu"),
        "lbgi": (number(iglu.lbgi(glucose)), "iglu"),
        "hbgi": (number(iglu.hbgi(glucose)), "iglu"),
        "gri": (number(iglu.gri(glucose)), "iglu"),
        "adrr": (number(iglu.adrr(series())), "iglu"),
        "modd_mgdl": (number(iglu.modd(series())), "iglu"),
        "mage_mgdl": (number(iglu.mage(series())), "iglu"),
        "j_index": (number(iglu.j_index(glucose)), "iglu"),
        "conga_1h": (number(iglu.conga(series(), n=1)), "iglu"),
    }
    # iglu gives 0 for a MAGE that no excursion enters: the sum over no rows.
    if answer["mage_mgdl"][0] == 0:
        answer["mage_mgdl"] = (None, "iglu")
    if spacing.size == 0:
        answer["coverage_percent"] = (None, "own")
    episodes = None
    if judge_events:
        episodes = iglu.episode_calculation(full.assign(id="s")[["id", "time", "gl"]])
    for key, (kind, level, beyond) in EVENTS.items():
        answer[key] = (count_events(full, beyond), "own")
        if episodes is not None:
            row = episodes[(episodes["type"] == kind) & (episodes["level"] == level)]
            answer[key + " by iglu"] = (int(row["total_episodes"].iloc[0]), "iglu")
    return answer


def deviation(found, expected):
    if found is None or expected is None:
        return 0.0 if found is None and expected is None else math.inf
    if found == expected:
        return 0.0
    return abs(found - expected) / max(abs(expected), 1e-9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--islet", required=True, help="the islet binary")
    parser.add_argument("--traces", type=int, default=36)
    parser.add_argument("--seed", type=int, default=20260402)
    parser.add_argument("--verbose", action="store_true", help="one line a failed comparison")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)

    worst, judged, defined, source_of, failed_at = {}, {}, {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in range(options.traces):
            frame, judge_events = make_trace(rng, kind)
            path = Path(folder) / f"trace-{kind}.csv"
            write_csv(frame, path, rng)
            run = subprocess.run(
                [options.islet, "metrics", str(path)], capture_output=True, text=True, timeout=60, check=False
            )
            if run.returncode != 0:
                print(f"trace {kind}: islet metrics left with {run.returncode}: {run.stderr.strip()}")
                failed_at.setdefault("exit code", []).append(kind)
                continue
            found = json.loads(run.stdout)
            missing = [key for key in KEYS if key not in found]
            if missing:
                print(f"trace {kind}: keys missing: {' '.join(missing)}")
                failed_at.setdefault("keys", []).append(kind)
                continue
            for name, (value, source) in expectations(frame, judge_events).items():
                key = name.split()[0]
                away = deviation(found[key], value)
                worst[name] = max(worst.get(name, 0.0), away)
                judged[name] = judged.get(name, 0) + 1
                defined[name] = defined.get(name, 0) + (value is not None)
                source_of.setdefault(name, source)
                if away > TOLERANCE.get(key, DEFAULT_TOLERANCE):
                    failed_at.setdefault(name, []).append(kind)
                    if options.verbose:
                        print(f"trace {kind}: {name}: islet {found[key]}, expected {value} ({source})")

    for name in worst:
        tolerance = TOLERANCE.get(name.split()[0], DEFAULT_TOLERANCE)
        verdict = f"FAILED on traces {failed_at[name]}" if name in failed_at else "ok"
        print(
            f"{name:26} {source_of[name]:5} largest deviation {worst[name]:.2e} (allowed {tolerance:.0e}), "
            f"{judged[name]} traces, {defined[name]} with a value: {verdict}"
        )
    failed = len(failed_at)
    passed = sum(name not in failed_at for name in worst)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
