"""What check_page.py looks at of every page: widths, forced colours, paper, motion, the keyboard alone, and how many clicks a task takes.

  looks.sideways-*   no page scrolls sideways at 320 to 1920 px; 640 px is 1280 at 200 %
  looks.forced-*     forced colours: axe-core finds nothing, what is chosen differs by more than a colour, and lines of charts stand out
  looks.paper-*      on paper: no control, light colours, nothing that is cut off at the right
  looks.motion-*     nothing moves where the reader asked for no motion
  looks.keyboard-*   each control of each page gets the focus by Tab alone, shows it, and is not covered then
  looks.clicks-*     the tasks of the design's section C, by real clicks from the ward
  looks.crowd-*      100 people: nobody in trouble below somebody well, and what the page takes of a core
"""

import re
import tempfile
import time
from pathlib import Path

from page_alerts import BROKEN, FAULT
from page_server import STUDY as ONE
from page_server import Server, until

WIDTHS = (320, 380, 640, 768, 800, 1280, 1920)
# The first ones that reach over the right edge, other than within a part that scrolls by itself.
CAUSE = """
const inside = (e) => { for (let p = e.parentElement; p; p = p.parentElement) if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return true; return false; };
return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !inside(e)).slice(0, 4).map(e => e.tagName + '.' + (e.className.baseVal ?? e.className) + ' ' + (e.textContent || '').slice(0, 30));
"""


def media_of(kind="", **features):
    """What a browser is told of the reader's wishes; those that are not named are as usual."""
    usual = {"forced_colors": "", "prefers_color_scheme": "", "prefers_reduced_motion": ""}
    return {"media": kind, "features": [{"name": name.replace("_", "-"), "value": value} for name, value in (usual | features).items()]}


def media(browser, kind="", **features):
    browser.cdp("Emulation.setEmulatedMedia", **media_of(kind, **features))


def stand_still(server, pace="paused"):
    """Nothing changes under the hands of who looks."""
    for card in server.client().sessions():
        server.client().command(card["id"], "pace", pace=pace)


# MARK: widths


def sideways(server, browser, check, pages):
    stand_still(server)
    for name, path in pages.items():
        browser.size(1280)
        browser.open(server.address + path)
        until(lambda: browser.seen(), 10)
        bad = {}
        for width in WIDTHS:
            browser.size(width)
            # A chart that is drawn anew for its place is asked for.
            if not until(lambda: browser.js("return document.documentElement.scrollWidth") <= width, 4):
                bad[width] = (browser.js("return document.documentElement.scrollWidth"), browser.js(CAUSE))
        check(f"looks.sideways-{name}", not bad, bad)
    browser.size(1280)
    stand_still(server, "60")


# MARK: forced colours

# What is chosen, and its like that is not: how they differ by more than a colour that is forced.
CHOSEN = """
const look = (e) => { const s = getComputedStyle(e); return [s.borderBottomWidth, s.borderBottomStyle, s.borderBottomColor, s.outlineStyle, s.outlineWidth, s.fontWeight, s.textDecorationLine, s.borderTopWidth, s.backgroundColor].join(' '); };
const pairs = [['.tabs a[aria-current]', '.tabs a:not([aria-current])'], ['.ranges a[aria-current]', '.ranges a:not([aria-current])'],
  ['.counts button[aria-pressed=true]', '.counts button[aria-pressed=false]'], ['[data-sound][aria-pressed=true]', '[data-sound][aria-pressed=false]']];
return pairs.map(([a, b]) => [a, document.querySelector(a), document.querySelector(b)]).filter(([, a, b]) => a && b).map(([name, a, b]) => [name, look(a) !== look(b)]);
"""

# Each mark of a chart that has to be seen, with the colour that it has, against the page's ground; grounds and guides are meant to be faint.
MARKS = r"""
const ground = getComputedStyle(document.body).backgroundColor;
const shown = (e) => e.getClientRects().length && e.getBoundingClientRect().width + e.getBoundingClientRect().height > 0;
const found = [];
for (const e of document.querySelectorAll('svg.chart text, svg.chart path, svg.chart circle, svg.chart line, svg.trace .p, svg.icon')) {
  if (!shown(e)) continue;
  const s = getComputedStyle(e);
  const faint = Number(s.opacity) < 1 || /^g$|band|b54|now/.test(e.getAttribute('class') ?? '');
  if (e.tagName === 'svg') { found.push(['svg', e.getAttribute('class') ?? '', s.stroke]); continue; }
  if (e.tagName === 'text') { found.push([/[\p{L}\p{N}]/u.test(e.textContent) ? 'text' : 'sign', e.getAttribute('class') ?? '', s.fill]); continue; }
  if (!faint && s.stroke !== 'none' && Number(s.strokeOpacity) === 1) found.push([e.tagName, e.getAttribute('class') ?? '', s.stroke]);
}
return [ground, [...new Set(found.map((f) => f.join('|')))]];
"""


