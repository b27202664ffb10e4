#!/usr/bin/env python3
"""Attacks the API of `islet-live serve`, and holds it to its OpenAPI document.

Usage: check_api.py --islet-live PATH [--examples 12 | --minutes 10] [--seed N] [--only NAME,...]

  openapi.*   schemathesis over /openapi.json: all operations but the endless streams, all checks; no 5xx. By a count of `--examples` an operation it
              asks the same each time, however fast the machine is; with `--minutes` it goes on for that long, by `--seed`
  attack.*    slow, huge, malformed, cross-origin, foreign: after each the server still answers, its memory is bounded, and a session that nobody was allowed to
              touch has the same number, digest and snapshot
  door.*      `--host 0.0.0.0` with a certificate made here: nothing without the token, no secret in arguments, journals or logs, the data folder closed to others

Not here: whether comparisons take the same time (no measurement on a shared machine says that). Needs openssl and schemathesis. The last line is
`N passed, N failed`.
"""

import argparse
import json
import os
import re
import secrets
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from page_server import Checks, Server, until

# What a server with a dozen sessions may grow by under all of this, kB.
GROWTH = 400_000
IDLE = 1000


def raw(server, data, wait=5.0, half_close=False, tls=False):
    """Sends bytes as they are; what came back within `wait` seconds of silence."""
    with socket.create_connection((server.host, server.port), timeout=20) as link:
        if tls:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            link = context.wrap_socket(link)
        try:
            link.sendall(data)
            if half_close:
                link.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass
        link.settimeout(wait)
        got = b""
        try:
            while len(got) < 4_000_000:
                part = link.recv(65536)
                if not part:
                    break
                got += part
        except (TimeoutError, ConnectionResetError, OSError):
            pass
        return got


def statuses(answer):
    return [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3})", answer)]


def post(server, path, body, headers="", kind="application/json", length=None):
    body = body if isinstance(body, bytes) else body.encode()
    head = f"POST {path} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nContent-Type: {kind}\r\nContent-Length: {len(body) if length is None else length}\r\nConnection: close\r\n{headers}\r\n"
    return raw(server, head.encode() + body)


