"""Hears each step beside any algorithm, doses nothing, and says where glucose is going: a number for alert rules, `own.glucoseIn30`."""

import islet.algorithm as ia


class LowSoon(ia.Listener):
    name, version = "low-soon", 1
    readings = ia.Parameter(4, 3, 12, "1", "how many of the last readings the line goes through")
    glucoseIn30 = ia.Number("mg/dL", "glucose in 30 min, on a straight line through the last readings")

    def begin(self, person):
        self.past = []

    def step(self, s):
        if s.cgm is None:
            self.past = []
            return None  # no number: an alert of it ends 15 min after the last one
        self.past = (self.past + [(s.minutes, s.cgm)])[-int(self.readings):]
        if len(self.past) < 3:
            return None
        mean_t = sum(t for t, _ in self.past) / len(self.past)
        mean_g = sum(g for _, g in self.past) / len(self.past)
        slope = sum((t - mean_t) * (g - mean_g) for t, g in self.past) / sum((t - mean_t) ** 2 for t, _ in self.past)
        return {"glucoseIn30": mean_g + slope * (s.minutes + 30 - mean_t)}


ia.serve(LowSoon)
