#!/usr/bin/env python3
"""Draws problems of `hovorka-mpc`, solves each with scipy, and writes both down for Islet's tests.

    hovorka_oracle.py ROWS SEED > Tests/Oracles/recordings/hovorka.json

Written from the publication's equations, in their own units, apart from Islet: the ten equations by Runge-Kutta's method in steps of half a minute
(compared with scipy's DOP853 at 1e-11 for each row; the largest distance stands in the head), the therapy's parameters by bracketing, the filter's
Jacobians by central differences, the plan by `scipy.optimize.least_squares`. In a virtual environment with numpy and scipy.
"""

import json
import sys

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, least_squares

rows, seed = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(seed)

MILLIGRAMS = 18.016
K12, KA, KE, VI, VG, TG, TI = 0.066, (0.006, 0.06, 0.03), 0.138, 0.12, 0.16, 40.0, 55.0
SIT, SID, SIE, EGP0, F01 = 51.2e-4, 8.2e-4, 520e-4, 0.0161, 0.0097
PUBLISHED = (0.576, 0.806, 0.545, 0.242, 0.227)
CELL, SLOT, SLOTS = 5.0, 15.0, 12


class Person:
    """Parameters; `deviations` are the logarithms of the actions' scales, and the shares of production and uptake."""

    def __init__(self, therapy, scale=1.0, EGP=EGP0, AG=1.0):
        self.therapy, self.scale, self.EGP, self.AG = therapy, scale, EGP, AG
        self.BW = therapy["weight"]

    def flow(self, y, rate, deviations):
        """The derivatives: y is (..., 10) of D1, D2 mmol, S1, S2 mU, I mU/L, w1, w2, w3 mU/L, Q1, Q2 mmol; rate mU/min."""
        D1, D2, S1, S2, I, w1, w2, w3, Q1, Q2 = np.moveaxis(y, -1, 0)
        d = np.moveaxis(deviations, -1, 0)
        BW = self.BW
        x1 = self.scale * SIT * np.exp(d[0]) * w1
        x2 = self.scale * SID * np.exp(d[1]) * w2
        x3 = self.scale * SIE * np.exp(d[2]) * w3
        G = Q1 / (VG * BW)
        uptake = F01 * (1 + d[4]) * BW * np.minimum(1, G / 4.5)
        loss = np.where(G >= 9, 0.003 * (G - 9) * VG * BW, 0)
        made = self.EGP * (1 + d[3]) * BW * np.maximum(0, 1 - x3)
        return np.stack([
            -D1 / TG, (D1 - D2) / TG, rate - S1 / TI, (S1 - S2) / TI, S2 / (TI * VI * BW) - KE * I,
            KA[0] * (I - w1), KA[1] * (I - w2), KA[2] * (I - w3),
            -uptake - loss - x1 * Q1 + K12 * Q2 + D2 / TG + made, x1 * Q1 - (K12 + x2) * Q2], axis=-1)

    def advance(self, y, rate, deviations, minutes):
        """By half minutes; any leading axes."""
        h = 0.5
        rate = np.asarray(rate, float)
        for _ in range(round(minutes / h)):
            a = self.flow(y, rate, deviations)
            b = self.flow(y + h / 2 * a, rate, deviations)
            c = self.flow(y + h / 2 * b, rate, deviations)
            e = self.flow(y + h * c, rate, deviations)
            y = y + h / 6 * (a + 2 * b + 2 * c + e)
        return y

    def carbs(self, grams):
        return grams * self.AG * 1000 / 180.16

    def G(self, y):
        return y[..., 8] / (VG * self.BW)


ZERO = np.zeros(5)


def steady(person, rate, target):
    """The state in which `rate` holds the target, and the production that it takes."""
    BW = person.BW
    I = rate / (KE * VI * BW)
    x1, x2, x3 = (person.scale * s * I for s in (SIT, SID, SIE))
    Q1 = target * VG * BW
    Q2 = x1 * Q1 / (K12 + x2)
    EGP = (F01 * BW + x1 * Q1 - K12 * Q2) / (1 - x3) / BW
    return np.array([0, 0, rate * TI, rate * TI, I, I, I, I, Q1, Q2]), EGP