def rgb(text):
    parts = [float(p) for p in re.findall(r"[\d.]+", text)]
    return parts[:3] if parts else [0, 0, 0]


def contrast(a, b):
    def light(colour):
        parts = [v / 255 for v in colour]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    high, low = sorted((light(a), light(b)), reverse=True)
    return high / low


def dim_marks(ground, marks):
    """Those of `MARKS` that one would not see: letters below 4.5:1, lines below 3:1."""
    dim = []
    for mark in marks:
        kind, look, colour = mark.split("|")
        if colour != "none" and contrast(rgb(colour), rgb(ground)) < (4.5 if kind == "text" else 3):
            dim.append((kind, look, colour, ground))
    return dim


# With forced colours Chromium paints text in `color`, and still says the page's own where it is asked what fills the letters; axe-core asks for that first.
INK = """
const own = CSSStyleDeclaration.prototype.getPropertyValue;
CSSStyleDeclaration.prototype.getPropertyValue = function (name) { return own.call(this, name === '-webkit-text-fill-color' ? 'color' : name); };
"""


def forced(server, browser, check, pages, axe):
    stand_still(server)
    for scheme in ("light", "dark"):
        for name, path in pages.items():
            browser.size(1280)
            media(browser, forced_colors="active", prefers_color_scheme=scheme)
            browser.open(server.address + path)
            until(lambda: browser.seen(), 10)
            where = f"looks.forced-{name}-{scheme}"
            check(f"{where}: is so", browser.js("return matchMedia('(forced-colors: active)').matches"))
            alike = [pair for pair, differs in browser.js(CHOSEN) if not differs]
            check(f"{where}: what is chosen is seen", not alike, alike)
            dim = dim_marks(*browser.js(MARKS))
            check(f"{where}: marks stand out", not dim, dim[:6])
            browser.js(INK)
            result = browser.axe(axe)
            check(f"{where}: axe-core", result["rules"] > 10 and not result["violations"], [(v["id"], v["html"][:160], (v["why"] or "")[:160]) for v in result["violations"]])
    media(browser)
    browser.size(1280)
    stand_still(server, "60")


# MARK: paper

# Pages whose fields say what is set; counts of the ward are buttons that say something too.
FORMS = ("new", "studies", "settings", "room-settings")

ON_PAPER = """
const shown = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
return { controls: [...document.querySelectorAll(arguments[0] ? 'button:not(.count)' : 'button:not(.count), input:not([type=hidden]), select, textarea')].filter(shown).map((e) => e.tagName + ' ' + (e.innerText || e.name || e.id).slice(0, 30)),
  ground: getComputedStyle(document.body).backgroundColor, ink: getComputedStyle(document.body).color, wide: document.documentElement.scrollWidth, main: document.querySelector('main').getBoundingClientRect().height };
"""


def paper(server, browser, check, pages):
    """A sheet of A4 within its margins is 718 px wide."""
    stand_still(server)
    for name, path in pages.items():
        browser.size(718)
        media(browser, "print", prefers_color_scheme="dark")
        browser.open(server.address + path)
        until(lambda: browser.seen(), 10)
        found = browser.js(ON_PAPER, name in FORMS)
        check(f"looks.paper-{name}: no control", not found["controls"], found["controls"][:6])
        check(f"looks.paper-{name}: light", contrast(rgb(found["ground"]), [255, 255, 255]) < 1.2 and contrast(rgb(found["ink"]), rgb(found["ground"])) >= 7, found)
        check(f"looks.paper-{name}: as wide as it is", found["wide"] <= 718, (found["wide"], browser.js(CAUSE)))
        check(f"looks.paper-{name}: has content", found["main"] > 100, found)
    media(browser)
    browser.size(1280)
    stand_still(server, "60")


# MARK: motion

WATCH = "window.moved = 0; const own = Element.prototype.animate; Element.prototype.animate = function (...all) { window.moved += 1; return own.apply(this, all); };"


