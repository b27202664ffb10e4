"""Environments: what Gymnasium asks of them, seeds, digests, rewards, bad input, and what is left when they go."""

import gc
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
import zlib

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import islet
import islet.gym as ig

LONG = "ISLET_LONG" in os.environ
LIFE = {"preset": "life"}
FAULTS = {"signal-loss": True, "pump-outage": True, "command-failure": True, "app-relaunch": True, "app-quit": True}


def same(a, b):
    """Equal to the last bit, NaN and nesting included."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return a == b


def lived(env, seed, act, options=None):
    """Observations, rewards and the last info of one episode."""
    observation, info = env.reset(seed=seed, options=options)
    seen, rewards, over = [observation], [], False
    luck = np.random.default_rng(seed)
    while not over:
        observation, reward, terminated, truncated, info = env.step(act(env, luck, observation))
        seen.append(observation)
        rewards.append(reward)
        over = terminated or truncated
    return seen, rewards, info, terminated


def drawn(env, luck, observation):
    space = env.action_space
    if isinstance(space, gymnasium.spaces.Box):
        return luck.uniform(-1, 1, space.shape).astype(np.float32)
    if isinstance(space, gymnasium.spaces.Discrete):
        return np.int64(luck.integers(space.n))
    return luck.integers(space.nvec)


class Checker(unittest.TestCase):
    KINDS = [
        ("islet/Loop-v0", {}), ("islet/Loop-v0", {"boluses": True, "observation": "dict"}),
        ("islet/Loop-v0", {"discrete": True}), ("islet/Loop-v0", {"discrete": True, "boluses": True, "history": 1}),
        ("islet/Alarms-v0", {"duration": "1d"}), ("islet/Alarms-v0", {"duration": "1d", "action": "threshold", "history": 72}),
    ]

    def test_gymnasiums_checker_has_nothing_to_say(self):
        for name, arguments in self.KINDS:
            with self.subTest(name=name, **arguments), warnings.catch_warnings():
                warnings.simplefilter("error")
                # About scaling: bounds that are not -1 and 1.
                warnings.filterwarnings("ignore", message=".*symmetric and normalized.*")
                env = gymnasium.make(name, disable_env_checker=True, **arguments).unwrapped
                check_env(env, skip_render_check=True)
                env.close()

    def test_made_by_name_without_importing_the_package(self):
        told = subprocess.run(
            [sys.executable, "-c", "import gymnasium; e = gymnasium.make('islet/Loop-v0'); print(e.reset(seed=3)[1]['seed'])"],
            capture_output=True, text=True, env=dict(os.environ))
        if "islet" not in " ".join(str(e) for e in gymnasium.registry) or told.returncode:
            # An entry point is there once the package is installed; from a folder, `islet.gym:` says where.
            told = subprocess.run(
                [sys.executable, "-c", "import gymnasium; e = gymnasium.make('islet.gym:islet/Loop-v0'); print(e.reset(seed=3)[1]['seed'])"],
                capture_output=True, text=True, env=dict(os.environ))
        self.assertEqual(told.stdout.strip(), "3", told.stderr)

    def test_observations_have_no_nan_and_keep_their_bounds(self):
        env = ig.Loop(duration="2d", faults=FAULTS, sensor="dexcom-g6", boluses=True)
        missing = 0
        for seed in range(3):
            for observation in lived(env, seed, drawn)[0]:
                self.assertTrue(env.observation_space.contains(observation))
                parts = env.layout.parts(observation)
                self.assertTrue(((parts["glucose_known"] == 1) | (parts["glucose"] == 0)).all())
                missing += parts["glucose_known"][-1] == 0
        self.assertGreater(missing, 3)
        env.close()


class Seeds(unittest.TestCase):
    def test_each_seed_is_another_first_reading(self):
        count = 1000 if LONG else 300
        env = ig.LoopVector(count, duration="1h", history=1)
        _, infos = env.reset(seed=0)
        readings = env.layout.parts(env._core.flat)["glucose"][:, 0]
        cgm = env._core.rows["cgm"]
        self.assertEqual(len(set(cgm.tolist())), count)
        self.assertEqual(len(readings), count)
        self.assertEqual(infos["seed"].tolist(), list(range(count)))
        env.close()

    def test_an_episode_is_its_seed_alone_in_company_in_another_order_and_process(self):
        count, duration = (1000, "2h") if LONG else (21, "6h")
        alone = {}
        env = ig.Loop(duration=duration, scenario=LIFE, boluses=True)
        for seed in reversed(range(count)):
            alone[seed] = lived(env, seed, drawn)
        env.close()
        for size, processes in ((1, 1), (7, 1), (7, 3), (min(100, count), 2)):
            vector = ig.LoopVector(size, processes=processes, duration=duration, scenario=LIFE, boluses=True)
            for first in range(0, count - count % size, size):
                seeds = list(range(first, first + size))
                seeds = seeds[::-1] if first % 2 else seeds
                lucks = [np.random.default_rng(seed) for seed in seeds]
                observed, _ = vector.reset(seed=seeds)
                going = dict(enumerate(seeds))
                for step in range(10_000):
                    for place, seed in going.items():
                        self.assertTrue(same(observed[place], alone[seed][0][step]), (size, seed, step))
                    actions = np.stack([luck.uniform(-1, 1, 2).astype(np.float32) for luck in lucks])
                    observed, rewards, terminated, truncated, infos = vector.step(actions)
                    for place, seed in list(going.items()):
                        self.assertEqual(rewards[place], alone[seed][1][step], (size, seed, step))
                        if terminated[place] or truncated[place]:
                            self.assertEqual(infos["digest"][place], alone[seed][2]["digest"])
                            self.assertEqual(infos["outcomes"][place], alone[seed][2]["outcomes"])
                            self.assertEqual(bool(terminated[place]), alone[seed][3])
                            self.assertEqual(len(alone[seed][1]), step + 1)
                            del going[place]
                    if not going:
                        break
                self.assertFalse(going)
            vector.close()
        told = subprocess.run(
            [sys.executable, "-c", "import test_gym as t, islet.gym as ig; e = ig.Loop(duration='%s', scenario=t.LIFE, boluses=True);" % duration +
             "print(t.lived(e, 5, t.drawn)[2]['digest'])"],
            capture_output=True, text=True, cwd=os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual(told.stdout.strip(), alone[5][2]["digest"], told.stderr)

    def test_the_vector_is_gymnasiums_own_vector_of_the_single_one(self):
        arguments = dict(duration="1h", boluses=True, alerts="dexcom-g7", person="typical")
        ours = gymnasium.make_vec("islet/Loop-v0", num_envs=3, vectorization_mode="vector_entry_point", **arguments)
        theirs = gymnasium.make_vec("islet/Loop-v0", num_envs=3, vectorization_mode="sync", **arguments)
        self.assertEqual(ours.observation_space, theirs.observation_space)
        self.assertEqual(ours.action_space, theirs.action_space)
        self.assertEqual(ours.metadata.get("autoreset_mode"), theirs.metadata.get("autoreset_mode"))
        first, second = ours.reset(seed=7), theirs.reset(seed=7)
        self.assertTrue(same(first[0], second[0]))
        luck = np.random.default_rng(1)
        for step in range(40):  # three episodes, with what comes between them
            actions = luck.uniform(-1, 1, (3, 2)).astype(np.float32)
            first, second = ours.step(actions), theirs.step(actions)
            for mine, other in zip(first[:4], second[:4]):
                self.assertTrue(same(np.asarray(mine), np.asarray(other)), step)
            for key in ("minutes", "step", "clipped"):
                self.assertEqual(first[4][key].tolist(), second[4][key].tolist(), (step, key))
            for key in ("digest", "seed"):
                self.assertEqual(key in first[4], key in second[4], (step, key))
                if key in first[4]:
                    self.assertEqual(list(first[4][key]), list(second[4][key]))
            self.assertEqual(first[4]["truth"]["glucose"].tolist(), second[4]["truth"]["glucose"].tolist())
        ours.close()
        theirs.close()

    def test_people_who_judge_are_nobodys_for_training(self):
        train, judge = ig.Loop(people=None), ig.Loop(people=None, judging=True)
        for seed in (0, 1, 2**63 - 1):
            train.reset(seed=seed)
            judge.reset(seed=seed)
            self.assertLess(train._core.who[0][0], 2**63)
            self.assertGreaterEqual(judge._core.who[0][0], 2**63)
            self.assertEqual(train.study().document["study"], "training people")
            self.assertEqual(judge.study().document["study"], "judging people")
        train.close()
        judge.close()


class Digests(unittest.TestCase):
    def run_again(self, env, info):
        with tempfile.TemporaryDirectory() as folder:
            results = env.study().run(os.path.join(folder, "räum lich"), report=False)
            row = results.using("rows").sessions[0]
            self.assertEqual(row["digest"], info["digest"])
            for name, value in info["outcomes"].items():
                self.assertEqual(row[name], value, name)
            results.verify()

    def test_the_study_of_an_episode_comes_to_its_digest(self):
        kinds = [
            dict(), dict(boluses=True, scenario=LIFE, person="typical", alerts="dexcom-g7", faults=FAULTS, duration="2d"),
            dict(meal_bolus=False, discrete=True, people=None, group="child", sensor="dexcom-g7"),
        ]
        for arguments in kinds:
            with self.subTest(**arguments):
                env = ig.Loop(**arguments)
                self.run_again(env, lived(env, 11, drawn, {"day": 3, "therapy_error": {"cr": 1.3}})[2])
                env.close()

    def test_alarms_too(self):
        for arguments in (dict(), dict(loop="pid-insulin-feedback", action="threshold", debounce=2, faults=FAULTS)):
            with self.subTest(**arguments):
                env = ig.Alarms(duration="3d", **arguments)
                seen, _, info, _ = lived(env, 4, drawn)
                self.assertGreater(info["outcomes"]["alerts_raised_per_day"], 0)
                self.run_again(env, info)
                env.close()

    def test_who_ends_early_is_told_and_has_a_digest(self):
        env = ig.Loop(boluses=True, duration="1d", bolus_max=0.5)
        _, rewards, info, terminated = lived(env, 2, lambda *_: np.ones(2, np.float32))
        self.assertTrue(terminated)
        self.assertIn("outside 10 to 1000", info["ended_early"])
        self.run_again(env, info)
        env.close()

    def test_true_glucose_stands_in_info_alone(self):
        env = ig.Loop(sensor={"model": "vettoretti-2019", "offset": 40})
        observation, info = env.reset(seed=1)
        cgm = float(env._core.rows["cgm"][0])
        self.assertAlmostEqual(float(env.layout.parts(observation)["glucose"][-1]), cgm, places=2)
        self.assertNotAlmostEqual(info["truth"]["glucose"], cgm, places=0)
        env.close()


IDLE, FLOOD = np.array([-1, -1], np.float32), np.array([1, 1], np.float32)


class Rewards(unittest.TestCase):
    """Idling, flooding and ending early beat neither basal-bolus nor PID, by any shipped reward."""

    @staticmethod
    def basal_bolus(core):
        return np.zeros((core.count, 2), np.float32)

    @staticmethod
    def pid(core):
        """A proportional loop with a derivative: the programmed basal, more above 120 mg/dL, less below and while it falls."""
        glucose = core.past[:, 0, :] * 400
        rate = 1 + (glucose[:, -1] - 120) / 60 + (glucose[:, -1] - glucose[:, -4]) / 15 * (core.past[:, 1, -4] > 0)
        rate = np.clip(rate, 0, core.basal_max)
        return np.stack([np.where(rate < 1, rate - 1, (rate - 1) / (core.basal_max - 1)), -np.ones(core.count)], 1).astype(np.float32)

    def totals(self, reward, count, ways, **arguments):
        """The mean total of each way, and how many ended early."""
        totals, ended = {}, {}
        for name, (act, meals) in ways.items():
            vector = ig.LoopVector(
                count, duration="1d", boluses=True, reward=reward, meal_bolus=meals,
                bolus_max=1.0 if name == "end early" else 0.05, **arguments)
            vector.reset(seed=0)
            total, going, early = np.zeros(count), np.ones(count, bool), 0
            while going.any():
                _, rewards, terminated, truncated, _ = vector.step(act(vector._core))
                total += np.where(going, rewards, 0)
                early += int((terminated & going).sum())
                going &= ~(terminated | truncated)
            totals[name], ended[name] = float(total.mean()), early
            vector.close()
        return totals, ended

    def test_they_are_beaten(self):
        count = 60 if LONG else 12
        ways = {
            "idle": (lambda core: np.tile(IDLE, (core.count, 1)), False), "flood": (lambda core: np.tile(FLOOD, (core.count, 1)), True),
            "end early": (lambda core: np.tile(FLOOD, (core.count, 1)), True),
            "basal-bolus": (self.basal_bolus, True), "pid": (self.pid, True),
        }
        worlds = {
            "nobody listens": dict(), "somebody eats against lows": dict(alerts="dexcom-g7", person="typical", scenario=LIFE),
        }
        for reward in ("magni", "time-in-range", "night-alarms"):
            for world, arguments in worlds.items():
                totals, ended = self.totals(reward, count, ways, **arguments)
                with self.subTest(reward=reward, world=world):
                    least = min(totals["basal-bolus"], totals["pid"])
                    for name in ("idle", "flood", "end early"):
                        self.assertLess(totals[name], least, totals)
                    if world == "nobody listens":
                        self.assertGreater(ended["end early"], count // 2)
                if LONG:
                    print(reward, world, {name: round(value, 1) for name, value in totals.items()}, ended)

    def test_an_early_end_costs_more_than_any_going_on(self):
        for reward in (ig.Magni(), ig.TimeInRange(), ig.NightAlarms()):
            values = reward.values(np.linspace(10, 1000, 5000))
            self.assertLessEqual(reward.worst, values.min() + 1e-12)

    def test_magni_by_hand(self):
        import math
        for glucose in (40.0, 70.0, 138.0, 300.0):
            self.assertAlmostEqual(
                float(ig.magni_risk(np.float64(glucose))), 10 * (3.5506 * (math.log(glucose) ** 0.8353 - 3.7932)) ** 2, places=9)

    def test_a_reward_of_ones_own_hears_the_same_as_the_shipped(self):
        shipped, told = ig.TimeInRange(), []

        def own(truth, doses, alerts, person):
            told.append(len(truth))
            return shipped(truth, doses, alerts, person)

        own.worst = shipped.worst
        a, b = ig.Loop(duration="6h", reward="time-in-range"), ig.Loop(duration="6h", reward=own)
        self.assertEqual(lived(a, 5, drawn)[1], lived(b, 5, drawn)[1])
        self.assertGreater(sum(told), 70)
        a.close()
        b.close()


class BadInput(unittest.TestCase):
    def setUp(self):
        self.env = ig.Loop(duration="1h")
        self.addCleanup(self.env.close)

    def refused(self, kind, text, call):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))

    def test_step_before_reset_and_after_the_end(self):
        action = np.zeros(1, np.float32)
        self.refused(islet.IsletError, "`reset` comes before", lambda: self.env.step(action))
        self.refused(islet.IsletError, "`reset` comes before", self.env.study)
        lived(self.env, 1, drawn)
        self.refused(islet.IsletError, "is over", lambda: self.env.step(action))
        self.env.reset(seed=1)
        self.env.step(action)

    def test_actions(self):
        self.env.reset(seed=1)
        before = self.env.study().document["arms"]
        for action, kind, text in (
                (np.zeros(2, np.float32), ValueError, "shape (2,)"), (np.array([np.nan], np.float32), ValueError, "not finite"),
                (np.array([np.inf], np.float32), ValueError, "not finite"), (["a"], TypeError, "type"), (None, TypeError, "type"),
                (np.float32(0), ValueError, "shape ()")):
            self.refused(kind, text, lambda: self.env.step(action))
        self.assertEqual(self.env.study().document["arms"], before)
        *_, info = self.env.step(np.array([7.0], np.float32))
        self.assertTrue(info["clipped"])
        *_, info = self.env.step(np.array([1.0], np.float32))
        self.assertFalse(info["clipped"])
        discrete = ig.Loop(discrete=True)
        discrete.reset(seed=1)
        for action in (6, -1):
            self.refused(ValueError, "expected one of", lambda: discrete.step(action))
        self.refused(TypeError, "type", lambda: discrete.step(0.5))
        discrete.close()

    def test_seeds_and_options(self):
        for seed, kind in ((-1, ValueError), (2**128, ValueError), (2**63, ValueError), (1.5, TypeError), ("a", TypeError), (True, TypeError)):
            self.refused(kind, "seed", lambda: self.env.reset(seed=seed))
        self.refused(ValueError, "nearest: scenario", lambda: self.env.reset(seed=1, options={"scenarios": "life"}))
        self.refused(ValueError, "subject", lambda: self.env.reset(seed=1, options={"subject": 100}))
        self.refused(ValueError, "nearest: basal", lambda: self.env.reset(seed=1, options={"therapy_error": {"bassal": 1}}))
        self.refused(islet.InputError, "nearest", lambda: self.env.reset(seed=1, options={"sensor": "dexcom-g66"}))
        # What was refused has changed nothing: the program goes on.
        self.env.reset(seed=1, options={"subject": 5, "day": 6, "sensor": "ideal", "person": "typical", "scenario": LIFE})
        self.assertEqual(self.env.study().document["sensor"], "ideal")

    def test_arguments(self):
        for arguments, kind, text in (
                ({"durations": "1d"}, TypeError, "nearest: duration"), ({"duration": "1 day"}, ValueError, "length of time"),
                ({"history": 0}, ValueError, "1 to 72"), ({"history": 73}, ValueError, "1 to 72"), ({"reward": "magny"}, ValueError, "one of"),
                ({"observation": "list"}, ValueError, "flat or dict"), ({"people": 0}, ValueError, "people"),
                ({"study": {"seed": 1}}, ValueError, "environment's own")):
            self.refused(kind, text, lambda: ig.Loop(**arguments))
        env = ig.Loop(alerts="dexcom-g77")
        self.refused(islet.InputError, "nearest", lambda: env.reset(seed=1))
        env.close()

    def test_a_program_that_dies_is_told_and_replaced(self):
        _, first = self.env.reset(seed=1)
        os.kill(self.env._core.wires[0].pid, signal.SIGKILL)
        self.refused(islet.IsletError, "signal 9", lambda: [self.env.step(np.zeros(1, np.float32)) for _ in range(3)])
        _, second = self.env.reset(seed=1)
        self.assertEqual(first, second)

    def test_two_threads_at_once_are_refused(self):
        env = ig.LoopVector(200, duration="2h")
        env.reset(seed=0)
        errors, done = [], []

        def work():
            for _ in range(12):
                try:
                    env.step(np.zeros((200, 1), np.float32))
                    done.append(1)
                except islet.IsletError as error:
                    errors.append(str(error))
                except Exception as error:  # noqa: BLE001
                    errors.append("other: %r" % error)

        threads = [threading.Thread(target=work) for _ in range(2)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertTrue(done)
        self.assertTrue(any("two threads" in error for error in errors), errors[:3])
        env.close()

    def test_no_program(self):
        told = subprocess.run(
            [sys.executable, "-c", "import islet.gym as ig; ig.Loop()"], capture_output=True, text=True,
            env=dict(os.environ, ISLET="/nowhere/islet"))
        self.assertIn("ISLET names /nowhere/islet", told.stderr)


class Damage(unittest.TestCase):
    def test_damaged_messages_are_refused_and_end_nothing_badly(self):
        """Whatever is written to it: a line of refusal, and exit code 0 at the end."""
        from islet.program import program
        study = {"duration": "1h", "cohort": {"generate": {"count": 1}}, "arms": [
            {"name": "gym", "algorithm": {"recorded": [""]}, "alerts": "none"}]}
        good = b"".join(json.dumps(message).encode() + b"\n" for message in (
            {"study": study, "name": "a"}, {"reset": [{"handle": 0, "study": "a", "seed": 1}]}))
        for step in range(6):
            frame = struct.pack("<4sIIIqqddddqd", b"ISL1", 4, 1, 64, 0, step, 0.1, 0, 0, 0, 0, float("nan"))
            good += frame + struct.pack("<I", zlib.crc32(frame))
        luck, refused = random.Random(1), 0
        for _ in range(2000 if LONG else 40):
            damaged = bytearray(good)
            for _ in range(luck.randint(1, 4)):
                place, kind = luck.randrange(len(damaged)), luck.random()
                if kind < 0.5:
                    damaged[place] = luck.randrange(256)
                elif kind < 0.75:
                    del damaged[place:place + luck.randint(1, 20)]
                else:
                    damaged[place:place] = bytes(luck.randrange(256) for _ in range(luck.randint(1, 30)))
            done = subprocess.run([program(), "gym"], input=bytes(damaged), capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""), bytes(damaged))
            refused += b'{"error":' in done.stdout
        self.assertGreater(refused, 20)


def gone(pids, seconds=10):
    for _ in range(seconds * 20):
        left = [pid for pid in pids if os.path.exists("/proc/%d" % pid) and "Z" != _state(pid)]
        if not left:
            return True
        time.sleep(0.05)
    return False


def _state(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


class Processes(unittest.TestCase):
    def test_none_is_left_after_a_del_and_a_close(self):
        for how in ("close", "del"):
            env = ig.LoopVector(4, processes=2)
            env.reset(seed=0)
            pids = [wire.pid for wire in env._core.wires]
            self.assertEqual(len(pids), 2)
            if how == "close":
                env.close()
            del env
            gc.collect()
            self.assertTrue(gone(pids), how)

    def test_none_is_left_after_an_exception_ctrl_c_and_kill(self):
        script = (
            "import islet.gym as ig, numpy as np, sys\n"
            "env = ig.LoopVector(50, processes=2, duration='30d'); env.reset(seed=0)\n"
            "print('ready', *[w.pid for w in env._core.wires], flush=True)\n"
            "if sys.argv[1] == 'raise': raise RuntimeError('on purpose')\n"
            "while True: env.step(np.zeros((50, 1), np.float32))\n")
        for how in ("raise", "SIGINT", "SIGKILL"):
            process = subprocess.Popen(
                [sys.executable, "-c", script, how], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
            # Where it fails nothing of it goes on.
            self.addCleanup(lambda group=process.pid: gone([group]) or os.killpg(group, signal.SIGKILL))
            pids = [int(word) for word in process.stdout.readline().split()[1:]]
            self.assertEqual(len(pids), 2)
            if how != "raise":
                time.sleep(0.2)
                os.killpg(process.pid, getattr(signal, how))
            process.wait(20)
            process.stdout.close()
            self.assertTrue(gone(pids), how)

    def test_a_fork_is_refused_and_the_one_who_made_it_goes_on(self):
        env, action = ig.Loop(duration="1h"), np.zeros(1, np.float32)
        expected = lived(env, 3, lambda *_: action)[2]["digest"]
        env.reset(seed=3)
        env.step(action)
        child = os.fork()
        if child == 0:
            try:
                env.step(action)
            except islet.IsletError as error:
                os._exit(7 if "after the fork" in str(error) else 1)
            os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        self.assertEqual(info["digest"], expected)
        env.close()

    def test_an_interrupted_step_does_not_answer_the_next(self):
        env = ig.Loop(duration="1h")
        expected = lived(env, 3, drawn)[2]["digest"]
        env.reset(seed=3)
        wire = env._core.wires[0]
        os.kill(wire.pid, signal.SIGSTOP)
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            env.step(np.zeros(1, np.float32))
        with self.assertRaises(islet.IsletError):
            env.step(np.zeros(1, np.float32))
        self.assertEqual(lived(env, 3, drawn)[2]["digest"], expected)
        env.close()

    def test_memory_stays_flat(self):
        env = ig.Loop(duration="1h")
        resets = 10_000 if LONG else 1_500

        def resident():
            with open("/proc/%d/statm" % env._core.wires[0].pid) as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

        for seed in range(resets // 5):
            env.reset(seed=seed)
            env.step(np.zeros(1, np.float32))
        before = resident()
        for seed in range(resets):
            env.reset(seed=seed)
            env.step(np.zeros(1, np.float32))
        grown = resident() - before
        self.assertLess(grown, 4 << 20)
        env.close()


class Judging(unittest.TestCase):
    def test_a_policy_beside_algorithms_in_the_programs_own_table(self):
        with tempfile.TemporaryDirectory() as folder:
            judged = ig.judge(
                lambda seen: np.zeros((len(seen), 1), np.float32), ["basal-bolus", "pid-insulin-feedback"],
                os.path.join(folder, "judged"), people=6, duration="1d", name="idle")
            self.assertTrue(judged.text.startswith("6 people never seen in training, seed 0."))
            summary = judged.results.summary
            self.assertEqual([arm["name"] for arm in summary["arms"]], ["basal-bolus", "pid-insulin-feedback", "idle"])
            self.assertEqual(judged.results.manifest["study"]["seed"] if "study" in judged.results.manifest else summary["seed"], 2**63)
            judged.results.verify()
            training = ig.judge(
                lambda seen: np.zeros((len(seen), 1), np.float32), ["basal-bolus"], os.path.join(folder, "training"), people=6,
                duration="12h", training_people=True)
            self.assertTrue(training.text.startswith("TRAINING PEOPLE"))

    def test_an_alarm_beside_presets(self):
        with tempfile.TemporaryDirectory() as folder:
            judged = ig.judge(
                lambda seen: (seen[:, 11] * 400 < 75).astype(int) * (seen[:, 23] > 0), ["dexcom-g7", "none"],
                os.path.join(folder, "judged"), env="islet/Alarms-v0", people=6, duration="2d", name="below-75")
            rows = {arm["name"]: arm["outcomes"] for arm in judged.results.summary["arms"]}
            self.assertGreater(rows["below-75"]["alerts_notifications_per_day"]["mean"], 0)
            judged.results.verify()


if __name__ == "__main__":
    unittest.main()
