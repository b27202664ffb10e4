"""What check_page.py looks at of the ward: order, states, what is heard, acts and keys, colours, sizes, and what it costs. Each check bears its number in the design.

  ward.lost-*     1  a server that stands still: within 6 s the page says so, and nothing on it looks live
  ward.still-*    2  an acknowledged dead pump is not well
  ward.order-*    3  rows stand in the API's order
  ward.sound-*    4  a burst of tones for each notification, none while muted; days that were drawn, under a clock of the test's own
  ward.title-*    5  title and icon say whether somebody is urgent
  ward.colour-*   6  contrasts of the tokens, and their distance for the colour-blind (Machado 2009)
  ward.fold-*     7  nobody in trouble below the fold at 1280 x 800
  ward.letters-*  8  letters of charts are 11 to 13 px at every width
  ward.moves-*    9  rows stand still while somebody is among them
  ward.cost-*    10  bytes a minute at 60 times real time
  ward.keys-*, ward.acts-*, ward.filter-*, ward.zoom-*
"""

import json
import random
import re
import signal
import time

from page_server import PATIENCE, until

# Stands in for sound and for the stream of events: tones are kept with the instant of the test's own clock, and events come when the test says so.
STUB = """
(() => {
  if (!/^https?:/.test(location.protocol)) return;
  window.tones = [];
  let clock = null;
  const real = performance.now.bind(performance);
  performance.now = () => clock ?? real();
  window.setTestClock = (ms) => { clock = ms; };
  class Parameter { setValueAtTime() {} linearRampToValueAtTime() {} }
  class Node { constructor() { this.gain = new Parameter(); this.frequency = new Parameter(); } connect() {}
    start(at) { window.tones.push({ at, asked: performance.now(), hertz: this.frequency.value }); } stop() {} }
  window.AudioContext = class { constructor() { this.state = 'suspended'; this.destination = {}; }
    get currentTime() { return performance.now() / 1000; }
    createGain() { return new Node(); } createOscillator() { return new Node(); }
    resume() { this.state = 'running'; this.onstatechange?.(); return Promise.resolve(); } };
  if (sessionStorage.getItem('islet-test-stream') !== '1') return;
  window.streams = [];
  window.EventSource = class extends EventTarget { constructor(url) { super(); this.url = url; window.streams.push(this); setTimeout(() => this.onopen?.(), 0); } close() { this.closed = true; } };
  window.say = (kind, data, id = '') => window.streams.filter((s) => !s.closed).forEach((s) => s.dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(data), lastEventId: id })));
})();
"""

# Bursts: tones that were asked for at one instant of the page.
BURSTS = "const all = window.tones.slice(arguments[0]); return new Set(all.map((t) => t.asked)).size"

LIVELY = """
const seen = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
return { lost: !document.getElementById('lost').hidden, well: [...document.querySelectorAll('.well')].filter(seen).length,
  arrows: [...document.querySelectorAll('.arrow')].filter(seen).length,
  counts: [...document.querySelectorAll('.counts [data-number]')].filter((e) => seen(e) && parseFloat(getComputedStyle(e).fontSize) > 0).length };
"""

# The daylight and the night of the tokens' table.
TOKENS = """
const root = getComputedStyle(document.documentElement);
return Object.fromEntries(arguments[0].map((name) => [name, root.getPropertyValue('--' + name).trim()]));
"""
NAMES = "urgent urgent-ink urgent-line act act-ink act-edge chip-low chip-low-ink chip-high chip-high-ink lo hi stale good tile".split()

# Machado, Oliveira and Fernandes 2009, severity 1.
MACHADO = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour):
    text = colour.strip().lstrip("#")
    if len(text) == 3:
        text = "".join(c * 2 for c in text)
    parts = [int(text[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def contrast(a, b):
    light = [sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(one))) + 0.05 for one in (a, b)]
    return max(light) / min(light)


def lab(rgb):
    x, y, z = (sum(m * max(0, min(1, c)) for m, c in zip(row, rgb)) for row in ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)))
    f = lambda t: t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
    fx, fy, fz = f(x / 0.95047), f(y), f(z / 1.08883)
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(a, b, seen_by=None):
    """CIE 1976."""
    colours = [linear(a), linear(b)]
    if seen_by:
        colours = [[sum(m * c for m, c in zip(row, rgb)) for row in MACHADO[seen_by]] for rgb in colours]
    return sum((p - q) ** 2 for p, q in zip(*map(lab, colours))) ** 0.5


