#!/usr/bin/env python3
"""Follower clients from the package index against a virtual person of `islet-live serve`, unmodified but for the address.

Usage: check_clients.py --islet-live PATH [--load SESSIONS [--seconds 600]]

  pydexcom 0.5.1, py-nightscout 1.3.3, python-nightscout 1.0.0: every call of theirs that reads glucose, treatments, profiles, status and device status, listed call by
  call with what it gave; what a client posts, by plain HTTP; a session that begins now, and is as old as an app's own clock says.
  docs/followers.md: its Python and its curl lines, as they stand there but for address and id
  --load   so many sessions with five clients each that poll as apps do: each reading is seen once by each client, and /healthz answers in time

Run it in an environment with Tests/Tools/client_requirements.txt. The last line is `N passed, N failed`.
"""

import argparse
import asyncio
import datetime
import importlib.metadata
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import nightscout
import py_nightscout
import pydexcom
import pydexcom.dexcom

from page_server import Checks, Server, until

PAGE = Path(__file__).resolve().parents[2] / "docs/followers.md"
VERSIONS = {"pydexcom": "0.5.1", "py-nightscout": "1.3.3", "python-nightscout": "1.0.0"}
UTC = datetime.timezone.utc


def make(client, name, **more):
    body = {"person": "adult", "scenario": "life", "name": name, "start": "now-05:00", "seed": 35, **more}
    status, answer = client.json("POST", "/api/sessions", body)
    if status != 201:
        raise RuntimeError(f"no session: {status} {answer}")
    return answer["id"]


class Calls:
    """Each call by its name: whether it worked, and what it gave."""

    def __init__(self, check):
        self.check, self.rows = check, []

    def __call__(self, name, act, holds, says):
        try:
            value = act()
            ok, said = holds(value), says(value)
        except Exception as problem:  # noqa: BLE001: whatever a client throws is its answer.
            ok, said = False, f"{type(problem).__name__}: {problem}"
        self.rows.append((name, "works" if ok else "FAILS", said))
        self.check(name, ok, said)

    def show(self):
        print("\n| call | | what it gave |\n|---|---|---|")
        for row in self.rows:
            print("| " + " | ".join(str(cell) for cell in row) + " |")


def age(when):
    return (datetime.datetime.now(UTC) - when).total_seconds()


def is_fresh(when):
    """As old as a reading may be, by this machine's own clock."""
    return -5 <= age(when) < 420


def dexcom(calls, server, session):
    # The client's address is a constant of its own.
    pydexcom.dexcom.DEXCOM_BASE_URLS[pydexcom.Region.US] = f"{server.address}/ShareWebServices/Services/"
    name = "pydexcom 0.5.1"
    made = {}

    def log_in(**who):
        made["client"] = pydexcom.Dexcom(password="any", **who)
        return made["client"]

    calls(f"{name}: Dexcom(username=...)", lambda: log_in(username=session), lambda c: c.account_id, lambda c: f"account {c.account_id}")
    account = made["client"].account_id
    calls(f"{name}: Dexcom(account_id=...)", lambda: log_in(account_id=account), lambda c: c.username is None, lambda c: "logged in")
    client = made["client"]

    def one(reading):
        return (
            reading is not None
            and 10 <= reading.value <= 1000
            and reading.mg_dl == reading.value
            and 0 < reading.mmol_l < 60
            and reading.trend_arrow
            and reading.trend_description is not None
            and is_fresh(reading.datetime)
            and reading.datetime.utcoffset() == datetime.timedelta(hours=-5)
        )

    def tell(reading):
        return f"{reading.value} mg/dL {reading.trend_arrow} ({reading.trend_description}), {age(reading.datetime):.0f} s old, at {reading.datetime}"

    calls(f"{name}: get_current_glucose_reading()", client.get_current_glucose_reading, one, tell)
    calls(f"{name}: get_latest_glucose_reading()", client.get_latest_glucose_reading, one, tell)
    calls(
        f"{name}: get_glucose_readings()",
        client.get_glucose_readings,
        lambda rows: len(rows) > 250 and rows == sorted(rows, key=lambda r: r.datetime, reverse=True) and len({r.datetime for r in rows}) == len(rows),
        lambda rows: f"{len(rows)} readings",
    )
    calls(
        f"{name}: get_glucose_readings(minutes=60, max_count=6)",
        lambda: client.get_glucose_readings(minutes=60, max_count=6),
        lambda rows: len(rows) == 6 and age(rows[-1].datetime) < 3600,
        lambda rows: f"{len(rows)} readings",
    )
    # A session that is over is begun anew by the client.
    client._session_id = "12345678-1234-1234-1234-123456789012"
    calls(f"{name}: get_latest_glucose_reading() after its log-in has lapsed", client.get_latest_glucose_reading, one, tell)
    try:
        pydexcom.Dexcom(username="nobody", password="any")
        said = "let in"
    except Exception as problem:  # noqa: BLE001
        said = type(problem).__name__
    calls(f"{name}: Dexcom(username='nobody')", lambda: said, lambda s: s in ("AccountError", "ServerError"), lambda s: f"refused: {s}")