class Attacks:
    def __init__(self, server, check):
        self.server, self.check, self.client = server, check, server.client()
        # Nobody may touch the first; the second is for commands; both stand still, so that nothing but a command changes them.
        self.still = self.client.create(pace="60", name="untouched")
        self.target = self.client.create(pace="60", name="target")
        for session in (self.still, self.target):
            until(lambda: self.client.snapshot(session)["number"] > 2, 60)
            self.client.command(session, "pace", pace="paused")
        time.sleep(1)
        self.commands = f"/api/sessions/{self.target}/commands"
        self.grown = server.resident_kb()

    def state(self, session):
        return self.client.snapshot(session)

    def run(self, name, act, allowed=(400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 421, 422, 423, 429, 431), changes=False):
        """What `act` gives are answers' statuses; none may be another than those, and nothing may have changed."""
        still, target, ids = self.state(self.still), self.state(self.target), {card["id"] for card in self.client.sessions()}
        try:
            codes = act()
        except OSError as problem:
            # To be cut off is an answer.
            codes = []
            del problem
        codes = codes if isinstance(codes, list) else [codes]
        self.check(f"attack.{name}: answers", all(code in allowed for code in codes), codes)
        self.after(name, still, None if changes else target, ids)

    def after(self, name, still, target, ids):
        alive = until(self.server.answers, 60)
        if not self.check(f"attack.{name}: the server still answers", alive and self.server.is_alive(), self.server.said()[-500:]):
            if not self.server.is_alive():
                self.server.start()
            return
        self.check(f"attack.{name}: an untouched session is as before", self.state(self.still) == still, "")
        if target is not None:
            now = self.state(self.target)
            # A refusal is in the journal, too, at an instant of its own; nothing else may differ.
            differ = {k: (target.get(k), now.get(k)) for k in now if target.get(k) != now.get(k) and k not in ("number", "t", "at", "digest")}
            self.check(f"attack.{name}: changes nothing", not differ, differ)
        self.check(f"attack.{name}: sessions are the same", {card["id"] for card in self.client.sessions()} == ids)
        self.check(f"attack.{name}: memory", self.server.resident_kb() - self.grown < GROWTH, f"{self.server.resident_kb()} kB, began with {self.grown}")

    # Bodies

    def bodies(self):
        odd = {
            "malformed": '{"command":"meal","grams":30',
            "empty": "",
            "array": "[1,2]",
            "string": '"meal"',
            "null": "null",
            "nan": '{"command":"meal","grams":NaN}',
            "infinity": '{"command":"meal","grams":Infinity}',
            "1e999": '{"command":"meal","grams":1e999}',
            "minus-1e999": '{"command":"meal","grams":-1e999}',
            "zero": '{"command":"meal","grams":0}',
            "negative": '{"command":"requestBolus","units":-5}',
            "huge-bolus": '{"command":"requestBolus","units":1e6}',
            "number-as-text": '{"command":"meal","grams":"30"}',
            "text-as-number": '{"command":5}',
            "flag-as-number": '{"command":"meal","grams":true}',
            "list-as-number": '{"command":"meal","grams":[30]}',
            "unknown-command": '{"command":"drop table"}',
            "unknown-field": '{"command":"meal","grams":30,"gramms":300}',
            "missing-field": '{"command":"meal"}',
            "no-request": '{"command":"confirmBolus","request":99,"units":1}',
            "request-of-a-fraction": '{"command":"confirmBolus","request":1.5,"units":1}',
            "request-of-1e300": '{"command":"confirmBolus","request":1e300,"units":1}',
            "minutes-of-1e300": '{"command":"temporaryBasal","percent":50,"minutes":1e300}',
            "odd-key": '{"command":"meal","grams":30,"key":"../../etc"}',
            "long-key": json.dumps({"command": "meal", "grams": 30, "key": "k" * 65}),
            "key-with-newline": '{"command":"meal","grams":30,"key":"a\\nb"}',
            "key-with-nul": '{"command":"meal","grams":30,"key":"a\\u0000b"}',
            "odd-alert": '{"command":"acknowledge","alert":"<script>alert(1)</script>"}',
            "odd-metric": '{"command":"threshold","metric":"\\u202e","low":1,"high":2}',
            "low-above-high": '{"command":"threshold","metric":"glucose","low":200,"high":100}',
            "odd-hours": '{"command":"quietHours","from":"25:00","to":"07:61"}',
            "half-hours": '{"command":"quietHours","from":"22:00","to":null}',
            "odd-pace": '{"command":"pace","pace":"-1"}',
            "pace-nan": '{"command":"pace","pace":"nan"}',
            "pace-huge": '{"command":"pace","pace":"1e308"}',
            "deep": '{"command":' + "[" * 100_000 + "]" * 100_000 + "}",
            "deep-objects": '{"a":' * 50_000 + "1" + "}" * 50_000,
            "surrogate": '{"command":"subject","id":"\\ud800","kilograms":70}',
            "control-in-subject": '{"command":"subject","id":"a\\u0001b","kilograms":70}',
            "long-subject": json.dumps({"command": "subject", "id": "x" * 5000, "kilograms": 70}),
            "long-number": '{"command":"meal","grams":' + "9" * 20_000 + "}",
        }
        for name, body in odd.items():
            self.run(f"body-{name}", lambda: statuses(post(self.server, self.commands, body)))
        self.run("body-invalid-utf8", lambda: statuses(post(self.server, self.commands, b'{"command":"subject","id":"\xff\xfe\xc3","kilograms":70}')))
        self.run("body-huge", lambda: statuses(post(self.server, self.commands, b"x" * 30_000_000)))
        self.run("body-said-huge", lambda: statuses(post(self.server, self.commands, b"{}", length=10**15)))
        self.run("body-negative-length", lambda: statuses(post(self.server, self.commands, b"{}", length=-1)))
        self.run("body-two-lengths", lambda: statuses(post(self.server, self.commands, b"{}", headers="Content-Length: 5\r\n")))
        self.run(
            "body-smuggled",
            lambda: statuses(
                post(self.server, self.commands, b"0\r\n\r\nPOST " + self.commands.encode() + b' HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 30\r\n\r\n{"command":"meal","grams":30}', headers="Transfer-Encoding: chunked\r\n")
            ),
        )
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/json\x00"):
            self.run(f"content-type-{kind or 'none'}", lambda: statuses(post(self.server, self.commands, '{"command":"meal","grams":30}', kind=kind)))
        self.run("study-bomb", lambda: self.client.json("POST", "/api/sessions", {"study_text": "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [" + ",".join(["*" + chr(97 + n)] * 9) + "]\n" for n in range(9)), "session": 0, "pace": "60"})[0])
        self.run("study-of-a-million", lambda: self.client.json("POST", "/api/sessions", {"study_text": "study: x\nduration: 1d\ncohort: { generate: { count: 100000000 } }\narms: [{ algorithm: basal-bolus, alerts: none }]\n", "session": 99999999, "pace": "60"})[0], allowed=(400, 409, 413, 422))
        for study in ("../../etc/passwd", "/etc/passwd", "..%2f..%2fetc%2fpasswd", "\x00", "x" * 5000):
            self.run(f"study-named-{study[:12]!r}", lambda: self.client.json("POST", "/api/sessions", {"study": study, "session": 0, "pace": "60"})[0])
            self.run(f"results-named-{study[:12]!r}", lambda: self.client.json("POST", "/api/sessions", {"results": study, "session": 0, "pace": "60"})[0])
        for study in ("/etc/passwd", "../../../etc/passwd"):
            text = f"study: x\nduration: 1d\ncohort: {{ table: {study} }}\narms: [{{ algorithm: basal-bolus, alerts: {study} }}]\n"
            answer = self.client.json("POST", "/api/sessions", {"study_text": text, "session": 0, "pace": "60"})
            self.check("attack.study-reads-no-file", "root:" not in str(answer), answer)

    # Requests

    def requests(self):
        server, host = self.server, f"Host: {self.server.host}:{self.server.port}\r\n"
        get = lambda target, headers="": raw(server, f"GET {target} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n".encode("utf-8", "surrogateescape"))
        for name, identity in {
            "dots": "../..", "encoded-dots": "%2e%2e%2f%2e%2e", "twice-encoded": "%252e%252e", "nul": "%00", "long": "a" * 7000, "utf8": "%ff%fe", "broken": "%zz", "half": "%2",
            "blank": "%20", "newline": "%0d%0aX-Evil:%201", "script": "%3Cscript%3E", "unknown": "no-such-session", "slash": f"{self.still}%2f..%2f{self.still}",
        }.items():
            for tail in ("", "/events", "/commands", "/past?t=10"):
                self.run(f"id-{name}{tail.split('?')[0]}", lambda: statuses(get(f"/api/sessions/{identity}{tail}")))
            self.run(f"id-{name}-page", lambda: statuses(get(f"/sessions/{identity}")), allowed=(400, 404, 405, 414, 431))
            self.run(f"id-{name}-delete", lambda: statuses(raw(server, f"DELETE /api/sessions/{identity} HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode())))
            self.run(f"id-{name}-asset", lambda: statuses(get(f"/assets/{identity}")))
        answer = get("/sessions/%0d%0aX-Evil:%201")
        self.check("attack.header-injection", b"\r\nX-Evil" not in answer, answer[:300])
        answer = get("/sessions/%3Cscript%3Ealert(1)%3C%2fscript%3E")
        self.check("attack.reflected-script", b"<script>alert" not in answer, answer[:300])
        self.run("url-huge", lambda: statuses(get("/" + "a" * 200_000)))
        self.run("query-huge", lambda: statuses(get("/api/sessions?" + "a=b&" * 50_000)), allowed=(200, 400, 413, 414, 431))
        self.run("header-huge", lambda: statuses(get("/", f"X-Big: {'a' * 500_000}\r\n")), allowed=(400, 413, 431))
        self.run("headers-many", lambda: statuses(get("/", "".join(f"X-{n}: {n}\r\n" for n in range(20_000)))), allowed=(400, 413, 431))
        for name, given in {"other": "evil.example", "other-with-port": f"evil.example:{server.port}", "suffix": f"127.0.0.1.evil.example:{server.port}", "empty": "", "user": f"127.0.0.1@evil.example", "none": None}.items():
            line = b"" if given is None else f"Host: {given}\r\n".encode()
            self.run(f"host-{name}", lambda: statuses(raw(server, b"GET /api/sessions HTTP/1.1\r\n" + line + b"Connection: close\r\n\r\n")))
            body = b'{"command":"meal","grams":30}'
            self.run(f"host-{name}-post", lambda: statuses(raw(server, f"POST {self.commands} HTTP/1.1\r\n".encode() + line + f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)))
        for name, headers in {
            "other": "Origin: http://evil.example\r\n",
            "null": "Origin: null\r\n",
            "other-port": f"Origin: http://{server.host}:1\r\n",
            "other-scheme": f"Origin: https://{server.host}:{server.port}\r\n",
            "prefix": f"Origin: http://{server.host}:{server.port}.evil.example\r\n",
            "fetch-cross-site": "Sec-Fetch-Site: cross-site\r\n",
            "fetch-same-site": "Sec-Fetch-Site: same-site\r\n",
        }.items():
            self.run(f"origin-{name}", lambda: statuses(post(server, self.commands, '{"command":"meal","grams":30}', headers=headers)), allowed=(403,))
        answer = raw(server, f"OPTIONS {self.commands} HTTP/1.1\r\n{host}Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n".encode())
        self.check("attack.no-cors", b"access-control-allow" not in answer.lower(), answer[:300])
        self.run("method-odd", lambda: statuses(raw(server, f"BREW / HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode())))
        self.run("not-http", lambda: statuses(raw(server, os.urandom(4096), wait=2)))
        self.run("tls-to-plain", lambda: statuses(raw(server, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500), wait=2)))
        self.run("http-2-preface", lambda: statuses(raw(server, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9), wait=2)), allowed=(400, 404, 405, 421, 505))
        self.run("pipelined-gets", lambda: sorted(set(statuses(raw(server, f"GET /healthz HTTP/1.1\r\n{host}\r\n".encode() * 500, wait=2)))), allowed=(200,))
        for last in ("-1", "999999999999", "9" * 400, "abc", "1.5", "", "\u0661"):
            with socket.create_connection((server.host, server.port), timeout=20) as link:
                link.sendall(f"GET /api/sessions/{self.still}/events HTTP/1.1\r\n{host}Last-Event-ID: {last}\r\n\r\n".encode())
                link.settimeout(5)
                try:
                    answer = link.recv(65536)
                except OSError:
                    answer = b""
            self.check(f"attack.last-event-id-{last[:12]!r}", statuses(answer) and statuses(answer)[0] in (200, 400, 422), answer[:200])
        for query in ("from=-1", "from=abc", "from=1e999", "from=" + "9" * 100, "page=-1", "page=999999999999999999999", "after=-5", "hours=-1&cleared=1e9", "t=-1", "t=1e300", "t=nan"):
            for tail in ("steps", "readings", "timeline", "alerts/cleared", "past"):
                code = statuses(get(f"/api/sessions/{self.still}/{tail}?{query}"))
                self.check(f"attack.query-{tail}-{query[:20]}", code and code[0] < 500, code)
            code = statuses(get(f"/pages/{self.still}/home/fragments?{query}"))
            self.check(f"attack.query-fragments-{query[:20]}", code and code[0] < 500, code)

    # Connections

    def connections(self):
        server = self.server
        host = f"Host: {server.host}:{server.port}\r\n".encode()

        def slow_loris():
            links = []
            for _ in range(100):
                link = socket.create_connection((server.host, server.port), timeout=10)
                link.sendall(b"GET / HTTP/1.1\r\n" + host + b"X-a: ")
                links.append(link)
            for _ in range(8):
                time.sleep(1)
                for link in links:
                    try:
                        link.sendall(b"b")
                    except OSError:
                        pass
                self.check("attack.slow-loris: others are served meanwhile", server.answers())
            for link in links:
                link.close()
            return []

        def slow_loris_many():
            # More than any limit of connections, each alive by a byte a second: they must not keep others out for good.
            links = []
            for _ in range(1500):
                try:
                    link = socket.create_connection((server.host, server.port), timeout=2)
                    link.sendall(b"GET / HTTP/1.1\r\n" + host + b"X-a: ")
                    links.append(link)
                except OSError:
                    break
            end = time.monotonic() + 90
            served = False
            while time.monotonic() < end and not served:
                time.sleep(1)
                for link in links:
                    try:
                        link.send(b"b")
                    except OSError:
                        pass
                try:
                    served = server.client().call("GET", "/healthz", timeout=3)[0] == 200
                except OSError:
                    pass
            self.check("attack.slow-loris-many: others are served at last", served)
            for link in links:
                link.close()
            return []

        def slow_bodies():
            links = []
            for _ in range(100):
                link = socket.create_connection((server.host, server.port), timeout=10)
                link.sendall(f"POST {self.commands} HTTP/1.1\r\n".encode() + host + b'Content-Type: application/json\r\nContent-Length: 60\r\n\r\n{"command":"meal",')
                links.append(link)
            time.sleep(4)
            self.check("attack.slow-body: others are served meanwhile", server.answers())
            for link in links:
                link.close()
            return []

        def slow_readers():
            links = []
            for _ in range(60):
                link = socket.socket()
                link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                link.connect((server.host, server.port))
                link.sendall((f"GET /sessions/{self.still} HTTP/1.1\r\n".encode() + host + b"\r\n") * 40)
                links.append(link)
            time.sleep(4)
            self.check("attack.slow-reader: others are served meanwhile", server.answers())
            for link in links:
                link.close()
            return []

        def idle():
            links = []
            for _ in range(IDLE):
                try:
                    link = socket.create_connection((server.host, server.port), timeout=5)
                    links.append(link)
                except OSError:
                    break
            time.sleep(1)
            # Beyond its limit the server may turn away, but those that are cut or time out make room: not one minute without an answer.
            self.check("attack.idle: others are served meanwhile, or soon", until(server.answers, 90))
            for link in links:
                link.close()
            return []

        def half_closed():
            return statuses(raw(server, b"GET /healthz HTTP/1.1\r\n" + host + b"\r\n", wait=3, half_close=True))

        def half_closed_post():
            return statuses(raw(server, f"POST {self.commands} HTTP/1.1\r\n".encode() + host + b'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"command":"meal","grams":30}', wait=3, half_close=True))

        def vanishing():
            for _ in range(200):
                link = socket.create_connection((server.host, server.port), timeout=5)
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
                link.sendall(f"GET /api/sessions/{self.still}/events HTTP/1.1\r\n".encode() + host + b"\r\n")
                link.close()
            return []

        self.run("slow-loris", slow_loris)
        self.run("slow-loris-many", slow_loris_many)
        self.run("slow-body", slow_bodies)
        self.run("slow-reader", slow_readers)
        self.run("half-closed", half_closed, allowed=(200,))
        self.run("half-closed-post", half_closed_post)
        self.run("vanishing-streams", vanishing)
        self.run("idle", idle)

    # What is allowed, once

    def keys(self):
        """Two posts of one key are one command; a deleted session takes none."""
        first = self.client.command(self.target, "meal", key="one-key", grams=30, eaten=True, announced=True)
        again = self.client.command(self.target, "meal", key="one-key", grams=30, eaten=True, announced=True)
        self.check("attack.key-twice: taken", first[0] == 202 and again[0] == 202, (first, again))
        self.check("attack.key-twice: the same number", first[1].get("number") == again[1].get("number") and again[1].get("repeated"), (first, again))
        other = self.client.command(self.target, "meal", key="one-key", grams=99, eaten=True, announced=True)
        self.check("attack.key-with-another-body: refused, and not called repeated", other[0] == 409, other)
        self.client.command(self.target, "pace", pace="600")
        meals = until(lambda: [e for e in self.client.timeline(self.target) if re.search("meal|eats", e["text"], re.I)], 30) or []
        time.sleep(1)
        self.client.command(self.target, "pace", pace="paused")
        time.sleep(0.5)
        meals = [e for e in self.client.timeline(self.target) if "30" in e["text"]]
        self.check("attack.key-twice: one meal", 1 <= len(meals) <= 2 and not [e for e in self.client.timeline(self.target) if "99 g" in e["text"]], meals)
        gone = self.client.create(name="gone")
        self.check("attack.delete", self.client.call("DELETE", f"/api/sessions/{gone}")[0] == 204)
        for method, path, body in (
            ("POST", f"/api/sessions/{gone}/commands", {"command": "meal", "grams": 30}), ("GET", f"/api/sessions/{gone}", None), ("DELETE", f"/api/sessions/{gone}", None),
            ("GET", f"/api/sessions/{gone}/events", None), ("POST", f"/api/sessions/{gone}/forks", {"t": 10, "policy": "dexcom-g7"}), ("GET", f"/pages/{gone}/home/fragments", None),
            ("POST", f"/api/sessions/{gone}/preview", {"metric": "glucose", "low": 70, "high": None, "sensitivity_minutes": 0}),
        ):
            status = self.client.call(method, path, body)[0]
            self.check(f"attack.deleted-session: {method} {path.rpartition('/')[2][:12]}", status == 404, status)
        self.check("attack.deleted-session: nothing left on disk", not [p for p in self.server.data.rglob("*") if gone in p.name], "")
        sessions = len(self.client.sessions())
        answers = [self.client.json("POST", "/api/sessions", {"study_text": "duration: [", "session": 0, "pace": "60"}) for _ in range(3)]
        self.check("attack.bad-study: refused with its place", all(a[0] in (400, 422) and a[1].get("error") for a in answers), answers)
        self.check("attack.bad-study: no half session", len(self.client.sessions()) == sessions)


def openapi(server, check, given, folder):
    """First the document as it is, then with the names of real sessions in it, so that requests come further than 404."""
    client = server.client()
    status, document = client.json("GET", "/openapi.json")
    if not check("openapi.is-served", status == 200 and str(document.get("openapi", "")).startswith("3."), status):
        return
    spare = [client.create(name=f"fuzzed {n}", session=n) for n in range(3)]
    known = json.loads(json.dumps(document))

    def visit(node):
        if isinstance(node, dict):
            if node.get("in") == "path" and node.get("name") in ("id", "ID", "session", "other", "OTHER"):
                node["schema"] = {"type": "string", "enum": spare}
            for child in node.values():
                visit(child)
        elif isinstance(node, list):
            for child in node:
                visit(child)

    visit(known)
    # A stream has no end, and a fuzzer would wait for it; attack.* listens to streams.
    streams = [p for p in document["paths"] if p.endswith("/events")]
    # What hangs on more than a schema can say is refused with 422 by right: a text that is no study, a metric that this session doesn't have.
    (folder / "schemathesis.toml").write_text(
        "".join(
            f'[[operations]]\ninclude-path = "{path}"\nchecks.positive_data_acceptance.expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "422", "423", "429", "503"]\n\n'
            for path in ("/api/sessions", "/api/sessions/{id}/forks", "/api/sessions/{id}/preview", "/api/sessions/{id}/past")
        )
        # On a busy machine the watchdog may call a session frozen: then nothing reaches it, whatever is said, and 423 says so.
        + '[[operations]]\ninclude-path = "/api/sessions/{id}/commands"\n'
        'checks.positive_data_acceptance.expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "423", "429", "503"]\n'
        'checks.negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "415", "422", "423", "428", "429"]\n'
    )
    files = {"as-served": document, "known-sessions": known}
    # A clock as the bound would let luck say what was tried.
    bound = ["--max-time", str(int(given.minutes * 30)), "--seed", str(given.seed), "--generation-database", "none"] if given.minutes else ["--max-examples", str(given.examples), "--generation-deterministic"]
    print(f"openapi: {' '.join(bound)}", flush=True)
    for name, written in files.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(written))
        exclude = [option for stream in streams for option in ("--exclude-path", stream)]
        command = [
            str(Path(sys.executable).parent / "schemathesis"), "run", str(path), "--url", server.address, "--checks", "all", *bound,
            "--request-timeout", "60", "--workers", "1", "--no-color", "--continue-on-failure", "--suppress-health-check", "all", "--output-sanitize", "false", *exclude,
        ]
        if name == "known-sessions":
            # Deletion would take the sessions away from the others.
            command += ["--exclude-method", "DELETE"]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=(given.minutes or 0) * 60 + 1800)
        said = ran.stdout + ran.stderr
        check(f"openapi.{name}: no failure", ran.returncode == 0, said[-200:])
        if ran.returncode != 0:
            print("\n".join(line for line in said.splitlines() if line.strip())[-6000:], flush=True)
        check(f"openapi.{name}: no 5xx", "Server error" not in said and not re.search(r"\[5\d\d\]", said))
        check(f"openapi.{name}: something was tried", re.search(r"[1-9]\d* (generated|passed|test cases)", said), said[-400:])
    check("openapi.server-still-answers", server.answers() and server.is_alive(), server.said()[-400:])
    check("openapi.memory", server.resident_kb() < 2_000_000, server.resident_kb())
    for card in client.sessions():
        if card["id"] in spare or card["name"].startswith("fuzzed"):
            client.call("DELETE", f"/api/sessions/{card['id']}")


def door(binary, check, folder):
    """A server that others can reach."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True,
    )
    token = secrets.token_hex(24)
    (folder / "token").write_text(token + "\n")
    (folder / "token").chmod(0o600)
    tls = ["--tls-cert", str(certificate), "--tls-key", str(key)]
    for name, extra, environment in (("without-token-and-tls", [], {}), ("without-tls", [], {"ISLET_TOKEN": token})):
        ran = subprocess.Popen([str(binary), "serve", "--host", "0.0.0.0", "--port", "0", "--data", str(folder / name), *extra], env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            check(f"door.refused-{name}", ran.wait(30) != 0)
        except subprocess.TimeoutExpired:
            check(f"door.refused-{name}", False, "it serves")
            ran.kill()
    server = Server(binary, extra=["--host", "0.0.0.0", *tls], environment={**os.environ, "ISLET_TOKEN": token})
    with server:
        server.host, server.tls = "127.0.0.1", True
        inside, outside, wrong = server.client(token=token), server.client(), server.client(token=secrets.token_hex(24))
        session = inside.create(name="behind the door")
        before = inside.snapshot(session)
        check("door.token-opens", before.get("id") == session)
        # What isn't behind the door: the health check, the way to log in, the page's own looks.
        paths = ["/api/sessions", f"/api/sessions/{session}", f"/api/sessions/{session}/timeline", f"/api/sessions/{session}/events", "/api/events", f"/sessions/{session}", "/", "/metrics", "/studies", f"/pages/{session}/home/fragments", f"/ns/{session}/api/v1/entries.json"]
        for path in paths:
            for name, client in (("no", outside), ("wrong", wrong), ("odd", server.client(cookie="islet=" + "0" * 64))):
                status, headers, body = client.call("GET", path)
                check(f"door.{name}-token {path.replace(session, 'ID')}", status in (401, 403) or (status in (302, 303) and "login" in headers.get("location", "")) , (status, body[:100]))
                check(f"door.{name}-token {path.replace(session, 'ID')} tells nothing", session.encode() not in body and b"behind the door" not in body)
        for method, path, body in (("POST", "/api/sessions", {"study_text": "x", "session": 0, "pace": "60"}), ("POST", f"/api/sessions/{session}/commands", {"command": "meal", "grams": 30}), ("DELETE", f"/api/sessions/{session}", None), ("POST", f"/api/sessions/{session}/forks", {"t": 1, "policy": "dexcom-g7"})):
            for name, client in (("no", outside), ("wrong", wrong)):
                status = client.call(method, path, body)[0]
                check(f"door.{name}-token {method} {path.replace(session, 'ID')}", status in (401, 403), status)
        check("door.session-is-there-still", session in [c["id"] for c in inside.sessions()])
        check("door.health-without-token", outside.call("GET", "/healthz")[0] == 200)
        status, headers, body = outside.call("POST", "/login", f"token={token}".encode(), {"Content-Type": "application/x-www-form-urlencoded", "Origin": server.address.replace("0.0.0.0", "127.0.0.1")})
        cookie = headers.get("set-cookie", "")
        check("door.login", status in (200, 302, 303) and "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Secure" in cookie, (status, cookie, body[:100]))
        check("door.cookie-is-not-the-token", token not in cookie, cookie)
        check("door.cookie-opens", server.client(cookie=cookie.split(";")[0]).call("GET", f"/sessions/{session}")[0] == 200)
        status, headers, _ = outside.call("POST", "/login", b"token=wrong", {"Content-Type": "application/x-www-form-urlencoded"})
        check("door.login-with-a-wrong-token", status in (401, 403) or "set-cookie" not in headers, (status, headers))
        answer = raw(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", wait=3)
        check("door.plain-text-gets-nothing", b"200 OK" not in answer and session.encode() not in answer, answer[:100])
        for secret, what in ((token, "token"), (cookie.split(";")[0].partition("=")[2], "cookie")):
            listing = subprocess.run(["ps", "-ww", "-o", "args", "-p", str(server.process.pid)], capture_output=True, text=True).stdout
            check(f"door.no-{what}-in-ps", secret and secret not in listing)
            kept = [str(p) for p in server.data.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]
            allowed = [p for p in kept if p.endswith("token")]
            check(f"door.no-{what}-in-files", kept == allowed, kept)
            check(f"door.no-{what}-in-logs", secret not in server.said())
        mode = stat.S_IMODE(server.data.stat().st_mode)
        check("door.data-folder-is-0700", mode == 0o700, oct(mode))
        open_files = [str(p) for p in server.data.rglob("*") if p.stat().st_mode & 0o007 and not p.is_symlink() and p.is_file()]
        del open_files
        headers = inside.call("GET", f"/sessions/{session}")[1]
        for name, wanted in (("content-security-policy", "default-src 'none'"), ("x-content-type-options", "nosniff"), ("referrer-policy", ""), ("cache-control", "no-store")):
            check(f"door.header-{name}", name in headers and wanted in headers[name], headers.get(name))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--islet-live", required=True)
    arguments.add_argument("--minutes", type=float, help="of schemathesis, in all; in place of a count")
    arguments.add_argument("--examples", type=int, default=12, help="of schemathesis, an operation")
    arguments.add_argument("--seed", type=int, default=20261123, help="of schemathesis")
    arguments.add_argument("--only", help="of openapi, bodies, requests, connections, keys, door; with commas")
    given = arguments.parse_args()
    wanted = given.only.split(",") if given.only else ["bodies", "requests", "connections", "keys", "openapi", "door"]
    check, folder = Checks(), Path(tempfile.mkdtemp(prefix="islet-api-"))
    try:
        with Server(given.islet_live) as server:
            mode = stat.S_IMODE(server.data.stat().st_mode)
            check("attack.data-folder-is-0700", mode == 0o700, oct(mode))
            attacks = Attacks(server, check)
            for name in ("bodies", "requests", "connections", "keys"):
                if name in wanted:
                    began = time.monotonic()
                    getattr(attacks, name)()
                    print(f"{name}: {time.monotonic() - began:.0f} s, {server.resident_kb() // 1000} MB", flush=True)
            if "openapi" in wanted:
                openapi(server, check, given, folder)
                print(f"openapi: {server.resident_kb() // 1000} MB", flush=True)
            check("attack.no-crash-in-the-log", "Fatal error" not in server.said(), server.said()[-300:])
        if "door" in wanted:
            door(Path(given.islet_live).resolve(), check, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    check.end()


if __name__ == "__main__":
    main()
