#!/usr/bin/env python3
"""Feeds the built program with broken studies, policies, scenarios, tables, traces, recordings and results folders.

Usage: python3 fuzz.py --islet PATH [--kind K] [--mutations N] [--seed N] [--only K] [--jobs N] [--keep DIR]

Guarantees: mutation K of a seed is the same one every time (`--only K` repeats it). Each runs the program once or more, and none of these
may happen: death by a signal, exit code 70 or one that the public contract doesn't know, more than LIMIT_SECONDS, more than 1 GiB, bad
input that says more or less than one line, an output that a refused command left, a temporary file that any command left.
Prints one line a failure, with what repeats it, and, last, `N passed, N failed`; leaves with 1 on a failure, 2 if it could not run.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import zoneinfo
from pathlib import Path

LIMIT_SECONDS = 60
LIMIT_BYTES = 1 << 30
CODES = {0, 1, 64, 65, 66, 73, 75}
PROJECT = Path(__file__).resolve().parents[2]

STUDY = """\
study: fuzzed
seed: 3
start: 2026-03-02T06:00:00-05:00
duration: 6h
cohort: { generate: { model: uva-padova-2008, group: adult, count: 1 } }
sensor: vettoretti-2019
pump: omnipod
scenario: { meals: [{ at: "07:30", carbs: 45 }, { at: 3h, carbs: 20.5 }] }
record: full
faults:
  occlusion: { rate: 0.5 }
  signal-loss: true
  app-quit: false
  scheduled: [{ at: 2h, kind: occlusion, for: 90m }]
arms:
  - { name: open-loop, algorithm: basal-bolus, alerts: bionicloop }
  - { name: closed-loop, algorithm: pid-insulin-feedback, alerts: policy.yaml }
