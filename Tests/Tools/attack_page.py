#!/usr/bin/env python3
"""Attacks `islet-live serve`, and holds its health check to half a second while it does.

Usage: attack_page.py --islet-live PATH [--short]

  form      forms of 32 KB and of 4 KB of names to the open log-in, four at a time
  nested    nested JSON of 1.8 MB and of 4 KB to the open Share log-in, four at a time
  guesses   wrong tokens, by every door that takes a secret: no more than so many are looked at
  past      past instants of a long session, asked for by clients that wait and by clients that leave at once; memory comes back
  streams   1 100 event streams that nobody reads from, and 1 100 connections that say nothing
  burst     1 100 connections within a tenth of a second, again and again, with nothing, a look or a stream to say
  demo      a first start of the demonstration: it answers before it has lived it
  restart   a server that is started anew over long journals: it answers at once, says which sessions are coming back, and all of them come

While each goes on `/healthz` is asked for every 20 ms, a new connection each time: its 99th percentile is to be 0.5 s at most, and no answer may fail.
All traffic is this machine's own, and bounded in count and time. The last line is `N passed, N failed`.
"""

import argparse
import http.client
import os
import resource
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from page_server import Checks, Server, until

BAR = 0.5
LONG = """study: long
seed: 7
start: 2026-03-02T06:00:00-05:00
duration: {days}d
cohort: {{ generate: {{ model: uva-padova-2008, group: adult, count: 8 }} }}
scenario: {{ meals: moderate }}
pump: omnipod
arms:
  - name: loop
    algorithm: pid-insulin-feedback
    alerts: bionicloop
"""


