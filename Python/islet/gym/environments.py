"""`islet/Loop-v0` and `islet/Alarms-v0`, each one by one and as a vector.

Guarantees: the single environment is the vector of one: the same seeds, options and actions give the same observations, rewards and digests, row by row. Termination is an
outcome (the body left the physiological range) with a stated cost; truncation is the end of the time that was asked for, and no outcome.
"""

import copy
import math

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

try:
    from gymnasium.vector import AutoresetMode
    _AUTORESET = {"autoreset_mode": AutoresetMode.NEXT_STEP}
except ImportError:
    # Gymnasium 1.0 knows no other mode.
    _AUTORESET = {}

from ..program import IsletError
from ..studies import Study
from . import rewards as _rewards
from .core import Core, Layout
from .episodes import Setup, checked_seed

_DEFAULT_START = "2026-03-02T06:00:00-05:00"
_MINUTES = {"s": 1 / 60, "m": 1, "h": 60, "d": 1440, "w": 10080}
LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
EXTRAS = (0.0, 0.25, 0.5, 1.0)


def grid_of(duration):
    """How many true values an episode has: one each five minutes, and one at its start."""
    minutes, number = 0.0, ""
    for letter in duration:
        if letter.isdigit():
            number += letter
        elif letter in _MINUTES and number:
            minutes += int(number) * _MINUTES[letter]
            number = ""
        else:
            raise ValueError("duration %r: a length of time such as 1d, 12h or 1d12h" % duration)
    if number or not minutes > 0:
        raise ValueError("duration %r: a length of time such as 1d, 12h or 1d12h" % duration)
    return int(minutes // 5) + 1


class _Loop(Core):
    """Basal and boluses."""

    kind = "loop"

    def configure(self, boluses, discrete, basal_max, bolus_max, meal_bolus):
        self.boluses, self.discrete = boluses, discrete
        self.basal_max, self.bolus_max, self.meal_bolus = float(basal_max), float(bolus_max), meal_bolus
        if not self.basal_max >= 1:
            raise ValueError("basal_max %r: times the programmed basal, 1 or more" % (basal_max,))
        if not 0 < self.bolus_max <= 1:
            raise ValueError("bolus_max %r: a share of the total daily insulin, above 0, at most 1" % (bolus_max,))
        if discrete:
            self.action_space = (
                spaces.MultiDiscrete([len(LEVELS), len(EXTRAS)]) if boluses else spaces.Discrete(len(LEVELS)))
        else:
            self.action_space = spaces.Box(-1.0, 1.0, (2 if boluses else 1,), np.float32)

    def act_one(self, action):
        """`act` of one, in plain numbers: the same answers, without the cost of arrays. Basal, correction, meal, forecast, clipped."""
        clipped, extra = False, 0.0
        manual, grams, _ = self.asked_by(self.row)
        if self.discrete:
            if self.boluses:
                factor, extra = LEVELS[action[0]], EXTRAS[action[1]]
            else:
                factor = LEVELS[action]
        else:
            a = min(max(action[0], -1.0), 1.0)
            clipped = a != action[0]
            factor = 1 + a if a < 0 else 1 + a * (self.basal_max - 1)
            if self.boluses:
                b = min(max(action[1], -1.0), 1.0)
                clipped = clipped or b != action[1]
                extra = max(b, 0.0)
        basal, ratio, _, daily, *_ = self.one
        most, meal = self.most_dose, 0.0
        if manual == manual:
            meal = manual
        if self.meal_bolus and grams == grams:
            meal = meal + grams / ratio
        return (
            round(min(factor * basal * (1 / 12), most) * 1e6) / 1e6,
            round(min(extra * self.bolus_max * daily, most) * 1e6) / 1e6 if self.boluses else 0.0,
            round(min(meal, most) * 1e6) / 1e6 if meal else 0.0, math.nan, clipped)

    def act(self, actions):
        """Writes the doses of actions (count, …). Says which were outside of the space."""
        doses, rows = self.doses, self.rows
        if self.discrete:
            actions = actions.reshape(self.count, -1)
            factor = np.asarray(LEVELS)[actions[:, 0]]
            extra = np.asarray(EXTRAS)[actions[:, 1]] if self.boluses else 0.0
            clipped = np.zeros(self.count, bool)
        else:
            inside = np.minimum(np.maximum(actions, -1.0), 1.0)
            clipped = (inside != actions).any(axis=1)
            a = inside[:, 0].astype(np.float64)
            factor = np.where(a < 0, 1 + a, 1 + a * (self.basal_max - 1))
            extra = np.maximum(inside[:, 1].astype(np.float64), 0) if self.boluses else 0.0
        doses["step"] = rows["step"]
        # To a millionth of a unit: far below a pump's pulse, and short to write down.
        doses["basal"] = np.minimum(factor * self.therapy[:, 0] * (1 / 12), self.most_dose).round(6)
        if self.boluses:
            doses["correction"] = np.minimum(extra * self.bolus_max * self.therapy[:, 3], self.most_dose).round(6)
        # What is absent is NaN, and nothing is below 0.
        waited = np.fmax(self.reals.take(self.waited, 1), 0.0)
        if waited.any():
            meal = waited[:, 0]
            if self.meal_bolus:
                meal = meal + waited[:, 1] / self.therapy[:, 1]
            doses["meal"] = np.minimum(meal, self.most_dose).round(6)
        else:
            doses["meal"] = 0.0
        return clipped


class _Alarms(Core):
    """To ring or not; the loop is fixed."""

    kind = "alarms"

    def act_one(self, action):
        clipped = False
        _, _, glucose = self.asked_by(self.row)
        if self.action == "ring":
            wants = action == 1
        else:
            (value,) = action
            inside = min(max(value, -1.0), 1.0)
            clipped = inside != value
            wants = glucose < 70.0 + 30.0 * inside
        self.asked[0] = self.asked[0] + 1 if wants else 0
        rings = bool(self.asked[0] >= self.debounce)
        self.ringing[0] = rings
        return 0.0, 0.0, 0.0, self.RING if rings else self.QUIET, clipped
    #: The rule rings where the forecast that the environment gives is below 90 mg/dL. Both values are above those at which a loop would dose otherwise.
    RING, QUIET = 80.0, 120.0

    def configure(self, action, debounce):
        if action not in ("ring", "threshold"):
            raise ValueError("action %r: ring or threshold" % (action,))
        if isinstance(debounce, bool) or not isinstance(debounce, int) or not 1 <= debounce <= 72:
            raise ValueError("debounce %r: steps in a row, from 1 to 72" % (debounce,))
        self.action, self.debounce = action, debounce
        self.asked = np.zeros(self.count, np.int64)
        self.action_space = spaces.Discrete(2) if action == "ring" else spaces.Box(-1.0, 1.0, (1,), np.float32)

    def _start(self, places):
        self.asked[places] = 0

    def act(self, actions):
        clipped = np.zeros(self.count, bool)
        if self.action == "ring":
            wants = actions.reshape(self.count) == 1
        else:
            inside = np.minimum(np.maximum(actions, -1.0), 1.0)
            clipped = (inside != actions).any(axis=1)
            glucose = self.rows["cgm"]
            # NaN is below nothing: without a reading nothing rings.
            wants = glucose < 70.0 + 30.0 * inside[:, 0].astype(np.float64)
        self.asked = np.where(wants, self.asked + 1, 0)
        rings = self.asked >= self.debounce
        self.doses["step"] = self.rows["step"]
        self.doses["forecast"] = np.where(rings, self.RING, self.QUIET)
        self.ringing[:] = rings
        return clipped


#: The policy of `islet/Alarms-v0`: one rule, which rings where the environment says so.
POLICY = {
    "policy": "learned", "extends": "none",
    "rules": [{
        "code": "LEARNED-LOW", "when": "forecastGlucose < 90", "severity": "actionable", "acknowledge": "reviews",
        "cooldown": "0s", "repeatEvery": "15m", "truth": "low70",
    }],
}


def _loop_core(count, processes, layout, reward, *, duration, people, judging, group, start, scenario, sensor, faults,
               person, study, alerts, boluses, discrete, basal_max, bolus_max, meal_bolus):
    setup = Setup({"basalSource": "algorithm"}, alerts, duration, people, judging, group, start, scenario, sensor,
                  faults, person, study)
    core = _Loop(count, setup, layout, reward, processes)
    core.configure(boluses, discrete, basal_max, bolus_max, meal_bolus)
    return core


def _alarms_core(count, processes, layout, reward, *, duration, people, judging, group, start, scenario, sensor, faults,
                 person, study, loop, action, debounce):
    setup = Setup({"beside": loop, "forecastMinutes": 20}, POLICY, duration, people, judging, group, start, scenario,
                  sensor, faults, person, study)
    core = _Alarms(count, setup, layout, reward, processes)
    core.configure(action, debounce)
    return core


class _Made:
    """What single and vector share: how they are made, and what they tell."""

    def _make(self, make, count, processes, duration, history, observation, reward, arguments):
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 100_000:
            raise ValueError("num_envs %r: from 1 to 100000" % (count,))
        if not 1 <= processes <= count:
            raise ValueError("processes %r: from 1 to the number of environments" % (processes,))
        self._grid = grid_of(duration)
        self.layout = Layout(history)
        self.reward = _rewards.reward(reward)
        self._kind = observation
        space = self.layout.space(observation)
        self._core = make(count, processes, self.layout, self.reward, duration=duration, **arguments)
        return space, self._core.action_space

    def _observed(self):
        flat = self._core.observation()
        return flat if self._kind == "flat" else self.layout.parts(flat)

    def _checked_actions(self, actions, space):
        actions = np.asarray(actions)
        whole = space.dtype.kind == "i"
        kind = np.integer if whole else np.number
        if actions.dtype != space.dtype and not np.issubdtype(actions.dtype, kind):
            raise TypeError("an action of type %s, expected %s" % (actions.dtype, space))
        if actions.shape != space.shape:
            raise ValueError("an action of shape %s, expected %s" % (actions.shape, space.shape))
        if whole:
            if not space.contains(actions.astype(space.dtype)):
                raise ValueError("the action %s, expected one of %s" % (actions, space))
        elif not np.isfinite(actions).all():
            raise ValueError("an action that is not finite: %s" % (actions,))
        return actions

    def _info(self, place, clipped):
        core = self._core
        glucose, bolus, basal, reached, step = core.told(core.cells(place))
        info = {
            "truth": {"glucose": glucose, "bolus": bolus, "basal": basal},
            "minutes": reached / 6e10, "step": step, "clipped": bool(clipped),
            "alerts": core.alerts[place], "person": core.person[place],
        }
        end = core.ends[place]
        if end is not None:
            info["digest"], info["outcomes"], info["ended_early"] = end["digest"], end["outcomes"], end["reason"]
        return info

    def episode(self, place=0):
        """The study that the episode so far is a session of, and its digest (None before its end)."""
        if not self._core.begun[place]:
            raise IsletError("`reset` comes before `study`")
        study, end = self._core.wire_of(place).episode(place)
        return Study(study), end["digest"] if end else None


class _Single(gymnasium.Env, _Made):
    metadata = {"render_modes": []}
    _core_of = None

    def __init__(self, duration, history, observation, reward, arguments):
        self.render_mode = None
        self.observation_space, self.action_space = self._make(
            self._core_of, 1, 1, duration, history, observation, reward, arguments)

    def reset(self, *, seed=None, options=None):
        seed = checked_seed(seed)
        options = self._core.setup.checked(options)
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(0, 2**63 - 1))
        self._core.advance(self._core.reset([0], [seed], [options]))
        info = self._info(0, False)
        info["seed"] = seed
        return self._one(), info

    def _one(self):
        observed = self._observed()
        return observed[0] if self._kind == "flat" else {name: part[0] for name, part in observed.items()}

    def step(self, action):
        core = self._core
        if not core.begun[0]:
            raise IsletError("`reset` comes before the first `step`")
        if core.over[0]:
            raise IsletError("the episode is over: `reset` begins another one")
        space = self.action_space
        if type(action) is np.ndarray and action.dtype == space.dtype == np.float32 and action.shape == space.shape:
            plain = action.tolist()
            if not all(map(math.isfinite, plain)):
                raise ValueError("an action that is not finite: %s" % (action,))
        else:
            plain = self._checked_actions(action, space).tolist()
        clipped, observation, reward, status = core.step_one(plain, self._grid)
        core.over[0] = status != 0
        if self._kind != "flat":
            observation = self.layout.parts(observation)
        return observation, reward, status == 2, status == 1, self._info(0, clipped)

    def study(self):
        """The study that this episode is a session of: its run comes to `info["digest"]`."""
        return self.episode()[0]

    def close(self):
        if getattr(self, "_core", None) is not None:
            self._core.close()


