#!/usr/bin/env python3
"""Runs the studies of docs/findings and writes their pages, docs/validation.md and README's table, from what comes out: no number of a result is typed by hand.

Usage: findings.py --islet BINARY [--check] [--results FOLDER]
  without --check   writes docs/findings/*.md, docs/algorithms/*.md, their figures, and the table in README.md (`make findings`)
  --check           writes nothing: compares the pages and README's table with the runs, counting the numbers that come from them; last line `N passed, N failed`
  --results FOLDER  keeps the results there, and takes from it those that an earlier call has left

A page is made from docs/findings/templates/PAGE.md, or docs/algorithms/templates/NAME.md: what stands in {{ }} is an expression of the helpers in `Page`. Words that hang on a number
(rises, falls, isn't shown to change) come from the helpers too, so that a page can't say what its numbers don't.
"""

import argparse
import csv
import difflib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from wrap_prose import wrapped

ROOT = pathlib.Path(__file__).resolve().parents[2]
FINDINGS = ROOT / "docs" / "findings"


def algorithm_in_all(name, arms):
    """The same study with another algorithm in each of its arms."""
    return [word for arm in range(arms) for word in ("--set", f"arms[{arm}].algorithm={name}")]


# What each finding rests on: a name, and how it is run.
RUNS = {
    "quickstart": ["Cohorts/quickstart.yaml"],
    "debounce-cooldown": ["Cohorts/debounce-cooldown.yaml"],
    "debounce-cooldown-heard": ["Cohorts/debounce-cooldown-heard.yaml"],
    "presets-heard": ["Cohorts/presets-heard.yaml"],
    "high-threshold": ["Cohorts/high-threshold.yaml"],
    "literal-sketch": ["Cohorts/literal-sketch.yaml"],
    "grow-room": ["Cohorts/grow-room.yaml"],
    "waiting-assumptions": ["Cohorts/waiting-assumptions.yaml", "--sensitivity"],
    "forecasts": ["Cohorts/forecasts.yaml"],
    "pid-or-pd": ["Cohorts/pid-or-pd.yaml"],
}

# The algorithms beside which policies are ranked, by the names of their runs. Adults live five policies, children two.
ALGORITHMS = {
    "by-basal-bolus": "basal-bolus",
    "by-low-suspend": "low-glucose-suspend",
    "by-predictive": "predictive-suspend",
    "by-pid": "pid-insulin-feedback",
    "by-oref1": "oref1-style",
    "by-loop": "loop-style",
    "by-hovorka": "hovorka-mpc",
}
for run, algorithm in ALGORITHMS.items():
    RUNS[run] = ["Cohorts/alarms-by-algorithm.yaml", *algorithm_in_all(algorithm, 5)]
    RUNS[run + "-young"] = ["Cohorts/alarms-by-algorithm-young.yaml", *algorithm_in_all(algorithm, 2)]

# Figures that `islet report RUN --figures` draws, by what they are called here: the run, and its name there.
FIGURES = {
    "debounce-and-cooldown": ("debounce-cooldown-heard", "difference-tbr-70-percent"),
    "debounce-and-cooldown-rings": ("debounce-cooldown-heard", "difference-alerts-notifications-per-day"),
    "presets": ("presets-heard", "difference-tbr-54-percent"),
    "presets-rings": ("presets-heard", "difference-alerts-notifications-per-day"),
    "the-literal-sketch": ("literal-sketch", "difference-tbr-54-percent"),
    "the-grow-room": ("grow-room", "difference-critical-percent"),
    "the-grow-room-rings": ("grow-room", "difference-alerts-notifications-per-day"),
    "the-literal-sketch-rings": ("literal-sketch", "difference-alerts-notifications-per-day"),
}

# What pages take from `islet export RUN --what truth`.
EXPORTED = ["pid-or-pd"]

POINTS = {"%": " points"}


def rounded(value, places=2):
    text = f"{value:.{places}f}"
    return text[1:] if float(text) == 0 and text.startswith("-") else text


