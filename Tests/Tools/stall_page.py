#!/usr/bin/env python3
"""Stalls a disk, an algorithm and threads under a running server of pages, and looks at what is said of it, what is heard of it, and at everybody else.

Usage: stall_page.py --islet-live PATH [--islet PATH] [--threads N]

A ward stands open in Chromium with its sound on, and beside it the page of the session whose disk will block.

  disk      `fdatasync` of one session's journal does not return (a library that is loaded before the C library's). Within 10 s: health check, list of sessions,
            the session's page and its event stream say frozen, both pages sound and the ward's row says why, a command is refused with 423; all other sessions are
            on time. It sounds again after half a minute, and after *Seen* no more. Then the disk answers again: nobody is frozen, the session goes on, and
            what was asked of it stands in its journal once.
  hang      the thread on which an algorithm is asked does not come back from its step. Within 10 s list and row say that it gives no answer, and the ward sounds;
            all sessions, that one too, are on time. Then it answers, and nothing is said any more.
  thread    one of the busiest threads on which sessions live is stopped in the middle of its work, that thread alone (ptrace). Within 10 s the session that it
            had is named and the ward sounds for it, or nobody is late; all others are on time; then it goes on. One of the tries at least stops a session.
  web       one of the busiest threads that answer clients is stopped in the same way. Whoever it keeps from an answer, sessions live on: when it goes on all have been
            on time, and nobody is frozen.
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

from page_browser import Browser
from page_server import PATIENCE, Checks, Events, Server, beside, until
from page_ward import STUB

SESSIONS = 6
PACE = 60
# While threads are stopped: they have more work that way.
FAST = 6000
TOLD_WITHIN = 10
# As the server's siren has them (`WardSiren`).
RINGS_EVERY = 30

# Waits while the file that STALL names holds a part of the path of what is to be written through. The first thread that comes from an hour's wait, as those
# have on which algorithms are asked, stays while the file that HANG names is not empty; the file beside it says that one does.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef long (*any_call)(long, ...);
static atomic_int hangs;

static int is_to_hang(const char *name) {
    struct stat file;
    return name && stat(name, &file) == 0 && file.st_size > 0;
}

// All that the program asks of the system by number; its bells wait in this way.
long syscall(long number, ...) {
    static _Atomic(any_call) known;
    any_call next = atomic_load(&known);
    if (!next) {
        next = (any_call)dlsym(RTLD_NEXT, "syscall");
        atomic_store(&known, next);
    }
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
    va_end(rest);
    long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    const struct timespec *asked = (const struct timespec *)a[3];
    if (number != SYS_futex || (a[1] & FUTEX_CMD_MASK) != FUTEX_WAIT || !asked || asked->tv_sec < 1800 || asked->tv_sec > 3700) return result;
    int problem = errno;
    const char *name = getenv("ISLET_TEST_HANG");
    if (is_to_hang(name) && !atomic_exchange(&hangs, 1)) {
        char taken[4096];
        snprintf(taken, sizeof taken, "%s.taken", name);
        int file = open(taken, O_CREAT | O_WRONLY, 0600);
        if (file >= 0) close(file);
        while (is_to_hang(name)) usleep(20000);
        unlink(taken);
        atomic_store(&hangs, 0);
    }
    errno = problem;
    return result;
}

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


def sounding(client):
    """For whom the server rings, by what the list of sessions says."""
    return {card["id"] for card in client.sessions() if card["is_sounding"]}


class Ear:
    """A page in a tab of its own, with its sound on."""

    # Tones that were asked for together: how many, and how high. What sessions notify at this pace has three high ones, or two.
    BURSTS = """
    const bursts = [];
    let last = { asked: -Infinity };
    for (const tone of window.tones.slice(arguments[0])) {
      if (tone.asked - last.asked > 50 || tone.hertz !== last.hertz) bursts.push([0, tone.hertz]);
      bursts.at(-1)[0] += 1;
      last = tone;
    }
    return bursts;
    """
    FROZEN, NO_ANSWER = [10, 880], [3, 587]

    def __init__(self, browser, address):
        self.browser = browser
        browser.driver.switch_to.new_window("tab")
        self.handle = browser.driver.current_window_handle
        browser.prepare()
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=STUB)
        browser.size(1280)
        browser.open(address)
        browser.wait("return document.querySelector('[data-live]')?.classList.contains('now')")
        browser.js("document.querySelector('[data-sound]').click()")
        self.is_on = browser.wait("return document.querySelector('[data-sound]').getAttribute('aria-pressed') === 'true'", seconds=20)
        self.forget()

    def js(self, script, *arguments):
        self.browser.turn(self.handle)
        return self.browser.js(script, *arguments)

    def forget(self):
        self.heard = self.js("return window.tones.length")

    def bursts(self, kind):
        return self.js(self.BURSTS, self.heard).count(kind)

    def hears(self, kind, count, seconds):
        """Whether so many bursts are heard within so many seconds of now."""
        return until(lambda: self.bursts(kind) >= count, seconds, 0.2)

    def row(self, session):
        return self.js("const row = document.querySelector(`.rows > [data-session='${arguments[0]}']`); return row ? row.dataset.class + ' ' + row.innerText.toLowerCase() : ''", session)


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


def busiest(process, count, are_sessions):
    """Threads of the server on which sessions live, or that answer clients, by the processor time that they took during a second, the busiest first."""
    names = {"sessions"} if are_sessions else {Path(f"/proc/{process}/comm").read_text().strip()}

    def times():
        found = {}
        for task in Path(f"/proc/{process}/task").iterdir():
            try:
                name = (task / "comm").read_text().strip()
                if int(task.name) != process and (name in names or not are_sessions and name.startswith("NIO-")):
                    found[int(task.name)] = int((task / "schedstat").read_text().split()[0])
            except OSError:
                continue
        return found

    before = times()
    time.sleep(1)
    spent = {thread: took - before.get(thread, 0) for thread, took in times().items()}
    return sorted(spent, key=lambda thread: -spent[thread])[:count]


def stall_disk(check, server, stalls, ward, own, ill):
    client = server.client()
    others = sorted(set(seconds_lived(client)) - {ill})
    name = next(card["name"] for card in client.sessions() if card["id"] == ill)
    ward.forget()
    own.forget()
    events = Events(client, f"/api/sessions/{ill}/events")
    until(lambda: events.opened)
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
    for which, ear in (("the ward", ward), ("its own page", own)):
        heard = ear.hears(Ear.FROZEN, 1, TOLD_WITHIN + 5)
        check(f"disk: {which} sounds within 10 s", heard and time.monotonic() - begun <= TOLD_WITHIN, f"{time.monotonic() - begun:.1f} s")
    said = until(lambda: (text := ward.row(ill)).startswith("urgent") and "frozen" in text and text, TOLD_WITHIN)
    check("disk: the ward's row says frozen", said and time.monotonic() - begun <= TOLD_WITHIN, (ward.row(ill), time.monotonic() - begun))
    check("disk: the ward's title counts it", ward.js("return document.title").startswith("("), ward.js("return document.title"))
    check("disk: the list says that it sounds", sounding(client) == {ill}, sounding(client))
    spoken = "return document.getElementById('announcer').textContent"
    check("disk: the ward speaks it", until(lambda: f"Urgent, {name}: The session is frozen" in ward.js(spoken), 10), ward.js(spoken))
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
    status, answer = client.command(ill, "meal", key="stalled-meal", grams=7, eaten=True, announced=True)
    check("disk: what it has in hand is not refused when it is said again", (status, answer.get("code")) == (503, "unanswered"), (status, answer))
    time.sleep(5)
    wall, later = time.monotonic() - begun, seconds_lived(client)
    late = {session: later[session] - lived[session] for session in others if not is_on_time(lived[session], later[session], wall)}
    check("disk: all others are on time", not late, f"{late} in {wall:.1f} s")
    for which, ear in (("the ward", ward), ("its own page", own)):
        again = ear.hears(Ear.FROZEN, 2, max(1, begun + TOLD_WITHIN + RINGS_EVERY + 5 - time.monotonic()))
        check(f"disk: {which} sounds again, and no more often than every half minute", again and ear.bursts(Ear.FROZEN) == 2, ear.bursts(Ear.FROZEN))
    ward.js("document.querySelector(`.rows > [data-session='${arguments[0]}'] [data-seen]`)?.click()", ill)
    check("disk: seen, and it sounds no more", until(lambda: not sounding(client), 10), sounding(client))
    ward.forget()
    own.forget()
    time.sleep(RINGS_EVERY + 5)
    check("disk: seen, and nobody hears it", (ward.bursts(Ear.FROZEN), own.bursts(Ear.FROZEN)) == (0, 0), (ward.bursts(Ear.FROZEN), own.bursts(Ear.FROZEN)))
    check("disk: seen, and the row says frozen all the same", "frozen" in ward.row(ill) and frozen(client) == {ill}, ward.row(ill))
    later = seconds_lived(client)

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


def hang_algorithm(check, server, hangs, ward):
    client = server.client()
    ward.forget()
    lived = seconds_lived(client)
    taken = hangs.with_suffix(".taken")
    hangs.write_text("hang")
    if not check("hang: a step's thread is held", until(taken.exists, PATIENCE, 0.02)):
        return
    begun = time.monotonic()
    ill = until(lambda: sounding(client), TOLD_WITHIN + 5) or set()
    check("hang: the list names it within 10 s", len(ill) == 1 and time.monotonic() - begun <= TOLD_WITHIN, (ill, time.monotonic() - begun))
    check("hang: the ward sounds within 10 s", ward.hears(Ear.NO_ANSWER, 1, TOLD_WITHIN + 5) and time.monotonic() - begun <= TOLD_WITHIN, f"{time.monotonic() - begun:.1f} s")
    one = next(iter(ill), None)
    said = until(lambda: "gives no answer" in ward.row(one), TOLD_WITHIN)
    check("hang: the ward's row says why within 10 s", said and time.monotonic() - begun <= TOLD_WITHIN, (ward.row(one), time.monotonic() - begun))
    check("hang: the session says that it is degraded", one and client.snapshot(one)["loop"]["is_degraded"])
    page = client.call("GET", f"/sessions/{one}")[2].decode()
    check("hang: its page says so", "No answer" in page and "data-seen" in page, re.sub(r"<[^>]+>", " ", page)[:300])
    check("hang: it is not frozen: what is said reaches it", one and not frozen(client) and client.command(one, "target", mgdl=120)[0] == 202)
    time.sleep(5)
    # The wait for its answer is all that it is behind.
    wall, later = time.monotonic() - begun, seconds_lived(client)
    late = {s for s in lived if not is_on_time(lived[s], later[s], wall - (6 if s == one else 0))}
    check("hang: all are on time", not late, f"{late} in {wall:.1f} s")
    status, answer = client.json("POST", f"/api/sessions/{one}/seen", {})
    check("hang: seen, and it sounds no more", status == 200 and not sounding(client), (status, answer))
    hangs.write_text("")
    check("hang: it answers, and the session doses again", until(lambda: not client.snapshot(one)["loop"]["is_degraded"], PATIENCE))


def is_at_work(process, thread):
    """Of one that is stopped: whether it was stopped in its own code, and neither as it waits for work, nor amid the C library, whose allocator has locks that are everybody's:
    nothing that hangs, and no disk that blocks, stops a thread there."""
    call, *at = Path(f"/proc/{process}/task/{thread}/syscall").read_text().split()
    if call != "-1":
        return False
    place = int(at[1], 16)
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        span, *_, name = line.split()
        first, end = (int(number, 16) for number in span.split("-"))
        if first <= place < end:
            return not Path(name).name.startswith(("libc.", "libc-"))
    return False


def stopped_at_work(process, thread, seconds=60):
    """The thread, stopped in the middle of its work; nil where it had none for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        stopped = StoppedThread(thread).__enter__()
        if is_at_work(process, thread):
            return stopped
        stopped.__exit__()
        time.sleep(0.005)
    return None


