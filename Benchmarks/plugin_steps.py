#!/usr/bin/env python3
"""What a step of an algorithm of one's own costs above one that is built in: CPU µs a step, each way it may run.

Processor time alone counts (user and system, of the program and of all its children), of runs of `Cohorts/speed.yaml` that take turns, so that a busy machine tells
little less than an idle one. `week` is the study as it is, all that starts included: the algorithm's own runtime and libraries, shared by 201 600 steps. `further` is a
step of what comes later, the difference between five weeks and one: what a step costs once all runs. `pid` is a port of `pid-insulin-feedback`, whose people live the
same to the digest: what it costs more is the way it runs, and what the language takes for its formulas. `rule` is the ten lines of Python/examples/mine.py in each language; its people live otherwise than
the built-in algorithm's, the same in each way: C in process stands beside it as what that costs.

Usage: plugin_steps.py [--islet PROGRAM] [--python PYTHON] [--rounds 3] [--only WORD] [--digests]. PYTHON has NumPy. Prints the least and the median of each, above the built-in's of
the same round, and the bars.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STEPS = 700 * 288  # of a week
WEEKS = 5

VECTOR = """
import numpy as np

import islet.algorithm as ia


class Mine(ia.Vector):
    name, version, basal_source = "mine-numpy", 1, "algorithm"
    gain = ia.Parameter(0.3, 0, 5, "1/h", "share of a correction an hour")

    def step(self, rows, state, asked):
        correction = self.gain * (rows["cgm"] - rows["target"]) / rows["cf"]
        rate = rows["basal"] + np.nan_to_num(correction)
        doses = self.doses()
        doses["basal"] = np.maximum(0, rate) / 12
        doses["meal"] = np.nan_to_num(rows["meal"]) / rows["cr"]
        return doses


ia.serve(Mine)
"""


def ways(folder):
    """Name, algorithm, bar."""
    def file(*parts):
        return os.path.join(ROOT, *parts)

    for name in ("pid", "mine"):
        subprocess.run([
            "cc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-I", file("C"), "-o", os.path.join(folder, name + ".so"),
            file("C", "examples", name + ".c"), "-lm"], check=True)
    for name in ("pid", "mine"):
        with open(file("Python", "examples", name + ".py")) as source:
            text = source.read()
        changed = re.sub(r"^ia\.serve\((\w+)\)", r'\1.runs = "together"\nia.serve(\1)', text, flags=re.MULTILINE)
        assert changed != text
        with open(os.path.join(folder, name + "_together.py"), "w") as target:
            target.write(changed)
    with open(os.path.join(folder, "mine_numpy.py"), "w") as target:
        target.write(VECTOR)
    own = lambda name: os.path.join(folder, name)  # noqa: E731
    return [
        ("built in", "pid-insulin-feedback", None),
        ("pid, C in process", "{ library: %s, inProcess: true }" % own("pid.so"), 0.3),
        ("pid, C", "{ library: %s }" % own("pid.so"), None),
        ("pid, plain class, together", "{ python: %s }" % own("pid_together.py"), None),
        ("pid, plain class, alone", "{ python: %s }" % file("Python", "examples", "pid.py"), None),
        ("pid, lines, alone, Node", "{ command: [node, %s] }" % file("Python", "examples", "pid.js"), None),
        ("rule, C in process", "{ library: %s, inProcess: true }" % own("mine.so"), None),
        ("rule, C", "{ library: %s }" % own("mine.so"), None),
        ("rule, NumPy, together", "{ python: %s }" % own("mine_numpy.py"), 1),
        ("rule, plain class, together", "{ python: %s }" % own("mine_together.py"), 6),
        ("rule, plain class, alone", "{ python: %s }" % file("Python", "examples", "mine.py"), 15),
        ("rule, lines, alone, Node", "{ command: [node, %s] }" % file("Python", "examples", "proportional.js"), 35),
    ]


def run(islet, python, folder, algorithm, weeks):
    """CPU seconds, and the run's digest."""
    with open(os.path.join(ROOT, "Cohorts", "speed.yaml")) as source:
        text = source.read()
    study = os.path.join(folder, "study.yaml")
    with open(study, "w") as target:
        target.write(text.replace("algorithm: pid-insulin-feedback", "algorithm: " + algorithm))
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    path = os.path.join(folder, "bin") + ":" + os.environ.get("PATH", "/usr/bin:/bin")
    if not os.path.exists(os.path.join(folder, "bin")):
        # As a program's own name: what a virtual environment is, is seen by where its link stands.
        os.mkdir(os.path.join(folder, "bin"))
        with open(os.path.join(folder, "bin", "python3"), "w") as target:
            target.write("#!/bin/sh\nexec '%s' \"$@\"\n" % python)
        os.chmod(os.path.join(folder, "bin", "python3"), 0o755)
    with open(os.path.join(folder, "said"), "w") as said:
        child = subprocess.Popen(
            [islet, "run", study, "--no-report", "--quiet", "--allow-algorithm", "--out", out,
             "--set", "duration=%dd" % (7 * weeks)], stdout=said, stderr=said,
            env={**os.environ, "PATH": path})
        _, status, used = os.wait4(child.pid, 0)
    if status:
        with open(os.path.join(folder, "said")) as said:
            sys.exit("%s: %s" % (algorithm, said.read()[-2000:]))
    with open(os.path.join(out, "summary.json")) as summary:
        digest = json.load(summary).get("digest", "none")
    return used.ru_utime + used.ru_stime, digest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--islet", default=os.path.join(ROOT, ".build", "release", "islet"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="ways whose name has this word")
    parser.add_argument("--digests", action="store_true", help="print each way's digest")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for row in ways(folder) if row[0] == "built in" or given.only in row[0]]
        week, further, digests = {name: [] for name, _, _ in rows}, {name: [] for name, _, _ in rows}, {}
        for _ in range(given.rounds):
            for name, algorithm, _ in rows:
                short, digests[name] = run(given.islet, given.python, folder, algorithm, 1)
                long, _ = run(given.islet, given.python, folder, algorithm, WEEKS)
                week[name].append(short / STEPS * 1e6)
                further[name].append((long - short) / STEPS / (WEEKS - 1) * 1e6)
        print("%-30s %17s %17s %6s   load %.1f" % ("CPU us a step", "week", "further", "bar", os.getloadavg()[0]))
        print("%-30s %8s %8s %8s %8s" % ("", "least", "median", "least", "median"))
        for name, _, bar in rows:
            figures = []
            for used in (week, further):
                base = used["built in"]
                if name == "built in":
                    figures += [min(base), statistics.median(base)]
                else:
                    figures += [min(used[name]) - min(base), statistics.median(a - b for a, b in zip(used[name], base))]
            print("%-30s %8.2f %8.2f %8.2f %8.2f %6s   %s" % (
                ("+ " if name != "built in" else "") + name, *figures, "" if bar is None else bar,
                digests[name] if given.digests else ""))


main()
