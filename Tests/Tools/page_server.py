"""A server of pages for the tests that drive it from outside, and a client of its API.

`Server` starts `islet-live serve` with a fresh data folder on a free port and stops it; it ends only what it started. `Client` speaks the API by http.client, nothing
in between. `Events` listens to a stream of server-sent events in a thread. Waits are generous: nothing here measures, unless its caller does.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

# Seconds that anything may take on a machine that does other things.
PATIENCE = 120

# One adult who eats nothing and hears nobody: what happens to them is what a test does. Lows are raised by thresholds, which a test moves.
STUDY = """study: page-test
seed: 5
start: 2026-03-02T12:00:00-05:00
duration: 28d
cohort: { generate: { model: uva-padova-2008, group: adult, count: 4 } }
scenario: { meals: none }
pump: omnipod
arms:
  - name: loop
    algorithm: pid-insulin-feedback
    alerts:
      policy: page-test
      extends: bionicloop
      thresholds:
        - { metric: glucose, min: 60, max: 350, sensitivity: 0s }
"""


class Checks:
    """Counts what passed and what failed, each by its name."""

    def __init__(self):
        self.passed = self.failed = 0
        self.failures = []

    def __call__(self, name, ok, more=""):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            self.failures.append(name)
            print(f"FAILED {name}{': ' + str(more)[:700] if more not in ('', None) else ''}", flush=True)
        return bool(ok)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        raise SystemExit(1 if self.failed else 0)


def until(condition, seconds=PATIENCE, pause=0.1):
    """What `condition` gives once it is true, or its last value when the time is over."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(pause)


