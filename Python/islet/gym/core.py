"""Many episodes at once: what the single environment and the vector are both made of.

Guarantees: an episode hangs on its own seed, options and actions alone, never on who else is in the vector, on the process, or on what ran before. What a controller may know
stands in the observation; what only the simulation knows stands in `info`. There is no NaN: what is absent is 0, and its mask says so.
"""

import math
import operator

import numpy as np

from ..program import IsletError
from .episodes import OPTIONS, nearest
from .wire import Wire

_NOTHING = np.zeros(0, np.int64)
_DAY = 86_400 * 10**9
_GRID = 300 * 10**9

#: Of the history, oldest first: name, unit, scale of the flat form, least and most of it.
HISTORY = (
    ("glucose", "mg/dL", 400.0, 0.0, 2.5),
    ("glucose_known", "", 1.0, 0.0, 1.0),
    ("insulin", "U", 10.0, 0.0, 10.0),
    ("insulin_known", "", 1.0, 0.0, 1.0),
    ("carbohydrate", "g", 100.0, 0.0, 10.0),
    ("ringing", "", 1.0, 0.0, 1.0),
)
#: Of now.
NOW = (
    ("day_sine", "", 1.0, -1.0, 1.0),
    ("day_cosine", "", 1.0, -1.0, 1.0),
    ("pump_available", "", 1.0, 0.0, 1.0),
    ("basal", "U/h", 2.0, 0.0, 10.0),
    ("cr", "g/U", 20.0, 0.0, 50.0),
    ("cf", "mg/dL/U", 100.0, 0.0, 50.0),
    ("tdi", "U", 100.0, 0.0, 10.0),
    ("weight", "kg", 100.0, 0.0, 5.0),
    ("target", "mg/dL", 200.0, 0.0, 5.0),
)
_THERAPY = len(NOW) - 6
#: What is measured anew each step, and how much of it an observation shows: glucose, insulin by request, carbohydrate, insulin by the programme.
_MEASURED = ("cgm", "bolus_delivered", "meal", "pump_basal")
_FACTORS, _LIMITS = np.array([1 / 400.0, 0.1, 0.01, 0.0]), np.array([2.5, 10.0, 10.0, 10.0])

_turns = {}


def _turn(nanoseconds):
    """Sine and cosine of the time of a day, as arrays have them."""
    turn = _turns.get(nanoseconds)
    if turn is None:
        if len(_turns) > 10_000:
            _turns.clear()
        phase = nanoseconds * (2 * math.pi / _DAY)
        turn = _turns[nanoseconds] = float(np.sin(phase)), float(np.cos(phase))
    return turn


class Layout:
    """Names, units, scales and bounds of the flat observation, in its order."""

    def __init__(self, history):
        if isinstance(history, bool) or not isinstance(history, int) or not 1 <= history <= 72:
            raise ValueError("history %r: from 1 to 72 readings" % (history,))
        self.history = history
        self.names, self.units, scale, low, high = [], [], [], [], []
        for name, unit, factor, least, most in HISTORY:
            for place in range(history):
                self.names.append("%s[%d]" % (name, place - history + 1))
                self.units.append(unit)
                scale.append(factor), low.append(least), high.append(most)
        for name, unit, factor, least, most in NOW:
            self.names.append(name), self.units.append(unit)
            scale.append(factor), low.append(least), high.append(most)
        self.scale = np.array(scale, np.float32)
        self.low, self.high = np.array(low, np.float32), np.array(high, np.float32)
        self.width = len(self.names)
        self.edge = len(HISTORY) * history

    def parts(self, flat):
        """The `Dict` form of flat rows (…, width), in units."""
        history, result = self.history, {}
        for place, (name, _, factor, _, _) in enumerate(HISTORY):
            result[name] = flat[..., place * history:(place + 1) * history] * np.float32(factor)
        for place, (name, _, factor, _, _) in enumerate(NOW):
            result[name] = flat[..., self.edge + place:self.edge + place + 1] * np.float32(factor)
        return result

    def space(self, kind):
        from gymnasium import spaces
        if kind == "flat":
            return spaces.Box(self.low, self.high, dtype=np.float32)
        if kind != "dict":
            raise ValueError("observation %r: flat or dict" % (kind,))
        parts = {}
        low, high = self.parts(self.low), self.parts(self.high)
        for name in low:
            parts[name] = spaces.Box(low[name], high[name], dtype=np.float32)
        return spaces.Dict(parts)


