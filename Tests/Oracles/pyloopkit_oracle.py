#!/usr/bin/env python3
"""Forecasts of PyLoopKit (https://github.com/tidepool-org/PyLoopKit, BSD-2), as of 2020, beside those of a recording of LoopAlgorithm.

    python3 Tests/Oracles/pyloopkit_oracle.py CHECKOUT RECORDING

RECORDING is one of loop_oracle.sh with all rows and points. Rows without meals and without the integral variant are compared: PyLoopKit has neither
the piecewise absorption nor that. What differs is counted by what the row has. Needs NumPy; nothing of PyLoopKit is copied.
"""
import collections
import datetime
import sys
import types

checkout, recording = sys.argv[1:]
sys.path.insert(0, checkout)
# What it imports for Pythons before 3.7.
backport = types.ModuleType("backports.datetime_fromisoformat")
backport.MonkeyPatch = type("MonkeyPatch", (), {"patch_fromisoformat": staticmethod(lambda: None)})
sys.modules["backports"] = types.ModuleType("backports")
sys.modules["backports.datetime_fromisoformat"] = backport
from pyloopkit import dose, glucose_store, glucose_math, insulin_math, loop_data_manager, loop_math  # noqa: E402

NOW = datetime.datetime(2024, 10, 7, 12)


def ago(seconds):
    return NOW - datetime.timedelta(seconds=seconds)


def row_of(line):
    fields = line.rstrip("\n").split("|")
    settings = fields[0].split(" ")
    readings = []
    tokens = fields[1].split(" ")
    if tokens[0] != "-":
        at = int(tokens[0]) + 300
        for token in tokens[1:]:
            step, _, value = token.rpartition("@")
            at -= int(step or 300)
            readings.append((at, float(value)))
    pairs = lambda text, sign: [] if text == "-" else [token.split(sign) for token in text.split(" ")]
    return settings, readings, pairs(fields[2], "@"), pairs(fields[3], "*"), fields[4], fields[6].split(" ")


def forecast(settings, readings, boluses, rates):
    sensitivity, _, basal = map(float, settings[1:4])
    peak, duration = float(settings[10]), float(settings[11])
    doses = []
    for units, cell in boluses:
        start = ago(300 * int(cell))
        doses.append((dose.DoseType.bolus, start, start + datetime.timedelta(minutes=1), float(units), 0, float(units)))
    cell = sum(int(count) for _, count in rates)
    for rate, count in rates:
        start, cell = ago(300 * cell), cell - int(count)
        if rate != "=":
            units = float(rate) * int(count) / 12
            # None at all is a dose to it that nobody counted: it would round it to 0.05 U.
            doses.append((dose.DoseType.tempbasal, start, ago(300 * cell), float(rate), basal, units or 1e-12))
    doses.sort(key=lambda one: one[1])
    midnight = datetime.time(0)
    end = NOW + datetime.timedelta(minutes=380)
    effects = insulin_math.glucose_effects(
        *map(list, zip(*doses)), [duration, peak], [midnight], [datetime.time(23, 59, 59)], [sensitivity],
        start=ago(readings[0][0] + 300), end=end)
    dates, values = [ago(at) for at, _ in readings], [value for _, value in readings]
    same = [False] * len(dates), [""] * len(dates)
    momentum = glucose_store.get_recent_momentum_effects(
        dates, values, dates[0], NOW, settings_dictionary={"max_physiologic_slope": 4})
    unexplained = glucose_math.counteraction_effects(dates, values, *same, *effects)
    still = [ago(300 * tick) for tick in range(len(dates) * 3, -80, -1)]
    correction = ([], [])
    # Of a single change it makes no sum, and breaks.
    if len(unexplained[0]) > 1:
        correction = loop_data_manager.update_retrospective_glucose_effect(
            dates, values, still, [0] * len(still), *unexplained, 15, 30, dates[-1])
    course = dict(zip(*loop_math.predict_glucose(dates[-1], values[-1], *momentum, [], [], *effects, *correction)))
    value, points = None, []
    for tick in range(75):
        value = course.get(ago(-300 * tick), value)
        points.append(value if value is not None else values[-1])
    return points


def main():
    found = collections.Counter()
    for line in open(recording, encoding="utf-8"):
        if line.startswith("#"):
            continue
        settings, readings, boluses, rates, meals, course = row_of(line)
        if meals != "-" or settings[13] == "1" or course == ["-"] or not (boluses or any(r != "=" for r, _ in rates)):
            continue
        last = [value for at, value in readings if at <= 1800]
        gaps = [first[0] - second[0] for first, second in zip(readings, readings[1:])]
        kind = (
            "a jump above 40 mg/dL" if any(abs(a - b) > 40 for a, b in zip(last, last[1:]))
            else "a gap, or an old reading" if readings[-1][0] >= 300 or any(gap >= 590 for gap in gaps[-8:])
            else "readings between the grid's ticks" if readings[-1][0] % 300
            else "readings on the grid")
        off = max(abs(ours - float(theirs)) for ours, theirs in zip(forecast(settings, readings, boluses, rates), course))
        found[kind, "within 0.1" if off <= 0.1 else "within 1" if off <= 1 else "within 10" if off <= 10 else "beyond 10"] += 1
        if sum(found.values()) == 1000:
            break
    for (kind, how), count in sorted(found.items()):
        print(f"{kind}: {count} {how}")


main()
