#!/usr/bin/env python3
"""Stalls a disk and threads under a running server of pages, and looks at what is said of it and at everybody else.

Usage: stall_page.py --islet-live PATH [--islet PATH] [--threads N]

  disk      `fdatasync` of one session's journal does not return (a library that is loaded before the C library's). Within 10 s: health check, list of sessions,
            the session's page and its event stream say frozen, a command is refused with 423; all other sessions are on time. Then the disk answers again:
            nobody is frozen, the session goes on, and what was asked of it stands in its journal once.
  thread    one of the server's busiest threads at a time is stopped, that thread alone (ptrace). Within 10 s its session is named as frozen, or nobody is
            late; all others are on time; then it goes on.
At the end every journal verifies. It needs a C compiler (clang, which comes with Swift) and leave to trace what it started. The last line is `N passed, N failed`.
"""

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from page_server import Checks, Events, Server, beside, until

SESSIONS = 6
PACE = 60
TOLD_WITHIN = 10

# Waits while the file that STALL names holds a part of the path of what is to be written through.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_while_stalled(int descriptor) {
    const char *list = getenv("ISLET_TEST_STALL");
    char link[64], path[4096], wanted[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!list || length <= 0) return;
    path[length] = 0;
    for (;;) {
        int file = open(list, O_RDONLY);
        if (file < 0) return;
        ssize_t read_bytes = read(file, wanted, sizeof wanted - 1);
        close(file);
        if (read_bytes <= 0) return;
        wanted[read_bytes] = 0;
        if (!strstr(path, wanted)) return;
        usleep(20000);
    }
}
int fdatasync(int descriptor) {
    static int (*next)(int);
    if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    wait_while_stalled(descriptor);
    return next(descriptor);
}
int fsync(int descriptor) {
    static int (*next)(int);
    if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    wait_while_stalled(descriptor);
    return next(descriptor);
}
"""

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000


def compiled(folder):
    source, library = folder / "stall.c", folder / "stall.so"
    source.write_text(SHIM)
    compiler = shutil.which("clang") or shutil.which("cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def seconds_lived(client):
    """How far each session has come, by id: its own time, s."""
    return {card["id"]: float(client.snapshot(card["id"])["t"]) for card in client.sessions()}


def frozen(client):
    return {card["id"] for card in client.sessions() if card["is_frozen"]}


def is_on_time(before, after, wall, pace=PACE):
    """A step takes five minutes of session time, so what is shown lags by up to that."""
    return after - before >= pace * wall * 0.8 - 300


class StoppedThread:
    """One thread of another process, and no other, does not run while this stands."""

    def __init__(self, thread):
        self.thread, self.library = thread, ctypes.CDLL(None, use_errno=True)
        self.library.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.library.ptrace.restype = ctypes.c_long

    def ask(self, request):
        if self.library.ptrace(request, self.thread, None, None) != 0:
            problem = ctypes.get_errno()
            raise OSError(problem, f"ptrace {request:#x} of {self.thread}: {os.strerror(problem)}")

    # A thread is let go by the thread of ours that stopped it.
    def __enter__(self):
        self.ask(PTRACE_SEIZE)
        self.ask(PTRACE_INTERRUPT)
        os.waitpid(self.thread, WALL)
        return self

    def __exit__(self, *_):
        self.ask(PTRACE_DETACH)


def busiest(process, count):
    """Threads of the server by the processor time that they took during a second, the busiest first."""

    def times():
        found = {}
        for task in Path(f"/proc/{process}/task").iterdir():
            try:
                fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            found[int(task.name)] = int(fields[11]) + int(fields[12])
        return found

    before = times()
    time.sleep(1)
    spent = {thread: took - before.get(thread, 0) for thread, took in times().items()}
    return sorted(spent, key=lambda thread: -spent[thread])[:count]


def stall_disk(check, server, stalls):
    client = server.client()
    ids = sorted(seconds_lived(client))
    ill, others = ids[0], ids[1:]
    events = Events(client, f"/api/sessions/{ill}/events")
    until(lambda: events.opened)
    number = next(card["number"] for card in client.sessions() if card["id"] == ill)
    journal = next(path for path in server.data.rglob("*.journal") if ill in str(path.relative_to(server.data)))
    begun, lived = time.monotonic(), seconds_lived(client)
    stalls.write_text(str(journal.relative_to(server.data)))
    answers = []
    asking = threading.Thread(
        target=lambda: answers.append(client.command(ill, "meal", key="stalled-meal", grams=7, eaten=True, announced=True)), daemon=True
    )
    asking.start()

    told = until(lambda: ill in frozen(client), TOLD_WITHIN + 5)
    check("disk: the list says frozen within 10 s", told and time.monotonic() - begun <= TOLD_WITHIN, f"{time.monotonic() - begun:.1f} s")
    check("disk: nobody else is frozen", frozen(client) == {ill}, frozen(client))
    status, health = client.json("GET", "/healthz")
    check("disk: the health check counts it", (status, health["sessions_frozen"]) == (200, 1), health)
    page = client.call("GET", f"/sessions/{ill}")[2].decode()
    check("disk: the session's page says frozen", "Frozen" in page, re.sub(r"<[^>]+>", " ", page)[:300])
    check(
        "disk: its event stream says so",
        until(lambda: any(entry[2].get("frozen") is True for entry in events.of("view")), TOLD_WITHIN),
        [entry[0] for entry in events.heard][-5:],
    )
    status, answer = client.command(ill, "target", key="while-frozen", mgdl=120)
    check("disk: a command is refused with 423", status == 423, (status, answer))
    time.sleep(5)
    wall, later = time.monotonic() - begun, seconds_lived(client)
    late = {session: later[session] - lived[session] for session in others if not is_on_time(lived[session], later[session], wall)}
    check("disk: all others are on time", not late, f"{late} in {wall:.1f} s")

    stalls.write_text("")
    check("disk: it answers again, and nobody is frozen", until(lambda: not frozen(client), TOLD_WITHIN))
    check("disk: the session goes on", until(lambda: seconds_lived(client)[ill] > later[ill] + 60, 60))
    asking.join(30)
    status, answer = client.command(ill, "meal", key="stalled-meal", grams=7, eaten=True, announced=True)
    check("disk: what was asked is said again under its key, and taken", status in (200, 202), (status, answer))
    said = {"meal": '{"meal":', "target": '{"target":'}
    found = until(lambda: (text := journal.read_text(errors="replace")).count(said["meal"]) and text, 20) or ""
    check("disk: it stands in the journal once", found.count(said["meal"]) == 1, found[-600:])
    check("disk: what was refused while frozen does not stand there", said["target"] not in found, found[-600:])
    events.stop()
    return number


def stall_threads(check, server, count):
    client = server.client()
    for thread in busiest(server.process.pid, count):
        lived, begun = seconds_lived(client), time.monotonic()
        try:
            with StoppedThread(thread):
                named = set()
                while time.monotonic() - begun < TOLD_WITHIN + 2:
                    named |= frozen(client)
                    time.sleep(0.25)
                wall, later = time.monotonic() - begun, seconds_lived(client)
        except PermissionError as problem:
            print(f"SKIPPED: stalled threads, because they may not be traced here ({problem})")
            return
        except ProcessLookupError:
            continue
        late = {s for s in lived if not is_on_time(lived[s], later[s], wall)}
        check("thread: who is late is named as frozen within 10 s, and nobody else is late", late <= named and len(named) <= 1, (late, named))
        check("thread: it goes on, and nobody is frozen", until(lambda: not frozen(client), TOLD_WITHIN))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--islet-live", required=True)
    parser.add_argument("--islet")
    parser.add_argument("--threads", type=int, default=3)
    given = parser.parse_args()
    check = Checks()
    folder = Path(tempfile.mkdtemp(prefix="islet-stall-"))
    stalls = folder / "stalled"
    stalls.write_text("")
    environment = os.environ | {"LD_PRELOAD": str(compiled(folder)), "ISLET_TEST_STALL": str(stalls)}
    try:
        with Server(given.islet_live, environment=environment) as server:
            client = server.client()
            for session in range(SESSIONS):
                client.create(session=session % 4, pace=str(PACE), name=f"stall {session}")
            until(lambda: all(lived > 300 for lived in seconds_lived(client).values()))
            stall_disk(check, server, stalls)
            stall_threads(check, server, given.threads)
            server.stop()
            islet = beside(given.islet_live, given.islet)
            for journal in sorted(server.data.rglob("*.journal")):
                ran = subprocess.run([str(islet), "verify", str(journal)], capture_output=True, text=True)
                check("journals verify", ran.returncode == 0, ran.stdout + ran.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    check.end()


if __name__ == "__main__":
    main()