def beside(binary, given=None):
    """`islet` for what `islet-live` wrote: the one that is named, beside it, or of this repository's build."""
    folder = Path(binary).resolve().parent
    root = Path(__file__).resolve().parents[2]
    places = [Path(given)] if given else [folder / "islet", root / ".build/debug/islet", root / ".build/release/islet"]
    return next((place for place in places if place.exists()), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`islet-live serve` in a process of its own."""

    def __init__(self, binary, data=None, demo=False, port=0, extra=(), environment=None):
        self.binary = str(Path(binary).resolve())
        self.own = data is None
        self.folder = Path(data or tempfile.mkdtemp(prefix="islet-page-"))
        # The server makes the folder, so that its mode is the server's doing.
        self.data = self.folder / "data" if self.own else self.folder
        self.log = self.folder / "server.log" if self.own else self.folder.parent / "server.log"
        # `--demo` and the studies on offer are found from the repository's folder: that of the build, or this one.
        root = Path(self.binary).parents[2] if len(Path(self.binary).parents) > 2 else Path("/")
        self.place = root if (root / "Cohorts").exists() else Path(__file__).resolve().parents[2]
        self.demo, self.port, self.extra, self.environment = demo, port, list(extra), environment
        self.process, self.address, self.first_start = None, None, True

    def start(self, seconds=3 * PATIENCE, waits=True):
        """Started, and (unless it doesn't wait) with all its sessions back: it listens before they are."""
        arguments = [self.binary, "serve", "--port", str(self.port), "--data", str(self.data), *self.extra]
        if self.demo and self.first_start:
            arguments.insert(2, "--demo")
        self.arguments = arguments
        log = open(self.log, "ab")
        self.process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, env=self.environment, cwd=self.place
        )
        found = []

        def drain(stream):
            for line in stream:
                log.write(line)
                log.flush()
                match = re.search(rb"https?://[^\s/]+:\d+/?", line)
                if match and not found:
                    found.append(match.group().decode().rstrip("/"))

        threading.Thread(target=drain, args=(self.process.stdout,), daemon=True).start()
        until(lambda: found or self.process.poll() is not None, seconds, 0.02)
        if not found:
            raise RuntimeError(f"no address after {seconds} s: {self.log.read_text(errors='replace')[-1500:]}")
        self.address, self.first_start = found[0], False
        parts = urllib.parse.urlsplit(self.address)
        self.host, self.port, self.tls = parts.hostname, parts.port, parts.scheme == "https"
        if not until(self.answers, seconds, 0.05):
            raise RuntimeError(f"no answer at {self.address}")
        if waits and not until(self.is_back, seconds, 0.05):
            raise RuntimeError(f"not all sessions are back after {seconds} s")
        return self

    def is_back(self):
        """Whether no session is being lived again; yes where this client may not ask."""
        try:
            status, answer = Client(self).json("GET", "/api/sessions", timeout=10)
        except (OSError, http.client.HTTPException):
            return False
        return status in (401, 421) or (status == 200 and all(card["phase"] != "returning" for card in answer["sessions"]))

    def answers(self):
        try:
            return Client(self).call("GET", "/healthz", timeout=10)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def client(self, **more):
        return Client(self, **more)

    def resident_kb(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.is_alive():
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, seconds=PATIENCE):
        """Asks it to stop; its exit code, or None where it had to be killed."""
        if self.is_alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def said(self):
        return self.log.read_text(errors="replace")

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        if self.process is not None:
            self.kill()
        if self.own and not os.environ.get("KEEP_PAGE_DATA"):
            shutil.rmtree(self.folder, ignore_errors=True)


class Client:
    """The API, one connection a call."""

    def __init__(self, server, token=None, cookie=None):
        self.server, self.token, self.cookie = server, token, cookie

    def connect(self, timeout=PATIENCE):
        if getattr(self.server, "tls", False):
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            return http.client.HTTPSConnection(self.server.host, self.server.port, timeout=timeout, context=context)
        return http.client.HTTPConnection(self.server.host, self.server.port, timeout=timeout)

    def call(self, method, path, body=None, headers=None, timeout=PATIENCE):
        """Status, headers in lower case, body's bytes."""
        headers = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if self.cookie:
            headers.setdefault("Cookie", self.cookie)
        connection = self.connect(timeout)
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def json(self, method, path, body=None, **more):
        status, _, data = self.call(method, path, body, **more)
        try:
            return status, json.loads(data) if data else None
        except ValueError:
            return status, data

    def sessions(self):
        return self.json("GET", "/api/sessions")[1]["sessions"]

    def create(self, study=STUDY, session=0, pace="60", name=None):
        status, answer = self.json(
            "POST", "/api/sessions", {"study_text": study, "session": session, "pace": pace, "name": name or f"test {session}"}
        )
        if status != 201:
            raise RuntimeError(f"no session: {status} {answer}")
        return answer["id"]

    def snapshot(self, session):
        return self.json("GET", f"/api/sessions/{session}")[1]

    def command(self, session, command, key=None, **fields):
        """Status and answer. `from_` stands for `from`, which Python keeps for itself."""
        body = {"command": command, **{k.rstrip("_"): v for k, v in fields.items()}}
        if key is not None:
            body["key"] = key
        return self.json("POST", f"/api/sessions/{session}/commands", body)

    def timeline(self, session, since=0):
        """All events after a number that the server still has, in order."""
        found = []
        while True:
            part = self.json("GET", f"/api/sessions/{session}/timeline?from={since}")[1]["events"]
            found += part
            if len(part) < 1000:
                return found
            since = part[-1]["number"]

    def codes(self, session):
        """Active alerts, top first."""
        return [alert["code"] for alert in self.json("GET", f"/api/sessions/{session}/alerts/active")[1]["alerts"]]


class Events(threading.Thread):
    """Keeps what a stream of server-sent events says: (event, id, data, when it came on the machine's monotonic clock)."""

    def __init__(self, client, path, last=None, reconnects=False):
        super().__init__(daemon=True)
        self.client, self.path, self.last, self.reconnects = client, path, last, reconnects
        self.heard, self.opened, self.ended, self.status = [], 0, False, None
        self.start()

    def run(self):
        while not self.ended:
            try:
                self.listen()
            except (OSError, http.client.HTTPException, ValueError):
                pass
            if not self.reconnects:
                break
            time.sleep(0.2)

    def listen(self):
        connection = self.client.connect(60)
        try:
            headers = {"Accept": "text/event-stream"}
            if self.last is not None:
                headers["Last-Event-ID"] = str(self.last)
            if self.client.token:
                headers["Authorization"] = f"Bearer {self.client.token}"
            connection.request("GET", self.path, headers=headers)
            answer = connection.getresponse()
            self.status = answer.status
            if answer.status != 200:
                return
            self.opened += 1
            event, number, data = "message", None, []
            while not self.ended:
                line = answer.readline()
                if not line:
                    return
                line = line.decode().rstrip("\r\n")
                if line.startswith("event:"):
                    event = line[6:].strip()
                elif line.startswith("id:"):
                    number = line[3:].strip()
                elif line.startswith("data:"):
                    data.append(line[5:].strip())
                elif not line and data:
                    if number is not None:
                        self.last = number
                    self.heard.append((event, number, json.loads("\n".join(data)), time.monotonic()))
                    event, number, data = "message", None, []
        finally:
            connection.close()

    def of(self, kind):
        return [entry for entry in list(self.heard) if entry[0] == kind]

    def stop(self):
        self.ended = True
