#!/usr/bin/env python3
"""Walks the live page in Chromium: every page at 380 and 1280 px, dark and light, every surface by name, every criterion that a browser can see.

Usage: check_page.py --islet-live PATH [--short] [--only NAME,...] [--pictures DIR] [--browser PATH]

Starts `islet-live serve --demo` on a free port with a fresh data folder.
  walk.*        each page: its surfaces are there, no console message, no request to another host, no horizontal scroll at 380 px, axe-core without a serious finding
  story-N.*     acceptance criterion N of the threshold story
  ui00N.*, alert-flow.*   the alert flow's verification anchors and surfaces
  home.*, bolus.*, keyboard.*, units.*, past.*   actions by their forms and by the keyboard alone
  ward.*        the ward: page_ward.py names them
  looks.*       every page: widths, forced colours, paper, motion, the keyboard alone, clicks a task, 100 people; page_looks.py names them
  kept.*        a session that another engine lived: its notice, its button, and where that leads; not in the short form
  pair.*        what meets while a page is open: two pages, a half-filled form, a deleted session, a lost connection
`--short` is what `make test` has time for. `--only` takes names of checks' functions, `walk`, `kept`, `ward`, `ward.NAME`, `looks` or `looks.NAME`. Nothing here is measured in time but the banner's
ten seconds, and those from below. Needs chromium and chromedriver, selenium and axe-core. The last line is `N passed, N failed`.
"""

import argparse
import shutil
import sys
import time
import traceback
from pathlib import Path

import page_alerts
import page_controls
import page_kept
import page_looks
import page_ward
from page_browser import BROWSERS, Browser, axe_source
from page_server import STUDY, Checks, Server, until

# Where each surface must be. A banner is there when something is active: the demonstration ward's worst session has something.
SURFACES = {
    "home": "bell banner loop glucose pump charts summary target subject meal blood-glucose bolus temporary-basal loop-mode session-control pace".split(),
    "alerts": "alert-center active-alerts band cleared-alerts".split(),
    "settings": "settings-row thresholds threshold sensitivity quiet-hours test-alert previews units".split(),
    "pump": "pump suspend pod".split(),
    "cgm": "sensor calibration".split(),
    "timeline": ["timeline"],
    "environment": ["environment"],
    "past": "past fork".split(),
    "ward": "ward card strip heard".split(),
    "new": [],
    "studies": ["study-list"],
}
# Somewhere on a session's pages.
SOMEWHERE = "login notifications sparkline".split()
VIEWS = [(1280, "light"), (380, "light"), (1280, "dark"), (380, "dark")]


class Visit:
    """One session, looked at: its page, its API and the checks."""

    def __init__(self, server, browser, checks, name, pace="60", session=0):
        self.server, self.browser, self.checks, self.name = server, browser, checks, name
        self.client = server.client()
        self.title = f"Ada {name.replace('_', ' ')}"
        self.id = self.client.create(STUDY, session, pace, self.title)

    def check(self, name, ok, more=""):
        return self.checks(name, ok, more)

    def url(self, page):
        tail = {"home": "", "environment": ""}.get(page, f"/{page}")
        return f"{self.server.address}/subjects/{self.id}/environment" if page == "environment" else f"{self.server.address}/sessions/{self.id}{tail}"

    def go(self, page):
        self.browser.open(self.url(page))

    def open(self, path):
        self.browser.open(self.server.address + path)

    def say(self, command, **fields):
        return self.client.command(self.id, command, **fields)

    def view(self):
        return self.client.snapshot(self.id)

    def codes(self):
        return self.client.codes(self.id)

    def timeline(self, since=0):
        return self.client.timeline(self.id, since)

    def last(self):
        return self.view()["number"]

    def until_background(self, hide):
        """Hides the page, and waits until the session knows."""
        number = self.last()
        hide()
        until(lambda: self.last() > number, 10)
        time.sleep(0.5)

    def forget_console(self):
        """What a browser says of a server that was killed on purpose is not the page's."""
        self.browser.console()


def addresses(client):
    """Of each page one, for the session in most trouble."""
    cards = client.sessions()
    worst = cards[0]["id"]
    pages = {name: f"/sessions/{worst}/{name}" for name in ("alerts", "settings", "pump", "cgm", "timeline")}
    pages |= {"home": f"/sessions/{worst}", "environment": f"/subjects/{worst}/environment", "past": f"/sessions/{worst}/past?t=600"}
    pages |= {"ward": "/", "new": "/new", "studies": "/studies", "beside": f"/sessions/{worst}/beside/{cards[1]['id']}"}
    room = next((c["id"] for c in cards if "room" in str(c.get("kind", ""))), None)
    if room:
        pages["room"] = f"/sessions/{room}"
        pages["room-settings"] = f"/sessions/{room}/settings"
    return pages