def rows(browser):
    return browser.js("return [...document.querySelectorAll('.rows > li')].map(r => ({ id: r.dataset.session, group: r.dataset.class, hidden: r.hidden, bottom: r.getBoundingClientRect().bottom }))")


def open_ward(server, browser, seconds=60):
    browser.open(server.address + "/")
    until(lambda: browser.js("return document.querySelector('[data-live]')?.classList.contains('now')"), seconds)


# MARK: what is shown


def order(server, browser, check):
    open_ward(server, browser)
    agree = False
    for _ in range(40):
        shown = [r["id"] for r in rows(browser)]
        said = [c["id"] for c in server.client().sessions()]
        agree = shown == said
        if agree:
            break
        time.sleep(0.5)
    check("ward.order-is-the-servers", agree, (shown, said))
    groups = {c["id"]: c["group"] for c in server.client().sessions()}
    check("ward.order-has-groups", sum(r["group"] == groups.get(r["id"]) for r in rows(browser)) >= len(groups) - 1)
    wrong = [r for r in rows(browser) if (r["group"] == "well") != r["hidden"]]
    check("ward.well-are-a-line", not wrong, wrong)
    browser.js("document.querySelector('[data-show-well]')?.click()")
    check("ward.well-as-rows", until(lambda: all(not r["hidden"] for r in rows(browser)), 10))
    browser.js("document.querySelector('[data-show-well]')?.click()")


def still(server, browser, check):
    client = server.client()
    mara = next((c["id"] for c in client.sessions() if c["name"] == "Mara"), None)
    if not check("ward.still: Mara is there", mara):
        return
    client.command(mara, "pace", pace="1")
    open_ward(server, browser)
    button = f"return document.querySelector(\"[data-session='{mara}'] [data-command='acknowledge']\")"
    for _ in range(8):
        if "ALERT-PUMP-FAULT" not in client.codes(mara):
            break
        browser.js(button.replace("return ", "") + "?.click()")
        time.sleep(1.5)
    check("ward.acts-acknowledge-by-one-click", "ALERT-PUMP-FAULT" not in client.codes(mara), client.codes(mara))
    view = client.snapshot(mara)
    check("ward.still-the-pump-is-dead", view["pump"]["condition"] == "fault", view["pump"])
    text = f"return document.querySelector(\"[data-session='{mara}']\")?.innerText"
    check("ward.still-not-well", until(lambda: "still so" in (browser.js(text) or ""), 15), browser.js(text))
    check("ward.still-group", browser.js(f"return document.querySelector(\"[data-session='{mara}']\").dataset.class") == "urgent")
    check("ward.still-outlined", browser.js(f"return document.querySelector(\"[data-session='{mara}'] .band\").classList.contains('answered')"))
    client.command(mara, "pace", pace="60")


def snooze(server, browser, check):
    """Two clicks, the end is shown, and it is taken back by one."""
    client = server.client()
    some = next((c["id"] for c in client.sessions() if c["name"] == "Ada"), None)
    client.command(some, "threshold", metric="glucose", low=399, high=None, sensitivity_minutes=0, enabled=True)
    check("ward.acts-snooze: a low is raised", until(lambda: "THRESHOLD-GLUCOSE-LOW" in client.codes(some), 30))
    client.command(some, "pace", pace="1")
    open_ward(server, browser)
    place = f"[data-session='{some}']"
    menu = f'document.querySelector("{place} .zz summary")'
    check("ward.acts-snooze-is-there", browser.wait(f"return Boolean({menu})", seconds=30))
    browser.js(f"{menu}.click()")
    browser.js(f'document.querySelector("{place} .zz [data-minutes=\'30\']").click()')
    shown = f"return document.querySelector(\"{place} .snoozed\")?.innerText ?? ''"
    check("ward.acts-snooze-says-until-when", browser.wait(f"return /until .*\\d/.test((() => {{ {shown} }})())", seconds=15), browser.js(shown))
    check("ward.acts-snooze-in-the-api", client.snapshot(some)["snoozes"], client.snapshot(some)["snoozes"])
    browser.js(f'document.querySelector("{place} [data-command=\'endSnooze\']").click()')
    check("ward.acts-snooze-undone", until(lambda: not client.snapshot(some)["snoozes"], 15))
    client.command(some, "threshold", metric="glucose", low=70, high=250, sensitivity_minutes=0, enabled=True)
    client.command(some, "pace", pace="60")


