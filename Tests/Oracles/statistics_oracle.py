#!/usr/bin/env python3
"""Compares Islet's statistics with scipy, statsmodels and lifelines on random data.

    statistics_oracle.py --bench .build/debug/islet-bench [--cases 60] [--seed 1]

Exact statistics must agree to 1e-9 (p-values below 1e-9 relative to 1e-6), those that draw within four Monte Carlo errors. Data have ties, zeros, skew and
censoring. The last line is `N passed, N failed`. In a virtual environment: pip install -r Tests/Oracles/statistics_requirements.txt
"""

import argparse
import json
import subprocess
import sys
import warnings

import numpy as np
from lifelines import AalenJohansenFitter
from scipy import stats
from statsmodels.duration.survfunc import CumIncidenceRight
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

warnings.filterwarnings("ignore")
passed = failed = 0


def check(what, found, wanted, tolerance=1e-9):
    """Absolute up to 1, relative above."""
    global passed, failed
    found, wanted = np.atleast_1d(np.asarray(found, float)), np.atleast_1d(np.asarray(wanted, float))
    good = found.shape == wanted.shape and bool(
        np.all(np.abs(found - wanted) <= tolerance * np.maximum(1, np.abs(wanted))))
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}: {found[:5]}, expected {wanted[:5]} within {tolerance}")


def on_grid(d):
    """As `Statistics.onGrid`: multiples of 2^-36 of the power of two at or below the largest, so that scipy ranks what was meant."""
    scale = np.abs(d).max()
    if not scale > 0:
        return d
    step = 2.0 ** (np.floor(np.log2(scale)) - 36)
    return np.rint(d / step) * step