def asynchronous(calls, server, session):
    name = "py-nightscout 1.3.3"
    client = py_nightscout.Api(f"{server.address}/ns/{session}")

    def run(make):
        return lambda: asyncio.run(make())

    calls(
        f"{name}: get_sgvs()",
        run(client.get_sgvs),
        lambda rows: len(rows) == 10 and is_fresh(rows[0].date) and all(isinstance(one.delta, (int, float)) and one.direction for one in rows),
        lambda rows: f"{len(rows)} readings, the newest {rows[0].sgv} mg/dL = {rows[0].sgv_mmol} mmol/L, delta {rows[0].delta}, {rows[0].direction}, {age(rows[0].date):.0f} s old",
    )
    calls(
        f"{name}: get_server_status()",
        run(client.get_server_status),
        lambda one: one.status == "ok" and one.apiEnabled is True and one.settings["units"] == "mg/dl",
        lambda one: f"{one.status}, version {one.version}",
    )
    calls(
        f"{name}: get_treatments()",
        run(client.get_treatments),
        lambda rows: len(rows) > 5 and all(one.eventType and one.created_at for one in rows) and any(one.carbs for one in rows) and any(one.insulin for one in rows),
        lambda rows: f"{len(rows)} treatments, {sum(one.insulin or 0 for one in rows):.1f} U, {sum(one.carbs or 0 for one in rows):.0f} g",
    )

    def profile(found):
        return found.get_profile_definition_active_at(datetime.datetime.now(UTC)).get_default_profile()

    calls(
        f"{name}: get_profiles()",
        run(client.get_profiles),
        lambda found: profile(found).basal.value_at_date(datetime.datetime.now(profile(found).timezone)) > 0 and profile(found).dia > 0,
        lambda found: f"basal {profile(found).basal.entries[0].value} U/h, sens {profile(found).sens.entries[0].value}, {profile(found).timezone}",
    )
    calls(
        f"{name}: get_devices_status()",
        run(client.get_devices_status),
        lambda rows: len(rows) == 1 and rows[0].pump.reservoir > 0 and is_fresh(rows[0].created_at),
        lambda rows: f"{rows[0].device}: {rows[0].pump.reservoir} U left, {age(rows[0].created_at):.0f} s old",
    )
    calls(
        f"{name}: get_latest_devices_status()",
        run(client.get_latest_devices_status),
        lambda by: len(by) == 1 and next(iter(by.values())).pump.status is not None,
        lambda by: ", ".join(by),
    )