def title(server, browser, check):
    open_ward(server, browser)
    for pace in ("paused", "60"):
        for card in server.client().sessions():
            server.client().command(card["id"], "pace", pace=pace)
        time.sleep(3)
        urgent = sum(r["group"] == "urgent" for r in rows(browser))
        said = browser.js("return document.title")
        check(f"ward.title-{pace}", bool(re.match(r"^\(\d+!\)", said)) == (urgent > 0) and (not urgent or said.startswith(f"({urgent}!)")), (said, urgent))
        icon = browser.js("return document.querySelector('link[rel=icon]').href")
        check(f"ward.title-icon-{pace}", ("urgent" in icon) == (urgent > 0), icon)


def colours(server, browser, check):
    for scheme in ("light", "dark"):
        browser.size(1280, scheme)
        open_ward(server, browser)
        t = browser.js(TOKENS, NAMES)
        least = [("urgent-ink", "urgent", 4.5), ("urgent", "tile", 3), ("act-ink", "act", 4.5), ("act-edge", "tile", 3), ("chip-low-ink", "chip-low", 4.5), ("chip-high-ink", "chip-high", 4.5)]
        least += [(name, "tile", 4.5) for name in ("lo", "hi", "stale", "good")]
        for a, b, bar in least:
            check(f"ward.colour-{scheme}: {a} on {b}", contrast(t[a], t[b]) >= bar, f"{contrast(t[a], t[b]):.1f}")
        for kind in MACHADO:
            found = distance(t["urgent"], t["act"], kind)
            check(f"ward.colour-{scheme}: urgent is not action, {kind}", found >= 30, f"{found:.0f}")
        found = distance(t["stale"], t["lo"])
        check(f"ward.colour-{scheme}: old is not low", found >= 30, f"{found:.0f}")
    browser.size(1280)


def fold(server, browser, check):
    browser.size(1280, height=800)
    open_ward(server, browser)
    time.sleep(1)
    found = [r for r in rows(browser) if not r["hidden"]]
    line = browser.js("return document.querySelector('.wellline')?.getBoundingClientRect().bottom ?? 0")
    unwell = [r for r in found if r["group"] != "well"]
    check("ward.fold-rows", all(r["bottom"] <= 800 for r in unwell[:9]), [(r["bottom"]) for r in unwell])
    check("ward.fold-well-line", line <= 800 or len(unwell) > 9, (line, len(unwell)))
    browser.size(1280)


LETTERS = """
return [...document.querySelectorAll('.chart text')].filter(t => t.getClientRects().length).map(t => {
  const svg = t.ownerSVGElement; return parseFloat(getComputedStyle(t).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; });
"""


def letters(server, browser, check, step=40):
    worst = server.client().sessions()[0]["id"]
    bad = {}
    browser.size(1280)
    browser.open(f"{server.address}/sessions/{worst}")
    for width in range(320, 1921, step):
        browser.size(width)
        fits = lambda: (lambda sizes: sizes and all(10.95 <= s <= 13.05 for s in sizes))(browser.js(LETTERS))
        if not until(fits, 6):
            sizes = browser.js(LETTERS)
            bad[width] = (round(min(sizes, default=0), 1), round(max(sizes, default=0), 1))
        wide = browser.js("return document.documentElement.scrollWidth")
        if wide > width:
            bad[f"{width} sideways"] = wide
    check("ward.letters-11-to-13", not bad, bad)
    browser.size(1280)


def zoom(server, browser, check):
    """200 %: a page of 1280 px has 640 to itself; and no page scrolls sideways."""
    for width in (640, 380, 768, 800, 1280, 1920):
        browser.size(width)
        open_ward(server, browser)
        wide = browser.js("return document.documentElement.scrollWidth")
        cause = "return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 4).map(e => e.tagName + '.' + e.className + ' ' + (e.innerText || '').slice(0, 30))"
        check(f"ward.zoom-{width}: no sideways scroll", wide <= width, f"{wide}: {browser.js(cause)}")
    browser.size(1280)


# MARK: what is lost