class Core:
    """Environments 0 ..< count. `act` writes answers; subclasses say how."""

    def __init__(self, count, setup, layout, reward, processes=1):
        self.count, self.setup, self.layout, self.reward = count, setup, layout, reward
        # The first few share a program, the next few the next.
        edges = [count * place // processes for place in range(processes + 1)]
        self.ranges = [(a, b) for a, b in zip(edges, edges[1:]) if b > a]
        self.wires = [Wire() for _ in self.ranges]
        wire = self.wires[0]
        self.rows = np.zeros(count, wire.step_type)
        #: Where a cell stands in a row.
        self.at = {name: place for place, name in enumerate(wire.step_type.names)}
        #: The same rows as plain cells: each has eight bytes.
        self.wholes = self.rows.view(np.int64).reshape(count, -1)
        self.reals = self.wholes.view(np.float64)
        self._measured = np.array([self.at[name] for name in _MEASURED])
        #: What an answer waits for.
        self.waited = np.array([self.at[name] for name in ("manual_bolus", "meal")])
        self.doses = np.zeros(count, wire.dose_type)
        self.doses["handle"] = np.arange(count)
        self.doses["forecast"] = np.nan
        self.most_dose = wire.most_dose
        self.flat = np.zeros((count, layout.width), np.float32)
        self.past = self.flat[:, :layout.edge].reshape(count, len(HISTORY), layout.history)
        self.now = self.flat[:, layout.edge:]
        self.therapy = np.zeros((count, 6))
        self.begun = np.zeros(count, bool)
        self.over = np.zeros(count, bool)
        self.ringing = np.zeros(count, np.float32)
        self.known = np.zeros(count, np.int64)
        self.who = [None] * count
        self.ends = [None] * count
        #: Tuples of dictionaries; empty but for those in `heard`.
        self.alerts, self.person, self.heard = [()] * count, [()] * count, set()
        self._row = None
        #: The first one's observation, cell by cell, and what moves back in it.
        self._one = self.flat[0]
        self._cells = memoryview(self._one)
        self._older, self._newer = self._cells[:layout.edge - 1], self._cells[1:layout.edge]
        self._is_priced_by_value = hasattr(reward, "value") and hasattr(reward, "events")

        def several(*names):
            return operator.itemgetter(*(self.at[name] for name in names))
        #: Of a row: what the observation is made of; what the pump gave; what `info` tells.
        self._seen = several("cgm", "meal", "bolus_delivered", "pump_basal", "flags", "now", "status")
        self._given = several("true_bolus", "true_basal")
        self.told = several("true_glucose", "true_bolus", "true_basal", "reached", "step")
        #: What answers come from.
        self.asked_by = several("manual_bolus", "meal", "cgm")
        self.nothing = np.empty(count, object)
        for place in range(count):
            self.nothing[place] = ()
        self._scale_therapy = np.array([row[2] for row in NOW[_THERAPY:]])

    def close(self):
        for wire in self.wires:
            wire.close()

    def wire_of(self, place):
        for wire, (first, end) in zip(self.wires, self.ranges):
            if first <= place < end:
                return wire
        raise IndexError(place)

    # Reset

    def _revive(self):
        for place, (wire, (first, end)) in enumerate(zip(self.wires, self.ranges)):
            if wire.pid is None:
                self.wires[place] = Wire()
                self.begun[first:end] = False

    def reset(self, places, seeds, options, subjects=None, count=None):
        """Begins episodes anew; `options` one for each place, checked. `advance` takes the answers in."""
        self._revive()
        answers = []
        for wire, (first, end) in zip(self.wires, self.ranges):
            rows, factors = [], []
            for k, place in enumerate(places):
                if not first <= place < end:
                    continue
                if subjects is None:
                    seed, luck = self.setup.who(seeds[k], options[k])
                    subject = 0
                else:
                    seed, luck, subject = seeds[k], 0, subjects[k]
                self.who[place] = (seed, luck, subject)
                rows.append((place, wire.study(self.setup.text(options[k], count)), seed, luck, subject))
                error = options[k].get("therapy_error") or {}
                factors.append([float(error.get(name, 1)) for name in ("basal", "cr", "cf")])
            if not rows:
                continue
            answer = wire.reset(rows)
            answers.append(answer)
            at = answer.begun["handle"]
            for column, name in enumerate(("basal", "cr", "cf", "tdi", "weight", "target")):
                self.therapy[at, column] = answer.begun[name]
            self.therapy[at, :3] *= factors
            self.past[at] = 0
            self.now[at, _THERAPY:] = np.minimum(self.therapy[at] / self._scale_therapy, self.layout.high[-6:])
            self.begun[at], self.over[at] = True, False
            self.ringing[at], self.known[at] = 0, 0
            for place in at:
                self.ends[place] = None
            self._start(at)
        return answers

    def _start(self, places):
        pass

    def step(self, places=None):
        """Sends the answers that stand in `doses`: of all, or of some. `advance` takes in what came of them."""
        posted = []
        try:
            for wire, (first, end) in zip(self.wires, self.ranges):
                doses = self.doses[first:end] if places is None else self.doses[places[(places >= first) & (places < end)]]
                if len(doses):
                    wire.post_step(doses)
                    posted.append(wire)
            return [wire.take() for wire in posted]
        except BaseException:
            # What the others were asked is answered to nobody.
            for wire in posted[1:] if len(posted) > 1 else ():
                wire.close()
            raise

    def advance(self, answers):
        """Takes in what all were told."""
        told, truth, index = [], [], []
        self._row = None
        self._forget()
        for answer in answers:
            at = answer.steps["handle"]
            # As plain cells: rows of many fields are copied field by field.
            self.wholes[at] = answer.steps.view(np.int64).reshape(len(at), -1)
            told.append(at)
            if answer.truth is not None:
                truth.append(answer.truth["glucose"])
                index.append(answer.truth["handle"])
            for event in answer.events:
                self._hear(event)
            for end in answer.ends:
                self.ends[end["handle"]] = end
        at = told[0] if len(told) == 1 else np.concatenate(told)
        self._observe(slice(None) if len(at) == self.count else at)
        self.truth = np.concatenate(truth) if len(truth) > 1 else (truth[0] if truth else np.zeros(0))
        self.truth_of = np.concatenate(index) if len(index) > 1 else (index[0] if index else np.zeros(0, np.int64))
        if len(self.truth_of):
            self.known += np.bincount(self.truth_of, minlength=self.count)

    def _forget(self):
        for place in self.heard:
            self.alerts[place] = self.person[place] = ()
        self.heard.clear()

    def _hear(self, event):
        place, at = event[0], event[1]
        self.heard.add(place)
        minutes = at / 6e10
        clock = (self.setup.minute_of_start + at // (60 * 10**9)) % 1440
        if event[2] == "alert":
            row = {"minutes": minutes, "clock": clock, "effect": event[3], "code": event[4], "severity": event[5],
                   "reason": event[6]}
            self.alerts[place] += (row,)
        else:
            row = {"minutes": minutes, "clock": clock, "kind": event[3], "amount": event[4], "code": event[5]}
            self.person[place] += (row,)

    def _observe(self, at):
        everyone = isinstance(at, slice)
        reals, wholes = self.reals[at], self.wholes[at]
        flat = self.flat if everyone else self.flat[at]
        last, edge = self.layout.history, self.layout.edge
        # All histories go back by one; what each one's newest place then holds is written anew.
        flat[:, :edge - 1] = flat[:, 1:edge]
        parts = reals.take(self._measured, 1)
        seen = parts[:, 0] == parts[:, 0]
        # What is absent is NaN, and nothing is below 0.
        np.fmax(parts, 0.0, out=parts)
        parts[:, 1] += parts[:, 3]
        parts *= _FACTORS
        np.minimum(parts, _LIMITS, out=parts)
        available = wholes[:, self.at["flags"]] & 1
        flat[:, last - 1] = parts[:, 0]
        flat[:, 2 * last - 1] = seen
        flat[:, 3 * last - 1] = parts[:, 1]
        flat[:, 4 * last - 1] = available
        flat[:, 5 * last - 1] = parts[:, 2]
        flat[:, 6 * last - 1] = self.ringing[at]
        phase = wholes[:, self.at["now"]] % _DAY * (2 * math.pi / _DAY)
        flat[:, edge], flat[:, edge + 1], flat[:, edge + 2] = np.sin(phase), np.cos(phase), available
        if not everyone:
            self.flat[at] = flat

    def observation(self):
        """A copy. What is written into it is within its bounds."""
        return self.flat.copy()

    # One

    @property
    def row(self):
        if self._row is None:
            self._row, self.one = self.rows[0].item(), self.therapy[0].tolist()
        return self._row

    def cells(self, place):
        """An environment's row, as plain numbers."""
        return self.row if self.count == 1 else self.rows[place].item()

    def step_one(self, action, grid):
        """A step of a vector of one: what `act`, `step`, `advance`, `observation` and `rewards` do, in plain numbers. To the bit: tests hold it.

        Returns whether it was clipped, the observation (flat), the reward and the status.
        """
        basal, correction, meal, forecast, clipped = self.act_one(action)
        row, truth = self.wires[0].step_one(self._row[self.at["step"]], basal, correction, meal, forecast)
        if row is None:
            # Something rang, was done or has ended.
            self.advance([truth])
            return clipped, self.observation()[0], float(self.rewards(grid)[0]), int(self.rows["status"][0])
        self._row = row
        if self.heard:
            self._forget()
        glucose, meal, bolus, basal, flags, now, status = self._seen(row)
        seen, available = glucose == glucose, flags & 1
        cells, edge, last = self._cells, self.layout.edge, self.layout.history
        # All six histories go back by one; what each one's newest place then holds is written anew.
        self._older[:] = self._newer
        cells[last - 1] = min(glucose * (1 / 400.0), 2.5) if seen else 0.0
        cells[2 * last - 1] = seen
        cells[3 * last - 1] = min(
            ((bolus if bolus == bolus else 0.0) + (basal if basal == basal else 0.0)) * 0.1, 10.0)
        cells[4 * last - 1] = available
        cells[5 * last - 1] = min(meal * 0.01, 10.0) if meal == meal else 0.0
        cells[6 * last - 1] = self.ringing[0]
        cells[edge], cells[edge + 1] = _turn(now % _DAY)
        cells[edge + 2] = available
        self.known[0] += 1
        rule = self.reward
        if self._is_priced_by_value:
            reward = 0.0 + rule.value(truth)
        else:
            bolus, basal = self._given(row)
            reward = float(rule([truth], {"bolus": bolus, "basal": basal}, (), ()))
        return clipped, self._one.copy(), reward, status

    # Rewards

    def rewards(self, grid):
        """Of what has become known since the call before.

        `grid`: how many true values an episode has.
        """
        rule, count = self.reward, self.count
        status = self.rows["status"]
        if hasattr(rule, "values") and hasattr(rule, "events"):
            if len(self.truth):
                total = np.bincount(
                    self.truth_of, weights=rule.values(np.ascontiguousarray(self.truth)), minlength=count)
            else:
                total = np.zeros(count)
            for place in self.heard:
                total[place] += rule.events(self.alerts[place], self.person[place])
        else:
            total = np.zeros(count)
            values = [[] for _ in range(count)]
            for place, value in zip(self.truth_of.tolist(), self.truth.tolist()):
                values[place].append(value)
            for place in range(count):
                row = self.rows[place]
                total[place] = float(rule(
                    values[place], {"bolus": float(row["true_bolus"]), "basal": float(row["true_basal"])},
                    self.alerts[place], self.person[place]))
        early = status == 2
        if early.any():
            # Whatever was still to come is charged as the worst of it.
            total[early] += getattr(rule, "worst", 0.0) * np.maximum(0, grid - self.known[early])
        return total


def checked(names, given):
    """Refuses an argument that nobody knows, with the nearest name."""
    for name in given:
        if name not in names:
            raise TypeError("no argument %r: one of %s%s" % (name, ", ".join(names), nearest(name, names)))


__all__ = ["Core", "Layout", "OPTIONS", "IsletError", "checked"]