class Run:
    """A results folder: its summary, and its sensitivity analysis where there is one."""

    def __init__(self, folder, table):
        self.folder = folder
        self.table = table
        self.summary = json.loads((folder / "summary.json").read_text())
        self.arms = {arm["name"]: arm for arm in self.summary["arms"]}
        self.claims = self.summary["claims"]
        sensitivity = folder / "sensitivity.json"
        self.sensitivity = json.loads(sensitivity.read_text()) if sensitivity.exists() else None

    def outcome(self, arm, key):
        return self.arms[arm]["outcomes"][key]

    def comparison(self, arm, key):
        found = [c for c in self.summary["comparisons"] if (c["arm"], c["metric"]) == (arm, key)]
        if not found:
            raise KeyError(f"no comparison of {arm} by {key}")
        return found[0]

    def finding(self, arm, key):
        return next(f for f in self.claims["findings"] if (f["arm"], f["metric"]) == (arm, key))


class Page:
    """What a template may say. `run` is the name of a run, `arm` and `key` are as in its summary.json."""

    def __init__(self, runs, figures):
        self.runs = runs
        self.figures = figures
        # How many numbers of the page being made come from runs.
        self.count = 0

    def mean(self, run, arm, key, places=2):
        return rounded(self.runs[run].outcome(arm, key)["mean"], places)

    def difference(self, run, arm, key, places=2):
        """Arm less reference, person by person, with its 95 % interval."""
        found = self.runs[run].comparison(arm, key)
        if found["equal_in_every_pair"]:
            return "equal in every person"
        low, high = found["ci95"]
        return f"{rounded(found['difference'], places)} [{rounded(low, places)}, {rounded(high, places)}]"

    def times(self, run, arm, key, reference):
        ratio = self.runs[run].outcome(arm, key)["mean"] / self.runs[run].outcome(reference, key)["mean"]
        return f"{ratio:.1f} times"

    def moves(self, run, arm, key, up="rises by", down="falls by", still="isn't shown to change", unit="", places=2):
        """A difference in words: its direction where the interval leaves out 0, and that it isn't shown else."""
        found = self.runs[run].comparison(arm, key)
        if found["equal_in_every_pair"]:
            return "is the same in every person"
        low, high = found["ci95"]
        size = abs(found["difference"])
        ends = sorted([abs(low), abs(high)])
        if low > 0 or high < 0:
            return (
                f"{up if low > 0 else down} {rounded(size, places)}{unit} "
                f"[{rounded(ends[0], places)}, {rounded(ends[1], places)}]"
            )
        return f"{still} ({self.difference(run, arm, key, places)}{unit})"

    # What a sentence may rest on: it stands on the page only where this is so.

    def lower(self, run, arm, key):
        found = self.runs[run].comparison(arm, key)
        return bool(found["ci95"]) and found["ci95"][1] < 0

    def higher(self, run, arm, key):
        found = self.runs[run].comparison(arm, key)
        return bool(found["ci95"]) and found["ci95"][0] > 0

    def within(self, run, arm, key, bound):
        """Whether the whole interval of a difference lies within ± bound."""
        found = self.runs[run].comparison(arm, key)
        return found["equal_in_every_pair"] or max(abs(end) for end in found["ci95"]) <= bound

    def alike(self, run, arm, other, key, places=2):
        """Whether a reader of these decimals sees one number."""
        return self.mean(run, arm, key, places) == self.mean(run, other, key, places)

    def margin(self, run):
        """What the study declared before it was run, in points of time below 54."""
        return f"{self.runs[run].claims['margin']['tbr_54_percent']:g}"

    def most(self, run, arms, key):
        return max(arms, key=lambda arm: self.runs[run].outcome(arm, key)["mean"])

    def least(self, run, arms, key):
        return min(arms, key=lambda arm: self.runs[run].outcome(arm, key)["mean"])

    # What the study of alarms by algorithm compares; the first is the reference.
    POLICIES = ["dexcom-g7", "loop", "trio", "xdrip", "nightscout"]

    # The runs of that study, and of the same with children.
    BY = list(ALGORITHMS)
    YOUNG = [run + "-young" for run in ALGORITHMS]
    # What its tables show of an arm, and of a difference.
    LEVELS = [("notifications a day", "alerts_notifications_per_day", 2), ("below 70, %", "tbr_70_percent", 2), ("below 54, %", "tbr_54_percent", 2), ("time in range, %", "tir_70_180_percent", 1)]

    def algorithm(self, run):
        return ALGORITHMS[run.removesuffix("-young")]

    def orders(self, runs, arms):
        """One row an algorithm: the arms by rings and by time below 54."""
        lines = ["| algorithm | notifications a day, from fewest to most | time below 54, from least to most |", "|---|---|---|"]
        for run in runs:
            rings, lows = (self.order(run, arms, key) for key in ("alerts_notifications_per_day", "tbr_54_percent"))
            lines.append(f"| `{self.algorithm(run)}` | {rings} | {lows} |")
        return "\n".join(lines)

    def count_of(self, runs):
        return ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")[len(runs)]

    def same_order(self, runs, arms, key):
        return len({self.order(run, arms, key) for run in runs}) == 1

    def each(self, runs, arm, key, places=2):
        """An outcome of one arm under each algorithm, in a sentence's part."""
        return ", ".join(f"{self.mean(run, arm, key, places)} with `{self.algorithm(run)}`" for run in runs)

    def by_algorithm(self, runs, arms):
        """Levels of each arm and its differences to the first, under a heading an algorithm."""
        parts = []
        for run in runs:
            parts += [f"### `{self.algorithm(run)}`", self.arms_table(run, arms, self.LEVELS), f"Less `{arms[0]}`, person by person:"]
            parts += [self.differences_table(run, arms[1:], self.LEVELS[:3]), self.early(run)]
        return "\n\n".join(parts)

    # What the study of forecasts compares: its arms, and its rules.
    FORECASTING = ["predictive-suspend", "pid-20", "pid-30", "oref1-style", "loop-style", "hovorka-mpc"]
    RULES = ["reading-70", "reading-80", "line-20m-60", "line-20m-70", "line-20m-80", "forecast-60", "forecast-70", "forecast-80", "forecast-90"]
    # Of a rule: the share of lows that it rang before, and until 15 min after, their begin; false alarms; how long before, min.
    FORETOLD = [("before", "alerts_sensitivity_g0", 2), ("within 15 min", "alerts_sensitivity_g15", 2), ("false alarms a day", "alerts_false_per_day", 2), ("lead, min", "alerts_lead_min", 0)]

    def _shadowed(self, run, arm, policy, key):
        found = next(p for p in self.runs[run].summary["policies"] if p["in_shadow"] and (p["arm"], p["policy"]) == (arm, policy))
        return found["outcomes"][key]

    def foretold_table(self, run, arm):
        """One row a rule in shadow, with 95 % intervals over people."""
        lines = ["| | " + " | ".join(c[0] for c in self.FORETOLD) + " |", "|---|" + "---|" * len(self.FORETOLD)]
        for policy in self.RULES:
            cells = []
            for _, key, places in self.FORETOLD:
                value = self._shadowed(run, arm, policy, key)
                low, high = value["ci95"]
                cells.append(f"{rounded(value['mean'], places)} [{rounded(low, places)}, {rounded(high, places)}]")
            lines.append(f"| `{policy}` | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def foretold(self, run):
        return "\n\n".join(f"### `{arm}`\n\n{self.foretold_table(run, arm)}" for arm in self.FORECASTING)

    def matched_table(self, run):
        """An arm's best forecast among those with no more false alarms than a line below 70, beside that line."""
        lines = ["| algorithm | line below 70: foretold, false a day | forecast | foretold | false a day |", "|---|---|---|---|---|"]
        for arm in self.FORECASTING:
            def of(policy, key):
                return self._shadowed(run, arm, policy, key)["mean"]
            before, false = "alerts_sensitivity_g0", "alerts_false_per_day"
            line = f"{rounded(of('line-20m-70', before))}, {rounded(of('line-20m-70', false))}"
            able = [p for p in self.RULES if p.startswith("forecast") and of(p, false) <= of("line-20m-70", false)]
            if not able:
                lines.append(f"| `{arm}` | {line} | none has as few false alarms | | |")
                continue
            best = max(able, key=lambda p: of(p, before))
            lines.append(f"| `{arm}` | {line} | below {best.split('-')[1]} | {rounded(of(best, before))} | {rounded(of(best, false))} |")
        return "\n".join(lines)

    def foretells_more(self, run):
        """The arms whose own forecast foretells more than the line below 70 at no more false alarms, as a sentence's part."""
        before, false = "alerts_sensitivity_g0", "alerts_false_per_day"
        found = []
        for arm in self.FORECASTING:
            line = [self._shadowed(run, arm, "line-20m-70", key)["mean"] for key in (before, false)]
            forecasts = [[self._shadowed(run, arm, p, key)["mean"] for key in (before, false)] for p in self.RULES if p.startswith("forecast")]
            if any(b > line[0] and f <= line[1] for b, f in forecasts):
                found.append(f"`{arm}`")
        return ", ".join(found) if found else "none"

    def _excursions(self, run, arm):
        """Of each person the means over meals, from the second day on: the peak in six hours, and the lowest from there to the next meal, mg/dL."""
        courses = {}
        with open(self.runs[run].folder.parent / (run + "-truth.csv")) as rows:
            for row in csv.DictReader(rows):
                if row["arm"] == arm:
                    courses.setdefault(row["subject"], []).append((int(row["time_s"]), float(row["plasma_mgdl"])))
        people = []
        for course in courses.values():
            excursions = []
            # Seven and fourteen hours from the start of a day, as the study begins at six.
            for begin, end in [(24 * day + hour, 24 * day + hour + gap) for day in range(1, 4) for hour, gap in ((7, 7), (14, 17))]:
                peak = max((p for p in course if 3600 * begin <= p[0] < 3600 * (begin + 6)), key=lambda p: p[1])
                excursions.append((peak[1], min(g for t, g in course if peak[0] <= t < 3600 * end)))
            people.append([statistics.mean(values) for values in zip(*excursions)])
        return [list(values) for values in zip(*people)]

    def excursions_row(self, run, arm, reference):
        """Mean and standard error of peak and nadir, and their mean differences to the reference."""
        cells = []
        for values in self._excursions(run, arm):
            cells.append(f"{rounded(statistics.mean(values), 0)} ({rounded(statistics.stdev(values) / len(values) ** 0.5, 0)})")
        if arm != reference:
            for values, others in zip(self._excursions(run, arm), self._excursions(run, reference)):
                cells.append(f"{statistics.mean(values) - statistics.mean(others):+.0f}")
        else:
            cells += ["", ""]
        return " | ".join(cells)

    def higher_nadir(self, run, arm, reference):
        return statistics.mean(self._excursions(run, arm)[1]) > statistics.mean(self._excursions(run, reference)[1])

    def lower_peak(self, run, arm, reference):
        return statistics.mean(self._excursions(run, arm)[0]) < statistics.mean(self._excursions(run, reference)[0])

    def study_of(self, run):
        """What one algorithm's page shows of the study: adults and children under two policies."""
        lines = ["| | " + " | ".join(c[0] for c in self.LEVELS) + " |", "|---|" + "---|" * len(self.LEVELS)]
        for who, name in (("adults", run), ("children", run + "-young")):
            for arm in ("dexcom-g7", "trio"):
                cells = " | ".join(self.mean(name, arm, key, places) for _, key, places in self.LEVELS)
                lines.append(f"| {self.people(name)} {who}, `{arm}` | {cells} |")
        return "\n".join(lines)

    def order(self, run, arms, key):
        """The arms from the least mean to the largest."""
        ranked = sorted(arms, key=lambda arm: self.runs[run].outcome(arm, key)["mean"])
        return ", ".join(f"`{arm}`" for arm in ranked)

    def turned(self, runs, arms, key):
        """In a sentence: the pairs of an arm and the reference that one run shows in one direction and another run in the other."""
        turned = [arm for arm in arms[1:] if any(self.lower(r, arm, key) for r in runs) and any(self.higher(r, arm, key) for r in runs)]
        if not turned:
            return f"No policy's difference to `{arms[0]}` is shown to turn from one algorithm to another."
        names = ", ".join(f"`{arm}`" for arm in turned)
        return f"Shown in opposite directions, against `{arms[0]}`: {names}."

    def ratio(self, run, arm, reference, key):
        """Of means over people."""
        return rounded(self.runs[run].outcome(arm, key)["mean"] / self.runs[run].outcome(reference, key)["mean"])

    def rising(self, run, arms, key):
        """The first of these arms whose mean is above that of the one before it; None where none is."""
        means = [self.runs[run].outcome(arm, key)["mean"] for arm in arms]
        return next((arm for arm, before, here in zip(arms[1:], means, means[1:]) if here > before), None)

    def given(self, so, sentence, otherwise=""):
        return sentence if so else otherwise

    def verdict(self, run, arm, key):
        """What the study may claim of it."""
        claims = self.runs[run].claims
        return "claim refused" if claims["refused"] else self.runs[run].finding(arm, key)["verdict"]

    def allowed(self, run, arm):
        """The gate: the verdict, the estimate of what an arm costs in time below 54, and its one-sided upper bound."""
        found = self.runs[run].finding(arm, "tbr_54_percent")
        level = f"{100 * (1 - self.runs[run].claims['gate_alpha']):g}"
        verdict = self.verdict(run, arm, "tbr_54_percent")
        return f"{verdict} (estimate {rounded(found['estimate'])}, {level} % upper bound {rounded(found['upper'])})"

    def arms_table(self, run, arms, columns):
        """One row an arm, one column an outcome: (words, key, places)."""
        lines = ["| | " + " | ".join(c[0] for c in columns) + " |", "|---|" + "---|" * len(columns)]
        for arm in arms:
            cells = [
                self.mean(run, arm, key, places) if key in self.runs[run].arms[arm]["outcomes"] else "none"
                for _, key, places in columns
            ]
            lines.append(f"| {arm} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def differences_table(self, run, arms, columns):
        """One row an arm, its differences to the reference."""
        lines = ["| | " + " | ".join(c[0] for c in columns) + " |", "|---|" + "---|" * len(columns)]
        for arm in arms:
            cells = [self.difference(run, arm, key, places) for _, key, places in columns]
            lines.append(f"| {arm} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def claims_table(self, run, arms, rows):
        lines = ["| | time below 54 | " + " | ".join(words for words, _ in rows) + " |", "|---|---|" + "---|" * len(rows)]
        for arm in arms:
            cells = [self.allowed(run, arm)] + [self.verdict(run, arm, key) for _, key in rows]
            lines.append(f"| {arm} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def loss(self, run):
        """What unheard alarms cost, in points of time below 54."""
        found = self.runs[run].claims["loss_when_deaf"]
        low, high = found["ci95"]
        return f"{rounded(found['difference'])} [{rounded(low)}, {rounded(high)}]"

    def widest(self, run):
        return rounded(self.runs[run].claims["loss_when_deaf"]["widest_margin"])

    def people(self, run):
        return str(next(iter(self.runs[run].arms.values()))["sessions"])

    def early(self, run):
        failures = self.runs[run].summary["failures"]
        sessions = self.runs[run].summary["sessions"]
        if not failures:
            return f"None of {sessions} sessions ended early."
        arms = {}
        for failure in failures:
            arms[failure["arm"]] = arms.get(failure["arm"], 0) + 1
        where = ", ".join(f"{count} in `{arm}`" for arm, count in arms.items())
        return f"{len(failures)} of {sessions} sessions ended early, as glucose left 10 to 1000 mg/dL ({where})."

    def shadow(self, run, policy, key, places=2):
        found = next(p for p in self.runs[run].summary["policies"] if p["policy"] == policy and p["in_shadow"])
        return rounded(found["outcomes"][key]["mean"], places)

    def shadow_table(self, run, debounces, cooldowns, key, name, places=2):
        """Variants in shadow: a row a debounce, a column a cooldown. `name` makes a policy's name of both."""
        lines = ["| debounce | " + " | ".join(f"cooldown {c}" for c in cooldowns) + " |", "|---|" + "---|" * len(cooldowns)]
        for debounce in debounces:
            cells = [self.shadow(run, name.format(debounce=debounce, cooldown=c), key, places) for c in cooldowns]
            lines.append(f"| {debounce} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    # Sensitivity.

    def variants(self, run):
        return str(len(self.runs[run].sensitivity["variants"]))

    def holds(self, run, key):
        """In how many variants the order of two arms holds, in words."""
        variants = self.runs[run].sensitivity["variants"]
        base = self.runs[run].sensitivity["base"]["outcomes"][key]["pairs"]
        told = [p for p in base if p["ci95"][0] > 0 or p["ci95"][1] < 0]
        if not told:
            return "the study does not tell the two apart, so there is no order to lose"
        counts = {}
        for variant in variants:
            verdict = variant["outcomes"][key]["verdict"]
            counts[verdict] = counts.get(verdict, 0) + 1
        parts = [f"holds in {counts.pop('holds', 0)} of {len(variants)}"]
        parts += [f"{verdict} in {count}" for verdict, count in sorted(counts.items())]
        return ", ".join(parts)

    def range(self, run, key, arm, reference, places=2):
        """The smallest and the largest difference of two arms over all variants, with their names."""
        values = []
        for variant in self.runs[run].sensitivity["variants"]:
            for pair in variant["outcomes"][key]["pairs"]:
                if (pair["arm"], pair["reference"]) == (arm, reference):
                    values.append((pair["difference"], variant["variant"]))
        (low, first), (high, last) = min(values), max(values)
        return f"from {rounded(low, places)} (`{first}`) to {rounded(high, places)} (`{last}`)"

    def extremes(self, run, key, arm, reference, count=5, places=2):
        """The single settings that move a difference most: a table."""
        base = next(
            p
            for p in self.runs[run].sensitivity["base"]["outcomes"][key]["pairs"]
            if (p["arm"], p["reference"]) == (arm, reference)
        )
        rows = []
        for variant in self.runs[run].sensitivity["variants"]:
            pair = next(
                p for p in variant["outcomes"][key]["pairs"] if (p["arm"], p["reference"]) == (arm, reference)
            )
            rows.append((abs(pair["difference"] - base["difference"]), variant["variant"], pair))
        rows.sort(key=lambda row: (-row[0], row[1]))
        lines = ["| variant | difference |", "|---|---|"]
        low, high = base["ci95"]
        lines.append(f"| the study | {rounded(base['difference'], places)} [{rounded(low, places)}, {rounded(high, places)}] |")
        for _, name, pair in rows[:count]:
            low, high = pair["ci95"]
            lines.append(f"| `{name}` | {rounded(pair['difference'], places)} [{rounded(low, places)}, {rounded(high, places)}] |")
        return "\n".join(lines)

    def figure(self, name, words):
        return f"![{words}](figures/{name}.svg)" if name in self.figures else ""

    def render(self, template):
        self.count = 0
        scope = {name: getattr(self, name) for name in dir(self) if not name.startswith("_")}

        def value(match):
            try:
                text = str(eval(match.group(1).strip(), {"__builtins__": {}}, scope))
                self.count += len(NUMBER.findall(text))
                return text
            except Exception as error:  # Which expression it was is what its writer needs.
                sys.exit(f"findings: {match.group(1).strip()}: {error!r}")

        # Where a figure or a sentence is left out, no gap stays.
        return wrapped(re.sub(r"\n{3,}", "\n\n", re.sub(r"\{\{(.+?)\}\}", value, template, flags=re.S)))


README_ROWS = ["tbr_70_percent", "tbr_54_percent", "alerts_notifications_per_day"]


def readme_block(table):
    """Of the printed table what README shows: the arms' primary outcomes, the claims, and the primary differences."""
    parts = table.split("\n\n")
    outcomes = next(p for p in parts if "\noutcome " in "\n" + p).splitlines()
    lines = [outcomes[0]] + [line for line in outcomes if line.split(" ")[0] in README_ROWS]
    claims = next(p for p in parts if p.startswith("claims:")).splitlines()
    claims = claims[: next(i for i, line in enumerate(claims) if line.startswith("being deaf costs"))]
    differences = next(p for p in parts if p.startswith("paired difference")).splitlines()
    end = next((i for i, line in enumerate(differences) if line.startswith("exploratory")), len(differences))
    return "\n".join(lines + [""] + claims + [""] + differences[:end])


def with_readme(text, block):
    begin, end = "<!-- quickstart: written by `make findings` -->\n", "<!-- end -->"
    head, rest = text.split(begin)
    _, tail = rest.split(end, 1)
    return f"{head}{begin}```\n{block}\n```\n{end}{tail}"


def run_all(islet, results):
    runs = {}
    for name, arguments in RUNS.items():
        folder = results / name
        table = results / (name + ".txt")
        if not ((folder / "summary.json").exists() and table.exists()):
            shutil.rmtree(folder, ignore_errors=True)
            print(f"running {name}", flush=True)
            done = subprocess.run(
                [islet, "run", *arguments, "--no-report", "--out", str(folder)], cwd=ROOT, capture_output=True, text=True
            )
            if done.returncode:
                sys.exit(f"findings: {name} left with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
            table.write_text(done.stdout)
        truth = results / (name + "-truth.csv")
        if name in EXPORTED and not truth.exists():
            subprocess.run([islet, "export", str(folder), "--what", "truth", "--out", str(truth)], cwd=ROOT, check=True, capture_output=True)
        runs[name] = Run(folder, table.read_text())
    return runs


def drawn(islet, results):
    """The figures, by name: their SVG."""
    figures = {}
    for name, (run, source) in FIGURES.items():
        folder = results / (run + "-figures")
        if not folder.exists():
            print(f"drawing {run}", flush=True)
            subprocess.run(
                [islet, "report", str(results / run), "--out", str(results / (run + ".html")), "--figures", str(folder)],
                cwd=ROOT, check=True, capture_output=True,
            )
        figures[name] = (folder / (source + ".svg")).read_text()
    return figures


def made(runs, islet, results):
    """All files that this makes: path → text, and how many of its numbers come from runs."""
    figures = drawn(islet, results)
    page = Page(runs, figures)
    files = {}
    for folder in (FINDINGS, ROOT / "docs" / "algorithms"):
        for template in sorted((folder / "templates").glob("*.md")):
            text = page.render(template.read_text())
            files[folder / template.name] = (text, page.count)
    block = readme_block(runs["quickstart"].table)
    files[ROOT / "README.md"] = (with_readme((ROOT / "README.md").read_text(), block), len(NUMBER.findall(block)))
    for name, text in figures.items():
        files[FINDINGS / "figures" / f"{name}.svg"] = (text, 1)
    text = VALIDATION + validated(islet, results)
    files[ROOT / "docs" / "validation.md"] = (text, len(NUMBER.findall(text)))
    return files


VALIDATION = """# Virtual people beside published ones

What `islet validate Cohorts/validation` prints of the shipped cohorts; `make findings` writes this page. A row passes where the 95 %
interval over people lies within a tolerance that was written before anything was computed, and fails where none of it does. Only
adults were calibrated on, in open loop without a person, and of them only the rows that say so; one row of theirs beside a loop says how
surely people think of the pod's site. What it means for what may be believed
stands in [credibility.md](credibility.md); how people are made, in [life.md](life.md).

"""


def validated(islet, results):
    """What `islet validate` says of the shipped cohorts."""
    page = results / "validation.md"
    if not page.exists():
        print("validating", flush=True)
        subprocess.run([islet, "validate", "Cohorts/validation", "--out", str(page)], cwd=ROOT, check=True, capture_output=True)
    return page.read_text()


NUMBER = re.compile(r"\d+(?:\.\d+)?")


def check(files):
    passed = failed = 0
    for path in [*FINDINGS.glob("*.md"), *FINDINGS.glob("figures/*"), *(ROOT / "docs" / "algorithms").glob("*.md")]:
        if path not in files:
            failed += 1
            print(f"FAILED {path.relative_to(ROOT)}: nothing makes it, so nothing checks it")
    for path, (wanted, count) in files.items():
        found = path.read_text() if path.exists() else ""
        if found == wanted:
            passed += count
            continue
        failed += 1
        print(f"FAILED {path.relative_to(ROOT)} is not what its runs say; `make findings` writes it anew:")
        lines = difflib.unified_diff(found.splitlines(), wanted.splitlines(), "the page", "the runs", lineterm="", n=0)
        for line in list(lines)[:20]:
            print("  " + line[:200])
    print(f"{passed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--islet", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results")
    arguments = parser.parse_args()
    islet = os.path.abspath(arguments.islet)
    with tempfile.TemporaryDirectory() as temporary:
        results = pathlib.Path(arguments.results or temporary).resolve()
        results.mkdir(parents=True, exist_ok=True)
        files = made(run_all(islet, results), islet, results)
        if arguments.check:
            sys.exit(1 if check(files) else 0)
        for path, (text, _) in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