def walk(server, browser, check, axe, short):
    pages = addresses(server.client())
    order = ["ward", "home", "alerts", "settings", "pump", "cgm", "timeline", "environment", "past", "beside", "new", "studies", "room", "room-settings"]
    found, outside = set(), set()
    client = server.client()
    status = (client.snapshot(client.sessions()[0]["id"])["loop"] or {}).get("status")
    browser.console(), browser.requests()
    for name in filter(pages.get, order):
        grave = name in ("ward", "home", "alerts", "settings")
        for width, scheme in (VIEWS[:1] + VIEWS[3:]) if short else VIEWS:
            where = f"walk.{name}-{width}-{scheme}"
            browser.size(width, scheme)
            browser.open(server.address + pages[name])
            # Scripts draw at once; what isn't there after this isn't there.
            until(lambda: browser.seen(), 10)
            seen = browser.seen()
            found |= {s for s, count in seen.items() if count}
            missing = [s for s in SURFACES.get(name, []) if not seen.get(s)]
            # Without a session there is no loop to open or close.
            missing = [s for s in missing if s != "loop-mode" or status != "no session"]
            check(f"{where}: surfaces", not missing, f"missing or not seen: {missing}")
            wide = browser.js("return document.documentElement.scrollWidth")
            if width == 380:
                cause = "return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > 381).slice(0, 4).map(e => e.tagName + '.' + e.className + ' ' + (e.innerText || '').slice(0, 30))"
                check(f"{where}: no horizontal scroll", wide <= 380, f"{wide} px: {browser.js(cause) if wide > 380 else ''}")
            if not short or grave:
                result = browser.axe(axe)
                check(f"{where}: axe-core looked", result["rules"] > 10, result)
                bad = result["violations"]
                check(f"{where}: axe-core", not bad, "; ".join(f"{v['id']}: {v['html'][:160]} ({v['count']}) {(v['why'] or '')[:200]}" for v in bad))
            said = [m for m in browser.console() if "favicon.ico" not in m]
            check(f"{where}: console", not said, said[:3])
            outside |= {r for r in browser.requests() if not r.startswith((server.address, "data:", "about:", "blob:", "chrome:"))}
            title = browser.js("return document.title")
            check(f"{where}: title, language, one heading", title and browser.js("return document.documentElement.lang && document.querySelectorAll('h1').length === 1"), title)
    check("walk.no-request-to-another-host", not outside, outside)
    missing = [s for s in SOMEWHERE if s not in found]
    check("walk.surfaces-somewhere", not missing, missing)
    browser.size(1280)
    browser.open(server.address + "/")
    # Who is worst changes while both are asked.
    first = "return document.querySelector(\"[data-surface='card']\")?.dataset.session"
    agree = False
    for _ in range(60):
        agree = browser.js(first) == server.client().sessions()[0]["id"]
        if agree:
            break
        time.sleep(0.5)
    check("walk.worst-first", agree)
    status, headers, _ = server.client().call("GET", "/")
    policy = headers.get("content-security-policy", "")
    check("walk.content-security-policy", "default-src 'none'" in policy and "unsafe" not in policy, policy)