def of_therapy(therapy):
    """Scale by the correction factor, production by the programme, absorption by the ratio."""
    rate = max(therapy["basal"], 0.05) * 1000 / 60

    def answer(scale, units=0.0, grams=0.0):
        person = Person(therapy, scale)
        y, person.EGP = steady(person, rate, therapy["target"])
        still = person.G(y)
        y = y.copy()
        y[2] += 1000 * units
        y[0] += person.carbs(grams)
        course = []
        for _ in range(72):
            y = person.advance(y, rate, ZERO, CELL)
            course.append(person.G(y) - still)
        return np.array(course)

    wanted = -therapy["factor"] / MILLIGRAMS * 0.1
    # No more than nine tenths of production may be what the programme takes away.
    most = 0.9 * KE * VI * therapy["weight"] / (rate * SIE)
    low, high = 0.02, min(50.0, most)
    if answer(high, units=0.1).min() > wanted:
        return None
    scale = np.exp(brentq(lambda s: answer(np.exp(s), units=0.1).min() - wanted, np.log(low), np.log(high), xtol=1e-10))
    person = Person(therapy, scale)
    _, person.EGP = steady(person, rate, therapy["target"])
    AG = -answer(scale, units=0.1)[59] / 0.1 / (answer(scale, grams=1)[59] * therapy["ratio"])
    if not 0.1 < AG < 2:
        return None
    person.AG = AG
    return person


def trajectory(glucose, target):
    points = []
    for _ in range(SLOTS):
        if glucose > 8:
            glucose = max(glucose - 2 * SLOT / 60, target)
        elif glucose > target:
            glucose = max(glucose - 1 * SLOT / 60, target)
        else:
            glucose = target - (target - glucose) * 0.5 ** (SLOT / 15)
        points.append(glucose)
    return np.array(points)


def filtered(person, problem):
    """The last cells' readings, by an extended Kalman filter with Jacobians by central differences."""
    s = problem["belief"]
    volume = VG * person.BW
    r = (s["sensorNoise"] / MILLIGRAMS) ** 2
    q = (s["glucoseNoise"] / MILLIGRAMS) ** 2
    prior = np.array([(s["spread"] * p) ** 2 for p in PUBLISHED])
    keep = np.exp(-CELL / s["window"])
    y, _ = steady(person, problem["before"] * 1000 / 60, 6.0)
    cells, readings = problem["cells"], problem["readings"]
    first = len(cells) - len(readings) + 1
    mean = P = None

    def go(y, cell):
        y = y.copy()
        y[2] += 1000 * cell[0]
        return y, cell[1] / CELL * 1000

    for index, cell in enumerate(cells):
        if index == first:
            x1, x2 = person.scale * SIT * y[5], person.scale * SID * y[6]
            g = readings[0] / MILLIGRAMS
            mean = np.concatenate([[g, g * x1 / (K12 + x2)], ZERO])
            P = np.diag(np.concatenate([[r, 0.04 * mean[1] ** 2], prior]))
            for grams in problem["meals"]:
                if grams[0] == 0:
                    y[0] += person.carbs(grams[1])
        y, rate = go(y, cell)
        if mean is None:
            y = person.advance(y, rate, ZERO, CELL)
            y[0] = y[1] = 0
            continue

        def after(z):
            """z is (..., 7)."""
            start = np.broadcast_to(y, z.shape[:-1] + (10,)).copy()
            start[..., 8:] = z[..., :2] * volume
            end = person.advance(start, rate, z[..., 2:], CELL)
            return end, np.concatenate([end[..., 8:] / volume, z[..., 2:] * keep], axis=-1)

        e = 1e-5
        shifted = np.stack([mean + e * np.eye(7)[i] * sign for i in range(7) for sign in (1, -1)])
        _, moved = after(shifted)
        J = np.stack([(moved[2 * i] - moved[2 * i + 1]) / (2 * e) for i in range(7)], axis=1)
        end, mean = after(mean)
        Q = np.diag(np.concatenate([[q, q], (1 - keep ** 2) * prior]))
        P = J @ P @ J.T + Q
        y = end
        place = index - first + 1
        for grams in problem["meals"]:
            if grams[0] == place:
                y[0] += person.carbs(grams[1])
        if readings[place] is not None:
            H = np.eye(7)[:1]
            S = (H @ P @ H.T)[0, 0] + r
            K = P @ H.T / S
            mean = mean + K[:, 0] * (readings[place] / MILLIGRAMS - mean[0])
            P = (np.eye(7) - K @ H) @ P
            bound = 3 * np.sqrt(prior)
            mean[2:] = np.clip(mean[2:], -bound, bound)
    y[2] += 1000 * problem["bolus"]
    y[8:] = mean[:2] * volume
    return y, mean, P