compare: { reference: open-loop }
"""

TABLE_STUDY = """\
study: table
duration: 3h
cohort: { table: people.csv, model: uva-padova-2008 }
arms: [{ name: a, algorithm: basal-bolus }]
"""

ODD = [
    "NaN", "nan", "-1", "0", "-0", "1e308", "-1e308", "1e-308", "1e400", "inf", "-Infinity", "9223372036854775807",
    "-9223372036854775808", "9223372036854775808", "18446744073709551616", "99999999999999999999999999", "0x10", "1_000",
    "", "null", "~", "true", "no", "[]", "{}", "''", '"', "*a", "&a x", "<<", "!!binary x", "|", ">", "@", "%", "\t", "\u202e",
    "\x00", "\ufeff", "é" * 50, "a" * 5000, "3650d", "3651d", "0s", "99999999999d", "1d2h3m4s", "24:00", "23:59", "-5m",
    "2026-02-30T00:00:00Z", "9999-12-31T23:59:59+14:00", "0000-01-01T00:00:00-23:59", "../../etc/passwd", "/dev/zero", ".",
]


class Failure(Exception):
    pass


def mutated(data, rng):
    """Bytes, broken once or a few times."""
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        data = rng.choice(MUTATORS)(data, rng)
    return data


def flip(data, rng):
    if not data:
        return b"x"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def cut(data, rng):
    return data[: rng.randrange(len(data) + 1)]


def remove(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.choice([1, 2, 10, 200]) :]


def insert(data, rng):
    at = rng.randrange(len(data) + 1)
    what = rng.choice([bytes(rng.randrange(256) for _ in range(rng.choice([1, 4, 64]))), rng.choice(ODD).encode(), b"\n", b"\r\n", b": ", b"- ", b",", b"{", b"[" * 200, b"{a: " * 50])
    return data[:at] + what + data[at:]


def repeat(data, rng):
    at = rng.randrange(len(data) + 1)
    part = data[at : at + rng.choice([1, 20, 300])]
    return data[:at] + part * rng.choice([2, 3, 50]) + data[at:]


def lines(data, rng):
    rows = data.split(b"\n")
    a, b = rng.randrange(len(rows)), rng.randrange(len(rows))
    how = rng.randrange(4)
    if how == 0:
        rows[a], rows[b] = rows[b], rows[a]
    elif how == 1:
        del rows[a]
    elif how == 2:
        rows.insert(a, rows[b])
    else:
        rows[a] = rows[b]
    return b"\n".join(rows)


def value(data, rng):
    """A number or a word becomes another one."""
    spots = list(re.finditer(rb"[A-Za-z0-9_.+#-]+", data))
    if not spots:
        return insert(data, rng)
    spot = rng.choice(spots)
    other = rng.choice(spots).group() if rng.random() < 0.3 else rng.choice(ODD).encode()
    return data[: spot.start()] + other + data[spot.end() :]


MUTATORS = [flip, flip, cut, remove, insert, insert, repeat, lines, value, value, value, value]


class Fuzz:
    def __init__(self, islet, seed, keep):
        self.islet, self.seed, self.keep = islet, seed, keep
        self.folder = Path(tempfile.mkdtemp(prefix="islet-fuzz-"))
        self.lock = threading.Lock()

    def call(self, where, *arguments, seconds=LIMIT_SECONDS):
        """Runs the program; what it said, and its exit code."""
        temporary = where / "tmp"
        temporary.mkdir(exist_ok=True)
        command = [str(self.islet), *map(str, arguments)]
        said, errors = where / "said", where / "errors"

        def limits():
            resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, LIMIT_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(said, "wb") as out, open(errors, "wb") as err:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=where, preexec_fn=limits,
                env={"PATH": "/usr/bin:/bin", "NO_COLOR": "1", "TMPDIR": str(temporary)},
            )
            timer = threading.Timer(seconds, lambda: process.send_signal(signal.SIGKILL))
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            is_late = not timer.is_alive()
            timer.cancel()
            process.returncode = 0
        code = os.waitstatus_to_exitcode(status)
        text = errors.read_bytes()[-4000:].decode(errors="replace")
        told = " ".join(command)
        if is_late:
            raise Failure(f"longer than {seconds} s: {told}")
        if code < 0:
            raise Failure(f"signal {-code}: {told}: {text[-300:]}")
        if code not in CODES:
            raise Failure(f"exit code {code}: {told}: {text[-300:]}")
        if usage.ru_maxrss * 1024 > LIMIT_BYTES:
            raise Failure(f"{usage.ru_maxrss >> 10} MiB: {told}")
        if code in (65, 66):
            problems = [row for row in text.splitlines() if not row.startswith(("note: ", "warning: ", '{"sessions_done'))]
            if len(problems) != 1:
                raise Failure(f"{len(problems)} lines about bad input: {told}: {text[-300:]}")
        left = [name for name in os.listdir(temporary)] + [
            str(path.relative_to(where)) for path in where.rglob("*.partial")
        ]
        if left:
            raise Failure(f"left {left[0]}: {told}")
        return code, said.read_bytes()[:100_000].decode(errors="replace"), text

    def nothing(self, path, code, what):
        if code in (64, 65, 66) and path.exists():
            raise Failure(f"{what}: refused with {code}, and {path.name} is there")

    def prepare(self):
        base = self.folder / "base"
        base.mkdir()
        (base / "study.yaml").write_text(STUDY)
        (base / "table.yaml").write_text(TABLE_STUDY)
        scenarios = sorted((PROJECT / "Tests/AlertScenarios").glob("*.yaml"))
        (base / "policy.yaml").write_text("policy: mine\nthresholds:\n  - { metric: glucose, min: 70, max: 250 }\n")
        self.policies = sorted((PROJECT / "Tests/AlertScenarios/policies").glob("*.yaml")) + [base / "policy.yaml"]
        self.scenarios = [path for path in scenarios if path.stat().st_size < 60_000]
        steps = [
            ("cohort", "export", base / "study.yaml", "--set", "cohort.generate.count=2", "--out", base / "people.csv"),
            ("run", base / "study.yaml", "--quiet", "--out", base / "results"),
            ("run", base / "study.yaml", "--quiet", "--set", "cohort.generate.count=2", "--shard", "1/2", "--out", base / "shard1"),
            ("run", base / "study.yaml", "--quiet", "--set", "cohort.generate.count=2", "--shard", "2/2", "--out", base / "shard2"),
        ]
        for step in steps:
            code, _, text = self.call(base, *step)
            if code != 0:
                raise Failure(f"{step[0]} left with {code}: {text}")
        minutes = "\n".join(f"{k},{30 if 60 <= k < 65 else 0},{0.02 if k % 5 else 0.1}" for k in range(240))
        (base / "inputs.csv").write_text("minute,carbs_g,insulin_u\n" + minutes + "\n")
        (base / "trace.csv").write_text(
            "time,glucose_mgdl\n"
            + "".join(f"2026-03-02T{k // 12:02}:{k % 12 * 5:02}:00-05:00,{100 + 3 * (k % 40)}\n" for k in range(288))
        )
        self.recordings = self.made_recordings()
        for name, data in self.recordings.items():
            (base / name).write_bytes(data)
            code, _, text = self.call(base, "alerts", "replay", base / name, "--policy", "story", "--time-zone", "America/New_York")
            if code != 0:
                raise Failure(f"alerts replay of {name} left with {code}: {text}")
        self.base = base

    # Each kind: a fresh folder, one broken input, and what is asked of it.

    def study(self, where, rng):
        shutil.copy(self.base / "policy.yaml", where)
        shutil.copy(self.base / "people.csv", where)
        source = rng.choice(["study.yaml", "study.yaml", "table.yaml"])
        (where / "study.yaml").write_bytes(mutated((self.base / source).read_bytes(), rng))
        self.ask_study(where, where / "study.yaml")

    def ask_study(self, where, study):
        code, _, _ = self.call(where, "study", "check", study, "--resolved")
        if code != 0:
            return
        code, said, _ = self.call(where, "run", study, "--dry-run", "--out", where / "out")
        days = re.search(r"patient-days +([0-9.e+]+)", said)
        # What is well formed and long is no hang.
        if code == 0 and days and float(days.group(1)) <= 30:
            code, _, _ = self.call(where, "run", study, "--quiet", "--out", where / "out")
            self.nothing(where / "out", code, "run")

    def policy(self, where, rng):
        (where / "policy.yaml").write_bytes(mutated(rng.choice(self.policies).read_bytes(), rng))
        code, _, _ = self.call(where, "alerts", "list", "--policy", where / "policy.yaml")
        merged = where / "merged.json"
        code, _, _ = self.call(where, "alerts", "merge", where / "policy.yaml", self.base / "policy.yaml", "--out", merged)
        self.nothing(merged, code, "alerts merge")
        shutil.copy(self.base / "study.yaml", where)
        shutil.copy(self.base / "people.csv", where)
        self.ask_study(where, where / "study.yaml")

    def scenario(self, where, rng):
        source = rng.choice(self.scenarios)
        shutil.copytree(source.parent / "policies", where / "policies")
        (where / source.name).write_bytes(mutated(source.read_bytes(), rng))
        self.call(where, "alerts", "test", where / source.name)

    def table(self, where, rng):
        (where / "people.csv").write_bytes(mutated((self.base / "people.csv").read_bytes(), rng))
        shutil.copy(self.base / "table.yaml", where)
        self.ask_study(where, where / "table.yaml")
        code, _, _ = self.call(
            where, "trace", "--model", "uva-padova-2008", "--parameters", where / "people.csv", "--subject", "adult#001",
            "--inputs", self.base / "inputs.csv", "--out", where / "out.csv",
        )
        self.nothing(where / "out.csv", code, "trace")

    def trace(self, where, rng):
        (where / "trace.csv").write_bytes(mutated((self.base / "trace.csv").read_bytes(), rng))
        self.call(where, "metrics", where / "trace.csv")
        (where / "inputs.csv").write_bytes(mutated((self.base / "inputs.csv").read_bytes(), rng))
        code, _, _ = self.call(
            where, "trace", "--model", "uva-padova-2008", "--parameters", self.base / "people.csv", "--subject", "adult#001",
            "--inputs", where / "inputs.csv", "--out", where / "out.csv",
        )
        self.nothing(where / "out.csv", code, "trace")

    def recorded(self, where, rng):
        name = rng.choice(sorted(self.recordings))
        (where / name).write_bytes(mutated(self.recordings[name], rng))
        zone = rng.choice([("--time-zone", "America/New_York")] * 3 + [()])
        code, _, _ = self.call(
            where, "alerts", "replay", where / name, "--policy", "dexcom-g7", "--policy", "story", "--date-order", "dmy", *zone, "--out", where / "out"
        )
        self.nothing(where / "out", code, "alerts replay")

    @staticmethod
    def made_recordings():
        """Recorded glucose in each vendor's layout, through the night in which New York's clocks are put back."""
        start = datetime.datetime(2026, 11, 1, 2, tzinfo=datetime.timezone.utc)
        zone = zoneinfo.ZoneInfo("America/New_York")
        rows = [(start + datetime.timedelta(minutes=5 * k), 60 + k * 37 % 200) for k in range(90)]
        here = [(time.astimezone(zone), value) for time, value in rows]
        index = "Index,Timestamp (YYYY-MM-DDThh:mm:ss),Event Type,Source Device ID,Glucose Value (mg/dL),Transmitter ID\n1,,FirstName,,,\n"
        libre = "Glucose Data,Generated on,02-11-2026\nDevice;Serial Number;Device Timestamp;Record Type;Historic Glucose mmol/L;Scan Glucose mmol/L\n"
        tide = "Zulu Time,Tidepool Data Type,Value,Units,Timezone Offset,Device Id,Payload\n"
        entries = [{"type": "sgv", "sgv": value, "date": int(time.timestamp() * 1000), "device": "x", "utcOffset": -240} for time, value in rows]
        return {
            "plain.csv": ("time,glucose_mgdl\n" + "".join(f"{time.isoformat()},{value}\n" for time, value in here)).encode(),
            "nightscout.json": json.dumps(entries).replace("}, ", "},\n").encode(),
            "clarity.csv": (index + "".join(f"{k},{time:%Y-%m-%dT%H:%M:%S},EGV,phone,{value},8AM\n" for k, (time, value) in enumerate(here))).encode(),
            "libreview.csv": (libre + "".join(f"L;A;{time:%d-%m-%Y %H:%M};0;{value / 18:.1f};\n".replace(".", ",") for time, value in here)).encode(),
            "tidepool.csv": (tide + "".join(f'{time:%Y-%m-%d %H:%M:%S},cbg,{value},mg/dL,-240,d,"{{""a"": 1}}"\n' for time, value in rows)).encode(),
        }

    def results(self, where, rng):
        out = where / "results"
        source = rng.choice(["results", "results", "shard1"])
        shutil.copytree(self.base / source, out)
        for _ in range(rng.choice([1, 1, 2])):
            self.break_folder(out, rng)
        shutil.copy(self.base / "study.yaml", where)
        shutil.copy(self.base / "policy.yaml", where)
        whats = ["steps", "readings", "truth", "alerts", "events", "deliveries"]
        for _ in range(2):
            ask = rng.randrange(7)
            if ask == 0:
                self.call(where, "verify", out, "--quiet", "--sample", "1")
            elif ask == 1:
                code, _, _ = self.call(where, "export", out, "--quiet", "--what", rng.choice(whats), "--out", where / "rows.csv")
                if code != 0 and (where / "rows.csv").exists():
                    raise Failure(f"export left with {code} and rows.csv")
                (where / "rows.csv").unlink(missing_ok=True)
            elif ask == 2:
                self.call(where, "replay", out, "--session", "1", *rng.choice([(), ("--until", "1h")]))
            elif ask == 3:
                self.call(where, "alerts", "explain", out, "--session", "0")
            elif ask == 4:
                self.call(where, "run", where / "study.yaml", "--quiet", "--resume", "--out", out)
            elif ask == 5:
                code, _, _ = self.call(where, "merge", out, self.base / "shard2", "--quiet", "--out", where / "merged")
                self.nothing(where / "merged", code, "merge")
                shutil.rmtree(where / "merged", ignore_errors=True)
            else:
                self.call(
                    where, "sync", out, "--to", "http://127.0.0.1:9/", "--attempts", "1", "--timeout", "2", "--quiet",
                    "--session", "0",
                )

    def break_folder(self, out, rng):
        names = sorted(path.name for path in out.iterdir() if path.is_file())
        if not names:
            return
        name = rng.choice(names + ["study.sqlite"] * 4 + ["manifest.json"] * 2)
        path = out / name
        how = rng.random()
        if how < 0.05:
            if path.is_file():
                path.unlink()
            path.mkdir(exist_ok=True)
        elif how < 0.1:
            path.unlink(missing_ok=True) if not path.is_dir() else None
        elif name == "study.sqlite" and how < 0.7 and path.is_file():
            self.break_store(path, rng)
        elif path.is_file():
            path.write_bytes(mutated(path.read_bytes(), rng))

    def break_store(self, path, rng):
        """Values of other types and sizes, tables that go, other versions."""
        base = sqlite3.connect(path)
        try:
            tables = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            base.execute("PRAGMA foreign_keys = OFF")
            base.execute("PRAGMA ignore_check_constraints = ON")
            how = rng.randrange(10)
            table = rng.choice(tables + ["sessions", "study"] * 3)
            columns = [row[1] for row in base.execute(f'PRAGMA table_info("{table}")')]
            column = rng.choice(columns)
            if how < 6:
                odd = rng.choice([None, -1, 0, 2**63 - 1, -(2**63), 1e308, float("nan"), "", "x", b"\xff\x00", "9" * 400, rng.choice(ODD)])
                base.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ?', (odd,))
            elif how == 6:
                base.execute(f'DELETE FROM "{table}"')
            elif how == 7:
                base.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO other')
            elif how == 8:
                base.execute(f'DROP TABLE "{table}"')
            else:
                base.execute(f"PRAGMA user_version = {rng.choice([0, 1, 2, 3, 4, 99])}")
            if table == "study" and rng.random() < 0.5:
                text = base.execute("SELECT text FROM study").fetchone()
                if text and isinstance(text[0], str):
                    broken = mutated(text[0].encode(), rng).decode(errors="replace")
                    base.execute("UPDATE study SET text = ?", (broken,))
            base.commit()
        except (sqlite3.Error, OverflowError, UnicodeError):
            pass
        finally:
            base.close()

    KINDS = ["study", "study", "policy", "scenario", "table", "trace", "recorded", "results", "results"]

    def one(self, number):
        rng = random.Random(f"{self.seed}:{number}")
        kind = rng.choice(self.KINDS)
        where = self.folder / f"m{number}"
        where.mkdir()
        problem = None
        try:
            getattr(self, kind)(where, rng)
        except Failure as failure:
            problem = f"{kind}: {failure}"
        if problem and self.keep:
            shutil.copytree(where, Path(self.keep) / f"m{number}", dirs_exist_ok=True)
        shutil.rmtree(where, ignore_errors=True)
        return problem


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--islet", required=True, help="the islet binary")
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=20260402)
    parser.add_argument("--kind", choices=sorted(set(Fuzz.KINDS)), help="this kind of input alone")
    parser.add_argument("--only", type=int, help="this mutation alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="where to leave the inputs that broke something")
    options = parser.parse_args()
    fuzz = Fuzz(Path(options.islet).resolve(), options.seed, options.keep)
    if options.kind:
        fuzz.KINDS = [options.kind]
    numbers = [options.only] if options.only is not None else range(options.mutations)
    failed = 0
    try:
        try:
            fuzz.prepare()
        except Failure as failure:
            print(f"fuzz: could not prepare: {failure}")
            return 2
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for number, problem in zip(numbers, pool.map(fuzz.one, numbers)):
                if problem:
                    failed += 1
                    print(f"FAILED --seed {options.seed} --only {number}: {problem}", flush=True)
    finally:
        shutil.rmtree(fuzz.folder, ignore_errors=True)
    print(f"{len(numbers) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