def lost(server, browser, check):
    open_ward(server, browser)
    check("ward.lost: live before", browser.js(LIVELY)["lost"] is False)
    server.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        check("ward.lost-within-6-s", browser.wait("return !document.getElementById('lost').hidden && document.body.classList.contains('is-lost')", seconds=10) and time.monotonic() - began <= 6, f"{time.monotonic() - began:.1f} s")
        found = browser.js(LIVELY)
        check("ward.lost-nothing-looks-live", found["well"] == 0 and found["arrows"] == 0 and found["counts"] == 0, found)
        said = browser.js("return document.getElementById('lost').innerText")
        time.sleep(2.2)
        later = browser.js("return document.getElementById('lost').innerText")
        check("ward.lost-counts-on", said != later and re.search(r"no word for 0:\d\d\. What you see was so at", later), (said, later))
    finally:
        server.process.send_signal(signal.SIGCONT)
    check("ward.lost-found-again", browser.wait("return !document.body.classList.contains('is-lost')", seconds=30))
    browser.console()


# MARK: what is heard


def with_stub(browser):
    if not getattr(browser, "has_stub", False):
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=STUB)
        browser.has_stub = True


def drawn_days(server, count, seed=20261125):
    """Days of policies that are drawn: each day's notifications, as the session told them."""
    chance, client, days = random.Random(seed), server.client(), []
    for number in range(count):
        debounce, cooldown = chance.choice(("0s", "5m", "15m")), chance.choice(("1m", "5m", "30m"))
        low, high = chance.choice((90, 110, 130)), chance.choice((140, 160, 200))
        repeat = chance.choice(("", ", repeatEvery: 15m", ", repeatEvery: 5m"))
        quiet = chance.choice(("", '      quietHours: { from: "22:00", to: "07:00" }\n'))
        rule = lambda code, severity, test: f"        - {{ code: {code}, severity: {severity}, acknowledge: reviews, when: glucose {test}, debounce: {debounce}, cooldown: {cooldown}{repeat} }}\n"
        study = f"""study: drawn
seed: {chance.randrange(1, 10**6)}
start: 2026-03-02T06:00:00-05:00
duration: 2d
cohort: {{ generate: {{ model: uva-padova-2008, group: adult, count: 2 }} }}
scenario: {{ preset: life }}
arms:
  - name: loop
    algorithm: pid-insulin-feedback
    alerts:
      policy: drawn
{quiet}      rules:
{rule("DRAWN-LOW", chance.choice(("safetyCritical", "actionable")), f"< {low}")}{rule("DRAWN-HIGH", "actionable", f"> {high}")}"""
        status, answer = client.json("POST", "/api/sessions", {"study_text": study, "session": number % 2, "pace": "20000", "name": f"Drawn {number}"})
        if status != 201:
            raise RuntimeError(f"no session: {status} {answer}")
        days.append((answer["id"], chance.random() < 0.5))
    found = []
    for one, snoozes in days:
        # Whatever is active is snoozed for half an hour, again and again, on every other day.
        def is_lived():
            for code in client.codes(one) if snoozes else []:
                client.command(one, "snooze", alert=code, minutes=30)
            return client.snapshot(one)["t"] >= 86_400

        until(is_lived, PATIENCE)
        client.command(one, "pace", pace="paused")
        events = [e for e in client.timeline(one) if (e.get("alert") or {}).get("effect") == "notify"]
        found.append((one, events))
        client.call("DELETE", f"/api/sessions/{one}")
    return found


