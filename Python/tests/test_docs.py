"""Every Python block of the pages that speak of the package runs as it stands there, in a folder like a reader's."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = ("README.md", "docs/python.md", "docs/simglucose.md", "docs/learned-alarm.md")


class Pages(unittest.TestCase):
    def test_blocks_run(self):
        ran = 0
        with tempfile.TemporaryDirectory() as folder:
            for name in ("Cohorts", "Python"):
                os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
            for page in PAGES:
                path = os.path.join(ROOT, page)
                if not os.path.exists(path):
                    continue
                with open(path, encoding="utf-8") as file:
                    blocks = re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.S | re.M)
                for block in blocks:
                    # Algorithms are run by the studies that name them.
                    if not re.search(r"^(import|from) islet\b", block, flags=re.M) or "islet.algorithm" in block:
                        continue
                    told = subprocess.run(
                        [sys.executable, "-c", block], cwd=folder, capture_output=True, text=True,
                        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
                    self.assertEqual(told.returncode, 0, "%s: %s" % (page, told.stderr[-2000:]))
                    for out in re.findall(r'"results/[\w-]+"', block):
                        subprocess.run(["rm", "-rf", os.path.join(folder, out.strip('"'))], check=True)
                    ran += 1
        self.assertGreaterEqual(ran, 4)

    def test_what_answers_name_is_taken_as_it_stands(self):
        """Each argument that the questions of docs/simglucose.md name, such as `group="child"`: an environment takes it, and steps."""
        import islet.gym as ig
        with open(os.path.join(ROOT, "docs", "simglucose.md"), encoding="utf-8") as file:
            answers = file.read().split("## Questions", 1)[1]
        self.assertEqual(len(re.findall(r"^\d+\. \*\*", answers, flags=re.M)), 20)
        named = re.findall(r"`((?:options|group|scenario|sensor|reward|meal_bolus|processes)=[^`]+)`", answers)
        self.assertGreaterEqual(len(named), 10)
        for code in named:
            with self.subTest(code):
                arguments = eval("dict(%s)" % re.sub(r"\s+", " ", code), {})
                options = arguments.pop("options", None)
                env = ig.LoopVector(2, duration="1h", **arguments)
                env.reset(seed=7, options=options)
                env.step(env.action_space.sample())
                env.close()

    def test_an_episode_has_its_truth(self):
        """What the page says of plots: the study of an episode, recorded in full, is the same session."""
        import islet.gym as ig
        env = ig.Loop(duration="1h")
        env.reset(seed=7)
        over = False
        while not over:
            *_, terminated, truncated, info = env.step(env.action_space.sample())
            over = terminated or truncated
        with tempfile.TemporaryDirectory() as folder:
            results = env.unwrapped.study().with_(record="full").run(os.path.join(folder, "out"), report=False).using("rows")
            self.assertEqual(results.sessions[0]["digest"], info["digest"])
            self.assertEqual(results.truth()[-1]["plasma_mgdl"], info["truth"]["glucose"])
        env.close()

    def test_the_examples_run(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            for words in (["judged.py", out, "4", "1d"],
                          ["train_loop.py", out + "3", "--people", "3", "--rounds", "2", "--judges", "6", "--judged-days", "1"],
                          ["train_alarm.py", out + "2", "--people", "4", "--days", "1", "--rounds", "1", "--judges", "6", "--judged-days", "1"]):
                words[0] = os.path.join(ROOT, "Python", "examples", words[0])
                told = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=dict(
                    os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
                self.assertEqual(told.returncode, 0, told.stderr[-2000:])
                self.assertIn("tbr_54_percent", told.stdout)


if __name__ == "__main__":
    unittest.main()
