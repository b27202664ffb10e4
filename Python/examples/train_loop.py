"""A controller that is trained on some people and judged on others, in a minute: basal by where glucose will be.

A policy of three numbers: basal goes by how far glucose, `ahead` minutes on at its present slope, is from a target. A search by the cross-entropy method in NumPy alone; the
reward is time in range with a price for lows.

    python3 Python/examples/train_loop.py results/trained

Usage: train_loop.py OUT [--people 40] [--rounds 6] [--judges 50] [--judged-days 2]
"""

import argparse

import numpy as np

import islet.gym as ig

CANDIDATES, ELITE = 12, 4


class Policy:
    """Rows of observations to an action each; `numbers` a row for all, or one each: gain (1 per 100 mg/dL), `ahead` (min), target (mg/dL)."""

    def __init__(self, numbers, layout):
        self.gain, self.ahead, self.target = np.atleast_2d(numbers).T
        self.layout = layout

    def __call__(self, seen):
        parts = self.layout.parts(seen)
        glucose, known = parts["glucose"], parts["glucose_known"] > 0
        slope = np.where(known[:, -1] & known[:, -4], (glucose[:, -1] - glucose[:, -4]) / 15, 0)
        action = self.gain / 100 * (glucose[:, -1] + self.ahead * slope - self.target)
        # Without a reading: the programmed basal.
        return np.clip(np.where(known[:, -1], action, 0), -1, 1)[:, None].astype(np.float32)


def train(people, rounds):
    luck = np.random.default_rng(1)
    mean, spread = np.array([0.5, 20.0, 130.0]), np.array([0.5, 15.0, 20.0])
    env = ig.LoopVector(CANDIDATES * people, reward="time-in-range")
    try:
        for number in range(rounds):
            drawn = mean + spread * luck.standard_normal((CANDIDATES, 3))
            drawn[0] = mean
            policy = Policy(np.repeat(drawn, people, axis=0), env.layout)
            # The same people with the same luck for every candidate, other luck in every round.
            seen, _ = env.reset(seed=[people * number + place for place in range(people)] * CANDIDATES)
            total, going = np.zeros(env.num_envs), np.ones(env.num_envs, bool)
            while going.any():
                seen, reward, terminated, truncated, _ = env.step(policy(seen))
                total += np.where(going, reward, 0)
                going &= ~(terminated | truncated)
            scores = total.reshape(CANDIDATES, people).mean(axis=1)
            best = drawn[np.argsort(-scores)[:ELITE]]
            mean, spread = best.mean(axis=0), best.std(axis=0)
            print("round %d: the mean policy earns %.1f a day, the best %.1f; %s" % (
                number + 1, scores[0], scores.max(), np.round(mean, 2)), flush=True)
        return Policy(mean, env.layout)
    finally:
        env.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--judges", type=int, default=50)
    parser.add_argument("--judged-days", type=int, default=2)
    given = parser.parse_args()
    print(ig.judge(
        train(given.people, given.rounds), ["basal-bolus", "pid-insulin-feedback"], given.out, people=given.judges,
        duration="%dd" % given.judged_days, name="trained"))


if __name__ == "__main__":
    main()