def motion(server, browser, check):
    """A row changes its class: it glides, but not for who asked for no motion."""
    client = server.client()
    some = next(c["id"] for c in client.sessions() if c["name"] == "Ada")
    for wish, moves in (("no-preference", True), ("reduce", False)):
        client.command(some, "threshold", metric="glucose", low=70, high=250, sensitivity_minutes=0, enabled=True)
        until(lambda: "THRESHOLD-GLUCOSE-LOW" not in client.codes(some), 30)
        browser.size(1280)
        media(browser, prefers_reduced_motion=wish)
        browser.open(server.address + "/")
        browser.wait("return document.querySelector('[data-live]')?.classList.contains('now')", seconds=30)
        browser.js("document.querySelector('[data-show-well]')?.click()")
        time.sleep(2)
        browser.js(WATCH)
        before = browser.js("return Number(document.body.dataset.moves ?? 0)")
        client.command(some, "threshold", metric="glucose", low=399, high=None, sensitivity_minutes=0, enabled=True)
        moved = browser.wait(f"return Number(document.body.dataset.moves ?? 0) > {before}", seconds=60)
        check(f"looks.motion-{wish}: a row moves", moved)
        found = browser.js("return window.moved")
        check(f"looks.motion-{wish}: it {'glides' if moves else 'is there at once'}", (found > 0) == moves, found)
        browser.open(f"{server.address}/sessions/{some}")
        toast = "const e = document.querySelector('[data-toast]'); return e ? getComputedStyle(e).animationName : null"
        found = browser.wait(f"return (() => {{ {toast} }})() !== null", seconds=20) and browser.js(toast)
        check(f"looks.motion-{wish}: a banner", found is not None and (found != "none") == moves, found)
    client.command(some, "threshold", metric="glucose", low=70, high=250, sensitivity_minutes=0, enabled=True)
    media(browser)


# MARK: the keyboard alone

# Every control gets a number; a group of radio buttons is one stop of Tab, and arrows go on in it.
NUMBER = """
for (const d of document.querySelectorAll('details')) d.open = true;
let n = 0;
for (const e of document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')) {
  const seen = e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden' && !e.closest('[hidden], [inert]');
  if (!seen || e.disabled || e.matches(':disabled')) continue;
  if (e.tabIndex < 0) continue;
  e.dataset.stop = String(n++);
}
return n;
"""
STOPS = """
const one = (e) => ({ stop: e.dataset.stop, what: e.tagName + ' ' + (e.innerText || e.getAttribute('aria-label') || e.name || e.id || '').trim().slice(0, 40), radio: e.type === 'radio' ? e.name : '' });
return [...document.querySelectorAll('[data-stop]')].map(one);
"""
# A threshold's banner of several lines, where none is on the page by itself: nothing is covered by it either.
TOAST = """
const place = document.querySelector('.toasts');
if (place && !place.querySelector('.toast')) place.innerHTML = `<div class="toast"><a href="#" tabindex="-1"><span>${'A threshold that was crossed. '.repeat(6)}</span></a></div>`;
"""
# What has the focus: its number, whether it shows that, and whether it is seen where it is.
HERE = """
const e = document.activeElement;
if (!e || e === document.body) return null;
const s = getComputedStyle(e), r = e.getBoundingClientRect();
const ring = (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none';
const [x, y] = [Math.min(innerWidth - 1, Math.max(0, r.left + Math.min(r.width, 40) / 2)), Math.min(innerHeight - 1, Math.max(0, r.top + r.height / 2))];
const top = document.elementFromPoint(x, y);
const clear = Boolean(top) && (e.contains(top) || top.contains(e) || e.labels && [...e.labels].some((l) => l.contains(top)));
return { stop: e.dataset.stop ?? null, radio: e.type === 'radio' ? e.name : '', ring, clear, what: e.tagName + ' ' + (e.innerText || e.name || e.id || '').slice(0, 40), over: clear ? '' : top ? top.tagName + '.' + (top.className.baseVal ?? top.className) : 'nothing', at: [Math.round(r.left), Math.round(r.top)] };
"""


