"""Environments for Gymnasium whose seeds mean what they say.

    import gymnasium, islet.gym
    env = gymnasium.make("islet/Loop-v0")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
    env.unwrapped.study().run("results/episode")   # the same digest, once the episode is over
"""

from ..program import InputError, IsletError
from .._envs import register_all as _register_all
from .environments import ALARMS, LOOP, Alarms, AlarmsVector, Loop, LoopVector
from .judge import judge
from .rewards import Magni, NightAlarms, Reward, TimeInRange, magni_risk

__all__ = [
    "Alarms", "AlarmsVector", "InputError", "IsletError", "Loop", "LoopVector", "Magni", "NightAlarms", "Reward",
    "TimeInRange", "judge", "magni_risk",
]

_register_all()
