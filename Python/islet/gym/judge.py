"""A policy judged by the program: its actions are recorded on people whom no training seed can draw, and run beside other arms as one study.

Guarantees: table, intervals and p are `islet run`'s; the policy's arm is what it did, step by step, and `islet verify` runs it again without Python. A report of people
who train says so in its first line.
"""

import json

import numpy as np

from ..program import IsletError
from ..studies import Study
from .episodes import SEEDS
from . import environments as _env

_TOO_LONG = 1 << 20


class Judged:
    """`text`: the table, its first line says on whom; `results`: the run's (`islet.open`); `comparisons`: each outcome, a row each."""

    def __init__(self, title, results, names):
        self.title, self.results, self._names = title, results, names

    @property
    def comparisons(self):
        return self.results.comparisons

    @property
    def text(self):
        rows = [self.title, "", "%-24s %-36s %10s  %-24s %8s" % ("arm", "outcome", "difference", "95 % interval", "p (Holm)")]
        for one in self.results.summary["comparisons"]:
            if one["metric"] not in self._names:
                continue
            low, high = one["ci95"] or (None, None)
            rows.append("%-24s %-36s %10s  %-24s %8s" % (
                one["arm"], one["metric"], _short(one["difference"]),
                "%s to %s" % (_short(low), _short(high)) if low is not None else "-", _short(one["p_adjusted"])))
        return "\n".join(rows) + "\n"

    def __str__(self):
        return self.text


def _short(value):
    return "-" if value is None else "%.4g" % value


def judge(policy, against, out, *, env="islet/Loop-v0", people=50, seed=0, name="policy", duration=None, primary=None,
          training_people=False, options=None, jobs=None, **arguments):
    """Runs a policy on people, and beside it the arms of `against`, as one study in the folder `out`.

    - `policy(observations)`: gets the observations of all people (a row each), returns an action each. `policy.reset(count)` is called first where it is there.
    - `against`: for `islet/Loop-v0` algorithms (`["basal-bolus", "pid-insulin-feedback"]`), for `islet/Alarms-v0` alert policies (`["dexcom-g7"]`): names,
      or what a study's arm says in their place. The first is what all are compared with.
    - `seed`: which people; those of one seed for judging are nobody's for training, whatever the seeds.
    - `primary`: outcomes whose p is adjusted.

    Returns `Judged`.
    """
    kinds = {"islet/Loop-v0": (_env.LoopVector, _env.LOOP), "islet/Alarms-v0": (_env.AlarmsVector, _env.ALARMS)}
    if env not in kinds:
        raise ValueError("env %r: islet/Loop-v0 or islet/Alarms-v0" % (env,))
    if not against:
        raise ValueError("against: at least one arm to compare with")
    made, defaults = kinds[env]
    if duration is not None:
        arguments["duration"] = duration
    vector = made(people, judging=not training_people, **arguments)
    try:
        documents = _lived(vector, policy, people, seed + (0 if training_people else SEEDS), options or {})
    finally:
        vector.close()
    study = documents[0]
    arm = study["arms"][0]
    arm["name"] = name
    arm["algorithm"]["recorded"] = [
        (one["arms"][0]["algorithm"]["recorded"] + [""] * people)[place] for place, one in enumerate(documents)]
    others = []
    for other in against:
        if env == "islet/Loop-v0":
            others.append({"name": _called(other), "algorithm": other, "alerts": arm["alerts"]})
        else:
            loop = arguments.get("loop", defaults["loop"])
            others.append({"name": _called(other), "algorithm": loop, "alerts": other})
    study["arms"] = others + [arm]
    study["compare"] = {"reference": others[0]["name"]}
    names = list(primary or (
        ("tir_70_180_percent", "tbr_70_percent", "tbr_54_percent") if env == "islet/Loop-v0" else
        ("tbr_70_percent", "tbr_54_percent", "alerts_notifications_per_day", "alerts_notifications_night_per_day")))
    study["primary"] = names
    study["study"] = "training people" if training_people else "people never seen in training"
    if len(json.dumps(study)) > _TOO_LONG:
        raise IsletError("%d people for %s are more than one study can hold: fewer people, or less time" % (
            people, study["duration"]))
    title = (
        "TRAINING PEOPLE: %d people whom a training seed may draw, seed %d: this judges nothing." if training_people else
        "%d people never seen in training, seed %d.") % (people, seed)
    return Judged(title, Study(study).run(out, jobs=jobs), names)


def _called(arm):
    if isinstance(arm, str):
        return arm
    return arm.get("name") or arm.get("policy") or "other"


def _lived(vector, policy, people, study_seed, options):
    core = vector._core
    options = core.setup.checked(options)
    places = list(range(people))
    core.advance(core.reset(places, [study_seed] * people, [options] * people, subjects=places, count=people))
    if hasattr(policy, "reset"):
        policy.reset(people)
    while True:
        going = np.flatnonzero(~core.over)
        if not len(going):
            break
        actions = np.asarray(policy(vector._observed()))
        # Whoever is over is asked too, so that arrays keep their size; the answer is not used.
        core.act(vector._checked_actions(actions.reshape(vector.action_space.shape), vector.action_space))
        core.advance(core.step(going))
        core.over = core.over | (core.rows["status"] != 0)
    return [core.wire_of(place).episode(place)[0] for place in places]
