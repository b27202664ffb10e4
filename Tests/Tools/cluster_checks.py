#!/usr/bin/env python3
"""Shards that are tried twice, killed, run on full disks, and joined, many times; what they cost; a merge of very many sessions, made up.

    cluster_checks.py --islet .build/release/islet                      the short form
    cluster_checks.py --islet ... --twice 200 --kills 200               the long one
    cluster_checks.py --islet ... --sessions 1000000 --shards 1000      also a merge of so many, with time and memory
    cluster_checks.py --islet ... --only costs                          one of them: twice, shards, merges, disks, costs, table, many

Moments are drawn by --seed. Full disks need the right to mount one. The last line is `N passed, N failed`.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

STUDY = """\
study: cluster
seed: 11
duration: 1d
cohort: { generate: { model: uva-padova-2008, count: %d } }
arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]
"""


class Checks:
    def __init__(self, given, folder):
        self.islet, self.folder, self.random = str(pathlib.Path(given.islet).resolve()), folder, random.Random(given.seed)
        self.passed = self.failed = 0
        self.study = self.written("study.yaml", STUDY % 8)
        self.plain = self.digest_of(self.run_plain())

    def written(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def call(self, *words):
        return subprocess.run([self.islet, *map(str, words)], capture_output=True, text=True)

    def check(self, what, holds, said=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}: {said}")

    def run_plain(self):
        out = self.folder / "plain"
        said = self.call("run", self.study, "--quiet", "--no-report", "--out", out)
        assert said.returncode == 0, said.stderr
        return out

    def digest_of(self, out):
        return json.loads((out / "summary.json").read_text())["digest"]

    def shard(self, store, text):
        return [self.islet, "run", self.study, "--shard", text, "--into", store, "--scratch", self.folder / "scratch", "--jobs", "1", "--quiet"]

    def joined(self, what, store):
        out = self.folder / "joined"
        shutil.rmtree(out, ignore_errors=True)
        said = self.call("merge", store, "--quiet", "--out", out)
        self.check(what, said.returncode == 0 and self.digest_of(out) == self.plain, said.stderr)

    # What is tried

    def twice(self, times):
        """Two processes at one shard, a moment apart or none."""
        store = self.folder / "twice"
        done = 0
        while done < times:
            shutil.rmtree(store, ignore_errors=True)
            for shard in range(1, 9):
                if done == times:
                    break
                tries = [subprocess.Popen(self.shard(store, f"{shard}/8"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)]
                time.sleep(self.random.choice([0, 0, self.random.uniform(0, 0.05)]))
                tries.append(subprocess.Popen(self.shard(store, f"{shard}/8"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
                said = [(each.communicate()[1].decode(), each.returncode) for each in tries]
                left = os.listdir(store / "tries" / str(shard))
                mark = json.loads((store / "done" / str(shard)).read_text())["try"]
                self.check(f"shard {shard} twice", [code for _, code in said] == [0, 0] and left == [mark], (said, left))
                done += 1
        for shard in range(1, 9):
            subprocess.run(self.shard(store, f"{shard}/8"), check=True)
        self.check("all of them whole", self.call("status", store, "--check").returncode == 0)
        self.joined("shards run twice join to the plain run's digest", store)

    def killed_shards(self, times):
        """SIGKILL at a drawn moment: what is in the store is whole."""
        store = self.folder / "killed"
        began = time.monotonic()
        subprocess.run(self.shard(store, "8/8"), check=True)
        lasts = time.monotonic() - began
        for _ in range(times):
            shard = self.random.randint(1, 7)
            process = subprocess.Popen(self.shard(store, f"{shard}/8"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.random.uniform(0, 1.1 * lasts))
            process.kill()
            process.wait()
            said = self.call("status", store, "--check")
            self.check("a killed shard is whole or not there", said.returncode == 0, said.stdout)
            if self.random.random() < 0.3 and (store / "done" / str(shard)).exists():
                os.unlink(store / "done" / str(shard))
        for shard in range(1, 8):
            subprocess.run(self.shard(store, f"{shard}/8"), check=True)
        self.call("status", store, "--tidy")
        self.check("nothing is left over", "left over" not in self.call("status", store).stdout)
        self.joined("shards that were killed join to the plain run's digest", store)

    def killed_merges(self, times):
        store, out = self.folder / "to-merge", self.folder / "merge"
        for shard in range(1, 9):
            subprocess.run(self.shard(store, f"{shard}/8"), check=True)
        words = [self.islet, "merge", store, "--quiet", "--out", out]
        began = time.monotonic()
        subprocess.run(words, check=True)
        lasts = time.monotonic() - began
        for _ in range(times):
            shutil.rmtree(out, ignore_errors=True)
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.random.uniform(0, lasts))
            process.send_signal(signal.SIGKILL)
            process.wait()
            complete = (out / "manifest.json").exists() and json.loads((out / "manifest.json").read_text())["state"] == "complete"
            if not complete:
                again = subprocess.run(words, capture_output=True, text=True)
                self.check("a killed merge is begun again", again.returncode == 0, again.stderr)
            self.check("a merge is whole", self.digest_of(out) == self.plain and self.call("verify", out, "--sample", "0").returncode == 0)

    def full_disks(self, times):
        """A store, and a merge's folder, on a disk that is full at a drawn moment."""
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        if not self.mounted(disk, 64):
            print("skipped: full disks (no right to mount one)")
            return
        try:
            self.on_full_disks(disk, times)
        finally:
            subprocess.run(["umount", disk])

    def on_full_disks(self, disk, times):
        full = 0
        for _ in range(times):
            # The first kilobytes are the store's own files, the rest those of a shard.
            self.mounted(disk, 4 * self.random.randint(1, 80), remount=True)
            store = disk / "store"
            said = subprocess.run(self.shard(store, "1/8"), capture_output=True, text=True)
            full += said.returncode != 0
            self.check("a full disk is said in one line", said.returncode in (0, 73, 75) and said.stderr.count("\n") == (said.returncode != 0), said)
            self.check("what ran on a full disk is whole or not there", (store / "done/1").exists() == (said.returncode == 0), said)
            self.mounted(disk, 65536, remount=True)
            if (store / "store.json").exists():
                said = self.call("status", store, "--check")
                self.check("a store on a full disk is whole", said.returncode == 0, said.stdout)
            for shard in range(1, 9):
                said = subprocess.run(self.shard(store, f"{shard}/8"), capture_output=True, text=True)
                self.check("with room again it goes on", said.returncode == 0, said.stderr)
            self.check("nothing is left of what was cut off", "left over" not in self.call("status", store).stdout)
            # Then the folder of a merge.
            used = sum(path.stat().st_size // 1024 + 4 for path in store.rglob("*") if path.is_file())
            self.mounted(disk, used + 4 * self.random.randint(1, 100), remount=True)
            out = disk / "out"
            said = self.call("merge", store, "--quiet", "--out", out)
            full += said.returncode != 0
            whole = (out / "summary.json").exists()
            self.check("a merge on a full disk is whole or not there", said.returncode in (0, 73, 75) and whole == (said.returncode == 0), said)
            self.mounted(disk, 65536, remount=True)
            if not whole:
                said = self.call("merge", store, "--quiet", "--out", out)
                self.check("and is made with room again", said.returncode == 0, said.stderr)
            self.check("it comes to the plain run's digest", self.digest_of(out) == self.plain)
            for name in (store, out):
                shutil.rmtree(name)
        print(f"{full} of {2 * times} ended on a full disk")
        self.check("some disks were full", full > 0)

    @staticmethod
    def mounted(disk, kibibytes, remount=False):
        option = f"{'remount,' if remount else ''}size={kibibytes}k"
        return subprocess.run(["mount", "-t", "tmpfs", "-o", option, "none", disk], capture_output=True).returncode == 0

    # What it costs

    def costs(self, people_of_all):
        """A shard of one person of many; many shards beside one run. Seconds are the machine's: its bars are three times those that docs/clusters.md has."""
        for people in (100, 10_000, 1_000_000):
            study = self.written("alone.yaml", (STUDY % people).replace("duration: 1d", "duration: 5m"))
            best = None
            for attempt in range(3):
                store = self.folder / f"alone-{people}-{attempt}"
                measured = self.used(self.islet, "run", study, "--shard", f"{people // 2}/{people}", "--into", store, "--jobs", "1", "--quiet")
                best = min(best or measured, measured)
            seconds, _, mebibytes, status = best
            print(f"a shard of one person of {people}, two sessions of 5 min: {seconds:.3f} s, {mebibytes:.0f} MiB", flush=True)
            self.check("a shard of one person begins at once", status == 0 and seconds <= 0.3 and mebibytes <= 60, best)
        study = self.written("ten.yaml", STUDY % people_of_all)
        _, one, _, status = self.used(self.islet, "run", study, "--no-report", "--jobs", "1", "--quiet", "--out", self.folder / "one-run")
        parts = [
            self.used(self.islet, "run", study, "--shard", f"{shard}/10", "--into", self.folder / "ten", "--jobs", "1", "--quiet") for shard in range(1, 11)]
        ten = sum(cpu for _, cpu, _, _ in parts)
        print(f"{people_of_all} people × 2 arms × 1 day: one run {one:.1f} CPU s, ten shards {ten:.1f} CPU s: {ten / one:.3f} ×", flush=True)
        self.check("shards cost what one run does", status == 0 and all(part[3] == 0 for part in parts) and ten <= 1.1 * one, (one, ten))
        self.measured("merge", self.folder / "ten", "--quiet", "--out", self.folder / "ten-joined", bars=(600, 512))
        self.check("and come to its digest", self.digest_of(self.folder / "ten-joined") == self.digest_of(self.folder / "one-run"))
        done = self.used(self.islet, "run", study, "--shard", "1/10", "--into", self.folder / "ten", "--quiet")
        print(f"a shard that is done: {done[0]:.3f} s", flush=True)
        self.check("a shard that is done is left at once", done[3] == 0 and done[0] <= 0.6, done)

    def table(self, rows):
        """People of a table that is long: it stands once in the store."""
        path, text = self.folder / "people.csv", self.written("table.yaml", STUDY % 1)
        said = self.call("cohort", "export", text, "--out", path)
        assert said.returncode == 0, said.stderr
        header, person = path.read_text().splitlines()
        with open(path, "w") as file:
            file.write(header + "\n")
            for row in range(rows):
                file.write(person.replace("adult#001", f"p{row}", 1) + "\n")
        study = self.written("table.yaml", (STUDY % 1).replace("{ generate: { model: uva-padova-2008, count: 1 } }", "{ table: people.csv }").replace("1d", "5m"))
        store, size = self.folder / "table-store", path.stat().st_size
        for shard in (1, rows // 2, rows):
            seconds, cpu, mebibytes, status = self.used(self.islet, "run", study, "--shard", f"{shard}/{rows}", "--into", store, "--jobs", "1", "--quiet")
            print(f"a shard of one row of {rows} ({size / 1e6:.0f} MB): {seconds:.2f} s, {cpu:.2f} CPU s, {mebibytes:.0f} MiB", flush=True)
            self.check("a shard of a long table runs", status == 0)
        there = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
        print(f"the store has {there / 1e6:.1f} MB after three shards", flush=True)
        self.check("a table stands once in its store", there < 1.1 * size + 3e6, (there, size))
        self.measured("status", store, "--check")
        out = self.folder / "table-part"
        self.measured("merge", store, "--shards", f"1,{rows // 2},{rows}", "--quiet", "--out", out, bars=(600, 512))

    def used(self, *words):
        """Wall s, CPU s, MiB, status of a child."""
        began = time.monotonic()
        process = subprocess.Popen([*map(str, words)], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, status

    # Very many

    def many(self, sessions, shards):
        """A store of made-up outcomes, joined at once and as a tree."""
        people, own = sessions // 2, sessions // 2 // shards
        assert own * shards == people, "as many people in each shard"
        store = self.folder / "many"
        began = time.monotonic()
        self.make_many(store, people, shards, own)
        print(f"made up {sessions} sessions in {shards} shards in {time.monotonic() - began:.0f} s")
        flat = self.measured("merge", store, "--quiet", "--out", self.folder / "flat", bars=(600, 512))
        half = shards // 2
        for name, chosen in (("left", f"1-{half}"), ("right", f"{half + 1}-{shards}")):
            self.measured("merge", store, "--shards", chosen, "--quiet", "--out", self.folder / name)
        self.measured("merge", self.folder / "right", self.folder / "left", "--quiet", "--out", self.folder / "tree")
        for name in ("summary.json", "sessions.csv", "alerts.csv", "cohort.csv"):
            same = flat and subprocess.run(["cmp", "-s", self.folder / "flat" / name, self.folder / "tree" / name]).returncode == 0
            self.check(f"a tree of merges has the same {name}", same)

    def measured(self, *words, bars=None):
        seconds, cpu, mebibytes, status = self.used(self.islet, *words)
        print(f"{' '.join(getattr(word, 'name', str(word)) for word in words)}: {seconds:.1f} s, {cpu:.1f} CPU s, {mebibytes:.0f} MiB", flush=True)
        holds = status == 0 and (bars is None or (seconds <= bars[0] and mebibytes <= bars[1]))
        self.check(f"{words[0]} of very many within {bars}", holds, (status, seconds, mebibytes))
        return status == 0

    def make_many(self, store, people, shards, own):
        study = self.written("many.yaml", STUDY % people)
        said = self.call("run", study, "--shard", f"1/{people}", "--into", self.folder / "one", "--quiet")
        assert said.returncode == 0, said.stderr
        one = self.folder / "one"
        mark = json.loads((one / "done/1").read_text())
        template = one / "tries/1" / mark["try"]
        manifest = json.loads((template / "manifest.json").read_text())
        for name in ("done", "tries", "underway"):
            (store / name).mkdir(parents=True)
        shutil.copy(one / "study.yaml", store)
        facts = json.loads((one / "store.json").read_text())
        (store / "store.json").write_text(json.dumps(facts | {"shards": shards}))
        draws = random.Random(5)
        header, person_row = (template / "people.csv").read_text().splitlines()
        for shard in range(1, shards + 1):
            folder = store / "tries" / str(shard) / "made"
            folder.mkdir(parents=True)
            for name in set(manifest["files"]) - {"study.sqlite", "cohort.csv", "people.csv"}:
                shutil.copy(template / name, folder)
            first = (shard - 1) * own
            rows = [person_row.replace("adult#001", f"adult#{person + 1:03}", 1) for person in range(first, first + own)]
            (folder / "people.csv").write_text("\n".join([header, *rows, ""]))
            self.make_sessions(template / "study.sqlite", folder / "study.sqlite", range(first, first + own), draws)
            lines = [f"person,{person},{hashlib.md5(str(person).encode()).hexdigest()}" for person in range(first, first + own)]
            (folder / "cohort.csv").write_text("\n".join(["of,index,digest", *lines, ""]))
            files = {name: "sha256:" + hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in manifest["files"]}
            text = json.dumps(manifest | {"shard": f"{shard}/{shards}", "files": files})
            (folder / "manifest.json").write_text(text)
            own_mark = mark | {"shard": shard, "of": shards, "try": "made", "manifest_sha256": hashlib.sha256(text.encode()).hexdigest()}
            (store / "done" / str(shard)).write_text(json.dumps(own_mark))

    def make_sessions(self, template, path, people, draws):
        shutil.copy(template, path)
        db = sqlite3.connect(path)
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        columns = [row[1] for row in db.execute("PRAGMA table_info(sessions)")]
        of_arm = {row[columns.index("arm_index")]: row for row in db.execute("SELECT * FROM sessions")}
        alerts = {arm: list(db.execute("SELECT * FROM alerts_coded WHERE session = ?", [row[0]])) for arm, row in of_arm.items()}
        for (name,) in list(db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")):
            if "session" in [row[1] for row in db.execute(f"PRAGMA table_info({name})")] and name != "sessions":
                db.execute(f"DELETE FROM {name}")
        db.execute("DELETE FROM sessions")
        places = {name: columns.index(name) for name in ("session", "subject_index", "subject", "arm_index", "digest", "checkpoints")}
        kinds = [row[2] for row in db.execute("PRAGMA table_info(sessions)")]
        known, uniform = columns.index("lived_days"), draws.random
        own = {
            arm: [place for place, kind in enumerate(kinds) if place > known and kind == "REAL" and row[place] is not None] for arm, row in of_arm.items()}
        rows, counts = [], []
        for person in people:
            for arm, row in of_arm.items():
                row = list(row)
                for place in own[arm]:
                    row[place] *= 0.8 + 0.4 * uniform()
                session = 2 * person + arm
                row[places["session"]], row[places["subject_index"]], row[places["subject"]] = session, person, f"adult#{person + 1:03}"
                row[places["digest"]] = hashlib.md5(str(session).encode()).hexdigest()
                rows.append(row)
                counts += [(session, *tally[1:]) for tally in alerts[arm]]
        db.executemany(f"INSERT INTO sessions VALUES ({','.join('?' * len(columns))})", rows)
        if counts:
            db.executemany(f"INSERT INTO alerts_coded VALUES ({','.join('?' * len(counts[0]))})", counts)
        db.commit()
        db.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--islet", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--twice", type=int, default=16)
    parser.add_argument("--kills", type=int, default=16)
    parser.add_argument("--sessions", type=int, default=4000)
    parser.add_argument("--shards", type=int, default=20)
    parser.add_argument("--disks", type=int, default=8)
    parser.add_argument("--people", type=int, default=4000, help="of the study that runs at once and in ten shards")
    parser.add_argument("--rows", type=int, default=20_000, help="of the long table")
    parser.add_argument("--only", action="append", choices=("twice", "shards", "merges", "disks", "costs", "table", "many"))
    parser.add_argument("--folder", help="where it works; a temporary one otherwise")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="islet-cluster-", dir=given.folder) as folder:
        checks = Checks(given, pathlib.Path(folder))
        for name, run in (
            ("twice", lambda: checks.twice(given.twice)), ("shards", lambda: checks.killed_shards(given.kills)),
            ("merges", lambda: checks.killed_merges(max(1, given.kills // 2))), ("disks", lambda: checks.full_disks(given.disks)), ("costs", lambda: checks.costs(given.people)),
            ("table", lambda: checks.table(given.rows)), ("many", lambda: checks.many(given.sessions, given.shards)),
        ):
            if name in (given.only or (name,)):
                run()
    print(f"{checks.passed} passed, {checks.failed} failed")
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