class _Vector(VectorEnv, _Made):
    metadata = {"render_modes": [], **_AUTORESET}
    _core_of = None

    def __init__(self, num_envs, processes, duration, history, observation, reward, arguments):
        self.num_envs, self.render_mode = num_envs, None
        self.single_observation_space, self.single_action_space = self._make(
            self._core_of, num_envs, processes, duration, history, observation, reward, arguments)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._randoms = [None] * num_envs
        self._options = [{}] * num_envs
        self._seeds = np.zeros(num_envs, np.int64)

    def _next_seed(self, place):
        if self._randoms[place] is None:
            self._randoms[place], _ = seeding.np_random(None)
        return int(self._randoms[place].integers(0, 2**63 - 1))

    def reset(self, *, seed=None, options=None):
        """`seed`: one, of the first environment, and the next whole numbers of the others; or a list."""
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        places = list(range(self.num_envs)) if mask is None else np.flatnonzero(np.asarray(mask)).tolist()
        checked = self._core.setup.checked(options)
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (list, tuple, np.ndarray)):
            seeds = [checked_seed(one) for one in seed]
            if len(seeds) != self.num_envs:
                raise ValueError("%d seeds for %d environments" % (len(seeds), self.num_envs))
        else:
            first = checked_seed(seed)
            seeds = [checked_seed(first + place) for place in range(self.num_envs)]
        own = []
        for place in places:
            if seeds[place] is not None:
                self._randoms[place], _ = seeding.np_random(seeds[place])
            own.append(self._next_seed(place) if seeds[place] is None else seeds[place])
            self._options[place] = checked
        if not places:
            return self._observed(), {}
        self._seeds[places] = own
        core = self._core
        core.advance(core.reset(places, own, [checked] * len(places)))
        return self._observed(), self._infos(np.zeros(self.num_envs, bool), np.isin(np.arange(self.num_envs), places))

    def step(self, actions):
        core = self._core
        if not core.begun.all():
            raise IsletError("`reset` comes before the first `step`")
        actions = self._checked_actions(actions, self.action_space)
        clipped = core.act(actions)
        over = np.flatnonzero(core.over) if core.over.any() else ()
        if len(over):
            # Whose episode has ended begins the next one, and its action is not used.
            going = np.flatnonzero(~core.over)
            seeds = [self._next_seed(place) for place in over.tolist()]
            self._seeds[over] = seeds
            answers = core.step(going) if len(going) else []
            # `reset` leaves everything of the others as it is.
            answers += core.reset(over.tolist(), seeds, [{}] * len(over))
        else:
            answers = core.step()
        core.advance(answers)
        reward = core.rewards(self._grid)
        status = core.rows["status"]
        terminated, truncated = status == 2, status == 1
        core.over = terminated | truncated
        if len(over):
            reward[over] = 0.0
            clipped[over] = False
        fresh = np.zeros(self.num_envs, bool)
        if len(over):
            fresh[over] = True
        return self._observed(), reward, terminated, truncated, self._infos(clipped, fresh)

    def _infos(self, clipped, fresh):
        """As gymnasium's own vectors have them: arrays, and a mask for each."""
        core, count = self._core, self.num_envs
        rows, everyone = core.rows, np.ones(self.num_envs, bool)

        def objects(values):
            made = core.nothing.copy()
            for place in core.heard:
                made[place] = values[place]
            return made

        truth = {}
        for name, column in (("glucose", rows["true_glucose"]), ("bolus", rows["true_bolus"]), ("basal", rows["true_basal"])):
            truth[name], truth["_" + name] = column.copy(), everyone
        infos = {"truth": truth, "_truth": everyone}
        for name, column in (
                ("minutes", rows["reached"] / 6e10), ("step", rows["step"].copy()), ("clipped", clipped),
                ("alerts", objects(core.alerts)), ("person", objects(core.person))):
            infos[name], infos["_" + name] = column, everyone
        if fresh.any():
            infos["seed"], infos["_seed"] = np.where(fresh, self._seeds, 0), fresh
        ended = core.over if core.over.any() else None
        if ended is not None:
            for name, key in (("digest", "digest"), ("outcomes", "outcomes"), ("ended_early", "reason")):
                column = np.empty(count, object)
                for place in np.flatnonzero(ended):
                    column[place] = core.ends[place][key]
                infos[name], infos["_" + name] = column, ended.copy()
        return infos

    def study(self, place=0):
        """The study that an environment's episode is a session of."""
        return self.episode(place)[0]

    def close_extras(self, **kwargs):
        self._core.close()

    def __del__(self):
        core = getattr(self, "_core", None)
        if core is not None and not getattr(self, "closed", True):
            self.closed = True
            core.close()


