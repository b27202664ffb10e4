# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Which alert policy?
#
# The results of a study, from `study.sqlite` to a Pareto front, and whether the ranking holds when people are otherwise.
# Two studies have to be run before, from the repository's folder (together less than a minute):
#
# ```
# islet run Cohorts/debounce-cooldown-heard.yaml --out results/debounce-cooldown-heard
# islet run Cohorts/waiting-assumptions.yaml --out results/waiting-assumptions --sensitivity
# ```
#
# `ISLET_RESULTS` names another folder than `results`. Every column is defined in `docs/data.md`.

# %%
import json
import os
import sqlite3
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

results = Path(os.environ.get("ISLET_RESULTS", "../results"))
plt.rcParams.update({"figure.figsize": (8, 5), "figure.dpi": 110, "axes.spines.top": False, "axes.spines.right": False})

# %% [markdown]
# ## The sessions
#
# One row is one person in one arm. Arms share people and luck, so that everything is compared person by person.

# %%
study = results / "debounce-cooldown-heard"
with sqlite3.connect(study / "study.sqlite") as store:
    sessions = pd.read_sql("SELECT * FROM sessions ORDER BY session", store)
arms = list(sessions.sort_values("arm_index")["arm"].unique())
outcomes = {
    "alerts_notifications_per_day": "notifications a day",
    "alerts_notifications_night_per_day": "at night",
    "tbr_70_percent": "below 70 mg/dL, %",
    "tbr_54_percent": "below 54 mg/dL, %",
    "tir_70_180_percent": "in range, %",
}
means = sessions.groupby("arm")[list(outcomes)].mean().loc[arms].rename(columns=outcomes)
means.round(2)

# %% [markdown]
# The means are those of `summary.json`: a notebook that computes something else than the program says so here.

# %%
summary = json.loads((study / "summary.json").read_text())
for arm in summary["arms"]:
    for key, words in outcomes.items():
        assert abs(arm["outcomes"][key]["mean"] - means.loc[arm["name"], words]) < 1e-9, (arm["name"], key)

# %% [markdown]
# ## Differences, person by person
#
# Each arm less the first. The intervals are those of `summary.json` (a BCa bootstrap over people from 40 people on, Student's t corrected for skewness below).

# %%
reference = arms[0]


def differences(outcome):
    """One column an arm, one row a person: the arm less the reference."""
    wide = sessions.pivot(index="subject", columns="arm", values=outcome)
    return wide.drop(columns=reference).sub(wide[reference], axis=0)[[arm for arm in arms if arm != reference]]


rows = [
    {"arm": c["arm"], "outcome": outcomes[c["metric"]], "difference": c["difference"], "from": c["ci95"][0], "to": c["ci95"][1]}
    for c in summary["comparisons"]
    if c["metric"] in outcomes and c["ci95"]
]
intervals = pd.DataFrame(rows).set_index(["outcome", "arm"])
intervals.round(2)

# %%
shown = [arm for arm in arms if arm not in (reference, "silent")]
lows = differences("tbr_70_percent")[shown]
figure, axes = plt.subplots()
axes.axhline(0, color="0.6", linewidth=1)
axes.boxplot([lows[arm].dropna() for arm in shown], widths=0.5, showfliers=False)
for place, arm in enumerate(shown, start=1):
    jitter = np.linspace(-0.18, 0.18, len(lows))
    axes.plot(place + jitter, lows[arm], ".", markersize=4, color="#2b6cb0", alpha=0.5)
axes.set_xticks(range(1, len(shown) + 1), shown)
axes.set_ylabel(f"time below 70 mg/dL, points, less {reference}")
axes.set_title("What waiting costs is not the same for all: a point a person", loc="left")
figure.tight_layout()

# %% [markdown]
# ## The Pareto front
#
# A policy is on the front when no other rings less *and* leaves less time below 70. What lies off it can be left out of any discussion; which policy on it is best is a matter of values.
# Bars are 95 % intervals of the means, which say how people differ; whether two arms differ is said by the paired differences above.

