"""When should a low alarm ring? Learns it on people who train, and is judged on people never seen, beside published presets.

A policy of four numbers: rings where glucose, `ahead` minutes on at its present slope, is below one bound by day or another by night, and the slope counts for so much. A search
by the cross-entropy method in NumPy alone; the reward is time in range with a price for lows, and one for each alarm that was heard by night.

    python3 Python/examples/train_alarm.py results/learned-alarm

Usage: train_alarm.py OUT [--people 40] [--days 3] [--rounds 8] [--judges 80] [--judged-days 7]
"""

import argparse

import numpy as np

import islet.gym as ig

LOW_ALONE = {
    "policy": "low-70-alone", "extends": "none",
    "rules": [{"code": "LOW", "when": "glucose < 70", "acknowledge": "reviews", "cooldown": "0s"}],
}


class Policy:
    """`bounds`: by day, by night, mg/dL; `ahead` min; `hold`: how many steps it must say so before it rings."""

    def __init__(self, numbers, layout):
        self.numbers, self.layout = np.atleast_2d(numbers), layout
        self.reset(len(self.numbers))

    def reset(self, count):
        self.asked = np.zeros(count, int)

    def __call__(self, seen):
        parts = self.layout.parts(seen)
        glucose, known = parts["glucose"], parts["glucose_known"] > 0
        slope = np.where(known[:, -1] & known[:, -4], (glucose[:, -1] - glucose[:, -4]) / 15, 0)
        # The session starts at 06:00: night is from 23:00 to 07:00.
        hour = (np.arctan2(parts["day_sine"][:, 0], parts["day_cosine"][:, 0]) / (2 * np.pi) * 24 + 6) % 24
        night = (hour >= 23) | (hour < 7)
        day_bound, night_bound, ahead, hold = self.numbers.T
        wants = known[:, -1] & (glucose[:, -1] + ahead * slope < np.where(night, night_bound, day_bound))
        self.asked = np.where(wants, self.asked + 1, 0)
        return (self.asked > hold).astype(np.int64)


def train(people, days, rounds, seed=1, candidates=12, elite=4):
    luck = np.random.default_rng(seed)
    mean, spread = np.array([75.0, 70.0, 10.0, 0.5]), np.array([10.0, 10.0, 10.0, 1.0])
    env = ig.AlarmsVector(candidates * people, duration="%dd" % days, people=people)
    try:
        for number in range(rounds):
            drawn = mean + spread * luck.standard_normal((candidates, 4))
            drawn[0] = mean
            drawn[:, 2:] = np.maximum(drawn[:, 2:], 0)
            # The same people and the same luck for every candidate, other luck in every round.
            seeds = [people * number + place for place in range(people)] * candidates
            policy = Policy(np.repeat(drawn, people, axis=0), env.layout)
            seen, _ = env.reset(seed=seeds)
            total, going = np.zeros(len(seeds)), np.ones(len(seeds), bool)
            while going.any():
                seen, reward, terminated, truncated, _ = env.step(policy(seen))
                total += np.where(going, reward, 0)
                going &= ~(terminated | truncated)
            scores = total.reshape(candidates, people).mean(axis=1) / days
            best = drawn[np.argsort(-scores)[:elite]]
            mean, spread = best.mean(axis=0), best.std(axis=0) + np.array([1.0, 1.0, 1.0, 0.1]) * (1 - number / rounds)
            print("round %d: the mean policy earns %.1f a day, the best %.1f; %s" % (
                number + 1, scores[0], scores.max(), np.round(mean, 1)), flush=True)
    finally:
        env.close()
    return mean


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--judges", type=int, default=80)
    parser.add_argument("--judged-days", type=int, default=7)
    given = parser.parse_args()
    numbers = train(given.people, given.days, given.rounds)
    layout = ig.AlarmsVector(1).layout
    judged = ig.judge(
        Policy(np.repeat([numbers], given.judges, axis=0), layout), ["dexcom-g7", LOW_ALONE, "loop", "trio", "xdrip", "nightscout", "none"],
        given.out, env="islet/Alarms-v0", people=given.judges, duration="%dd" % given.judged_days, name="learned",
        primary=["tbr_54_percent", "tbr_70_percent", "alerts_notifications_per_day", "alerts_notifications_night_per_day",
                 "lows_slept_through_per_week"])
    print("\nlearned: rings below %.0f mg/dL by day, %.0f by night, %.0f min ahead, after %.0f steps in a row\n" % (
        numbers[0], numbers[1], numbers[2], np.floor(numbers[3]) + 1))
    print(judged.text)


if __name__ == "__main__":
    main()
