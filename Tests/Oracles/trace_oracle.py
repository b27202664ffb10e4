#!/usr/bin/env python3
"""Compares `islet trace --model uva-padova-2008` with simglucose 0.2.11, minute by minute.

Two parts, both on the 30 subjects of the table that simglucose brings:

1. Random inputs: three series a subject, 24 to 36 h each (meals up to 120 g at up to 25 g/min, random basal
   and boluses). simglucose's T1DPatient is stepped by the minute with the same inputs. Its solver (scipy's
   dopri5) runs at rtol 1e-6 by default, which is not a reference; the oracle sets the same object to rtol
   1e-10 and atol 1e-8 through T1DPatient._odesolver, and lets it eat what it is given (EAT_RATE is 5 g/min).
   The freeze of a negative state is part of the comparison. Where a glucose state has fallen below 0, which of
   its solver's trial points was the first below 0 decides where simglucose stays: from that minute on
   the minutes are counted apart and reported, not compared.
2. Goldens (--golden TABLE.csv, optional): published figures for a 50 g meal without and with insulin, 1 U
   and a stopped pump; 0.01 mg/dL and 1 min. The table is not part of this project.

Usage: trace_oracle.py --islet BINARY [--series N] [--seed N] [--golden TABLE.csv] [--fetch DIR]
Needs simglucose 0.2.11 with scipy. With --fetch it installs them into a virtual environment in DIR (once) and
runs there; without, it installs nothing. The last line is `N passed, N failed`; it leaves with 1 if any failed.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import types
import venv
import warnings

warnings.filterwarnings("ignore")

try:
    import numpy as np
except ImportError:
    np = None

BAR = 0.01  # mg/dL
AIM = 0.001


def run_in_environment(folder):
    """Runs this script again in a virtual environment that has simglucose."""
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", "import simglucose.patient.t1dpatient"], capture_output=True).returncode:
        # simglucose 0.2.11 imports pkg_resources, which later setuptools don't have.
        subprocess.run([python, "-m", "pip", "install", "-q", "simglucose==0.2.11", "setuptools<81"], check=True)
    rest = sys.argv[1:]
    at = rest.index("--fetch")
    del rest[at : at + 2]
    sys.exit(subprocess.run([python, os.path.abspath(__file__)] + rest).returncode)


def load_simglucose():
    try:
        import simglucose
        from simglucose.patient import t1dpatient
    except ImportError as error:
        sys.exit(f"simglucose is not there ({error}); see the head of this file")
    return t1dpatient, os.path.join(os.path.dirname(simglucose.__file__), "params")


def random_inputs(rng, basal):
    """Minutes of carbohydrate (g) and insulin (U)."""
    minutes = int(rng.integers(1440, 2161))
    carbs = np.zeros(minutes)
    insulin = np.zeros(minutes)
    # Basal: a new rate every half hour to four hours, sometimes off.
    at = 0
    while at < minutes:
        length = int(rng.integers(30, 241))
        rate = 0.0 if rng.random() < 0.1 else basal * rng.uniform(0.3, 1.7)
        insulin[at : at + length] = rate
        at += length
    for _ in range(int(rng.integers(3, 7))):
        grams = rng.uniform(5, 120)
        rate = rng.uniform(1, 25)
        at = int(rng.integers(0, minutes - 10))
        left = grams
        while left > 0 and at < minutes:
            bite = min(rate, left)
            carbs[at] += bite
            left -= bite
            at += 1
        if rng.random() < 0.8:  # a bolus near the meal, sometimes too large
            moment = int(np.clip(at - grams / rate + rng.integers(-20, 21), 0, minutes - 1))
            insulin[moment] += grams / rng.uniform(8, 40)
    carbs = np.minimum(carbs, 25)
    return carbs, insulin


def simglucose_trace(t1dpatient, name, carbs, insulin):
    patient = t1dpatient.T1DPatient.withName(name)
    patient.EAT_RATE = 1e9
    solver = patient._odesolver
    solver.set_integrator("dopri5", rtol=1e-10, atol=1e-8, nsteps=1_000_000)
    solver.set_initial_value(patient.init_state, 0)
    # The right-hand side reads some sixty parameters; attributes of a pandas row are what makes it slow.
    patient._params = types.SimpleNamespace(**patient._params.to_dict())
    vg = patient._params.Vg
    plasma = [patient.state[3] / vg]
    inter = [patient.state[12] / vg]
    negative = None
    for minute, (g, u) in enumerate(zip(carbs, insulin)):
        patient.step(t1dpatient.Action(CHO=g, insulin=u))
        if negative is None and min(patient.state[[3, 4, 12]]) < 0:
            negative = minute + 1
        plasma.append(patient.state[3] / vg)
        inter.append(patient.state[12] / vg)
    return np.array(plasma), np.array(inter), negative


def islet_trace(islet, table, name, carbs, insulin, folder):
    inputs = os.path.join(folder, "in.csv")
    output = os.path.join(folder, "out.csv")
    with open(inputs, "w") as f:
        f.write("minute,carbs_g,insulin_u\n")
        for k, (g, u) in enumerate(zip(carbs, insulin)):
            f.write(f"{k},{float(g)!r},{float(u)!r}\n")
    done = subprocess.run(
        [islet, "trace", "--model", "uva-padova-2008", "--parameters", table, "--subject", name]
        + ["--inputs", inputs, "--out", output],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"islet trace left with {done.returncode}: {done.stderr.strip()}")
    with open(output) as f:
        rows = list(csv.DictReader(f))
    if [int(r["minute"]) for r in rows] != list(range(len(carbs) + 1)):
        raise RuntimeError(f"islet trace wrote minutes {rows[0]['minute']}…{rows[-1]['minute']}")
    os.remove(output)
    return (
        np.array([float(r["plasma_mgdl"]) for r in rows]),
        np.array([float(r["interstitial_mgdl"]) for r in rows]),
    )


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, holds, what):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}")


def compare_random(args, t1dpatient, table, rows, tally, folder):
    worst, late = {}, {}
    for index, row in enumerate(rows):
        name = row["Name"]
        group = name.split("#")[0]
        basal = float(row["u2ss"]) * float(row["BW"]) / 6000
        for series in range(args.series):
            rng = np.random.default_rng([args.seed, index, series])
            carbs, insulin = random_inputs(rng, basal)
            try:
                got = islet_trace(args.islet, table, name, carbs, insulin, folder)
            except RuntimeError as error:
                tally.check(False, f"{name} series {series}: {error}")
                continue
            plasma, inter, negative = simglucose_trace(t1dpatient, name, carbs, insulin)
            end = len(plasma) if negative is None else negative
            deviation = max(
                np.max(np.abs(got[0][:end] - plasma[:end])), np.max(np.abs(got[1][:end] - inter[:end]))
            )
            worst[group] = max(worst.get(group, 0), deviation)
            if negative is not None:
                after = max(
                    np.max(np.abs(got[0][end:] - plasma[end:])), np.max(np.abs(got[1][end:] - inter[end:]))
                )
                minutes, largest = late.get(group, (0, 0.0))
                late[group] = (minutes + len(plasma) - end, max(largest, after))
            tally.check(deviation <= BAR, f"{name} series {series}: {deviation:.3g} mg/dL")
    for group, deviation in sorted(worst.items()):
        verdict = "within the aim" if deviation <= AIM else "within the bar" if deviation <= BAR else "OUT"
        print(f"{group}: max deviation {deviation:.2e} mg/dL ({verdict}: aim {AIM}, bar {BAR})")
    for group, (minutes, largest) in sorted(late.items()):
        print(f"{group}: {minutes} minutes after a glucose state fell below 0, not compared ({largest:.2e})")


def compare_goldens(args, table, rows, tally, folder):
    parameters = {row["Name"]: row for row in rows}
    with open(args.golden) as f:
        goldens = list(csv.DictReader(f))
    worst = 0.0
    for golden in goldens:
        name = golden["Name"]
        row = parameters[name]
        basal = float(row["u2ss"]) * float(row["BW"]) / 6000
        minutes = 60 + 900

        def run(meal=0.0, bolus=0.0, factor=1.0):
            carbs = np.zeros(minutes)
            insulin = np.full(minutes, basal * factor)
            if meal:
                carbs[60:70] = meal / 10
            insulin[60] += bolus
            return islet_trace(args.islet, table, name, carbs, insulin, folder)[0]

        alone = run(meal=50)
        treated = run(meal=50, bolus=50 / float(golden["CR"]))
        one = run(bolus=1)
        off = run(factor=0)
        window = 600  # the goldens look at ten hours after the event
        after = lambda g: g[60 : 60 + window + 1]
        found = {
            "noBol_peak": after(alone).max(),
            "noBol_tpk": after(alone).argmax(),
            "noBol_G240": alone[300],
            "bol_peak": after(treated).max(),
            "bol_tpk": after(treated).argmax(),
            "bol_min": after(treated).min(),
            "bol_G240": treated[300],
            "ISF1U_drop": one[60] - after(one).min(),
            "ISF_tnadir": after(one).argmin(),
            "G_6h_zeroIns": off[360],
        }
        for key, value in found.items():
            expected = float(golden[key])
            isTime = key in ("noBol_tpk", "bol_tpk", "ISF_tnadir")
            if not isTime:
                worst = max(worst, abs(value - expected))
            tally.check(
                abs(value - expected) <= (1 if isTime else BAR), f"{name} {key}: {value:.4f}, golden {expected}"
            )
    print(f"goldens: {len(goldens)} subjects, max deviation {worst:.2e} mg/dL")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--islet", required=True)
    parser.add_argument("--series", type=int, default=3)
    parser.add_argument("--seed", type=int, default=20260402)
    parser.add_argument("--golden")
    parser.add_argument("--fetch", metavar="DIR")
    args = parser.parse_args()
    if args.fetch:
        run_in_environment(args.fetch)
    t1dpatient, folder = load_simglucose()
    table = os.path.join(folder, "vpatient_params.csv")
    with open(table) as f:
        rows = list(csv.DictReader(f))
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        compare_random(args, t1dpatient, table, rows, tally, scratch)
        if args.golden:
            compare_goldens(args, table, rows, tally, scratch)
    print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    main()