def stall_threads(check, server, count, ward):
    client, process = server.client(), server.process.pid
    for session in seconds_lived(client):
        client.command(session, "pace", pace=str(FAST))
    stalled = 0
    for attempt in range(count):
        # Threads come and go.
        threads = busiest(process, count, True)
        thread = threads[attempt % len(threads)]
        ward.forget()
        try:
            stopped = stopped_at_work(process, thread)
            if stopped is None:
                continue
            begun, named, heard = time.monotonic(), set(), None
            try:
                lived = seconds_lived(client)
                while time.monotonic() - begun < TOLD_WITHIN + 2:
                    named |= sounding(client)
                    if heard is None and ward.bursts(Ear.FROZEN) + ward.bursts(Ear.NO_ANSWER) > 0:
                        heard = time.monotonic() - begun
                    time.sleep(0.25)
                wall, later = time.monotonic() - begun, seconds_lived(client)
            finally:
                stopped.__exit__()
        except PermissionError as problem:
            print(f"SKIPPED: stalled threads, because they may not be traced here ({problem})")
            return
        except ProcessLookupError:
            continue
        stalled += len(named)
        late = {s for s in lived if not is_on_time(lived[s], later[s], wall, FAST)}
        check("thread: who is late is named within 10 s, and nobody else is late", late <= named and len(named) <= 1, (late, named))
        check("thread: the ward sounds for it within 10 s, and for nobody else", (heard is not None and heard <= TOLD_WITHIN) == bool(named), (heard, named))
        check("thread: it goes on, and nobody is frozen", until(lambda: not sounding(client) and not frozen(client), PATIENCE))
        # What rang within the half minute would wait for its end.
        if named:
            time.sleep(max(0, begun + TOLD_WITHIN + RINGS_EVERY - time.monotonic()))
    check("thread: one at least was stopped with a session", stalled > 0)