def sound(server, browser, check, days):
    with_stub(browser)
    open_ward(server, browser)
    browser.js("sessionStorage.setItem('islet-test-stream', '1'); sessionStorage.removeItem('islet-sound'); sessionStorage.removeItem('islet-listen')")
    browser.open(server.address + "/")
    browser.wait("return window.streams?.length > 0", seconds=20)
    ring = {"session": "x", "name": "Cleo", "at": "2026-03-02T09:26:38-05:00", "t": 0, "pace": "1", "code": "A", "severity": "safetyCritical", "reason": "conditionHeld", "message": "Glucose is urgently low", "message_parts": [], "action": "Eat", "route": "cgm", "ring": 1}
    say = "window.setTestClock(arguments[1]); window.say('rang', arguments[0], arguments[2]); return window.tones.length"
    check("ward.sound-off-at-first", browser.js("return document.querySelector('[data-sound]').getAttribute('aria-pressed')") == "false" and "not heard" in browser.js("return document.querySelector('[data-muted]').innerText"))
    check("ward.sound-none-while-muted", browser.js(say, ring, 1000, "e-1") == 0)
    check("ward.sound-announced-all-the-same", browser.wait("return /Urgent, Cleo: Glucose is urgently low/.test(document.getElementById('announcer').textContent)", seconds=10))
    browser.js("window.setTestClock(2000); document.querySelector('[data-sound]').click()")
    check("ward.sound-is-on", browser.wait("return document.querySelector('[data-sound]').getAttribute('aria-pressed') === 'true' && document.querySelector('[data-muted]').hidden", seconds=10))
    before = browser.js("return window.tones.length")
    browser.js(say, {**ring, "ring": 2}, 20_000, "e-2")
    tones = browser.js("return window.tones.slice(arguments[0])", before)
    check("ward.sound-urgent-is-ten-pulses", len(tones) == 10 and len({t["asked"] for t in tones}) == 1, tones)
    check("ward.sound-within-half-a-second", tones and tones[0]["at"] * 1000 - 20_000 <= 500, tones[:1])
    before = browser.js("return window.tones.length")
    browser.js(say, {**ring, "ring": 3, "severity": "actionable"}, 40_000, "e-3")
    check("ward.sound-action-is-three", browser.js("return window.tones.length") - before == 3)
    browser.js(say, {**ring, "ring": 4, "severity": "informational"}, 60_000, "e-4")
    check("ward.sound-none-for-information", browser.js("return window.tones.length") - before == 3)
    browser.js(say, {**ring, "ring": 4, "severity": "informational"}, 60_000, "e-4")
    check("ward.sound-once-by-its-number", browser.js("return window.tones.length") - before == 3)
    # Above 5 times real time: one short tone a second.
    before = browser.js("return window.tones.length")
    for number in range(6):
        browser.js(say, {**ring, "ring": 10 + number, "pace": "60"}, 80_000 + number * 100, f"e-{10 + number}")
    check("ward.sound-one-a-second-when-fast", browser.js(BURSTS, before) == 1, browser.js("return window.tones.slice(arguments[0])", before))
    browser.js("window.setTestClock(90000)")
    check("ward.sound-counts-the-others", browser.wait("return /5 rang within a second/.test(document.querySelector('[data-counted]')?.textContent ?? '')", seconds=5))
    # Days that were drawn.
    time.sleep(1.2)
    total = 0
    for one, events in drawn_days(server, days):
        loud = [e for e in events if e["alert"]["severity"] in ("safetyCritical", "actionable")]
        total += len(loud)
        feed = [({**ring, "ring": 1000 + n, "session": one, "severity": e["alert"]["severity"], "t": e["t"]}, 100_000 + e["t"] * 1000 + n, f"{one}-{n}") for n, e in enumerate(events)]
        play = "const before = window.tones.length; for (const [data, at, id] of arguments[0]) { window.setTestClock(at); window.say('rang', data, id); } return new Set(window.tones.slice(before).map((t) => t.asked)).size"
        found = browser.js(play, feed)
        check(f"ward.sound-day-{one}: a burst for each notification", found == len(loud), (found, len(loud)))
    check("ward.sound-days-rang", total > days, total)
    print(f"ward.sound: {total} notifications of {days} drawn days", flush=True)
    # Only whom one listens to.
    other = browser.js("const s = document.querySelector('[data-listen]'); s.value = s.options[1].value; s.dispatchEvent(new Event('change', { bubbles: true })); return s.value")
    before = browser.js("return window.tones.length")
    browser.js(say, {**ring, "ring": 9001}, 9e8, "l-1")
    check("ward.sound-listens-as-one", browser.js("return window.tones.length") == before)
    browser.js(say, {**ring, "ring": 9002, "session": other}, 9.1e8, "l-2")
    check("ward.sound-listens-to-that-one", browser.js("return window.tones.length") == before + 10)
    browser.js("document.querySelector('[data-listen]').value = ''; document.querySelector('[data-listen]').dispatchEvent(new Event('change', { bubbles: true }))")
    browser.js("document.querySelector('[data-sound]').click()")
    before = browser.js("return window.tones.length")
    browser.js(say, {**ring, "ring": 9003}, 9.2e8, "l-3")
    check("ward.sound-muted-again", browser.js("return window.tones.length") == before)
    browser.js("sessionStorage.removeItem('islet-test-stream')")


# MARK: the keyboard


