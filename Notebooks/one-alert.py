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
# # One alert, from the reading to what was done about it
#
# A session with its glucose, its alerts, and the person who hears them. It takes a study that keeps everything (`record: full`), run before from the repository's folder:
#
# ```
# islet run Cohorts/quickstart.yaml --set cohort.generate.count=6 --set duration=3d --set record=full --out results/one-alert
# ```
#
# `ISLET_RESULTS` names another folder than `results`. `islet alerts explain` tells the same in words.

# %%
import os
import sqlite3
from pathlib import Path

import matplotlib.dates
import matplotlib.pyplot as plt
import pandas as pd

results = Path(os.environ.get("ISLET_RESULTS", "../results"))
plt.rcParams.update({"figure.figsize": (9, 4.8), "figure.dpi": 110, "axes.spines.top": False, "axes.spines.right": False})
store = sqlite3.connect(results / "one-alert" / "study.sqlite")


def rows(table, session):
    """A table's rows of one session, with local times."""
    found = pd.read_sql(f"SELECT * FROM {table}_iso WHERE session = ? ORDER BY time_s", store, params=(session,))
    # The wall clock of the study: its offset is the same throughout.
    found["time"] = pd.to_datetime(found["time"].str.replace(r"[+-]\d\d:\d\d$", "", regex=True), format="ISO8601")
    return found


# %% [markdown]
# ## Which one
#
# The first low alarm that somebody heard and treated with carbohydrate within half an hour, and had not treated before; in the arm `at-once`.

# %%
effects = pd.read_sql("SELECT * FROM alert_effects_iso WHERE arm = 'at-once' ORDER BY session, time_s", store)
events = pd.read_sql("SELECT * FROM person_events_iso WHERE arm = 'at-once' ORDER BY session, time_s", store)
raised = effects[(effects["effect"] == "raise") & (effects["code"] == "LOW")]
rescues = events[events["kind"] == "rescue"]
pairs = raised.merge(rescues, on="session", suffixes=("", "_rescue"))
treated = pairs[(pairs["time_s_rescue"] > pairs["time_s"]) & (pairs["time_s_rescue"] < pairs["time_s"] + 1800)]
earlier = pairs[(pairs["time_s_rescue"] <= pairs["time_s"]) & (pairs["time_s_rescue"] > pairs["time_s"] - 3600)]
treated = treated[~treated.set_index(["session", "seq"]).index.isin(earlier.set_index(["session", "seq"]).index)]
heard = events[events["kind"].isin(["heard", "woke"])].merge(treated[["session", "time_s", "time_s_rescue"]], on="session", suffixes=("_heard", ""))
heard = heard[(heard["time_s_heard"] >= heard["time_s"]) & (heard["time_s_heard"] <= heard["time_s_rescue"])]
assert len(heard), "no low alarm that was heard and treated: take more people or days"
chosen = heard.sort_values(["session", "time_s"]).iloc[0]
session, begin = int(chosen["session"]), float(chosen["time_s"])
subject = effects.loc[effects["session"] == session, "subject"].iloc[0]
print(f"session {session}, {subject}: the low alarm {begin / 3600:.2f} h after the start")

# %% [markdown]
# ## The chain
#
# What the sensor said, what the alert center made of it, what the person heard and did, from 20 minutes before the alarm to an hour after.

# %%
before, after = 20 * 60, 60 * 60
readings, alerts, person, truth = (rows(table, session) for table in ("readings", "alert_effects", "person_events", "truth"))


def near(table):
    return table[(table["time_s"] >= begin - before) & (table["time_s"] <= begin + after)]


words = {
    "heard": "hears it", "unheard": "doesn't notice it", "woke": "wakes", "slept_on": "sleeps on", "felt": "feels a low", "felt_asleep": "wakes with a low",
    "looked": "looks at the phone", "acknowledged": "acknowledges", "rescue": "eats against the low", "meal": "eats", "announcement": "announces a meal",
}
chain = pd.concat(
    [
        near(readings).assign(who="sensor", what=lambda t: t["glucose_mgdl"].map("{:.0f} mg/dL".format)),
        near(alerts).assign(who="alert center", what=lambda t: t["effect"] + " " + t["code"] + " (" + t["reason"] + ")"),
        near(person).assign(
            who="person",
            what=lambda t: t["kind"].map(lambda k: words.get(k, k))
            + t.apply(lambda r: f", {r['amount']:.0f} g" if r["kind"] in ("rescue", "meal", "announcement") else "", axis=1),
        ),
    ]
)[["time", "time_s", "who", "what"]]
chain = chain.sort_values("time_s", kind="stable").reset_index(drop=True)
chain["min after the alarm"] = ((chain["time_s"] - begin) / 60).round(1)
with pd.option_context("display.max_rows", 200, "display.max_colwidth", 90):
    print(chain.assign(time=chain["time"].dt.strftime("%a %H:%M:%S"))[["time", "min after the alarm", "who", "what"]].to_string(index=False))

