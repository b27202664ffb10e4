"""Islet's own `pid-insulin-feedback`, in Python: the same doses to the bit, as a test holds.

Each formula stands as in Sources/IsletLoop/DosingAlgorithms/PIDInsulinFeedback.swift, in the same order of operations.
"""

import math
import struct

import islet.algorithm as ia

STEP_MINUTES = 5.0
STEPS_PER_HOUR = 60 / STEP_MINUTES
LONGEST_MEMORY = 288
SUBCUTANEOUS, PLASMA, EFFECTIVE = 0.64935, 0.34128, 0.0093667


def least(x, y):
    return y if y < x else x


def largest(x, y):
    return y if y >= x else x


def minutes(nanoseconds):
    return float(nanoseconds) / 60e9


def exponential(x):
    """e to the power of x, from arithmetic alone, as Islet has it."""
    shift = 1.5 * 2.0**52
    shifted = x * float.fromhex("0x1.71547652b82fep0") + shift
    n = shifted - shift
    r = (x - n * float.fromhex("0x1.62e42feep-1")) - n * float.fromhex("0x1.a39ef35793c76p-33")

    def pair(even, odd):
        return r * odd + even

    r2 = r * r
    r4 = r2 * r2
    from2 = pair(1 / 2, 1 / 6) + r2 * pair(1 / 24, 1 / 120)
    from6 = pair(1 / 720, 1 / 5040) + r2 * pair(1 / 40320, 1 / 362880)
    from10 = pair(1 / 3628800, 1 / 39916800) + r2 * pair(1 / 479001600, 1 / 6227020800)
    series = 1 + (r + r2 * (from2 + r4 * (from6 + r4 * from10)))
    whole = struct.unpack("<Q", struct.pack("<d", shifted))[0]
    factor = struct.unpack("<d", struct.pack("<Q", ((whole + 1023) << 52) & (2**64 - 1)))[0]
    return series * factor


class Chain:
    """Three first-order compartments in a row with unit gain, advanced exactly over steps of constant input."""

    def __init__(self, times, step):
        k1, k2, k3 = (1 / t for t in times)
        e1, e2, e3 = exponential(-k1 * step), exponential(-k2 * step), exponential(-k3 * step)
        self.a11, self.a22, self.a33 = e1, e2, e3
        self.a21 = k2 * (e1 - e2) / (k2 - k1)
        self.a32 = k3 * (e2 - e3) / (k3 - k2)
        self.a31 = k2 * k3 * (
            e1 / ((k2 - k1) * (k3 - k1)) + e2 / ((k1 - k2) * (k3 - k2)) + e3 / ((k1 - k3) * (k2 - k3)))
        self.b1 = 1 - self.a11
        self.b2 = 1 - self.a21 - self.a22
        self.b3 = 1 - self.a31 - self.a32 - self.a33

    def advance(self, x, value):
        return (
            self.a11 * x[0] + self.b1 * value,
            self.a21 * x[0] + self.a22 * x[1] + self.b2 * value,
            self.a31 * x[0] + self.a32 * x[1] + self.a33 * x[2] + self.b3 * value)

    def take_back(self, x, value, steps):
        if not 1 <= steps <= LONGEST_MEMORY:
            return x
        y = self.advance((0.0, 0.0, 0.0), value)
        for _ in range(1, steps):
            y = self.advance(y, 0.0)
        return tuple(a - b for a, b in zip(x, y))

    def add(self, x, amount, last_steps):
        whole = math.floor(last_steps)
        steps = least(largest(1.0, whole + 1.0 if last_steps - whole >= 0.5 else float(whole)), float(LONGEST_MEMORY))
        y = (0.0, 0.0, 0.0)
        for _ in range(int(steps)):
            y = self.advance(y, amount * STEPS_PER_HOUR / steps)
        return tuple(a + b for a, b in zip(x, y))


CHAIN = Chain((50, 70, 55), STEP_MINUTES)