def synchronous(calls, server, session):
    name = "python-nightscout 1.0.0"
    client = nightscout.Api(f"{server.address}/ns/{session}")
    calls(
        f"{name}: get_sgvs()", client.get_sgvs, lambda rows: len(rows) == 10 and is_fresh(rows[0].date), lambda rows: f"{len(rows)} readings, the newest {rows[0].sgv} mg/dL"
    )
    hour = datetime.datetime.now(UTC).replace(microsecond=0) - datetime.timedelta(hours=1)
    for field, value in (("dateString", hour.strftime("%Y-%m-%dT%H:%M:%S.000Z")), ("date", int(hour.timestamp() * 1000))):
        calls(
            f"{name}: get_sgvs(count=0, find[{field}][$gte]=an hour ago)",
            lambda field=field, value=value: client.get_sgvs({"count": 0, f"find[{field}][$gte]": value}),
            lambda rows: 11 <= len(rows) <= 13 and rows[-1].date >= hour,
            lambda rows: f"{len(rows)} readings",
        )
    calls(f"{name}: get_treatments()", client.get_treatments, lambda rows: len(rows) > 5 and rows[0].created_at, lambda rows: f"{len(rows)} treatments, the newest {rows[0].eventType}")
    calls(
        f"{name}: get_treatments(count=3, find[carbs][$gte]=1)",
        lambda: client.get_treatments({"count": 3, "find[carbs][$gte]": 1}),
        lambda rows: len(rows) == 3 and all(one.carbs >= 1 for one in rows),
        lambda rows: ", ".join(f"{one.carbs:.0f} g" for one in rows),
    )
    calls(
        f"{name}: get_treatments(find[timestamp][$gte]=an hour ago)",
        lambda: client.get_treatments({"count": 0, "find[timestamp][$gte]": hour.strftime("%Y-%m-%dT%H:%M:%S.000Z")}),
        lambda rows: rows and rows[-1].timestamp >= hour,
        lambda rows: f"{len(rows)} treatments",
    )
    for params in ({}, {"count": 0, "find[startDate][$gte]": "2017-03-07T01:10:26.000Z"}):
        calls(
            f"{name}: get_profiles({'...' if params else ''})",
            lambda params=params: client.get_profiles(params),
            lambda found: found.get_profile_definition_active_at(datetime.datetime.now(UTC)).get_default_profile().basal.entries[0].value > 0,
            lambda found: f"{len(found.profile_definitions)} profile",
        )


def plain(calls, server, session):
    """What an app posts, and reads again."""
    client = server.client()
    at = (datetime.datetime.now(UTC) - datetime.timedelta(minutes=4)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    body = {"eventType": "Correction Bolus", "insulin": 1.5, "created_at": at, "enteredBy": "a pen", "identifier": "pen-1"}
    path = f"/ns/{session}/api/v1/treatments.json"
    calls("HTTP: POST treatments", lambda: client.json("POST", path, body), lambda a: a[0] == 200 and a[1][0]["insulin"] == 1.5, lambda a: f"{a[0]}, _id {a[1][0]['_id']}")
    calls("HTTP: POST the same again", lambda: client.json("POST", path, body), lambda a: a[0] == 200, lambda a: f"{a[0]}, counted once")
    calls("HTTP: POST something else under its id", lambda: client.json("POST", path, {**body, "insulin": 2}), lambda a: a[0] == 409, lambda a: f"{a[0]}: {a[1]['error']}")
    api = nightscout.Api(f"{server.address}/ns/{session}")
    calls(
        "python-nightscout 1.0.0: get_treatments() has what was posted, once",
        api.get_treatments,
        lambda rows: sum(one.enteredBy == "a pen" for one in rows) == 1,
        lambda rows: f"{len(rows)} treatments",
    )


def page(calls, server):
    """What the page tells a reader to do."""
    text = PAGE.read_text().replace("http://127.0.0.1:8080", server.address)
    lines = re.findall(r"^curl .*$", text, flags=re.M)
    made = {}

    def shell(line):
        found = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60)
        return found.stdout if found.returncode == 0 else f"left with {found.returncode}: {found.stderr}"

    def begin():
        made.update(json.loads(shell(lines[0])))
        return made["id"]

    name = "docs/followers.md"
    calls(f"{name}: a person is made", begin, bool, lambda one: one)
    person = made.get("id", "none")
    for number, block in enumerate(re.findall(r"^```py\n(.*?)^```", text, flags=re.S | re.M), 1):
        code = block.replace("ID", person)
        calls(
            f"{name}: Python, the {number}. of its blocks",
            lambda code=code: subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60),
            lambda found: found.returncode == 0 and found.stdout.strip(),
            lambda found: (found.stdout.strip().splitlines() or [found.stderr[-300:]])[0],
        )
    for line in lines[2:]:
        calls(f"{name}: {line.split(server.address)[-1][:60]}", lambda line=line: shell(line.replace("ID", person)), lambda said: said[:1] in "[{" and "error" not in said, lambda said: f"{len(said)} bytes")
    calls(f"{name}: and is gone", lambda: (shell(lines[1].replace("ID", person)), [one["id"] for one in server.client().sessions()])[1], lambda ids: person not in ids, lambda ids: "gone")