def stall_answers(check, server, count):
    client, process = server.client(), server.process.pid
    for session in seconds_lived(client):
        client.command(session, "pace", pace=str(PACE))
    for attempt in range(count):
        lived, begun = seconds_lived(client), time.monotonic()
        asked = threading.Event()

        def ask():
            # Who looks all the time keeps them at work; one that gets no answer is left.
            while not asked.is_set():
                try:
                    seconds_lived(server.client())
                except OSError:
                    continue

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        try:
            threads = busiest(process, count, False)
            stopped = stopped_at_work(process, threads[attempt % len(threads)])
            if stopped is not None:
                time.sleep(TOLD_WITHIN + 2)
                stopped.__exit__()
        except (PermissionError, ProcessLookupError):
            continue
        finally:
            asked.set()
        asking.join(PATIENCE)
        wall, later = time.monotonic() - begun, until(lambda: seconds_lived(client), PATIENCE)
        late = {s for s in lived if not is_on_time(lived[s], later[s], wall)}
        check("web: sessions live on while a thread that answers clients stands still", stopped is not None and not late, late)
        check("web: and nobody is frozen afterwards", until(lambda: not sounding(client) and not frozen(client), PATIENCE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--islet-live", required=True)
    parser.add_argument("--islet")
    parser.add_argument("--threads", type=int, default=4)
    given = parser.parse_args()
    check = Checks()
    folder = Path(tempfile.mkdtemp(prefix="islet-stall-"))
    stalls, hangs = folder / "stalled", folder / "hung"
    for file in (stalls, hangs):
        file.write_text("")
    environment = os.environ | {"LD_PRELOAD": str(compiled(folder)), "ISLET_TEST_STALL": str(stalls), "ISLET_TEST_HANG": str(hangs)}
    browser = Browser()
    try:
        with Server(given.islet_live, environment=environment) as server:
            client = server.client()
            for session in range(SESSIONS):
                client.create(session=session % 4, pace=str(PACE), name=f"stall {session}")
            until(lambda: all(lived > 300 for lived in seconds_lived(client).values()))
            ill = sorted(seconds_lived(client))[0]
            # The page in front is the ward's: one that is hidden is heard, and not drawn anew.
            own, ward = Ear(browser, f"{server.address}/sessions/{ill}"), Ear(browser, server.address + "/")
            check("the pages can sound", own.is_on and ward.is_on)
            stall_disk(check, server, stalls, ward, own, ill)
            hang_algorithm(check, server, hangs, ward)
            stall_threads(check, server, given.threads, ward)
            stall_answers(check, server, max(1, given.threads // 2))
            server.stop()
            islet = beside(given.islet_live, given.islet)
            for journal in sorted(server.data.rglob("*.journal")):
                ran = subprocess.run([str(islet), "verify", str(journal)], capture_output=True, text=True)
                check("journals verify", ran.returncode == 0, ran.stdout + ran.stderr)
    finally:
        browser.close()
        shutil.rmtree(folder, ignore_errors=True)
    check.end()


if __name__ == "__main__":
    main()