def tab(browser):
    for kind in ("rawKeyDown", "keyUp"):
        browser.cdp("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)


def keyboard(server, browser, check, pages, widths=(1280, 380)):
    stand_still(server)
    time.sleep(1)
    for name, path in pages.items():
        for width in widths:
            browser.size(width)
            browser.open(server.address + path)
            until(lambda: browser.seen(), 10)
            time.sleep(1.2)
            browser.js(TOAST)
            time.sleep(0.2)
            count = browser.js(NUMBER)
            wanted = {s["stop"]: s for s in browser.js(STOPS)}
            browser.js("document.activeElement?.blur(); window.scrollTo(0, 0)")
            reached, ringless, covered, radios = set(), [], [], set()
            last = None
            for _ in range(2 * count + 30):
                tab(browser)
                here = browser.js(HERE)
                # A field of a time has stops of its own within it.
                if here is None or here["stop"] in reached and here["stop"] != last:
                    break
                last = here["stop"]
                if here["stop"] is not None:
                    reached.add(here["stop"])
                if here["radio"]:
                    radios.add(here["radio"])
                if not here["ring"]:
                    ringless.append(here["what"])
                if not here["clear"]:
                    covered.append((here["what"], here["over"], here["at"]))
            missing = [s["what"] for n, s in wanted.items() if n not in reached and s["radio"] not in radios]
            where = f"looks.keyboard-{name}-{width}"
            check(f"{where}: each control is reached", count > 3 and not missing, (count, missing[:6]))
            check(f"{where}: the focus shows", not ringless, ringless[:6])
            check(f"{where}: the focus is not covered", not covered, covered[:4])
    browser.size(1280)
    stand_still(server, "60")


# MARK: clicks


class Hand:
    """Clicks what can be seen, as a hand does, and counts."""

    def __init__(self, browser):
        self.browser, self.count = browser, 0

    def click(self, selector, share=0.5, seconds=20):
        from selenium.webdriver import ActionChains

        self.browser.wait("return Boolean(document.querySelector(arguments[0])?.getClientRects().length)", selector, seconds=seconds)
        element = self.browser.driver.find_element("css selector", selector)
        self.browser.js("const r = arguments[0].getBoundingClientRect(); if (r.top < 0 || r.bottom > innerHeight) arguments[0].scrollIntoView({ block: 'center' })", element)
        width = self.browser.js("return arguments[0].getBoundingClientRect().width", element)
        ActionChains(self.browser.driver).move_to_element_with_offset(element, int(width * (share - 0.5)), 0).click().perform()
        self.count += 1


def clicks(server, browser, check):
    """Section C: each task from the ward."""
    client = server.client()
    cards = client.sessions()
    ada = next(c["id"] for c in cards if c["name"] == "Ada")
    client.command(ada, "threshold", metric="glucose", low=399, high=None, sensitivity_minutes=0, enabled=True)
    check("looks.clicks: a low is raised", until(lambda: "THRESHOLD-GLUCOSE-LOW" in client.codes(ada), 30))
    stand_still(server, "1")
    browser.size(1280, height=800)

    def ward():
        browser.open(server.address + "/")
        browser.wait("return document.querySelector('[data-live]')?.classList.contains('now')", seconds=30)
        return Hand(browser)

    hand = ward()
    worst = client.sessions()[0]["id"]
    seen = "const r = document.querySelector(`[data-session='${arguments[0]}']`).getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight"
    check("looks.clicks-in-trouble-0", browser.js(seen, worst) and hand.count == 0)
    # A pod breaks, and that is answered.
    broken = client.create(ONE + BROKEN, pace="600", name="Broken")
    check("looks.clicks: a pod breaks", until(lambda: FAULT in client.codes(broken), 60), client.codes(broken))
    client.command(broken, "pace", pace="1")
    hand = ward()
    hand.click(f"[data-session='{broken}'] [data-act='a']")
    check("looks.clicks-acknowledge-1", until(lambda: FAULT not in client.codes(broken), 15) and hand.count == 1, (hand.count, client.codes(broken)))
    client.call("DELETE", f"/api/sessions/{broken}")
    place = f"[data-session='{ada}']"
    hand = ward()
    hand.click(f"{place} .zz summary")
    hand.click(f"{place} .zz [data-minutes='30']")
    check("looks.clicks-snooze-2", until(lambda: client.snapshot(ada)["snoozes"], 15) and hand.count == 2, hand.count)
    # An hour ago, by the row's own trace: then the other policy from there, beside this one.
    hand = ward()
    now = client.snapshot(ada)["t"]
    hand.click(f"{place} .trace", share=120 / 210)
    opened = browser.wait("return location.pathname.endsWith('/past')", seconds=20)
    at = browser.js("return Number(new URLSearchParams(location.search).get('t'))") if opened else 0
    check("looks.clicks-past-1", opened and hand.count == 1 and abs(now - 3600 - at) < 900, (hand.count, now - at))
    hand.click("[data-key='fork-preset'] > summary")
    hand.click("[data-key='fork-preset'] button.do")
    beside = browser.wait("return location.pathname.includes('/beside/')")
    check("looks.clicks-fork-and-compare-4", beside and hand.count <= 4, hand.count)
    if beside:
        client.call("DELETE", f"/api/sessions/{browser.path().rsplit('/', 1)[-1]}")
    hand = ward()
    hand.click(f"{place} [data-act='o']")
    hand.click(".tabs a[href$='/alerts']")
    why = browser.wait("const e = document.querySelector(\"[data-surface='band']\"); return Boolean(e) && /why it did not/.test(e.innerText)", seconds=20)
    check("looks.clicks-why-not-2", why and hand.count == 2, hand.count)
    client.command(ada, "threshold", metric="glucose", low=70, high=250, sensitivity_minutes=0, enabled=True)
    browser.size(1280)
    stand_still(server, "60")


# MARK: many people

CROWD = """study: crowd
seed: 11
start: 2026-03-02T06:00:00-05:00
duration: 14d
cohort: { generate: { model: uva-padova-2008, group: adult, count: 100 } }
scenario: { preset: life }
faults: all
person: typical
arms:
  - { name: loop, algorithm: pid-insulin-feedback, alerts: dexcom-g7 }
"""


def descendants(of):
    """Processes below one, with their command lines."""
    parents, lines = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            lines[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, ValueError):
            continue
    found, more = set(), {of}
    while more:
        found |= more
        more = {pid for pid, parent in parents.items() if parent in more} - found
    return {pid: lines.get(pid, "") for pid in found}


def tab_seconds(browser):
    """What the tab's processes have taken of a processor."""
    import os

    total = 0
    for pid, line in descendants(browser.driver.service.process.pid).items():
        if "--type=renderer" in line:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def crowd(binary, browser, check, seconds=60):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "crowd.yaml").write_text(CROWD)
        people = "\n".join(f"  - {{ name: Person {n:03}, study: crowd.yaml, session: {n}, from: 12h }}" for n in range(100))
        (folder / "ward.yaml").write_text(f"ward: crowd\npace: 60\nsessions:\n{people}\n")
        with Server(binary, extra=["--ward", str(folder / "ward.yaml")]) as server:
            ready = lambda: len(server.client().sessions()) == 100 and all(c["phase"] == "running" for c in server.client().sessions())
            if not check("looks.crowd: 100 people", until(ready, 600)):
                return
            browser.size(1280, height=800)
            browser.open(server.address + "/")
            browser.wait("return document.querySelector('[data-live]')?.classList.contains('now')", seconds=60)
            time.sleep(15)
            shown = browser.js("return [...document.querySelectorAll('.rows > li')].filter(r => !r.hidden).map(r => ({ group: r.dataset.class, height: r.getBoundingClientRect().height }))")
            groups = [r["group"] for r in shown]
            check("looks.crowd: who is well is a line", "well" not in groups, groups)
            check("looks.crowd: rows are low", shown and sorted(r["height"] for r in shown)[len(shown) // 2] <= 66, shown[:4])
            number = lambda: browser.js("return performance.getEntriesByType('resource').length")
            before, asked, began = tab_seconds(browser), number(), time.monotonic()
            time.sleep(seconds)
            took, share = time.monotonic() - began, tab_seconds(browser) - before
            share /= took
            print(f"crowd: {100 * share:.1f} % of a core in the tab, {len(shown)} rows of 100 people at pace 60, {number() - asked} requests in {took:.0f} s", flush=True)
            check("looks.crowd: 10 % of a core", share <= 0.10, f"{100 * share:.1f} %")
            check("looks.crowd: it was followed", browser.js("return document.querySelector('[data-live]').classList.contains('now')"))
            wide = browser.js("return document.documentElement.scrollWidth")
            check("looks.crowd: no sideways scroll", wide <= 1280, wide)
            browser.open("about:blank")


ALL = ["sideways", "forced", "paper", "motion", "keyboard", "clicks", "crowd"]
SHORT = ["clicks"]


def looks(server, browser, check, axe, pages, names):
    for name in names:
        began = time.monotonic()
        try:
            if name == "crowd":
                crowd(server.binary, browser, check)
            else:
                more = {"sideways": [pages], "paper": [pages], "keyboard": [pages], "forced": [pages, axe]}.get(name, [])
                globals()[name](server, browser, check, *more)
        except Exception as problem:
            check(f"looks.{name}: ran to its end", False, f"{type(problem).__name__}: {str(problem)[:300]}")
        print(f"looks.{name}: {time.monotonic() - began:.0f} s", flush=True)
