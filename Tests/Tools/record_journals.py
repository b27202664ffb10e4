#!/usr/bin/env python3
"""Records journals of live sessions as this program writes them: what a later program of the same engine must live again to the digest.

Usage: record_journals.py --islet-live PATH [--out DIR]

Twenty sessions of the studies in Tests/Golden, each with some 25 lines typed, drawn by a seed: some are taken, some refused. `JournalsOfBeforeTests` lives what stands in
Tests/LiveTests/Journals/engine-N. `make golden` runs it when the engine's number has risen: the journals of the engine before go.
What names a machine's start is left out of the anchors, and the lines' checks are made anew.
"""

import argparse
import hashlib
import json
import random
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOURNALS = ROOT / "Tests" / "LiveTests" / "Journals"
# Study of Tests/Golden, session.
SESSIONS = [
    ("open-and-closed-loop", 0), ("open-and-closed-loop", 1), ("faults", 0), ("faults", 1), ("faults", 3), ("life", 0), ("life", 1), ("people-who-hear", 0),
    ("people-who-hear", 1), ("people-who-hear", 2), ("own-policy", 0), ("children", 0), ("adolescents", 0), ("ideal-sensor", 0), ("scheduled-faults", 0), ("children", 1),
    ("rooms", 0), ("rooms", 1), ("open-and-closed-loop", 2), ("open-and-closed-loop", 3),
]  # fmt: skip
ANYBODY = ["quiet 22:00-07:00", "quiet off", "front", "back", "settings", "save", "nonsense", "pause"]
PERSON = ANYBODY + [
    "meal 45", "eat 20", "announce 60", "meal 400", "bg 110", "bg 5", "cal 95", "bolus 1", "bolus 2.5", "bolus 90", "confirm", "confirm anyway", "confirm", "cancel", "stop",
    "target 120", "target 10", "temp 50% 30", "temp 150% 60", "temp 50% 7", "temp off", "suspend 30", "suspend", "resume", "pod", "sensor", "open", "close", "end", "start",
    "subject ada 70", "subject ada 0", "ack ALERT-CGM-URGENT-LOW", "snooze ALERT-CGM-URGENT-LOW 30", "unsnooze ALERT-CGM-URGENT-LOW", "test ALERT-CGM-URGENT-LOW",
    "preview ALERT-PUMP-EXPIRING", "dismiss ALERT-PUMP-EXPIRING", "tap ALERT-PUMP-EXPIRING", "ack NOBODY", "threshold glucose 70-180 15", "threshold glucose 180-70",
    "threshold glucose off", "threshold glucose on", "login", "logout", "visit",
]  # fmt: skip
ROOM = ANYBODY + ["visit", "meal 45", "threshold temperature 60-80", "threshold vpd 0.8-1.2 15", "threshold humidity 0-100", "threshold temperature off", "threshold temperature on"]
LINES = 25


def without_machine(text):
    """The journal's text whose anchors have no machine's start, with one mark of eight."""
    last, lines, marks = "", [], 0
    for line in text.splitlines():
        words = line[17:].split(" ")
        if words[0] == "pace":
            words = words[:4]
        if words[0] == "mark":
            marks += 1
            if marks % 8:
                continue
        said = " ".join(words)
        last = hashlib.sha256(f"{last} {said}".encode()).hexdigest()[:16]
        lines.append(f"{last} {said}\n")
    return "".join(lines)


def record(islet_live, study, session, draws, folder):
    kind = ROOM if study == "rooms" else PERSON
    command = [islet_live, "run", f"Tests/Golden/{study}.yaml", "--session", str(session), "--pace", "max", "--journal", str(folder)]
    ran = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def say(line):
        ran.stdin.write(f"{line}\n".encode())
        ran.stdin.flush()

    try:
        say("pause")
        for number in range(LINES):
            key = f"@k{number} " if draws.random() < 0.3 else ""
            say(key + draws.choice(kind))
            say("pace 36000")
            time.sleep(draws.uniform(0.02, 0.15))
            say("pause")
        say("pace max" if draws.random() < 0.5 else "quit")
    except BrokenPipeError:
        pass  # It has come to its end.
    problems = ran.stderr.read().decode()
    if ran.wait(60) != 0:
        raise SystemExit(f"{' '.join(command)}: {ran.returncode}: {problems}")
    return without_machine((folder / f"session-{session}.journal").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--islet-live", required=True)
    parser.add_argument("--out")
    given = parser.parse_args()
    draws = random.Random(26)
    for number, (study, session) in enumerate(SESSIONS):
        with tempfile.TemporaryDirectory() as folder:
            text = record(str(Path(given.islet_live).resolve()), study, session, draws, Path(folder))
        engine = json.loads(text.split(" ", 2)[2].split("\n", 1)[0])["engine"]
        out = Path(given.out) if given.out else JOURNALS / f"engine-{engine}"
        if not given.out and number == 0:
            for before in JOURNALS.glob("engine-*"):
                shutil.rmtree(before)
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{number:02}-{study}-{session}.journal").write_text(text)
        kinds = re.findall(r"^\S+ (\S+)(?: \S+ (taken|refused))?", text, re.M)
        print(f"{number:02} {study} {session}: {len(kinds)} lines, {kinds.count(('answer', 'taken'))} taken, {sum(k == 'refusal' or o == 'refused' for k, o in kinds)} refused")


if __name__ == "__main__":
    main()