def pictures(server, browser, folder):
    """Small ones for the docs page: 380 px at scale 1."""
    from PIL import Image

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pages = addresses(server.client())
    browser.open(server.address + pages["home"])
    # A threshold's banner has gone by then, and stays gone on the other pages of this tab.
    time.sleep(12)
    for name, page, width, scheme, height in (
        ("ward", "ward", 380, "light", 900),
        ("ward-wide", "ward", 1280, "light", 800),
        ("ward-dark", "ward", 1280, "dark", 800),
        ("home", "home", 380, "light", 1300),
        ("home-wide", "home", 1280, "dark", 900),
        ("alerts", "alerts", 380, "light", 900),
        ("settings", "settings", 380, "light", 1200),
        ("past", "past", 380, "light", 900),
        ("beside", "beside", 1280, "light", 800),
    ):
        if page not in pages:
            continue
        browser.size(width, scheme, height)
        browser.open(server.address + pages[page])
        # Rows that were not in sight yet are drawn late on a machine that does other things.
        time.sleep(5)
        to = folder / f"{name}.png"
        browser.picture(to, height)
        Image.open(to).convert("RGB").quantize(64).save(to, optimize=True)
        print(f"{to}: {to.stat().st_size} bytes", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--islet-live", required=True)
    arguments.add_argument("--short", action="store_true", help="what make test has time for")
    arguments.add_argument("--only", help="names of checks' functions, with commas; `walk` is one")
    arguments.add_argument("--pictures", help="writes the docs page's pictures into this directory")
    arguments.add_argument("--browser", default=next(filter(None, map(shutil.which, BROWSERS)), None))
    given = arguments.parse_args()
    if not given.browser or not shutil.which("chromedriver"):
        print("check_page: no chromium or no chromedriver")
        sys.exit(2)
    check, axe = Checks(), axe_source()
    alerts, controls = (page_alerts.SHORT, page_controls.SHORT) if given.short else (page_alerts.ALL, page_controls.ALL)
    wanted = given.only.split(",") if given.only else None
    if wanted:
        alerts, controls = page_alerts.ALL, page_controls.ALL
    with Server(given.islet_live, demo=True) as server:
        browser = Browser(given.browser)
        try:
            if not wanted or "walk" in wanted:
                began = time.monotonic()
                guarded(check, "walk", lambda: walk(server, browser, check, axe, given.short))
                print(f"walk: {time.monotonic() - began:.0f} s", flush=True)
            of_ward = [name for name in page_ward.ALL if wanted and (f"ward.{name}" in wanted or "ward" in wanted)]
            if of_ward or not wanted:
                # A ward of its own, whose people are where they begin: at a walk's pace hours go by, and a broken pod is changed.
                with Server(given.islet_live, demo=True) as ward:
                    page_ward.ward(ward, browser, check, axe, of_ward or (page_ward.SHORT if given.short else page_ward.ALL), 2 if given.short else 30)
                    check("ward.no-crash-in-its-log", "Fatal error" not in ward.said() and "Crash" not in ward.said(), ward.said()[-400:])
            of_looks = [name for name in page_looks.ALL if wanted and (f"looks.{name}" in wanted or "looks" in wanted)]
            if of_looks or not wanted:
                pages = addresses(server.client())
                page_looks.looks(server, browser, check, axe, pages, of_looks or (page_looks.SHORT if given.short else page_looks.ALL))
            if given.pictures:
                # Of people whom no check has touched.
                with Server(given.islet_live, demo=True) as ward:
                    guarded(check, "pictures", lambda: pictures(ward, browser, given.pictures))
            if not given.short and not wanted or wanted and "kept" in wanted:
                guarded(check, "kept", lambda: page_kept.kept(given.islet_live, browser, check, axe))
            for number, act in enumerate(alerts + controls):
                if wanted and act.__name__ not in wanted:
                    continue
                began = time.monotonic()
                browser.size(1280)
                guarded(check, act.__name__, lambda: visit(server, browser, check, act, number))
                print(f"{act.__name__}: {time.monotonic() - began:.0f} s", flush=True)
        finally:
            browser.close()
        check("server.still-answers", server.answers())
        check("server.no-crash-in-its-log", "Fatal error" not in server.said() and "Crash" not in server.said(), server.said()[-400:])
    check.end()


def guarded(check, name, act):
    """What a check trips over is a failure of that check, and the others go on."""
    try:
        act()
    except Exception as problem:
        check(f"{name}: ran to its end", False, f"{type(problem).__name__}: {problem} at {traceback.format_exc().splitlines()[-3:-1]}")


def visit(server, browser, check, act, number):
    while len(browser.driver.window_handles) > 1:
        browser.turn(browser.driver.window_handles[-1])
        browser.driver.close()
    browser.turn(browser.driver.window_handles[0])
    one = Visit(server, browser, check, act.__name__, session=number % 4)
    # A loop has had its first step and glucose before anybody looks.
    one.say("pace", pace="600")
    until(lambda: one.last() > 3, 60)
    time.sleep(1)
    one.say("pace", pace="60")
    if act is not page_alerts.first_visit and not getattr(browser, "was_chosen", False):
        one.go("home")
        browser.was_chosen = check("live.phone-is-chosen", browser.choose_phone())
        browser.open("about:blank")
    browser.console()
    act(one)
    said = [m for m in browser.console() if "favicon.ico" not in m and not m.startswith("INFO") and " 409 " not in m and " 422 " not in m]
    check(f"{act.__name__}: console", not said, said[:3])
    # A page that is the phone goes on saying so, and nobody is there to hear it.
    browser.open("about:blank")
    one.client.call("DELETE", f"/api/sessions/{one.id}")


main()