# %%
notified = near(alerts)[lambda t: t["effect"] == "notify"]
answers = near(person)
figure, axes = plt.subplots()
axes.axhspan(0, 70, color="#fed7d7", zorder=0)
axes.text(0.01, 42, "below 70 mg/dL", transform=axes.get_yaxis_transform(), fontsize=8, color="#9b2c2c", va="bottom")
axes.plot(near(truth)["time"], near(truth)["plasma_mgdl"], color="0.25", label="true plasma glucose")
axes.plot(near(readings)["time"], near(readings)["glucose_mgdl"], "o", markersize=4, color="#2b6cb0", label="sensor")
top = max(near(truth)["plasma_mgdl"].max(), near(readings)["glucose_mgdl"].max()) + 12
marks = [(row["time"], f"{row['code']} rings", "#c05621") for _, row in notified.iterrows()]
told = {"heard": "hears it", "woke": "wakes", "felt": "feels it", "felt_asleep": "wakes with it", "acknowledged": "acknowledges", "rescue": "eats"}
marks += [
    (row["time"], told[row["kind"]] + (f" {row['amount']:.0f} g" if row["kind"] == "rescue" else ""), "#276749")
    for _, row in answers.iterrows()
    if row["kind"] in told
]
# From top to bottom and around again, so that what follows closely can be read.
steps = 7
for place, (time, text, colour) in enumerate(sorted(marks)):
    height = top + 8 * (steps - place % steps)
    axes.plot([time, time], [40, height], color=colour, linewidth=0.8, linestyle=":", zorder=1)
    axes.text(time, height, " " + text, color=colour, fontsize=8, va="center")
axes.set_ylim(40, top + 8 * (steps + 1))
axes.xaxis.set_major_formatter(matplotlib.dates.DateFormatter("%H:%M"))
axes.set_xlabel("local time")
axes.set_ylabel("glucose, mg/dL")
axes.set_title(f"{subject}: from the reading to the rescue", loc="left")
axes.legend(frameon=False, loc="lower right")
figure.tight_layout()

# %% [markdown]
# ## The whole session
#
# All that rang, over the session's glucose.

# %%
rang = alerts[alerts["effect"] == "notify"]
figure, axes = plt.subplots(figsize=(9, 4))
axes.axhspan(70, 180, color="#c6f6d5", alpha=0.6, zorder=0)
axes.plot(truth["time"], truth["plasma_mgdl"], color="0.25", linewidth=1, label="true plasma glucose")
for (code, group), colour in zip(rang.groupby("code"), ["#c05621", "#2b6cb0", "#805ad5", "#276749", "#9b2c2c"]):
    heights = [truth["plasma_mgdl"].iloc[(truth["time_s"] - at).abs().argmin()] for at in group["time_s"]]
    axes.plot(group["time"], heights, "v", color=colour, markersize=6, label=f"{code} ({len(group)})")
axes.xaxis.set_major_formatter(matplotlib.dates.DateFormatter("%a %H:%M"))
axes.set_ylabel("glucose, mg/dL")
axes.set_title("Every notification of the session", loc="left")
axes.legend(frameon=False, ncols=3, fontsize=8)
figure.autofmt_xdate()
figure.tight_layout()

# %% [markdown]
# How long after each notification of the arm was it answered? Over all people of the study:

# %%
answered = events[events["kind"] == "acknowledged"]
print(f"{len(answered)} acknowledgements, a median of {answered['amount'].median():.0f} min after the raise")
counts = events[events["kind"].isin(["heard", "unheard", "woke", "slept_on"])]["kind"].value_counts()
counts.rename("notifications").to_frame()
