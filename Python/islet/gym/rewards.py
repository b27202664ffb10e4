"""What a step is worth: callables of (truth, doses, alerts, person), and three that are shipped.

Guarantees: a shipped reward is a sum over the true glucose of the five-minute grid, each value counted once, with a least value (`worst`). Who
ends early is charged `worst` for every value that is left: to end early never pays, whatever comes before.
"""

import numpy as np

LEAST, MOST = 10.0, 1000.0  # mg/dL: beyond, a body has left the range in which the model means something
NIGHT = (23 * 60, 7 * 60)   # minutes of the day


class Reward:
    """A reward by true glucose: subclass it, and write `values`.

    `values(glucose)` gets mg/dL as an array and returns an array; `worst` is no more than any of them; `events` prices what rang and what
    the person did (0 here). Any other callable of (truth, doses, alerts, person) does as well: `truth` is a list of mg/dL, new since the step
    before; `doses` has `bolus` and `basal`, U, as the pump gave them; `alerts` and `person` are lists of dictionaries, as in `info`. It may have
    `worst`, a number by which each five minutes that an early end leaves out are charged.
    """

    worst = 0.0

    def values(self, glucose):
        raise NotImplementedError

    def value(self, glucose):
        """Of one; the same to the bit."""
        return float(self.values(np.array([glucose]))[0])

    def events(self, alerts, person):
        return 0.0

    def __call__(self, truth, doses, alerts, person):
        total = 0.0
        if len(truth):
            for value in self.values(np.asarray(truth, np.float64)):
                total += float(value)
        return total + self.events(alerts, person)


def magni_risk(glucose):
    """Magni et al. 2007: 10·(3.5506·(ln G^0.8353 − 3.7932))², G in mg/dL; 0 near 138 mg/dL."""
    root = 3.5506 * (np.power(np.log(glucose), 0.8353) - 3.7932)
    return 10.0 * (root * root)


class Magni(Reward):
    """Minus the Magni risk, in hundreds."""

    worst = -float(magni_risk(np.float64(LEAST))) / 100.0

    def values(self, glucose):
        return magni_risk(np.minimum(np.maximum(glucose, LEAST), MOST)) / -100.0

    def value(self, glucose):
        root = 3.5506 * (float(np.power(np.log(min(max(glucose, LEAST), MOST)), 0.8353)) - 3.7932)
        return 10.0 * (root * root) / -100.0


class TimeInRange(Reward):
    """1 for five minutes within 70 to 180 mg/dL, minus `low` below 70, twice that below 54, minus `high` above 250."""

    def __init__(self, low=4.0, high=0.5):
        if not (low >= 0 and high >= 0):
            raise ValueError("prices are not negative")
        self.low, self.high = float(low), float(high)
        self.worst = -2.0 * self.low if 2 * self.low > self.high else -self.high

    def values(self, glucose):
        value = ((glucose >= 70) & (glucose <= 180)).astype(np.float64)
        value -= self.low * ((glucose < 70).astype(np.float64) + (glucose < 54))
        return value - self.high * (glucose > 250)

    def value(self, glucose):
        value = 1.0 if 70 <= glucose <= 180 else 0.0
        value -= self.low * ((1.0 if glucose < 70 else 0.0) + (1.0 if glucose < 54 else 0.0))
        return value - self.high * (glucose > 250)


class NightAlarms(TimeInRange):
    """Time in range, and `price` for each alarm that was heard or that woke between 23:00 and 07:00."""

    def __init__(self, price=3.0, low=4.0, high=0.5):
        super().__init__(low, high)
        self.price = float(price)

    def events(self, alerts, person):
        heard = 0
        for deed in person:
            if deed["kind"] in ("heard", "woke") and (deed["clock"] >= NIGHT[0] or deed["clock"] < NIGHT[1]):
                heard += 1
        return -self.price * heard


SHIPPED = {"magni": Magni, "time-in-range": TimeInRange, "night-alarms": NightAlarms}


def reward(which):
    """A reward by its name, or the callable itself."""
    if callable(which):
        return which
    if which not in SHIPPED:
        raise ValueError("no reward %r: one of %s, or a callable of (truth, doses, alerts, person)" % (
            which, ", ".join(SHIPPED)))
    return SHIPPED[which]()
