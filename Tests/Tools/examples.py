#!/usr/bin/env python3
"""Runs every example of README, docs, notebooks and --help as it stands there, in a folder like a reader's.

Usage: examples.py --islet BINARY [--programs FOLDER] [--times] [PAGE ...]
`--programs` says where the programs of `islet live` and its like stand, where they don't stand beside BINARY.
Studies are run as they are written but for their size: fewer people and days, where the example says nothing of either. An example that can't be
run here is named in SKIPPED with the reason. Every command has to have an example. Pages that are named are run alone, without --help; `--times` prints
the CPU seconds of the slowest. The last line is `N passed, N failed`.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "SWARM.md", "Notebooks/README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md") if "templates" not in p.parts)]

# Why an example is not run: what it needs isn't here.
SKIPPED = {
    r"islet sync .*": "it needs a server (SyncClientTests have one)",
    r"islet (replay|verify) live/.*": "there is no journal of a live session (LiveTests have some)",
    r"islet swarm --replay swarm-failures/.*": "there is no failure to replay",
}
# Words of examples that stand for something of the reader's.
STANDINS = {"STUDY.yaml": "Cohorts/quickstart.yaml", "DIR": "results/standin", "TABLE.csv": "adults.csv", "IN.csv": "inputs.csv", "OUT.csv": "trace.csv"}
# Codes that an example may leave with: a comparison may find what it asks for.
ALLOWED = {"compare": (0, 1)}
# What keeps examples short; an example that names the key itself keeps its own.
SMALL = {"cohort.generate.count": "14", "duration": "2d"}
# Programs that `islet` goes on as.
BESIDE = ["islet-live", "islet-thresholds", "islet-swarm"]

SETTINGS = """policy: mine
thresholds:
  - {{ metric: glucose, min: {low}, writtenAt: "2026-03-02T0{hour}:00:00Z", device: {device} }}