class Health(threading.Thread):
    """Asks for the health check until it is told to stop, and keeps how long each took."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.over, self.times, self.failures = server, False, [], []
        self.start()

    def run(self):
        while not self.over:
            began = time.monotonic()
            try:
                status = self.server.client().call("GET", "/healthz", timeout=30)[0]
                if status != 200:
                    self.failures.append(status)
            except (OSError, http.client.HTTPException) as problem:
                self.failures.append(repr(problem))
            self.times.append(time.monotonic() - began)
            time.sleep(0.02)

    def end(self, check, name):
        self.over = True
        self.join(60)
        times = sorted(self.times)
        p99 = times[min(len(times) - 1, int(0.99 * len(times)))] if times else float("inf")
        print(f"  {name}: health asked {len(times)} times, p50 {times[len(times) // 2] * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, most {times[-1] * 1000:.0f} ms", flush=True)
        check(f"{name}.health-p99", p99 <= BAR, f"{p99:.3f} s")
        check(f"{name}.health-answers", not self.failures, self.failures[:5])
        check(f"{name}.server-lives", self.server.is_alive(), self.server.said()[-500:])


def crowd(count, work):
    """So many threads at once; what they return."""
    found, threads = [], []
    for index in range(count):
        threads.append(threading.Thread(target=lambda index=index: found.append(work(index)), daemon=True))
        threads[-1].start()
    for thread in threads:
        thread.join(180)
    return found


def timed(call):
    began = time.monotonic()
    try:
        return call(), time.monotonic() - began
    except (OSError, http.client.HTTPException) as problem:
        return problem, time.monotonic() - began


def bodies(server, check, name, path, kind, payloads, rounds):
    health = Health(server)
    longest, statuses = 0, set()

    def work(index):
        results = []
        for turn in range(rounds):
            body = payloads[(index + turn) % len(payloads)]
            results.append(timed(lambda: server.client().call("POST", path, body, {"Content-Type": kind}, timeout=60)))
        return results

    for results in crowd(4, work):
        for answer, seconds in results:
            longest = max(longest, seconds)
            # Who goes on sending what was refused unread may find the connection closed.
            statuses.add(answer[0] if isinstance(answer, tuple) else type(answer).__name__)
    health.end(check, name)
    print(f"  {name}: answers {sorted(map(str, statuses))}, longest {longest * 1000:.0f} ms", flush=True)
    check(f"{name}.refused", not statuses & {200, 303, 500}, statuses)
    check(f"{name}.quick", longest < 5, longest)


def guesses(server, check, session, rounds):
    health = Health(server)
    doors = (
        ("GET", "/api/sessions", None, lambda: {"Authorization": f"Bearer {secrets.token_hex(24)}"}),
        ("GET", f"/ns/{session}/api/v1/entries.json", None, lambda: {"api-secret": secrets.token_hex(20)}),
        ("POST", "/login", b"token=wrong", lambda: {"Content-Type": "application/x-www-form-urlencoded"}),
    )
    statuses = []
    for turn in range(rounds):
        method, path, body, headers = doors[turn % len(doors)]
        statuses.append(server.client().call(method, path, body, headers())[0])
    check("guesses.slowed", statuses.count(401) <= 45 and statuses.count(429) >= rounds - 45, {s: statuses.count(s) for s in set(statuses)})
    health.end(check, "guesses")


def past(server, check, token, session, days, rounds):
    """The past of a long session: asked for by many, and left by most."""
    health = Health(server)
    end = int(days * 86_400 * 0.9)
    leavers = []

    def leave(index):
        with socket.create_connection((server.host, server.port), timeout=10) as line:
            line.sendall(f"GET /api/sessions/{session}/past?t={end - index} HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            time.sleep(0.05)

    for _ in range(rounds):
        leavers += crowd(8, leave)
    # None of those that left is in the way of one that waits.
    time.sleep(0.3)
    began = time.monotonic()
    answers = crowd(3, lambda index: server.client(token=token).call("GET", f"/api/sessions/{session}/past?t={end - index}", timeout=300)[0])
    took = time.monotonic() - began
    print(f"  past: {8 * rounds} asked and left; then three that wait had their answers after {took:.1f} s, memory {server.resident_kb() // 1024} MB", flush=True)
    check("past.answered", len(answers) == 3 and set(answers) == {200}, answers)
    # Those that left were given up: they would have taken their turn each.
    health.end(check, "past")
    time.sleep(1)
    return took


def streams(server, check, token, count):
    """Lines that nobody reads from."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    health = Health(server)
    lines = []
    try:
        for kind, text in (
            ("idle", b""),
            ("streams", f"GET /api/events HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()),
        ):
            for _ in range(count):
                try:
                    line = socket.create_connection((server.host, server.port), timeout=10)
                    line.sendall(text)
                    lines.append(line)
                except OSError:
                    pass
                # They stay; it isn't how fast they come that is looked at.
                time.sleep(0.004)
            time.sleep(2)
            status = server.client(token=token).call("GET", "/api/sessions", timeout=30)[0]
            check(f"{kind}.others-are-answered", status == 200, status)
    finally:
        for line in lines:
            line.close()
    health.end(check, "streams")
    check("streams.server-still-listens", until(server.answers, 30))


OPEN_AT_ONCE = """
import resource, socket, sys, time
host, port, count, text = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), bytes.fromhex(sys.argv[4])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
began, lines = time.monotonic(), []
for _ in range(count):
    line = socket.socket()
    line.setblocking(False)
    line.connect_ex((host, port))
    lines.append(line)
print(time.monotonic() - began, flush=True)
for line in lines if text else []:
    try:
        line.settimeout(5)
        line.sendall(text)
    except OSError:
        pass
time.sleep(1.5)
"""


def burst(server, check, token, count, rounds):
    """Connections by the thousand, by a program of its own: as fast as they can be asked for."""
    head = f" HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {token}\r\n\r\n"
    health = Health(server)
    slowest = 0.0
    for text in ("", f"GET /api/sessions{head}", f"GET /api/events{head}"):
        for _ in range(rounds):
            arguments = [sys.executable, "-c", OPEN_AT_ONCE, server.host, str(server.port), str(count), text.encode().hex()]
            slowest = max(slowest, float(subprocess.run(arguments, capture_output=True, text=True, timeout=60).stdout))
    print(f"  burst: {count} connections in {slowest:.2f} s at most", flush=True)
    check("burst.is-one", slowest < 1, slowest)
    health.end(check, "burst")


def demo(binary, check, folder):
    """Whoever starts the demonstration for the first time has its page at once."""
    server = Server(binary, data=folder / "demo" / "data", demo=True)
    server.folder.parent.mkdir()
    began = time.monotonic()
    try:
        server.start(waits=False)
        listened = time.monotonic() - began
        first = [card["phase"] for card in server.client().sessions()]
        health = Health(server)
        back = until(lambda: all(card["phase"] != "returning" for card in server.client().sessions()), 900, 0.2)
        print(f"  demo: listens after {listened:.1f} s, all lived after {time.monotonic() - began:.1f} s", flush=True)
        check("demo.listens-first", "returning" in first, first)
        check("demo.all-are-named", len(first) >= 12, first)
        phases = [card["phase"] for card in server.client().sessions()]
        check("demo.all-come", back and len(phases) == len(first) and "failed" not in phases, phases)
        health.end(check, "demo")
    finally:
        server.stop()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--islet-live", required=True)
    arguments.add_argument("--short", action="store_true")
    options = arguments.parse_args()
    check = Checks()
    rounds, days, count = (3, 10, 1) if options.short else (30, 120, 6)
    token = secrets.token_hex(24)
    folder = Path(tempfile.mkdtemp(prefix="islet-attack-"))
    environment = {**os.environ, "ISLET_TOKEN": token}
    try:
        server = Server(options.islet_live, data=folder / "data", environment=environment).start()
        client = server.client(token=token)
        form = "&".join(f"a{index}=1" for index in range(6000)).encode()
        bodies(server, check, "form", "/login", "application/x-www-form-urlencoded", [form[: 32 << 10], form[:4000]], rounds)
        nested = [b"[" * 900_000 + b"]" * 900_000, b"[" * 2000 + b"]" * 2000, b'{"a":' * 30 + b"[" + b"1," * 1900 + b"1]" + b"}" * 30]
        bodies(server, check, "nested", "/ShareWebServices/Services/General/AuthenticatePublisherAccount", "application/json", nested, rounds)
        sessions = [client.create(study=LONG.format(days=days), session=index, pace="max", name=f"long {index}") for index in range(count)]
        # A session that goes as fast as it can is no reason not to answer either.
        health = Health(server)
        lived = until(lambda: all(client.snapshot(session)["phase"] == "ended" for session in sessions), 900, 0.5)
        check("lived.all", lived)
        health.end(check, "lived")
        before = server.resident_kb()
        past(server, check, token, sessions[0], days, 2 if options.short else 10)
        after = server.resident_kb()
        check("past.memory", after < before + (150 << 10), f"{before} KB, then {after} KB")
        streams(server, check, token, 1100)
        burst(server, check, token, 1100, 3 if options.short else 10)
        server.stop()
        health = None
        began = time.monotonic()
        server.start(waits=False)
        listened = time.monotonic() - began
        health = Health(server)
        first = [card["phase"] for card in server.client(token=token).sessions()]
        back = until(lambda: all(card["phase"] == "ended" for card in server.client(token=token).sessions()), 900, 0.2)
        print(f"  restart: listens after {listened:.1f} s, all back after {time.monotonic() - began:.1f} s; first phases {first}", flush=True)
        check("restart.listens-first", listened < 10, listened)
        check("restart.all-are-named", len(first) == len(sessions), first)
        check("restart.all-come-back", back)
        health.end(check, "restart")
        guesses(server, check, sessions[0], 100 if options.short else 1000)
        check("server.stops", server.stop() == 0)
        demo(options.islet_live, check, folder)
    finally:
        if "server" in locals() and server.is_alive():
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)
    check.end()


if __name__ == "__main__":
    main()
