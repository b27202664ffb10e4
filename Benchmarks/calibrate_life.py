#!/usr/bin/env python3
"""Standard therapy in believable weeks (scenario `life`) beside the real weeks of the Omnipod 5 pivotal trial.

    python3 Benchmarks/calibrate_life.py --islet .build/release/islet                 # the table and the bars
    python3 Benchmarks/calibrate_life.py --islet ... --all                            # closed loop, adolescents and children as well
    python3 Benchmarks/calibrate_life.py --islet ... --try life.sensitivityOfDay=.1 --try life.sensitivityOfDay=.15

Each --try is one run with that setting (several with commas between them). Exits 1 when the adults' open loop is outside a bar.
Only that column is calibrated on; all else is reported as it comes. Python's standard library only.
"""
import argparse, csv, os, statistics, subprocess, sys, tempfile

# Omnipod 5 pivotal trial, 14 to 70 years, n = 128: two weeks of standard therapy, then three months of automated delivery.
PUBLISHED = {
    "basal-bolus": dict(tir=64.7, tir_sd=16.6, mean=161, mean_sd=28, sd=57, sd_sd=14, cv=35.2, cv_sd=5.7, t70=2.00, t54=0.22, a180=32.4, a250=10.1),
    "pid-insulin-feedback": dict(tir=73.9, tir_sd=11.0, mean=154, mean_sd=17, sd=49, sd_sd=11, cv=31.7, cv_sd=4.7, t70=1.09, t54=0.17, a180=24.7, a250=5.8),
}
BARS = [("tir", 4.0), ("mean", 7.0), ("cv", 2.5), ("t70", 0.6)]
SPREAD_SHARE = 0.25


def study(group, algorithm, people, days, seed):
    return f"""study: life
seed: {seed}
start: 2026-03-02T06:00:00-05:00
duration: {days}d
cohort: {{ generate: {{ model: uva-padova-2008, group: {group}, count: {people} }} }}
scenario: {{ preset: life }}
record: summary
arms: [{{ name: {algorithm}, algorithm: {algorithm}, alerts: bionicloop }}]
"""


def run(islet, text, sets):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "life.yaml")
        with open(path, "w") as file:
            file.write(text)
        out = os.path.join(folder, "out")
        command = [islet, "run", path, "--out", out, "--quiet"]
        for one in sets:
            command += ["--set", "scenario." + one]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(out, "sessions.csv"), newline="") as file:
            return list(csv.DictReader(file))


def facts(rows, prefix):
    def column(name):
        return [float(row[prefix + name]) for row in rows if row[prefix + name]]

    def pair(key, name):
        values = column(name)
        return {key: statistics.fmean(values), key + "_sd": statistics.stdev(values)}

    result = {}
    for key, name in [("tir", "tir_70_180_percent"), ("mean", "mean_mgdl"), ("sd", "sd_mgdl"), ("cv", "cv_percent")]:
        result |= pair(key, name)
    result["t70"] = statistics.median(column("tbr_70_percent"))
    result["t54"] = statistics.median(column("tbr_54_percent"))
    result["a180"] = statistics.fmean(column("tar_180_percent"))
    result["a250"] = statistics.fmean(column("tar_250_percent"))
    return result


def line(name, x, early=""):
    return (f"| {name} | {x['tir']:.1f} ({x['tir_sd']:.1f}) | {x['mean']:.0f} ({x['mean_sd']:.0f}) | {x['sd']:.0f} ({x['sd_sd']:.0f}) | "
            f"{x['cv']:.1f} ({x['cv_sd']:.1f}) | {x['t70']:.2f} | {x['t54']:.2f} | {x['a180']:.1f} | {x['a250']:.1f} | {early} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--islet", default=".build/release/islet")
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--days", type=int, default=28)
    parser.add_argument("--seed", type=int, default=20260301)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--try", dest="tries", action="append", default=[])
    options = parser.parse_args()
    print("| | in 70-180, % | mean, mg/dL | SD, mg/dL | CV, % | < 70, median % | < 54, median % | > 180, % | > 250, % | ended early |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    broken = []
    for sets in [one.split(",") for one in options.tries] or [[]]:
        for group in ["adult", "adolescent", "child"] if options.all else ["adult"]:
            for algorithm in PUBLISHED if options.all else ["basal-bolus"]:
                published = PUBLISHED[algorithm]
                rows = run(options.islet, study(group, algorithm, options.people, options.days, options.seed), sets)
                early = sum(1 for row in rows if row["ended_early"])
                if group == "adult":
                    print(line(f"published, {algorithm}", published))
                title = f"{group}, {algorithm}" + (" " + " ".join(sets) if sets else "")
                sensor = facts(rows, "sensor_")
                print(line(title + ", sensor", sensor, early))
                print(line(title + ", plasma", facts(rows, "")), flush=True)
                if group == "adult" and algorithm == "basal-bolus":
                    for key, bar in BARS:
                        if abs(sensor[key] - published[key]) > bar:
                            broken.append(f"{key} is {sensor[key]:.2f}, published {published[key]} ± {bar}")
                    if abs(sensor["tir_sd"] / published["tir_sd"] - 1) > SPREAD_SHARE:
                        broken.append(f"spread of time in range is {sensor['tir_sd']:.1f}, published {published['tir_sd']} ± 25 %")
                    if early:
                        broken.append(f"{early} sessions ended early")
    for text in broken:
        print("outside its bar: " + text, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