def differences(random, n):
    """Normal, skewed, with ties and zeros, mostly zero, or of rates whose ties and zeros differ in the last bit."""
    kind = random.integers(5)
    if kind == 4:
        days = random.integers(3, 30)
        counts = random.integers(0, 9, (2, n))
        return counts[0] / days - counts[1] / days
    if kind == 0:
        return random.normal(0.2, 1, n)
    if kind == 1:
        return random.exponential(1, n) - 0.8
    if kind == 2:
        return random.integers(-3, 5, n).astype(float)
    return np.where(random.random(n) < 0.6, 0.0, random.normal(0.5, 2, n))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random = np.random.default_rng(arguments.seed)
    asked, judges = [], []

    def ask(judge, **case):
        asked.append({k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in case.items()})
        judges.append(judge)

    def wilcoxon(d, method, scipy_method):
        def judge(answer):
            wanted = stats.wilcoxon(on_grid(d), zero_method="pratt", method=scipy_method)
            check(f"signed-rank statistic, n = {len(d)}", answer["statistic"], wanted.statistic)
            check(f"signed-rank p, n = {len(d)}, {scipy_method}", answer["p"], wanted.pvalue)
        ask(judge, op="signed-rank", x=d, **({"method": method} if method else {}))

    def sign_flip_exact(d):
        def judge(answer):
            wanted = stats.permutation_test(
                (d,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
            check(f"sign flips, all of n = {len(d)}", answer["p"], wanted)
        ask(judge, op="sign-flip", x=d)

    def sign_flip_random(d, n=20000):
        def judge(answer):
            wanted = stats.permutation_test(
                (d,), np.mean, permutation_type="samples", n_resamples=n, rng=np.random.default_rng(5)).pvalue
            error = np.sqrt(2 * max(wanted * (1 - wanted), 1 / n) / n)
            check(f"sign flips, {n} of n = {len(d)}", answer["p"], wanted, 4 * error + 2 / n)
        ask(judge, op="sign-flip", x=d, n=n)

    def holm(p):
        ask(lambda answer: check(f"Holm over {len(p)}", answer, multipletests(p, method="holm")[1]),
            op="holm", x=p)

    def incidence_lifelines(times, endings):
        def judge(answer):
            fitter = AalenJohansenFitter(calculate_variance=False)
            fitter.fit(times, endings, event_of_interest=1)
            curve = fitter.cumulative_density_.iloc[:, 0]
            wanted = [curve[curve.index <= t].iloc[-1] for t in answer["times"]]
            check(f"incidence of {len(times)}, lifelines", answer["incidence"], wanted)
        ask(judge, op="incidence", x=times, endings=endings)

    def incidence_statsmodels(times, endings):
        def judge(answer):
            curve = CumIncidenceRight(times, endings)
            for name, wanted in zip(["incidence", "competing"], curve.cinc):
                at = np.searchsorted(answer["times"], curve.times)
                check(f"{name} of {len(times)} with ties, statsmodels", np.asarray(answer[name])[at], wanted)
        ask(judge, op="incidence", x=times, endings=endings)

    def bootstrap(d, n=20000):
        def judge(answer):
            jack = np.array([np.delete(d, i).mean() for i in range(len(d))])
            u = jack.mean() - jack
            check("acceleration", answer["acceleration"], (u**3).sum() / (6 * (u**2).sum() ** 1.5))
            ends = []
            for seed in range(4):
                found = stats.bootstrap(
                    (d,), np.mean, n_resamples=n, method="BCa", vectorized=True, rng=np.random.default_rng(seed))
                ends.append([*found.confidence_interval, found.standard_error])
            ends = np.array(ends)
            # An end's Monte Carlo error is about se·√(p(1 − p)/n)/φ(z): 2.7·se/√n at 95 %; with z₀'s own it is twice that.
            error = 5.4 * d.std() / np.sqrt(len(d)) / np.sqrt(n)
            for index, name in enumerate(["lower", "upper", "se"]):
                check(f"BCa {name}, n = {len(d)}", answer[name], ends[:, index].mean(), 4 * error)
        ask(judge, op="bootstrap", x=d, n=n)

    def mean(d):
        def judge(answer):
            low, high = stats.t.interval(0.95, len(d) - 1, d.mean(), stats.sem(d))
            check("t interval", [answer["lower"], answer["upper"]], [low, high])
            check("standard error", answer["mcse"], stats.sem(d))
        ask(judge, op="mean", x=d)

    def welch(a, b):
        def judge(answer):
            test = stats.ttest_ind(a, b, equal_var=False)
            low, high = test.confidence_interval(0.95)
            check("Welch", [answer["lower"], answer["upper"], answer["p"]], [low, high, test.pvalue])
        ask(judge, op="welch", x=a, y=b)

    def student_power(effect, n, alpha):
        def judge(answer):
            wanted = TTestPower().power(effect, n, alpha, alternative="two-sided")
            check(f"power of t, n = {n}", answer["power"], wanted, 1e-6)
        ask(judge, op="student-power", x=[effect, 1.0, alpha], n=n)

    def rank_power(pilot, n, trials=4000):
        def judge(answer):
            own = np.random.default_rng(7)
            p = [stats.wilcoxon(own.choice(pilot, n), method="approx").pvalue for _ in range(trials)]
            share = np.mean(np.array(p) < 0.05)
            # Lehmann's is an approximation: two points beside the error of the simulation.
            check(f"power of ranks, n = {n}", answer["power"], share, 0.02 + 4 * 0.5 / np.sqrt(trials))
        ask(judge, op="rank-power", x=pilot, n=n)

    for case in range(arguments.cases):
        n = int(random.integers(6, 120))
        d = differences(random, n)
        while np.all(d == 0) or len(set(d)) < 3:
            d = differences(random, n)
        wilcoxon(d, None, "auto")
        wilcoxon(d, "normal", "asymptotic")
        small = differences(random, int(random.integers(4, 13)))
        if np.any(small != 0):
            sign_flip_exact(small)
        holm(random.random(int(random.integers(1, 40))) ** 3)
        m = int(random.integers(5, 150))
        endings = random.integers(0, 3, m)
        endings[0] = 1
        incidence_lifelines(random.permutation(np.arange(m) + random.random(m) / 2), endings)
        tied = random.integers(0, 20, m).astype(float)
        ends = random.integers(0, 3, m)
        ends[:2] = [1, 2]
        incidence_statsmodels(tied, ends)
        mean(d)
        welch(random.normal(0, 1, n), random.exponential(1, n + 5))
        # statsmodels has no answer far from the null.
        people = int(random.integers(5, 200))
        student_power(float(random.uniform(0.3, 5) / np.sqrt(people)), people, float(random.choice([0.05, 0.01])))
        if case % 6 == 0:
            sign_flip_random(random.normal(0.15, 1, int(random.integers(20, 100))))
            bootstrap(random.exponential(1, int(random.integers(40, 100))))
        if case % 20 == 0:
            rank_power(random.normal(0.3, 1, 200), int(random.integers(20, 80)))

    answers = subprocess.run(
        [arguments.bench, "statistics"], input="".join(json.dumps(c) + "\n" for c in asked),
        capture_output=True, text=True)
    lines = answers.stdout.splitlines()
    if answers.returncode != 0 or len(lines) != len(asked):
        print(f"FAILED: {arguments.bench} left with {answers.returncode} after {len(lines)} of {len(asked)} answers: "
              f"{answers.stderr[-500:]}")
        print(f"\n{passed} passed, {failed + 1} failed")
        return 1
    for judge, line in zip(judges, lines):
        judge(json.loads(line))
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
