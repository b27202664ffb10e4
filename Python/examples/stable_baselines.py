"""PPO of stable-baselines3 on islet/Loop-v0, then judged on people never seen. Not run by tests: it pulls torch.

    pip install stable-baselines3
    python3 Python/examples/stable_baselines.py results/ppo
"""

import sys

import gymnasium
import islet.gym
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

env = make_vec_env(lambda: gymnasium.make("islet/Loop-v0", duration="1d", reward="magni"), n_envs=8)
model = PPO("MlpPolicy", env, n_steps=288, batch_size=288, gamma=0.99, verbose=1, device="cpu")
model.learn(total_timesteps=400_000)

print(islet.gym.judge(
    lambda seen: model.predict(seen, deterministic=True)[0], ["basal-bolus", "pid-insulin-feedback"], sys.argv[1], people=50,
    duration="1d", name="ppo").text)
