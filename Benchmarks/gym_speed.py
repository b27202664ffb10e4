#!/usr/bin/env python3
"""How many patient-days of random actions a CPU second pays for: islet/Loop-v0 alone and in a vector of 100, beside simglucose and glucosim.

Processor time alone counts (user and system, of Python and of the program that it speaks to), of processes that take turns, so that a busy machine tells little less than an idle
one. Actions are drawn beforehand: what is measured is the environment. A reset belongs to each day; to import, to start the program and to draw its hundred people does not.

Usage: gym_speed.py [--islet PROGRAM] [--other PYTHON] [--rounds 5]. PYTHON has simglucose 0.2.11 and glucosim 0.1.1 (this one where it is left out), which
want an older Gymnasium. Prints the least and the median of each, their ratios (of the medians), and the bars.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def of_program(pid):
    """CPU seconds of all threads of a process, to the nanosecond."""
    total = 0
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, thread)) as file:
            total += int(file.read().split()[0])
    return total / 1e9


def own():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Single:
    """`gymnasium.make` as anybody calls it, with its wrappers."""

    def __init__(self):
        import gymnasium
        import numpy as np
        self.env = gymnasium.make("islet.gym:islet/Loop-v0", duration="1d")
        self.actions = list(np.random.default_rng(0).uniform(-1, 1, (288, 1)).astype(np.float32))
        for seed in range(100):
            self.env.reset(seed=seed)
        self.seed = 0

    def cost(self):
        return own() + of_program(self.env.unwrapped._core.wires[0].pid)

    def live(self):
        env, steps = self.env, 0
        for _ in range(40):
            env.reset(seed=self.seed)
            self.seed += 1
            for action in self.actions:
                *_, terminated, truncated, _ = env.step(action)
                steps += 1
                if terminated or truncated:
                    break
        return steps / 288


class Vector:
    def __init__(self):
        import gymnasium
        import numpy as np
        self.env = gymnasium.make_vec("islet.gym:islet/Loop-v0", num_envs=100, duration="1d")
        self.actions = list(np.random.default_rng(0).uniform(-1, 1, (289, 100, 1)).astype(np.float32))
        self.env.reset(seed=0)

    def cost(self):
        return own() + of_program(self.env.unwrapped._core.wires[0].pid)

    def live(self):
        steps = 0
        for _ in range(3):
            for action in self.actions:  # the last of a day begins the next one
                infos = self.env.step(action)[4]
                steps += 100 - int(infos["_seed"].sum()) if "_seed" in infos else 100
        return steps / 288


class Simglucose:
    """Its own class for Gymnasium; the action as a plain number, since it fails at an array with current libraries."""

    STEP = 3

    def __init__(self):
        import warnings
        warnings.filterwarnings("ignore")
        import numpy as np
        from simglucose.envs import T1DSimGymnaisumEnv
        self.env = T1DSimGymnaisumEnv("adult#001")
        # Up to 1.8 U/h: a body that lives on. Its whole range, to 30 U/min, kills within hours.
        self.actions = np.random.default_rng(0).uniform(0, 0.03, 480).tolist()

    def cost(self):
        return own()

    def live(self):
        self.env.reset(seed=1)
        for place, action in enumerate(self.actions):
            _, _, terminated, _, _ = self.env.step(action)
            if terminated:
                break
        return (place + 1) / 480


class Glucosim:
    """A minimal model, in steps of a minute."""

    def __init__(self):
        import gymnasium
        import glucosim.envs  # noqa: F401
        import numpy as np
        self.env = gymnasium.make("glucosim/BasalControl-v0")
        self.actions = list(np.random.default_rng(0).uniform(0, 3, (1440, 1)).astype(np.float32))

    def cost(self):
        return own()

    def live(self):
        for seed in range(4):
            self.env.reset(seed=seed)
            for action in self.actions:
                self.env.step(action)
        return 4


KINDS = {"single": Single, "vector of 100": Vector, "simglucose": Simglucose, "glucosim": Glucosim}
OURS = ("single", "vector of 100")


def measure(kind):
    made = KINDS[kind]()
    print("ready", flush=True)
    for _ in sys.stdin:
        before = made.cost()
        days = made.live()
        print(json.dumps([days, made.cost() - before]), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--islet")
    parser.add_argument("--other", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        return measure(given.measure)
    environment = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "Python"))
    if given.islet:
        environment["ISLET"] = os.path.abspath(given.islet)
    running = {}
    for kind in KINDS:
        python = sys.executable if kind in OURS else given.other
        running[kind] = subprocess.Popen(
            [python, os.path.abspath(__file__), "--measure", kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment)
        if running[kind].stdout.readline() != "ready\n":
            sys.exit("gym_speed: %s did not start" % kind)
    rates = {kind: [] for kind in KINDS}
    for turn in range(given.rounds + 1):
        for kind, process in running.items():
            process.stdin.write("go\n")
            process.stdin.flush()
            days, seconds = json.loads(process.stdout.readline())
            if turn:  # the first is warm-up
                rates[kind].append(days / seconds)
    for process in running.values():
        process.stdin.close()
        process.wait()
    middle = {kind: statistics.median(values) for kind, values in rates.items()}
    print("%-14s %14s %10s %10s %16s" % ("patient-days a", "CPU second:", "least", "median", "over simglucose"))
    for kind, values in rates.items():
        print("%-29s %10.2f %10.2f %14.0f x" % (kind, min(values), middle[kind], middle[kind] / middle["simglucose"]))
    bars = [("vector of 100 >= 3000 x simglucose", middle["vector of 100"] >= 3000 * middle["simglucose"]),
            ("single >= 500 x simglucose", middle["single"] >= 500 * middle["simglucose"]),
            ("single >= glucosim", middle["single"] >= middle["glucosim"])]
    for text, kept in bars:
        print("%s: %s" % (text, "kept" if kept else "MISSED"))
    return 0 if all(kept for _, kept in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