class PID(ia.Algorithm):
    name, version, basal_source, forecast_minutes = "pid", 3, "algorithm", 45
    kp = ia.Parameter(0.25, 0, 5, "1/h", "the share of a full correction asked for per hour")
    ti = ia.Parameter(450, 10, 100_000, "min", "integral time")
    td = ia.Parameter(110, 0, 1000, "min", "derivative time")
    integral_min = ia.Parameter(-0.8, -5, 0, "1", "least integral, as a multiple of the basal rate")
    integral_max = ia.Parameter(0.5, 0, 5, "1", "largest integral, as a multiple of the basal rate")
    largest_basal_multiple = ia.Parameter(3, 1, 10, "1", "largest rate beside the meal bolus, as a multiple of the basal rate")
    suspend_below = ia.Parameter(105, 60, 200, "mg/dL", "predicted glucose below which nothing is delivered")
    prediction = ia.Parameter(45, 0, 120, "min", "how far that prediction looks ahead")
    derivative_weight = ia.Parameter(0.35, 0.01, 1, "1", "weight of a new reading in the derivative")
    meal_feedback = ia.Parameter(0.25, 0, 1, "1", "the share of a meal bolus that the feedback counts")

    def begin(self, person):
        self.integral = self.slope = self.last_glucose = self.last_minute = 0.0
        self.on_board = (0.0, 0.0, 0.0)
        self.has_history = self.has_stepped = False
        self.last_step = 0

    def snapshot(self):
        return dict(self.__dict__)

    def counted(self, units, manual):
        return self.meal_feedback * (units - manual) + manual

    def step(self, s):
        therapy, row = s.therapy, s
        basal = therapy.basal * row.basal_multiplier
        meal = s.meal / therapy.cr if s.meal is not None else 0.0
        manual = s.manual_bolus
        if manual is not None:
            meal = meal + manual
        if s.earlier is not None:
            self.take_up(s)
        if self.has_stepped:
            for _ in range(min(max(0, s.step - self.last_step - 1), LONGEST_MEMORY)):
                self.on_board = CHAIN.advance(self.on_board, -basal)
        self.last_step, self.has_stepped = s.step, True
        if s.shortfall is not None:
            self.on_board = CHAIN.take_back(
                self.on_board, s.shortfall * STEPS_PER_HOUR, s.step - s.shortfall_step)
        if s.dropped is not None:
            self.on_board = CHAIN.take_back(
                self.on_board, self.counted(s.dropped, s.dropped_manual) * STEPS_PER_HOUR, s.step - s.dropped_step)
        given = s.pump_basal
        if given is not None and given > 0:
            steps = (minutes(s.now) - minutes(s.pump_basal_since)) / STEP_MINUTES
            self.on_board = CHAIN.add(self.on_board, given, steps)
        rate, forecast = basal, None
        if s.cgm is not None:
            is_sloped = self.has_history and minutes(s.cgm_time) > self.last_minute
            rate = self.control(s, basal)
            if is_sloped and self.prediction > 0:
                forecast = largest(0.0, self.last_glucose + self.slope * self.prediction)
        else:
            self.has_history = False
        delivered = rate if s.is_pump_available and not s.is_open_loop else 0.0
        asked_by_hand = manual if manual is not None else 0.0
        asked = asked_by_hand if s.is_open_loop else meal
        self.on_board = CHAIN.advance(
            self.on_board, delivered - basal + self.counted(asked, asked_by_hand) * STEPS_PER_HOUR)
        return ia.Dose(
            basal=least(rate, basal) / STEPS_PER_HOUR, correction=largest(0.0, rate - basal) / STEPS_PER_HOUR,
            meal=meal, forecast=forecast)

    def take_up(self, s):
        now = minutes(s.now)
        steps = least(math.ceil((now - minutes(s.earlier.complete)) / STEP_MINUTES), float(LONGEST_MEMORY))
        for back in range(int(largest(0.0, steps)), 0, -1):
            start, end = now - back * STEP_MINUTES, now - (back - 1) * STEP_MINUTES
            units = 0.0
            for given in s.earlier.given:
                since, until = minutes(given.since), minutes(given.until)
                share = largest(0.0, least(end, until) - largest(start, since)) / (until - since) if until > since else 0.0
                units += share * (given.amount - given.user + self.counted(given.user, given.manual))
            self.on_board = CHAIN.advance(self.on_board, units * 60 / STEP_MINUTES - s.therapy.basal)

    def control(self, s, basal):
        glucose, minute = s.cgm, minutes(s.cgm_time)
        target = s.target if s.temporary_target is None else s.temporary_target
        if self.has_history and minute > self.last_minute:
            slope = (glucose - self.last_glucose) / (minute - self.last_minute)
            self.slope += self.derivative_weight * (slope - self.slope)
        else:
            self.slope = 0.0
        self.has_history, self.last_glucose, self.last_minute = True, glucose, minute
        gain = self.kp / s.therapy.cf
        error = glucose - target
        predicted = glucose + least(0.0, self.slope) * self.prediction
        is_low = predicted < self.suspend_below
        step = gain * error * STEP_MINUTES / self.ti
        self.integral = least(largest(self.integral + step, self.integral_min * basal), self.integral_max * basal)
        if is_low:
            self.integral = least(self.integral, 0.0)
        pid = gain * error + self.integral + gain * self.slope * self.td
        total = SUBCUTANEOUS + PLASMA + EFFECTIVE
        feedback = SUBCUTANEOUS * self.on_board[0] + PLASMA * self.on_board[1] + EFFECTIVE * self.on_board[2]
        if is_low:
            return 0.0
        return least(largest(basal + (1 + total) * pid - feedback, 0.0), self.largest_basal_multiple * basal)


ia.serve(PID)
