"""`islet.live` against a server of its own, and the page that shows it."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import islet
from islet.live import Driver, Refused, begin

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STUDY = """
study: driven
seed: 7
duration: 4h
cohort: { generate: { count: 2 } }
scenario: { preset: life }
arms:
  - { name: open, algorithm: basal-bolus, alerts: bionicloop }
  - { name: mine, algorithm: { recorded: [""] }, alerts: bionicloop }
"""


class Server:
    def __init__(self, folder):
        self.folder = folder
        self.start()

    def start(self):
        program = os.path.join(os.path.dirname(os.path.realpath(islet.program.program())), "islet-live")
        self.log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--data", os.path.join(self.folder, "data")],
            stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL)
        for line in self.process.stdout:
            found = re.search(rb"https?://[^\s/]+:\d+", line)
            if found:
                self.address = found.group().decode()
                return
        raise RuntimeError("the server said no address")

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Live(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.server = Server(self.scratch.name)

    def tearDown(self):
        self.server.end()
        self.scratch.cleanup()

    def drive(self, driver, steps=10 ** 6):
        stand = driver.stand
        while stand["phase"] == "running" and steps > 0:
            step = stand["step"]
            if step:
                # The last dose may be the session's end.
                stand = driver.act(step["step"], basal=0.05 + step["step"] % 7 / 100, meal=step.get("meal", 0) / 10)
                steps -= 1
            if stand["phase"] == "running":
                stand = driver.advance()
        return stand

    def again(self, driver, what):
        """A moment after the server was begun anew a session is lived again."""
        for _ in range(600):
            try:
                return what()
            except Refused as refusal:
                if refusal.status != 503:
                    raise
                time.sleep(0.05)
        raise RuntimeError("it never came back")

    def test_a_driven_session_is_the_study_with_its_doses(self):
        """Harm: what was learnt at the door holds for no study."""
        with Driver(self.server.address, begin(self.server.address, study_text=STUDY, session=3)) as driver:
            self.drive(driver, 17)
            # Killed while a step waits: the same driver goes on.
            token, waits = driver.token, driver.stand
            self.assertIsNotNone(waits["step"])
            self.server.end(signal.SIGKILL)
            self.server.start()
            driver = Driver(self.server.address, driver.session, token=token)
            stand = self.again(driver, lambda: driver.stand)
            self.assertEqual(stand, waits)
            last = self.drive(driver)
            self.assertEqual(last["phase"], "ended")
            path = os.path.join(self.scratch.name, "driven.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(driver.study)
            results = islet.Study.read(path).run(os.path.join(self.scratch.name, "out"))
            stored = results._rows("SELECT digest FROM sessions WHERE session = 3")
            self.assertEqual([(last["digest"],)], stored)

    def test_refusals_have_codes(self):
        session = begin(self.server.address, study_text=STUDY)
        driver = Driver(self.server.address, session)
        with self.assertRaises(Refused) as other:
            Driver(self.server.address, session, name="other")
        self.assertEqual((other.exception.status, other.exception.code), (409, "other-driver"))
        driver.advance()
        for wrong, code in ((lambda: driver.advance(), "held"), (lambda: driver.act(99, basal=0.1), "other-step"),
                            (lambda: driver.act(basal=-1), None), (lambda: driver.tell("meal", grams=40), "held")):
            with self.assertRaises(Refused) as refused:
                wrong()
            self.assertEqual(refused.exception.code, code)
        with self.assertRaises(ValueError):
            driver.act(basal=float("nan"))
        driver.act(basal=0.05)
        self.assertTrue(driver.tell("meal", grams=40)["number"])
        driver.leave()
        with self.assertRaises(Refused) as nobody:
            driver.advance()
        self.assertEqual(nobody.exception.code, "no-driver")

    def test_the_pages_example_runs(self):
        with open(os.path.join(ROOT, "docs", "live.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.S | re.M)
        blocks = [block for block in blocks if "islet.live" in block]
        self.assertEqual(len(blocks), 1)
        block = blocks[0].replace("http://127.0.0.1:8080", self.server.address)
        told = subprocess.run(
            [sys.executable, "-c", block], capture_output=True, text=True, cwd=self.scratch.name,
            env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        self.assertEqual(told.returncode, 0, told.stderr[-2000:])
        self.assertIn("ended", told.stdout)


if __name__ == "__main__":
    unittest.main()
