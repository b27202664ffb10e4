"""Which study an episode is a session of: seed and options, and nothing else, say it.

Guarantees: people who train come from study seeds below 2**63, people who judge from those above: no seed of one is a seed of the other. An option that
nobody knows is refused with the nearest name.
"""

import datetime
import difflib
import json

SEEDS = 2**63
OPTIONS = ("subject", "day", "scenario", "sensor", "faults", "person", "therapy_error")
_THERAPY = ("basal", "cr", "cf")


def nearest(word, words):
    near = difflib.get_close_matches(str(word), list(words), 1)
    return " (nearest: %s)" % near[0] if near else ""


def checked_seed(seed):
    if seed is None:
        return None
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise TypeError("a seed is a whole number, not %r" % (seed,))
    seed = seed.__index__()
    if not 0 <= seed < SEEDS:
        raise ValueError("seed %d: a seed is from 0 to %d" % (seed, SEEDS - 1))
    return seed


class Setup:
    """The study of an environment's episodes."""

    def __init__(self, algorithm, alerts, duration, people, judging, group, start, scenario, sensor, faults, person, study):
        if people is not None and (isinstance(people, bool) or not isinstance(people, int) or people < 1):
            raise ValueError("people: how many of them, or None for another one each seed; not %r" % (people,))
        self.people, self.judging = people, bool(judging)
        self.start = datetime.datetime.fromisoformat(start)
        self.base = {
            "study": "judging people" if judging else "training people", "duration": duration,
            "cohort": {"generate": {"group": group, "count": 1}}, "record": "events",
        }
        for key, value in (("scenario", scenario), ("sensor", sensor), ("faults", faults), ("person", person)):
            if value is not None:
                self.base[key] = value
        self.base.update(study or {})
        for key in ("seed", "arms", "start"):
            if key in (study or {}):
                raise ValueError("study: `%s` is the environment's own" % key)
        self.algorithm, self.alerts = algorithm, alerts
        self._texts = {}

    def text(self, options, count=None):
        """The study as one line of JSON, without its seed."""
        key = (json.dumps(options, sort_keys=True), count)
        text = self._texts.get(key)
        if text is None:
            study = dict(self.base)
            for name in ("scenario", "sensor", "faults", "person"):
                if name in options:
                    study[name] = options[name]
            if count is not None:
                if "generate" not in study["cohort"]:
                    raise ValueError("people of a table are judged one by one: each has an episode of its own")
                study["cohort"] = {"generate": dict(study["cohort"]["generate"], count=count)}
            start = self.start + datetime.timedelta(days=options.get("day", 0))
            study["start"] = start.isoformat()
            study["arms"] = [{"name": "gym", "algorithm": dict(self.algorithm, recorded=[""]), "alerts": self.alerts}]
            text = self._texts[key] = json.dumps(study)
        return text

    @property
    def minute_of_start(self):
        return self.start.hour * 60 + self.start.minute

    def who(self, seed, options):
        """Study seed and luck of an episode."""
        if "subject" in options:
            person = options["subject"]
        else:
            person = seed if self.people is None else seed % self.people
        return person + (SEEDS if self.judging else 0), (0 if self.people is None and "subject" not in options else seed)

    def checked(self, options):
        options = dict(options or {})
        for key in options:
            if key not in OPTIONS:
                raise ValueError("no option %r: one of %s%s" % (key, ", ".join(OPTIONS), nearest(key, OPTIONS)))
        most = self.people or SEEDS
        if "subject" in options:
            number = options["subject"]
            if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < most:
                raise ValueError("subject %r: a person from 0 to %d" % (number, most - 1))
        if "day" in options:
            day = options["day"]
            if isinstance(day, bool) or not isinstance(day, int) or not 0 <= day <= 3650:
                raise ValueError("day %r: days after the start, from 0 to 3650" % (day,))
        error = options.get("therapy_error")
        if error is not None:
            for name, factor in error.items():
                if name not in _THERAPY:
                    raise ValueError("therapy_error of %r: one of %s%s" % (name, ", ".join(_THERAPY), nearest(name, _THERAPY)))
                if not 0.1 <= float(factor) <= 10:
                    raise ValueError("therapy_error of %s is %r: a factor from 0.1 to 10" % (name, factor))
        return options