# %%
points = means.drop(index="silent")
x, y = points["notifications a day"], points["below 70 mg/dL, %"]
front = [arm for arm in points.index if not ((x < x[arm]) & (y < y[arm])).any()]
front.sort(key=lambda arm: x[arm])

figure, axes = plt.subplots()
by_name = {arm["name"]: arm["outcomes"] for arm in summary["arms"]}
for arm in points.index:
    horizontal = np.array(by_name[arm]["alerts_notifications_per_day"]["ci95"])
    vertical = np.array(by_name[arm]["tbr_70_percent"]["ci95"])
    axes.errorbar(
        x[arm], y[arm], xerr=[[x[arm] - horizontal[0]], [horizontal[1] - x[arm]]],
        yerr=[[y[arm] - vertical[0]], [vertical[1] - y[arm]]],
        alpha=0.9, fmt="o", markersize=13, color="#c05621" if arm in front else "0.45", ecolor="0.85", elinewidth=1, zorder=3,
    )
axes.plot(x[front], y[front], color="#c05621", linewidth=1, zorder=2)
# Numbers in the points, names beside: names would cover each other where policies are close.
for number, arm in enumerate(points.index, start=1):
    axes.text(x[arm], y[arm], str(number), color="white", fontsize=8, ha="center", va="center", zorder=4)
names = "\n".join(f"{number}  {arm}" for number, arm in enumerate(points.index, start=1))
axes.text(1.01, 0.98, names, transform=axes.transAxes, fontsize=9, va="top")
axes.set_xlabel("notifications a day")
axes.set_ylabel("time below 70 mg/dL, %")
axes.set_title("Interruptions against time low", loc="left")
figure.tight_layout()
print("on the front:", ", ".join(front))

# %% [markdown]
# ## Does the ranking hold when people are otherwise?
#
# `--sensitivity` runs a study again for each setting that nobody has published, low and high, and for all of them together.

# %%
report = json.loads((results / "waiting-assumptions" / "sensitivity.json").read_text())
outcome = "tbr_70_percent"
rows = []
for variant in report["variants"]:
    for pair in variant["outcomes"][outcome]["pairs"]:
        rows.append({"variant": variant["variant"], "setting": variant["setting"], "direction": variant["direction"], "difference": pair["difference"]})
variants = pd.DataFrame(rows)
base = report["base"]["outcomes"][outcome]["pairs"][0]
pd.DataFrame(report["verdicts"]).T

# %%
wide = variants.dropna(subset="setting").pivot(index="setting", columns="direction", values="difference")
wide["span"] = (wide["high"] - base["difference"]).abs().fillna(0) + (wide["low"] - base["difference"]).abs().fillna(0)
wide = wide.sort_values("span").tail(12)
figure, axes = plt.subplots(figsize=(8, 5.5))
axes.axvline(base["difference"], color="0.5", linewidth=1)
axes.axvline(0, color="0.8", linewidth=1)
for place, (setting, row) in enumerate(wide.iterrows()):
    axes.plot([row["low"], row["high"]], [place, place], color="0.8", linewidth=5, solid_capstyle="round", zorder=1)
    axes.plot(row["low"], place, "o", color="#2b6cb0", zorder=2, label="low" if place == 0 else None)
    axes.plot(row["high"], place, "o", color="#c05621", zorder=2, label="high" if place == 0 else None)
axes.set_yticks(range(len(wide)), wide.index)
axes.set_xlabel(f"time below 70 mg/dL, points: {base['arm']} less {base['reference']}")
axes.set_title("The twelve settings that move it most", loc="left")
axes.legend(title="value", frameon=False)
figure.tight_layout()

# %%
together = variants[variants["setting"].isna()]
print(f"the study: {base['difference']:.2f} [{base['ci95'][0]:.2f}, {base['ci95'][1]:.2f}]")
print(f"one setting at a time: {variants.dropna(subset='setting')['difference'].min():.2f} to {variants.dropna(subset='setting')['difference'].max():.2f}")
print(f"all of them at once: {together['difference'].min():.2f} to {together['difference'].max():.2f}")