def poll(server, session, stop, seen, problems, pause):
    """One app: asks what is new, by the newest that it has, on a connection that it keeps."""
    client = server.client()
    link, newest = client.connect(), 0
    while not stop.is_set():
        try:
            link.request("GET", f"/ns/{session}/api/v1/entries/sgv.json?count=50&find[date][$gt]={newest}")
            answer = link.getresponse()
            data = answer.read()
            if answer.status != 200:
                problems.append((session, answer.status))
            else:
                for entry in json.loads(data):
                    seen.append(entry["date"])
                    newest = max(newest, entry["date"])
        except OSError:
            link.close()
            link = client.connect()
        stop.wait(pause)
    link.close()


def load(check, server, sessions, seconds):
    client = server.client()
    begun = time.monotonic()
    ids = [make(client, f"load {number}", seed=number, history_hours=3) for number in range(sessions)]
    print(f"{sessions} sessions made in {time.monotonic() - begun:.1f} s", flush=True)
    stop, problems, waits = threading.Event(), [], []
    seen = [[] for _ in range(5 * sessions)]
    apps = [
        threading.Thread(target=poll, args=(server, ids[place // 5], stop, seen[place], problems, 15), daemon=True) for place in range(5 * sessions)
    ]
    for app in apps:
        app.start()
        time.sleep(15 / len(apps))
    begun, end = server.resident_kb(), time.monotonic() + seconds
    while time.monotonic() < end:
        asked = time.monotonic()
        server.answers()
        waits.append(time.monotonic() - asked)
        time.sleep(0.5)
    stop.set()
    for app in apps:
        app.join(30)
    waits.sort()
    p99 = waits[int(len(waits) * 0.99)]
    missed = twice = 0
    for place, dates in enumerate(seen):
        shown = {entry["date"] for entry in client.json("GET", f"/ns/{ids[place // 5]}/api/v1/entries.json?count=50")[1]}
        newest = max(dates, default=0)
        missed += len({date for date in shown if date <= newest} - set(dates))
        twice += len(dates) - len(set(dates))
    total = sum(len(dates) for dates in seen)
    print(f"{total} readings seen, {missed} missed, {twice} twice; /healthz p50 {waits[len(waits) // 2]:.3f} s, p99 {p99:.3f} s; {begun} kB, then {server.resident_kb()} kB")
    check("load: every reading is seen once", missed == 0 and twice == 0 and total > 0, (missed, twice))
    check("load: /healthz p99 <= 0.5 s", p99 <= 0.5, p99)
    check("load: nothing is refused", not problems, problems[:5])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--islet-live", required=True)
    parser.add_argument("--load", type=int, metavar="SESSIONS")
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    check = Checks()
    for package, version in VERSIONS.items():
        check(f"{package} is {version}", importlib.metadata.version(package) == version, importlib.metadata.version(package))
    with Server(options.islet_live) as server:
        if options.load:
            load(check, server, options.load, options.seconds)
        else:
            calls = Calls(check)
            session = make(server.client(), "clients")
            until(lambda: server.client().snapshot(session)["number"] > 0)
            dexcom(calls, server, session)
            asynchronous(calls, server, session)
            synchronous(calls, server, session)
            plain(calls, server, session)
            page(calls, server)
            calls.show()
        check("the server is alive", server.is_alive(), server.said()[-500:])
    check.end()


main()
