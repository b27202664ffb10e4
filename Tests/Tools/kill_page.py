#!/usr/bin/env python3
"""Kills the server of pages at random moments while pages are open and commands come, and looks at what is left.

Usage: kill_page.py --islet-live PATH [--kills 10] [--seed N] [--islet PATH] [--no-browser]

A Chromium page, six listeners that resume by `Last-Event-ID`, and three clients that send commands under keys and say them again under the same key until they hear
an answer. `kill -9`, the same command again on the same port and folder, and so on. Then:
  page.*      the page came back by itself, and shows the API's glucose, count of alerts and number
  command.*   each command that was acknowledged is in its session's journal exactly once; none twice, none under another number
  event.*     each listener heard every event once, in order, with the words that the timeline has: nothing that was shown was taken back
  journal.*   `islet verify` finds nothing off in any journal
The last line is `N passed, N failed`.
"""

import argparse
import random
import re
import shutil
import subprocess
import threading
import time

from page_server import Checks, Events, Server, beside, free_port, until

SESSIONS = 3


class Commander(threading.Thread):
    """Says commands, each under its key until it is answered, and remembers the answers."""

    def __init__(self, server, session, seed):
        super().__init__(daemon=True)
        self.server, self.session, self.random = server, session, random.Random(seed)
        self.answered, self.refused, self.unanswered, self.again, self.ended = {}, {}, set(), 0, False
        self.start()

    def command(self, number):
        kind = self.random.randrange(4)
        if kind == 0:
            return {"command": "meal", "grams": 5 + number % 40, "eaten": True, "announced": True}
        if kind == 1:
            return {"command": "target", "mgdl": 100 + number % 30}
        if kind == 2:
            return {"command": "bloodGlucose", "mgdl": 100 + number % 50}
        return {"command": "threshold", "metric": "glucose", "low": 50 + number % 20, "high": 300 + number % 50}

    def run(self):
        number = 0
        while not self.ended:
            number += 1
            key = f"{self.session[-8:]}-{number}".replace("_", "-")
            body = self.command(number) | {"key": key}
            self.unanswered.add(key)
            while not self.ended:
                try:
                    status, answer = self.server.client().json("POST", f"/api/sessions/{self.session}/commands", body, timeout=20)
                except Exception:
                    self.again += 1
                    time.sleep(0.05)
                    continue
                if status == 202:
                    self.answered.setdefault(key, []).append(answer["number"])
                    # A page may not have heard the answer: half of them are said once more.
                    if self.random.random() < 0.5 and len(self.answered[key]) < 2:
                        continue
                elif status >= 500 and status != 503:
                    self.refused.setdefault(status, []).append(answer)
                elif status in (503, 423):
                    time.sleep(0.1)
                    continue
                else:
                    self.refused.setdefault(status, []).append(answer)
                break
            else:
                break
            self.unanswered.discard(key)
            time.sleep(self.random.random() * 0.08)


