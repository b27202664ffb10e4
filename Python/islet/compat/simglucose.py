"""simglucose's controllers and names, on Islet's engine.

    from islet.compat import simglucose
    result = simglucose.simulate(MyController(), days=1, seed=1)      # a subclass of simglucose's Controller, or anything with its `policy`
    simglucose.register()                                             # simglucose/adolescent2-v0 and the like, where simglucose is installed

Guarantees: units are simglucose's at the controller's side (mg/dL, U/min, g/min) and Islet's everywhere else. simglucose's table of people is read where it is installed, and never
copied. What differs between the two stands in docs/simglucose.md.
"""

import os

import numpy as np

_STEP = 5  # min


class Observation:
    """What a controller of simglucose gets: `CGM`, mg/dL."""

    __slots__ = ("CGM",)

    def __init__(self, cgm):
        self.CGM = cgm

    def __iter__(self):
        return iter((self.CGM,))


def table():
    """The path of simglucose's table of people, where simglucose is installed; nothing of it is imported."""
    import importlib.util
    found = importlib.util.find_spec("simglucose")
    for folder in (found.submodule_search_locations if found else ()):
        path = os.path.join(folder, "params", "vpatient_params.csv")
        if os.path.isfile(path):
            return path
    raise ImportError("simglucose is not installed: its people are not ours to ship (pip install simglucose)")


def people():
    """Their names: adolescent#001 and on."""
    import csv
    with open(table(), newline="", encoding="utf-8") as file:
        return [row["Name"] for row in csv.DictReader(file)]


def cohort(name):
    """A study's cohort of one of simglucose's people."""
    return {"table": table(), "derived": "recompute", "subjects": [name]}


def register():
    """Registers `simglucose/adolescent2-v0` and the like with Gymnasium, as simglucose's documentation calls them. Says which."""
    import gymnasium
    import islet.gym  # noqa: F401: its names must be there
    names = []
    for name in people():
        group, number = name.split("#")
        known = "simglucose/%s%d-v0" % (group, int(number))
        if known not in gymnasium.registry:
            gymnasium.register(
                known, entry_point="islet.gym:Loop", vector_entry_point="islet.gym:LoopVector",
                kwargs={"people": None, "study": {"cohort": cohort(name)}})
        names.append(known)
    return names


def simulate(controller, *, days=1, seed=0, patient=None, announces_meals=True, **arguments):
    """One person under a controller of simglucose: a dictionary with `study`, `digest`, `outcomes`, and the course (`minutes`, `cgm`, `glucose`, `basal`, `bolus`).

    - `patient`: one of simglucose's people, by name; Islet's own where it is left out.
    - `announces_meals`: whether `info["meal"]` (g/min over the step) tells of a meal.
    """
    from islet.gym.environments import Loop
    if patient is not None:
        arguments.setdefault("study", {})["cohort"] = cohort(patient)
        arguments.setdefault("people", None)
    env = Loop(duration="%dd" % days, meal_bolus=False, **arguments)
    core = env._core
    try:
        _, info = env.reset(seed=seed)
        if hasattr(controller, "reset"):
            controller.reset()
        name = patient or "islet#%d" % core.who[0][0]
        course = {key: [] for key in ("minutes", "cgm", "glucose", "basal", "bolus")}
        reward, over = 0.0, False
        while not over:
            row = core.rows[0]
            cgm = None if np.isnan(row["cgm"]) else float(row["cgm"])
            grams = 0.0 if np.isnan(row["meal"]) else float(row["meal"])
            if cgm is None:
                # A controller of simglucose knows no missing reading: the programmed basal goes on.
                basal, bolus = float(core.therapy[0, 0]) / 60, 0.0
            else:
                action = controller.policy(
                    Observation(cgm), reward, False, sample_time=_STEP, patient_name=name,
                    meal=grams / _STEP if announces_meals else 0.0, time=info["minutes"])
                basal, bolus = float(action.basal), float(action.bolus)
            for key, value in (("minutes", info["minutes"]), ("cgm", cgm), ("glucose", info["truth"]["glucose"]),
                               ("basal", basal), ("bolus", bolus)):
                course[key].append(value)
            doses = core.doses
            doses["step"], doses["basal"] = core.rows["step"], max(0.0, basal) * _STEP
            doses["correction"] = max(0.0, bolus) * _STEP
            manual = float(row["manual_bolus"])
            doses["meal"] = 0.0 if np.isnan(manual) else manual
            core.advance(core.step())
            reward = float(core.rewards(env._grid)[0])
            over = bool(core.rows["status"][0])
            core.over[0] = over
            info = env._info(0, False)
        return {
            "study": env.study(), "digest": info["digest"], "outcomes": info["outcomes"], "ended_early": info["ended_early"], **course}
    finally:
        env.close()
