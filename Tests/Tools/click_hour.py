#!/usr/bin/env python3
"""Clicks about on the sessions of a ward for an hour, stops the server, and lives each session again from its journal: digests must be equal.

Usage: click_hour.py --islet-live PATH [--minutes 60] [--islet PATH] [--seed N] [--pace 60]

A demonstration ward and four sessions of its own get every command that the API knows, with values from the middle and the ends of their ranges, and paces between.
The server is killed once on the way. What each session last said of itself (`digest`) must be what `islet verify` finds in its journal. The last line is `N passed, N failed`.
"""

import argparse
import random
import re
import subprocess
import sys
import time

from page_server import Checks, Server, beside


def clicks(chance, codes, pace):
    """One command with fields, most of them sensible."""
    number = chance.uniform
    return chance.choice(
        [
            lambda: ("meal", {"grams": round(number(1, 90), 1), "eaten": True, "announced": chance.random() < 0.7}),
            lambda: ("bloodGlucose", {"mgdl": round(number(40, 300))}),
            lambda: ("calibration", {"mgdl": round(number(70, 250))}),
            lambda: ("requestBolus", {"units": round(number(0.05, 4), 2)}),
            lambda: ("cancelOwed", {}),
            lambda: ("cancelBolus", {}),
            lambda: ("target", {"mgdl": round(number(80, 180))}),
            lambda: ("temporaryBasal", {"percent": chance.choice((0, 50, 150, 1000)), "minutes": 5 * chance.randint(1, 24)}),
            lambda: ("cancelTemporaryBasal", {}),
            lambda: ("suspend", {"minutes": chance.choice((None, 5, 30))}),
            lambda: ("resume", {}),
            lambda: ("changePod", {}) if chance.random() < 0.2 else ("resume", {}),
            lambda: ("changeSensor", {}) if chance.random() < 0.1 else ("resume", {}),
            lambda: ("openLoop", {}),
            lambda: ("closedLoop", {}),
            lambda: ("startSession", {}),
            lambda: ("endSession", {}) if chance.random() < 0.2 else ("startSession", {}),
            lambda: ("subject", {"id": chance.choice(("ann", "b ö ✓", "x" * 100)), "kilograms": round(number(20, 150), 1)}),
            lambda: ("acknowledge", {"alert": chance.choice(codes)}),
            lambda: ("snooze", {"alert": chance.choice(codes), "minutes": chance.choice((1, 30, 1440))}),
            lambda: ("endSnooze", {"alert": chance.choice(codes)}),
            lambda: ("testAlert", {"alert": chance.choice(codes)}),
            lambda: ("preview", {"alert": chance.choice(codes)}),
            lambda: ("dismiss", {"alert": chance.choice(codes)}),
            lambda: ("tap", {"alert": chance.choice(codes)}),
            lambda: ("quietHours", chance.choice(({"from": "22:00", "to": "07:00"}, {"from": None, "to": None}, {"from": "00:00", "to": "23:59"}))),
            lambda: ("threshold", {"metric": "glucose", "low": round(number(45, 130)), "high": round(number(140, 390)), "sensitivity_minutes": chance.choice((0, 15, 60)), "enabled": chance.random() < 0.9}),
            lambda: ("foreground", {}),
            lambda: ("background", {}),
            lambda: ("signOut", {}),
            lambda: ("signIn", {}),
            lambda: ("openSettings", {}),
            lambda: ("saveSettings", {}),
            lambda: ("pace", {"pace": chance.choice((pace, pace, "1", "600", "paused"))}),
        ]
    )()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--islet-live", required=True)
    arguments.add_argument("--islet")
    arguments.add_argument("--minutes", type=float, default=60)
    arguments.add_argument("--pace", default="60")
    arguments.add_argument("--seed", type=int, default=7)
    given = arguments.parse_args()
    islet = beside(given.islet_live, given.islet)
    if not islet:
        print("click_hour: no islet to verify journals with; --islet PATH")
        sys.exit(2)
    chance, check = random.Random(given.seed), Checks()
    told, refused, broken = 0, {}, []
    with Server(given.islet_live, demo=True) as server:
        client = server.client()
        for number in range(4):
            client.create(session=number, pace=given.pace, name=f"clicked {number}")
        cards = client.sessions()
        codes = sorted({c["top_alert"] for c in cards if c.get("top_alert")} | {"ALERT-PUMP-FAULT", "ALERT-PUMP-SIGNAL-LOSS", "THRESHOLD-GLUCOSE-LOW", "ALERT-CGM-URGENT-LOW", "LOW"})
        end, killed = time.monotonic() + given.minutes * 60, False
        kill_at = time.monotonic() + given.minutes * 30
        while time.monotonic() < end:
            session = chance.choice(cards)["id"]
            command, fields = clicks(chance, codes, given.pace)
            status, answer = client.json("POST", f"/api/sessions/{session}/commands", {"command": command, **fields})
            told += status == 202
            if status != 202:
                refused[status] = refused.get(status, 0) + 1
            if status >= 500:
                broken.append((command, fields, answer))
            if command == "requestBolus" and status == 202 and chance.random() < 0.7:
                waiting = (client.snapshot(session).get("loop") or {}).get("requested_bolus")
                if waiting:
                    client.command(session, "confirmBolus", request=waiting["request"], units=waiting["units"])
            if not killed and time.monotonic() > kill_at:
                server.kill()
                server.start()
                killed = True
            time.sleep(chance.random() * 0.2)
        check("clicks.no-5xx", not broken, broken[:3])
        check("clicks.most-are-taken", told > 10 and told > sum(refused.values()) / 3, (told, refused))
        for card in cards:
            client.command(card["id"], "pace", pace="paused")
        time.sleep(3)
        said = {card["id"]: client.snapshot(card["id"]) for card in cards}
        code = server.stop()
        check("clicks.server-stops", code == 0, code)
        journals = sorted(server.data.rglob("*.journal"))
        check("clicks.each-session-has-a-journal", len(journals) >= len(cards), (len(journals), len(cards)))
        for path in journals:
            ran = subprocess.run([str(islet), "verify", str(path)], capture_output=True, text=True)
            session = next((i for i in said if i in str(path.relative_to(server.data))), None)
            check(f"clicks.{session}: verify", ran.returncode == 0, ran.stdout + ran.stderr)
            found = re.search(r"digest ([0-9a-f]{32})", ran.stdout)
            check(f"clicks.{session}: digest", session is None or (found and found.group(1) == said[session].get("digest")), (found and found.group(1), said.get(session, {}).get("digest")))
        print(f"{told} commands taken, refused {refused}; {len(journals)} journals", flush=True)
    check.end()


if __name__ == "__main__":
    main()