def plan(person, problem, y, deviations):
    target = trajectory(person.G(y), problem["target"])
    k = problem["aggressiveness"]
    n = SLOTS

    def ahead(u):
        """u is (..., 12), U/h."""
        z = np.broadcast_to(y, u.shape[:-1] + (10,))
        out = []
        for slot in range(n):
            z = person.advance(z, u[..., slot] * 1000 / 60, deviations, SLOT)
            out.append(person.G(z))
        return np.stack(out, axis=-1)

    def residuals(u):
        return np.concatenate([(ahead(u) - target) * MILLIGRAMS, np.diff(u, axis=-1) / np.sqrt(k)], axis=-1)

    def jacobian(u):
        e = 1e-5
        moved = residuals(np.concatenate([u + e * np.eye(n), u - e * np.eye(n)]))
        return ((moved[:n] - moved[n:]) / (2 * e)).T

    top = problem["highest"]
    best = None
    for start in (0.25, 0.7):
        found = least_squares(
            residuals, np.full(n, start * top), jacobian, bounds=(0, top), xtol=1e-13, ftol=1e-13, gtol=1e-10, max_nfev=60)
        if best is None or found.cost < best.cost:
            best = found
    # The same course by another integrator.
    z, largest, course = y, 0.0, ahead(best.x)
    for slot in range(n):
        z = solve_ivp(
            lambda _, x: person.flow(x, best.x[slot] * 1000 / 60, deviations), (0, SLOT), z, "DOP853", rtol=1e-11,
            atol=1e-12).y[:, -1]
        largest = max(largest, abs(person.G(z) - course[slot]) * MILLIGRAMS)
    return best.x, course, 2 * best.cost, target, largest


def draw():
    basal = float(np.exp(random.uniform(np.log(0.15), np.log(2.5))))
    therapy = {
        "weight": float(random.uniform(18, 110)), "basal": basal,
        "factor": float(40 / basal * np.exp(random.normal(0, 0.3))), "ratio": float(10 / basal * np.exp(random.normal(0, 0.25))),
        "target": float(random.uniform(5.0, 7.5))}
    cells = [[0.0, round(basal / 12 * float(random.choice([0, 1, 1, 1, 2, 4])), 6)] for _ in range(95)]
    for _ in range(random.integers(0, 4)):
        cells[random.integers(0, 95)][0] += round(float(random.uniform(0.1, 8) * basal), 6)
    number = int(random.integers(2, 37))
    glucose, slope, readings = float(random.uniform(60, 280)), 0.0, []
    for _ in range(number):
        slope = 0.8 * slope + float(random.normal(0, 3))
        glucose = float(np.clip(glucose + slope, 45, 380))
        readings.append(round(glucose + float(random.normal(0, 5)), 1))
    for place in range(1, number):
        if random.random() < 0.1:
            readings[place] = None
    meals = [[int(random.integers(0, number)), float(random.uniform(5, 90))] for _ in range(random.integers(0, 3))]
    belief = {
        "sensorNoise": float(random.uniform(3, 15)), "glucoseNoise": float(random.uniform(1, 6)),
        "spread": float(random.uniform(0.1, 1)), "window": float(random.uniform(60, 1440))}
    return {
        "therapy": therapy, "before": basal, "cells": cells, "readings": readings, "meals": meals, "belief": belief,
        "bolus": float(random.choice([0, 0, 1])) * float(random.uniform(0, 6)) * basal, "target": float(random.uniform(5.0, 8.0)),
        "highest": basal * float(random.uniform(1, 6)),
        "aggressiveness": float(np.exp(random.uniform(np.log(1e-4), np.log(10))))}


def rounded(values, digits=9):
    return [round(float(v), digits) for v in np.ravel(values)]


solved, largest = [], 0.0
while len(solved) < rows:
    problem = draw()
    person = of_therapy(problem["therapy"])
    if person is None:
        continue
    y, mean, P = filtered(person, problem)
    rates, course, cost, target, distance = plan(person, problem, y, mean[2:])
    largest = max(largest, distance)
    solved.append({
        "problem": problem,
        "answer": {
            "scale": person.scale, "production": person.EGP / VG, "absorbed": person.AG, "insulin": rounded(y[2:8]),
            "gut": rounded(y[:2] / person.carbs(1.0)), "mean": rounded(mean), "deviations": rounded(np.sqrt(np.diag(P))),
            "trajectory": rounded(target), "rates": rounded(rates), "glucose": rounded(course), "cost": cost}})
    print(len(solved), file=sys.stderr, flush=True)
head = {"seed": seed, "rows": rows, "largestDistanceFromDOP853": largest}
print(json.dumps({"head": head}))
for row in solved:
    print(json.dumps(row))