def _common(scenario, person):
    return dict(people=100, judging=False, group="adult", start=_DEFAULT_START, scenario=scenario, sensor=None,
                faults=None, person=person, study=None)


LOOP = dict(_common(None, None), alerts="none", boluses=False, discrete=False, basal_max=4.0, bolus_max=0.05,
            meal_bolus=True)
ALARMS = dict(_common({"preset": "life"}, "typical"), loop="basal-bolus", action="ring", debounce=1)


def _arguments(defaults, given):
    from .core import checked
    checked(list(defaults) + ["duration", "history", "observation", "reward"], given)
    return dict(copy.deepcopy(defaults), **given)


class Loop(_Single):
    """To dose: a person's day, five minutes a step. docs/python.md has every argument."""

    _core_of = staticmethod(_loop_core)

    def __init__(self, *, duration="1d", history=12, observation="flat", reward="magni", render_mode=None, **given):
        super().__init__(duration, history, observation, reward, _arguments(LOOP, given))


class Alarms(_Single):
    """To ring or not: the loop is fixed, and the person may sleep on."""

    _core_of = staticmethod(_alarms_core)

    def __init__(self, *, duration="7d", history=12, observation="flat", reward="night-alarms", render_mode=None, **given):
        super().__init__(duration, history, observation, reward, _arguments(ALARMS, given))


class LoopVector(_Vector):
    """`Loop`, many at once."""

    _core_of = staticmethod(_loop_core)

    def __init__(self, num_envs=1, *, processes=1, duration="1d", history=12, observation="flat", reward="magni",
                 render_mode=None, **given):
        super().__init__(num_envs, processes, duration, history, observation, reward, _arguments(LOOP, given))


class AlarmsVector(_Vector):
    """`Alarms`, many at once."""

    _core_of = staticmethod(_alarms_core)

    def __init__(self, num_envs=1, *, processes=1, duration="7d", history=12, observation="flat", reward="night-alarms",
                 render_mode=None, **given):
        super().__init__(num_envs, processes, duration, history, observation, reward, _arguments(ALARMS, given))