def keys(server, browser, check):
    from selenium.webdriver.common.keys import Keys

    open_ward(server, browser)
    here = "return document.activeElement?.closest?.('.rows > li')?.dataset.session ?? ''"
    shown = [r["id"] for r in rows(browser) if not r["hidden"]]
    browser.keys("j")
    first = browser.js(here)
    browser.keys("j")
    second = browser.js(here)
    browser.keys("k")
    check("ward.keys-j-and-k", first and second and first != second and browser.js(here) == first, (first, second, shown))
    check("ward.keys-focus-is-seen", browser.has_focus_ring())
    browser.keys("z")
    check("ward.keys-z", browser.js("return document.activeElement?.matches('.zz .menu button') || !document.activeElement?.querySelector('.zz')"))
    browser.keys(Keys.ESCAPE, "/")
    check("ward.keys-slash", browser.js("return document.activeElement?.matches('[data-find]')"))
    browser.keys("m", "a", "r", "a")
    names = "return [...document.querySelectorAll('.rows > li:not([hidden]) .name')].map(e => e.textContent)"
    check("ward.filter-finds", browser.wait(f"return (() => {{ {names} }})().join() === 'Mara'", seconds=5), browser.js(names))
    browser.keys(Keys.ESCAPE)
    browser.js("document.querySelector('[data-filter=urgent]').click()")
    groups = [r["group"] for r in rows(browser) if not r["hidden"]]
    check("ward.filter-by-a-count", set(groups) <= {"urgent"}, groups)
    check("ward.filter-is-pressed", browser.js("return document.querySelector('[data-filter=urgent]').getAttribute('aria-pressed')") == "true")
    browser.js("document.querySelector('[data-filter=urgent]').click()")
    browser.keys("j", "o")
    check("ward.keys-o", browser.wait("return location.pathname.startsWith('/sessions/')", seconds=10))
    reached = None
    open_ward(server, browser)
    reached = browser.tab_to("[data-command='acknowledge'], [data-act='z'], [data-open]", most=60)
    check("ward.keys-acts-are-reached-by-tab", reached is not None, reached)


# MARK: while time goes on


def moves(server, browser, check, seconds=60):
    """Somebody is among the rows: they stand still, and what got worse is offered; and what the page costs meanwhile."""
    for card in server.client().sessions():
        server.client().command(card["id"], "pace", pace="60")
    open_ward(server, browser)
    browser.keys("j")
    browser.driver.get_log("performance")
    began = browser.js("return Number(document.body.dataset.moves ?? 0)")
    before = [r["id"] for r in rows(browser)]
    end, received = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        time.sleep(5)
        for entry in browser.driver.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.dataReceived":
                received += event["params"].get("encodedDataLength", 0)
            elif event["method"] == "Network.responseReceived":
                received += event["params"]["response"].get("encodedDataLength", 0)
    moved = browser.js("return Number(document.body.dataset.moves ?? 0)") - began
    kilobytes = received / 1024 * 60 / seconds
    print(f"ward: {kilobytes:.0f} KB a minute at pace 60, {moved} moves while the keyboard is among the rows", flush=True)
    after = [r["id"] for r in rows(browser)]
    check("ward.moves-stand-still", moved <= 2 * seconds / 60 and after == before, (moved, before, after))
    check("ward.cost-300-KB-a-minute", 0 < kilobytes <= 300, f"{kilobytes:.0f}")


def looks(server, browser, check, axe):
    for width, scheme in ((1280, "light"), (380, "light"), (1280, "dark"), (768, "dark"), (1920, "light")):
        browser.size(width, scheme)
        open_ward(server, browser)
        result = browser.axe(axe)
        check(f"ward.axe-{width}-{scheme}", result["rules"] > 10 and not result["violations"], [(v["id"], v["html"][:160], (v["why"] or "")[:200]) for v in result["violations"]])
    browser.size(1280)


SHORT = ["order", "lost", "title", "sound", "keys"]
ALL = ["order", "still", "snooze", "colours", "fold", "letters", "zoom", "looks", "lost", "title", "keys", "moves", "sound"]


def ward(server, browser, check, axe, names, days=30):
    for name in names:
        began = time.monotonic()
        act = globals()[name]
        try:
            act(server, browser, check, *([axe] if name == "looks" else [days] if name == "sound" else []))
        except Exception as problem:
            check(f"ward.{name}: ran to its end", False, f"{type(problem).__name__}: {str(problem)[:300]}")
        print(f"ward.{name}: {time.monotonic() - began:.0f} s", flush=True)