def journal_inputs(data, session):
    """(number, key) of each input in a session's journal."""
    found = []
    for path in data.rglob("*.journal"):
        if session in str(path.relative_to(data)):
            for line in path.read_text(errors="replace").splitlines():
                parts = line.split(" ")
                if len(parts) > 4 and parts[1] == "input":
                    found.append((int(parts[2]), parts[4]))
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--islet-live", required=True)
    arguments.add_argument("--islet", help="for `islet verify`; beside islet-live where nothing is said")
    arguments.add_argument("--kills", type=int, default=10)
    arguments.add_argument("--seed", type=int, default=None)
    arguments.add_argument("--no-browser", action="store_true")
    given = arguments.parse_args()
    seed = given.seed if given.seed is not None else random.randrange(1_000_000)
    print(f"seed {seed}", flush=True)
    chance, check = random.Random(seed), Checks()
    with Server(given.islet_live, port=free_port()) as server:
        client = server.client()
        sessions = [client.create(session=n, pace="60", name=f"killed {n}") for n in range(SESSIONS)]
        browser = None
        if not given.no_browser and shutil.which("chromedriver"):
            from page_browser import Browser

            browser = Browser()
            browser.open(f"{server.address}/sessions/{sessions[0]}")
            browser.js("window.stillTheSamePage = true")
        listeners = [Events(client, f"/api/sessions/{s}/events", reconnects=True) for s in sessions for _ in range(2)]
        commanders = [Commander(server, s, seed + n) for n, s in enumerate(sessions)]
        starts = []
        try:
            for _ in range(given.kills):
                time.sleep(chance.choice((0.05, 0.3, 1.0, 2.0)) * (0.5 + chance.random()))
                server.kill()
                began = time.monotonic()
                server.start()
                starts.append(time.monotonic() - began)
                check("server.all-sessions-are-back", {c["id"] for c in client.sessions()} == set(sessions), client.sessions())
            time.sleep(2)
        finally:
            for one in commanders:
                one.ended = True
            for one in commanders:
                one.join(60)
        time.sleep(2)
        for session in sessions:
            until(lambda: client.command(session, "pace", pace="paused")[0] == 202, 30)
        time.sleep(2)
        views = {s: client.snapshot(s) for s in sessions}
        if browser:
            view = views[sessions[0]]
            check("page.never-reloaded-by-hand", browser.js("return location.pathname") == f"/sessions/{sessions[0]}")
            glucose = str(round(view["glucose"]["mgdl"])) if view.get("glucose") else ""
            shown = until(lambda: glucose in (browser.text("glucose") or "") and browser.text("glucose"), 60)
            check("page.shows-the-glucose", shown, (glucose, browser.text("glucose")))
            count = str(len(view["alerts"]))
            bell = until(lambda: count in (browser.text("bell") or "") or (count == "0" and not re.search(r"[1-9]", browser.text("bell") or "")), 30)
            check("page.shows-the-count", bell, (count, browser.text("bell")))
            check("page.says-nothing-of-a-lost-connection", browser.wait("return !/connection lost/i.test(document.body.innerText)", seconds=60), browser.js("return document.body.innerText.slice(0, 200)"))
            browser.close()
        for number, session in enumerate(sessions):
            one, inputs = commanders[number], journal_inputs(server.data, session)
            keys = [key for _, key in inputs if key != "-"]
            check(f"command.{number}: some were answered", len(one.answered) >= given.kills, len(one.answered))
            lost = [key for key in one.answered if keys.count(key) == 0]
            check(f"command.{number}: no acknowledged one is lost", not lost, lost[:5])
            twice = sorted({key for key in keys if keys.count(key) > 1})
            check(f"command.{number}: none is there twice", not twice, twice[:5])
            torn = {key: numbers for key, numbers in one.answered.items() if len(set(numbers)) > 1}
            check(f"command.{number}: said again it has the same number", not torn, list(torn.items())[:3])
            check(f"command.{number}: no refusal and no 5xx", not {k: v for k, v in one.refused.items() if k >= 500 or k == 422}, {k: v[:2] for k, v in one.refused.items()})
            timeline = client.timeline(session)
            words, last = {e["number"]: e["text"] for e in timeline}, timeline[-1]["number"]
            same = until(lambda: client.snapshot(session)["number"] == last, 20)
            check(f"view.{number}: its number is the last event's", same, (client.snapshot(session)["number"], last))
            for listener in listeners[2 * number : 2 * number + 2]:
                until(lambda: listener.of("happened") and listener.of("happened")[-1][2]["number"] >= last, 20)
                heard = [e[2] for e in listener.of("happened")]
                numbers = [e["number"] for e in heard]
                jumps = [(a, b) for a, b in zip(numbers, numbers[1:]) if b != a + 1]
                check(f"event.{number}: each once and in order", not jumps, jumps[:5])
                check(f"event.{number}: up to the last", numbers and numbers[-1] == last, (numbers[-1:], last))
                other = [(e["number"], e["text"], words[e["number"]]) for e in heard if e["number"] in words and e["text"] != words[e["number"]]]
                check(f"event.{number}: nothing shown was taken back", not other, other[:3])
                check(f"event.{number}: the listener came back", listener.opened > given.kills // 2, listener.opened)
        for one in listeners:
            one.stop()
        server.stop()
        islet = beside(given.islet_live, given.islet)
        journals = sorted(server.data.rglob("*.journal"))
        check("journal.each-session-has-one", len(journals) == SESSIONS, journals)
        for path in journals if islet else []:
            ran = subprocess.run([str(islet), "verify", str(path)], capture_output=True, text=True)
            check(f"journal.{path.name}: nothing is off", ran.returncode == 0, ran.stdout + ran.stderr)
        answered = sum(len(c.answered) for c in commanders)
        print(
            f"{given.kills} kills; {answered} commands answered, {sum(c.again for c in commanders)} attempts without an answer; "
            f"{sum(len(e.heard) for e in listeners)} events heard; back after {max(starts, default=0):.1f} s at most",
            flush=True,
        )
    check.end()


if __name__ == "__main__":
    main()