"""

# As docs/thresholds.md shows it.
VALUES = """time,subject,metric,value
2026-03-02T06:00:00Z,basil,temperature,78
2026-03-02T06:05:00Z,basil,temperature,84
2026-03-02T06:20:00Z,basil,temperature,86
2026-03-02T06:30:00Z,basil,temperature,79
2026-03-02T06:30:00Z,me,glucose,64
"""


class Reader:
    """A folder as a reader has it, with the program on the path."""

    def __init__(self, islet, programs, folder):
        self.folder = folder
        self.passed = self.failed = 0
        self.done = set()
        self.times = []
        self.has_pandas = subprocess.run([sys.executable, "-c", "import pandas"], capture_output=True).returncode == 0
        (folder / "bin").mkdir()
        if programs == islet.parent:
            (folder / "bin" / "islet").symlink_to(islet)
        else:
            # A program finds the others in the folder that it stands in itself.
            shutil.copy(islet, folder / "bin" / "islet")
            for name in BESIDE:
                (folder / "bin" / name).symlink_to(programs / name)
        self.environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "COLUMNS": "1000"}
        for name in ("Cohorts", "Tests", "docs", "Python", "C"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "results").mkdir()

    def run(self, command):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.times.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, command))
        return done

    def prepare(self, command):
        done = self.run(command)
        if done.returncode:
            sys.exit(f"examples: {command} left with {done.returncode}: {done.stderr.strip()[-300:]}")

    def says(self, command):
        return self.run(command).stdout

    def small(self, command):
        """A run, the plan of one, or what judges people by published ones (`make findings` does that whole), as it is, but short."""
        if not re.match(r"islet (run|register|validate) ", command):
            return command
        out = re.search(r"--out (\S+)", command)
        # Several pages run the same study into the same folder.
        if out and "--resume" not in command and command.startswith("islet run "):
            shutil.rmtree(self.folder / out[1], ignore_errors=True)
        if out and "--resume" in command and not (self.folder / out[1]).exists():
            return command
        sizes = dict(SMALL)
        if "--sensitivity" in command:
            sizes = {"cohort.generate.count": "6", "duration": "1d"}
        study = self.folder / command.split()[2]
        if study.is_file() and re.search(r"^cohort:.*\btable:", study.read_text(), flags=re.M):
            # People of a table are as many as they are.
            del sizes["cohort.generate.count"]
        for key, value in sizes.items():
            if f"{key}=" not in command:
                command += f" --set {key}={value}"
        return command

    def example(self, where, command):
        for word, stands in STANDINS.items():
            command = re.sub(rf"(?<![\w./-]){re.escape(word)}(?![\w.])", stands, command)
        if " node " in command and shutil.which("node") is None:
            print(f"skipped: {command}: there is no node")
            return
        for pattern, reason in SKIPPED.items():
            if re.fullmatch(pattern, command):
                print(f"skipped: {command}: {reason}")
                return
        if command in self.done:
            return
        self.done.add(command)
        command = re.sub(r"--seeds 1\.\.\d+", "--seeds 1..20", command)
        short = self.small(command)
        found = self.run(short)
        verb = command.split()[1] if command.startswith("islet ") else ""
        if found.returncode in ALLOWED.get(verb, (0,)):
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {where}: {command}\n  left with {found.returncode}: {found.stderr.strip()[-300:]}")

    def page(self, path):
        text = (ROOT / path).read_text()
        # "Save this as `mine.yaml`" and the block after it.
        for name, block in re.findall(r"[Ss]ave\s+this\s+as\s+`([\w.-]+)`.*?```yaml\n(.*?)```", text, flags=re.S):
            (self.folder / name).write_text(block)
        fence = None
        for line in text.splitlines():
            if line.startswith("```"):
                fence = line[3:] if fence is None else None
                continue
            line = re.sub(r"\s+#.*", "", line.strip())
            if fence in ("", "sh", "bash") and re.match(r"(islet|sqlite3) ", line):
                self.example(path, line)
        # Python that a reader is meant to run has to run, too; pandas is not everywhere.
        blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.S | re.M)
        # Python/tests run those of the package, with what it needs; an algorithm needs nothing.
        blocks = [b for b in blocks if "ia.serve(" in b or not re.search(r"^(import|from) islet\b", b, flags=re.M)]
        for block in blocks:
            if self.has_pandas or "ia.serve(" in block:
                self.python(path, block)
        if not self.has_pandas and any("ia.serve(" not in block for block in blocks):
            print(f"SKIPPED: Python blocks of {path}, because pandas is not here")

    def python(self, path, block):
        if "ia.serve(" in block:
            # A program that Islet starts.
            (self.folder / "block.py").write_text(block)
            found = self.run("islet algorithm check block.py")
        else:
            found = subprocess.run([sys.executable, "-c", block], cwd=self.folder, capture_output=True, text=True)
        if found.returncode:
            self.failed += 1
            print(f"FAILED {path}: a Python block: {found.stderr.strip()[-300:]}")
        else:
            self.passed += 1

    def commands(self, words=()):
        """Every command that does something, with its examples."""
        text = self.says(" ".join(["islet", *words, "--help"]))
        parts = text.split("SUBCOMMANDS:")
        below = re.findall(r"^  ([a-z][\w-]*)", parts[1].split("\n\n")[0], flags=re.M) if len(parts) > 1 else []
        shown = re.search(r"^Examples?:\n((?:  .*\n)+)", text, flags=re.M)
        examples = re.findall(r"^  (islet .*)$", shown[1], flags=re.M) if shown else []
        if not below and not examples:
            self.failed += 1
            print(f"FAILED {' '.join(['islet', *words])} --help has no example")
        for line in examples:
            self.example(f"islet {' '.join(words)} --help", line.strip())
        for name in below:
            if name != "help":
                self.commands((*words, name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--islet", required=True)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        islet = pathlib.Path(arguments.islet).absolute()
        programs = (arguments.programs or islet.parent).absolute()
        if lacking := [name for name in BESIDE if not (programs / name).exists()]:
            sys.exit(f"examples: {programs} has no {', '.join(lacking)}; --programs says where they are")
        reader = Reader(islet, programs, folder)
        size = " ".join(f"--set {key}={value}" for key, value in SMALL.items())
        quick = f"islet run Cohorts/quickstart.yaml {size} --quiet --out "
        # What examples take for granted.
        for name in ("results/main", "results/branch", "results/standin"):
            reader.prepare(quick + name)
        reader.prepare("islet run Cohorts/waiting-assumptions.yaml --set cohort.generate.count=40 --quiet --out results/pilot")
        for number in (1, 2, 3):
            reader.prepare(quick + f"shard{number} --shard {number}/3")
        reader.prepare("islet cohort export Cohorts/quickstart.yaml --set cohort.generate.count=3 --out adults.csv")
        (folder / "inputs.csv").write_text("minute,carbs_g,insulin_u\n0,0,0.02\n10,50,3\n59,0,0.01\n")
        rows = "".join(f"2026-03-02T{minute // 60:02}:{minute % 60:02}:00Z,{100 + minute % 50}\n" for minute in range(0, 1440, 5))
        (folder / "sensor.csv").write_text("time,glucose_mgdl\n" + rows)
        (folder / "values.csv").write_text(VALUES)
        (folder / "study.key").write_bytes(os.urandom(32))
        (folder / "phone.yaml").write_text(SETTINGS.format(low=70, hour=6, device="phone"))
        (folder / "tablet.yaml").write_text(SETTINGS.format(low=75, hour=7, device="tablet"))
        # As a reader of docs/algorithms.md has saved them.
        for name in ("mine.py", "mine.yaml"):
            shutil.copy(ROOT / "Python/examples" / name, folder / name)
        reader.run(quick + "results/quickstart")
        for path in arguments.pages or PAGES:
            reader.page(path)
        if not arguments.pages:
            reader.run(f"rm -rf results/quickstart; {quick} results/quickstart")
            reader.commands()
        if arguments.times:
            for seconds, command in sorted(reader.times, reverse=True)[:25]:
                print(f"{seconds:7.2f} s  {command}")
            print(f"{sum(seconds for seconds, _ in reader.times):7.2f} s  of the CPU in all, {len(reader.times)} calls")
        print(f"{reader.passed} passed, {reader.failed} failed")
        sys.exit(1 if reader.failed else 0)


if __name__ == "__main__":
    main()
