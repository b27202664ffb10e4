#!/usr/bin/env python3
"""Looks at report.html in a browser, and compares its numbers with summary.json.

Usage: check_report.py --islet PATH [--short] [--only NAME,...] [--browser PATH] [--folder DIR] [--pictures DIR] [--docs docs/images]

Runs small studies of several kinds (people who hear, one arm, one person, sixteen arms, a hundred equal ones, a hundred policies in shadow, a sweep of 48
arms, a thousand sessions, nobody with a low, rooms, children, sessions that end early, mmol/L, `record: summary`, names as long and as odd as a study may
have), or takes the folder that it is given. Of each report:
  numbers    each element with a `data-path` shows the value at that place of summary.json, rounded as it is shown; a cell of numbers without one is
             a failure, so nothing can stand there that summary.json doesn't have
  unit       a page in mmol/L has no glucose in mg/dL in any figure
  offline    no address but links within the page or the folder, no script
  again      `islet report` on the folder gives the same bytes, and `islet verify` finds nothing off
  browser    no console message, no request, no horizontal scroll from 320 to 1920 px (640 px is 1280 at 200 %), axe-core without a finding in light, dark and
             forced colours, marks that stand out in these, no motion, no text of a figure that leaves it or covers another, at most 6 pages of A4
  first      first line, cards, trade, ranges stand on one screen of 1280 x 800 and, with the day, on one sheet; at most 60 words before the first figure
  words      no name of a column in visible text, no `1 patient-days`, no `All 1`
  ranges     the bar's segments add up to the day, in their colours, which differ for the colour-blind (Machado 2009); one zero in the trade
  possible   no interval of a share or a part of the time outside of what it can be
  letters    of figures are 12 px from 380 to 1920 px; the page is at most 6000 px high
  sweep      each factor is a column, at most 12 columns, at most 24 open rows
`--short` is what `make test` has time for: the two studies with most in them, axe-core once in light and once in dark.
What a report takes of a processor is printed, and not judged. Needs chromium and chromedriver, selenium and axe-core; one browser serves all. What may take
long on a machine that does other things has ten minutes. The last line is `N passed, N failed`.
"""

import argparse
import base64
import json
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path

from page_browser import AXE, BROWSERS, axe_source
from page_looks import MARKS, dim_marks, media_of
from page_ward import MACHADO, distance

LONG = "a-policy-with-a-name-that-is-as-long-as-anybody-would-ever-write-it-15m"
BASE = """study: {name}
duration: {days}d
seed: 7
cohort: {{ generate: {{ model: uva-padova-2008, group: {group}, count: {count} }} }}
scenario: {{ preset: life }}
"""
STUDIES = {
    "heard": BASE.format(name="heard", days=2, group="adult", count=24)
    + """person: typical
arms:
  - { name: at-once, algorithm: basal-bolus, alerts: dexcom-g7 }
  - { name: bionicloop, algorithm: basal-bolus, alerts: bionicloop }
  - { name: silent, algorithm: basal-bolus, alerts: dexcom-g7, person: muted }
compare: { reference: at-once }
primary: [tbr_54_percent, alerts_notifications_per_day]
margin: { tbr_54_percent: 0.2 }
""",
    "one-arm-summary": BASE.format(name="one arm <b>&amp; co", days=1, group="child", count=7)
    + "record: summary\narms: [{ algorithm: pid-insulin-feedback, alerts: bionicloop }]\n",
    "sixteen-arms": BASE.format(name="sixteen", days=1, group="adult", count=8)
    + "person: typical\narms:\n"
    + "".join(
        f"  - {{ name: '{LONG if n == 3 else 'arm'}-{n}', algorithm: basal-bolus, alerts: {'dexcom-g7' if n % 2 else 'bionicloop'} }}\n"
        for n in range(16)
    )
    + "compare: { reference: arm-0 }\n",
    "hundred-policies": BASE.format(name="hundred", days=2, group="adult", count=12)
    + """faults: { signal-loss: true }
arms: [{ name: loop, algorithm: pid-insulin-feedback, alerts: dexcom-g7 }]
sweep:
  of: dexcom-g7
  grid:
    "rules[LOW,HIGH].debounce": [0s, 5m, 15m, 30m, 60m]
    "rules[LOW,HIGH].cooldown": [0s, 60s, 5m, 30m]
    "rules[SIGNAL-LOSS].debounce": [1m, 5m, 20m, 40m, 60m]
""",
    # Six kilograms of carbohydrate in four hours: nobody lives through that.
    "ends-early": BASE.format(name="ends early", days=3, group="adult", count=9).replace(
        "preset: life",
        "meals: [" + ", ".join(f'{{ at: "{8 + n // 6:02}:{n % 6}0", carbs: 250 }}' for n in range(24)) + "]",
    )
    + """sensor: { model: dexcom-g7, offset: 100 }
faults: all
person: typical
arms:
  - { name: loop, algorithm: pid-insulin-feedback, alerts: dexcom-g7 }
  - { name: open, algorithm: basal-bolus, alerts: dexcom-g7 }
compare: { reference: open }
""",
    "rooms": """study: rooms
subject: { kind: grow-room, outsideMean: 6 }
seed: 20260601
start: 2026-01-12T08:00:00-05:00
duration: 7d
cohort: { generate: { count: 24 } }
record: summary
arms:
  - { name: story, alerts: story }
  - name: one-hour
    alerts:
      policy: one-hour
      thresholds:
        - { metric: temperature, min: 65, max: 85, sensitivity: 1h }
        - { metric: humidity, min: 40, max: 70, sensitivity: 1h }
        - { metric: vpd, min: 0.4, max: 1.6, sensitivity: 1h }
  - { name: literal, alerts: story-literal }
  - { name: unheard, alerts: story, keeper: { hearsAwake: 0, hearsAsleep: 0 } }
compare: { reference: story }
primary: [critical_percent, alerts_notifications_per_day, keeper_vain_calls_per_day]
""",
    "equal-arms": BASE.format(name="equal", days=1, group="adult", count=6)
    + "person: typical\narms:\n"
    + "".join(f"  - {{ name: arm-{n}, algorithm: basal-bolus, alerts: dexcom-g7 }}\n" for n in range(100))
    + "compare: { reference: arm-0 }\nprimary: [tbr_54_percent, alerts_notifications_per_day]\n",
    "sweep": BASE.format(name="sweep", days=2, group="adult", count=12)
    + """question: What do waiting and pausing do?
faults: { signal-loss: true }
person: typical
arms: [{ name: closed-loop, algorithm: pid-insulin-feedback, alerts: dexcom-g7 }]
sweep:
  of: dexcom-g7
  mode: closed
  grid:
    "rules[LOW,HIGH].debounce": [0s, 5m, 15m, 60m]
    "rules[LOW,HIGH].cooldown": [0s, 60s, 5m, 30m]
    "rules[SIGNAL-LOSS].debounce": [5m, 20m, 60m]
primary: [tbr_54_percent, alerts_notifications_per_day]
""",
    "thousand": BASE.format(name="thousand", days=1, group="adult", count=500)
    + """record: summary
person: typical
arms:
  - { name: at-once, algorithm: basal-bolus, alerts: dexcom-g7 }
  - { name: later, algorithm: basal-bolus, alerts: bionicloop }
compare: { reference: at-once }
primary: [tbr_54_percent, alerts_notifications_per_day]
margin: { tbr_54_percent: 0.2 }
""",
    "one-person": BASE.format(name="one-person", days=1, group="adult", count=1)
    + """person: typical
arms:
  - { name: at-once, algorithm: basal-bolus, alerts: dexcom-g7 }
  - { name: later, algorithm: basal-bolus, alerts: bionicloop }
compare: { reference: at-once }
margin: { tbr_54_percent: 0.2 }
""",
    "no-lows": """study: no-lows
duration: 1d
cohort: { generate: { count: 6 } }
scenario: { meals: none }
arms:
  - { name: one, algorithm: basal-bolus, alerts: bionicloop }
  - { name: two, algorithm: pid-insulin-feedback, alerts: bionicloop }
compare: { reference: one }
""",
}

# Studies of `--short`; reports that are also made in mmol/L.
SHORT = ["heard", "hundred-policies"]
# Reports whose arms are compared, so that their first screen has all that a first screen has.
COMPARED = ["heard", "quickstart", "one-person"]
MILLIMOLES = ["heard", "hundred-policies", "ends-early"]
# Seconds that a browser on a loaded machine may take for one thing.
PATIENCE = 600

passed = failed = 0


def check(ok, what, more=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}{': ' + str(more)[:600] if more else ''}")


class Reader(HTMLParser):
    """Collects what has a data-path, and cells of numbers that have none."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found, self.bare, self.links, self.scripts = [], [], [], 0
        self.open, self.cell, self.section = None, None, ""

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "h2":
            self.section = attributes.get("id", "")
        if tag == "script":
            self.scripts += 1
        for name in ("href", "src"):
            if name in attributes and tag not in ("svg",):
                self.links.append(attributes[name])
        if "data-path" in attributes:
            self.open = (attributes, "")
            if self.cell:
                self.cell[1] = True
        if tag == "td" and attributes.get("class", "").split()[:1] == ["n"]:
            self.cell = ["", False]

    def handle_endtag(self, tag):
        if tag == "span" and self.open:
            self.found.append(self.open)
            self.open = None
        if tag == "td" and self.cell:
            text, has_path = self.cell
            if not has_path and text.strip() != "–" and self.section != "assumptions":
                self.bare.append((self.section, text))
            self.cell = None

    def handle_data(self, text):
        if self.open:
            self.open = (self.open[0], self.open[1] + text)
        if self.cell:
            self.cell[0] += text


def value_at(summary, path):
    """The longest names first: an outcome's name has no dot, an arm's place is a number."""
    here = summary
    for part in path.split("."):
        here = here[int(part)] if isinstance(here, list) else here[part]
    return here


def check_numbers(name, html, summary):
    reader = Reader()
    reader.feed(html)
    wrong = []
    for attributes, text in reader.found:
        path = attributes["data-path"]
        try:
            value = value_at(summary, path)
        except (KeyError, IndexError, TypeError, ValueError):
            wrong.append(f"{path}: not in summary.json")
            continue
        if "data-below" in attributes:
            if not value < float(attributes["data-below"]):
                wrong.append(f"{path}: {value} is not below {attributes['data-below']}")
            continue
        shown = text.replace("\u2212", "-").strip()
        if not re.fullmatch(r"-?\d+(\.\d+)?", shown):
            wrong.append(f"{path}: shows {text!r}")
            continue
        places = len(shown.partition(".")[2])
        wanted = value * float(attributes.get("data-factor", 1))
        if abs(float(shown) - wanted) > 0.5000001 * 10**-places + 1e-6 * abs(wanted):
            wrong.append(f"{path}: shows {text}, summary.json has {value}")
    check(not wrong, f"{name}: numbers equal summary.json", "; ".join(wrong[:5]))
    check(len(reader.found) >= 10, f"{name}: numbers are there", len(reader.found))
    check(not reader.bare, f"{name}: cells of numbers name their place", reader.bare[:5])
    check(reader.scripts == 0, f"{name}: no script")
    outside = [link for link in reader.links if not re.match(r"#|data:,$|confirm/report\.html$", link)]
    check(not outside, f"{name}: no address outside", outside)
    check(not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", html), f"{name}: nothing is fetched")


def check_unit(name, html):
    texts = re.findall(r"<(?:text|title|desc)[^>]*>([^<]*)", html[html.index("<body>") :])
    wrong = [text for text in texts if "mg/dL" in text]
    check(not wrong, f"{name}: figures are in mmol/L", wrong[:3])
    check(any("mmol/L" in text for text in texts), f"{name}: figures name mmol/L")
    shown = re.findall(r'data-path="[^"]*\.mean_mgdl\.mean"[^>]*>([^<]*)', html)
    check(shown and all(2 < float(value) < 35 for value in shown), f"{name}: mean glucose is in mmol/L", shown)


OVERFLOW = """
const found = [];
for (const svg of document.querySelectorAll('svg.chart')) {
  const frame = svg.getBoundingClientRect();
  if (frame.width === 0) continue;
  const texts = [...svg.querySelectorAll('text')].map(t => [t, t.getBoundingClientRect()]);
  for (const [t, r] of texts)
    if (r.left < frame.left - 1.5 || r.right > frame.right + 1.5 || r.top < frame.top - 1.5 || r.bottom > frame.bottom + 1.5)
      found.push(svg.querySelector('title').textContent + ': "' + t.textContent + '" leaves it');
  for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
    const [a, b] = [texts[i][1], texts[j][1]];
    const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (w > 1.5 && h > 4) found.push(svg.querySelector('title').textContent + ': "' + texts[i][0].textContent + '" over "' + texts[j][0].textContent + '"');
  }
}
return found;
"""


# What a reader sees, apart from code and from what figures tell those who can't see them; and how much of it stands before the first figure.
VISIBLE = """
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const first = document.querySelector('main svg');
let all = '', before = '';
while (walker.nextNode()) {
  const node = walker.currentNode;
  if (node.parentElement.closest('code, pre, style, title, desc')) continue;
  all += node.data + '\\n';
  if (first && node.parentElement.closest('main') && first.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING)
    before += node.data + ' ';
}
return [all, before];
"""

# Of what has to stand on a first screen, or sheet: its name, and where it ends.
BOTTOMS = """
const found = {};
const seen = element => element && element.getBoundingClientRect().height > 0;
const end = (name, selector) => {
  const all = [...document.querySelectorAll(selector)].filter(seen);
  found[name] = all.length ? Math.max(...all.map(element => element.getBoundingClientRect().bottom + scrollY)) : null;
};
end('h1', 'h1'); end('cards', '.card'); end('trade', '#figure-trade svg'); end('ranges', '#figure-ranges svg'); end('day', '#figure-profile svg');
found.count = document.querySelectorAll('.card').length;
found.height = document.documentElement.scrollHeight;
return found;
"""

LETTERS = """
const found = [];
for (const text of document.querySelectorAll('svg.chart text:not(.t):not(.h)')) {
  const svg = text.closest('svg'), frame = svg.getBoundingClientRect();
  if (frame.width === 0) continue;
  const size = parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width;
  if (Math.abs(size - 12) > 0.5) found.push(svg.querySelector('title').textContent + ': ' + size.toFixed(2));
}
return [...new Set(found)];
"""

FIGURES = """
const bars = [...document.querySelectorAll('#figure-ranges .only-wide rect[data-range]')].map(
  rect => [+rect.dataset.range, +rect.dataset.percent, getComputedStyle(rect).fill]);
const zeros = [...document.querySelectorAll('#figure-trade .only-wide .zero')].map(line => [+line.getAttribute('x1'), +line.getAttribute('x2')]);
const points = [...document.querySelectorAll('#figure-trade .only-wide [data-outcome]')].length;
const sweep = document.querySelector('table.sweep');
return {bars, zeros, points, sweep: sweep && {
  heads: [...sweep.querySelectorAll('thead th')].map(cell => cell.firstChild.textContent.trim()),
  rows: sweep.querySelectorAll('tbody tr').length}};
"""

# Rows that a rule for something else has taken apart.
ROWS = """
return [...document.querySelectorAll('tr')].filter(row => row.getClientRects().length && !row.closest('.settings') && getComputedStyle(row).display !== 'table-row').map(row => row.className + ': ' + row.innerText.slice(0, 40));
"""

FILLS = ["#8b0000", "#d6392b", "#4aa66a", "#f2c230", "#e8842c"]


def check_colours(html):
    """Once: of the page's own rules, in light and in dark."""
    rules = html[html.index("<style>") : html.index("</style>")]
    for scheme, part in (("light", rules.split("@media")[0]), ("dark", rules.split("prefers-color-scheme:dark")[1])):
        fills = [re.search(rf"--r{place}:(#[0-9a-f]{{6}})", part)[1] for place in range(5)]
        for kind in MACHADO:
            for low, high in zip(fills, fills[1:]):
                check(distance(low, high, kind) >= 17, f"{scheme}: {low} and {high} differ for {kind}", distance(low, high, kind))
        if scheme == "light":
            check(fills == FILLS, "light: the ranges' colours", fills)


def check_possible(name, html, summary):
    wrong = []
    for found in re.finditer(r'data-path="((?:arms|policies)\.[^"]*outcomes\.([a-z0-9_]+)\.ci95\.[01])"(?: data-factor="([^"]*)")?>([^<]*)', html):
        path, outcome, factor, text = found.groups()
        shown = float(text.replace("\u2212", "-"))
        is_share = factor == "100.0" or (outcome.endswith("_percent") and not outcome.endswith(("cv_percent", "gmi_percent")))
        if shown < 0 and "lead_min" not in outcome and "sole_cause" not in outcome or is_share and shown > 100:
            wrong.append(f"{path}: {text}")
    check(not wrong, f"{name}: intervals are possible", wrong[:4])


def check_first(name, html, summary, driver, view):
    """Brief F's checks, by script."""
    url = driver.current_url
    view(1280, "light", height=800)
    driver.get(url)
    broken = driver.execute_script(ROWS)
    check(not broken, f"{name}: rows of tables are rows", broken[:4])
    visible, before = driver.execute_script(VISIBLE)
    names = sorted(set(re.findall(r"\b[a-z]+_[a-z_]+", visible)))
    check(not names, f"{name}: no name of a column in visible text", names[:5])
    said = re.findall(r"\b1 patient-days|All 1 |\bthe 1 people|\b1 people|\b1 arms", visible)
    check(not said, f"{name}: one is one", said)
    words = re.findall(r"[A-Za-z][A-Za-z'’-]+", before)
    check(len(words) <= 60, f"{name}: words before the first figure", f"{len(words)}: {' '.join(words)}")
    ends = driver.execute_script(BOTTOMS)
    if name in COMPARED:
        check(ends["count"] == 3, f"{name}: three cards", ends["count"])
        for part in ("h1", "cards", "trade", "ranges"):
            if part == "trade" and name == "one-person":
                continue
            check(ends[part] is not None and ends[part] <= 800, f"{name}: {part} on the first screen", ends)
    check(ends["height"] <= 6000, f"{name}: height as it opens", ends["height"])
    found = driver.execute_script(FIGURES)
    for begin in range(0, len(found["bars"]), 5):
        bar = found["bars"][begin : begin + 5]
        check(sorted(part[0] for part in bar) == [0, 1, 2, 3, 4], f"{name}: five segments", bar)
        check(abs(sum(part[1] for part in bar) - 100) <= 0.2, f"{name}: segments add up", bar)
        for place, _, fill in bar:
            rgb = tuple(int(FILLS[place][at : at + 2], 16) for at in (1, 3, 5))
            check(fill == f"rgb{rgb}", f"{name}: colour of a segment", (place, fill))
    if name in COMPARED[:2]:
        check(found["bars"], f"{name}: ranges are drawn")
        check(found["points"] >= 3, f"{name}: rows of the trade", found["points"])
    check(len(found["zeros"]) <= 1 and all(a == b for a, b in found["zeros"]), f"{name}: one zero", found["zeros"])
    if name == "hundred-policies":
        sweep = found["sweep"]
        check(sweep is not None, f"{name}: a table of combinations")
        if sweep:
            check(len(sweep["heads"]) <= 12 and sweep["rows"] <= 24, f"{name}: its size", sweep)
            check(sum("debounce" in head for head in sweep["heads"]) == 2 and "cooldown" in sweep["heads"], f"{name}: factors are columns", sweep)
    for width in (320, 380, 640, 768, 800, 1280, 1920):
        view(width, "light")
        driver.get(url)
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        check(wide <= width, f"{name}: no horizontal scroll at {width} px", wide)
        if width < 380:
            continue
        letters = driver.execute_script(LETTERS)
        check(not letters, f"{name}: letters of figures at {width} px", letters[:4])
    # A sheet of A4 without its margins, 188 mm x 275 mm.
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    view(711, None)
    driver.get(url)
    ends = driver.execute_script(BOTTOMS)
    if name in ("heard", "quickstart"):
        for part in ("h1", "cards", "trade", "ranges", "day"):
            check(ends[part] is not None and ends[part] <= 1039, f"{name}: {part} on the first sheet", ends)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    check_possible(name, html, summary)


def check_forced(name, driver, axe, url):
    """Forced colours, and a reader who asked for no motion."""
    for scheme in ("light", "dark"):
        wishes = {"forced_colors": "active", "prefers_color_scheme": scheme, "prefers_reduced_motion": "reduce"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media_of("", **wishes))
        driver.get(url)
        check(driver.execute_script("return matchMedia('(forced-colors: active)').matches"), f"{name}: colours are forced")
        dim = dim_marks(*driver.execute_script(MARKS))
        check(not dim, f"{name}: marks stand out in forced colours, {scheme}", dim[:6])
        check_axe(name, driver, axe, f"in forced colours, {scheme}")
        moving = driver.execute_script("return document.getAnimations().length")
        check(moving == 0, f"{name}: nothing moves", moving)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media_of(""))


def check_axe(name, driver, axe, where):
    """Of what stands open, and then of all: what is closed has to be right too."""
    driver.execute_script(axe)
    for what in ("", ", all open"):
        if what:
            driver.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
        found = driver.execute_async_script(AXE)
        check(found["rules"] > 20, f"{name}: axe-core looked {where}{what}", found["rules"])
        bad = "; ".join(f"{v['id']}: {v['html'][:160]} ({v['count']}) {(v['why'] or '')[:120]}" for v in found["violations"])
        check(not found["violations"], f"{name}: axe-core {where}{what}", bad)


def browser(path, driver_path):
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    # What the client allows its driver by default is less than a loaded machine needs.
    socket.setdefaulttimeout(PATIENCE)
    options = Options()
    options.binary_location = path
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    driver.set_script_timeout(PATIENCE)
    driver.set_page_load_timeout(PATIENCE)
    return driver


def check_browser(name, page, driver, axe, pictures, summary, short=False):
    url = page.resolve().as_uri()

    def view(width, scheme, scale=1, height=900):
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False},
        )
        if scheme:
            driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            )

    def picture(to):
        size = driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        Path(to).write_bytes(base64.b64decode(shot["data"]))

    driver.get_log("performance"), driver.get_log("browser")
    views = [(1280, "light"), (380, "light"), (1280, "dark"), (380, "dark")]
    with_axe = views[:1] + views[2:3] if short else views[:3]
    for width, scheme in views[:3] if short else views:
        view(width, scheme)
        driver.get(url)
        if width == 380:
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            check(wide <= 380, f"{name}: no horizontal scroll at 380 px", wide)
        if scheme == "light":
            texts = driver.execute_script(OVERFLOW)
            check(not texts, f"{name}: texts of figures stand apart at {width} px", f"{len(texts)}: " + "; ".join(texts[:4]))
        if (width, scheme) in with_axe:
            check_axe(name, driver, axe, f"at {width} px, {scheme}")
        if pictures:
            picture(f"{pictures}/{name}-{width}-{scheme}.png")
    messages = driver.get_log("browser")
    check(not messages, f"{name}: nothing in the console", messages)
    requests = {
        event["params"]["request"]["url"]
        for event in (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
        if event["method"] == "Network.requestWillBeSent"
    }
    check(
        all(request == url or request.startswith("data:") for request in requests),
        f"{name}: no request but the page",
        requests - {url},
    )
    check_first(name, page.read_text(), summary, driver, view)
    view(1280, None)
    check_forced(name, driver, axe, url)
    view(1280, "light")
    driver.get(url)
    paper = base64.b64decode(
        driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})["data"]
    )
    pages = len(re.findall(rb"/Type\s*/Page\b", paper))
    check(0 < pages <= 6, f"{name}: pages on paper", pages)
    if pictures:
        Path(f"{pictures}/{name}.pdf").write_bytes(paper)
    return pages


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--islet", required=True)
    arguments.add_argument("--short", action="store_true", help="what make test has time for")
    arguments.add_argument("--only", help="names of studies, with commas")
    arguments.add_argument("--browser", default=next(filter(None, map(shutil.which, BROWSERS)), None))
    arguments.add_argument("--driver", default=shutil.which("chromedriver"))
    arguments.add_argument("--folder", help="of results that are there")
    arguments.add_argument("--pictures", help="writes pictures and PDFs into this directory")
    arguments.add_argument("--docs", help="writes the first screen, light and dark, as report.png and report-dark.png into this directory")
    given = arguments.parse_args()
    islet = Path(given.islet).resolve()
    if not given.browser or not given.driver:
        print("check_report: no chromium or no chromedriver")
        sys.exit(2)
    if given.pictures:
        Path(given.pictures).mkdir(parents=True, exist_ok=True)
    wanted = given.only.split(",") if given.only else SHORT if given.short else list(STUDIES)
    axe = axe_source()
    driver = browser(given.browser, given.driver)
    try:
        with tempfile.TemporaryDirectory() as temporary:
            temporary = Path(temporary)
            if given.folder:
                look(islet, Path(given.folder), driver, axe, temporary, given)
            else:
                for name in wanted:
                    study, folder = temporary / f"{name}.yaml", temporary / name
                    study.write_text(STUDIES[name])
                    ran = subprocess.run([islet, "run", study, "--out", folder, "--quiet"], capture_output=True, text=True)
                    check(ran.returncode == 0, f"{name}: runs", ran.stderr)
                    if ran.returncode == 0:
                        look(islet, folder, driver, axe, temporary, given)
                        if name in MILLIMOLES:
                            look_in_millimoles(islet, folder, driver, axe, temporary, given)
                    shutil.rmtree(folder, ignore_errors=True)
    finally:
        driver.quit()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def first_screens(page, driver, folder):
    """The pictures of docs: what a reader of 1280 x 800 sees first."""
    for scheme, name in (("light", "report.png"), ("dark", "report-dark.png")):
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        )
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        driver.get(page.resolve().as_uri())
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": {"x": 0, "y": 0, "width": 1280, "height": 800, "scale": 1}})
        (folder / name).write_bytes(base64.b64decode(shot["data"]))


def look(islet, folder, driver, axe, temporary, given):
    name, page = folder.name, folder / "report.html"
    began = time.monotonic()
    html, summary = page.read_text(), json.loads((folder / "summary.json").read_text())
    check(page.stat().st_size < 5_000_000, f"{name}: under 5 MB", page.stat().st_size)
    check_numbers(name, html, summary)
    again = temporary / f"{name}-again.html"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run([islet, "report", folder, "--out", again], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    check(ran.returncode == 0 and again.read_text() == html, f"{name}: the same bytes again", ran.stderr)
    if not given.folder:
        ran = subprocess.run([islet, "verify", folder, "--sample", "0", "--quiet"], capture_output=True, text=True)
        check(ran.returncode == 0, f"{name}: verify finds nothing off", ran.stdout + ran.stderr)
        check_kind(name, html, summary)
    if name in COMPARED:
        check_colours(html)
    pages = check_browser(name, page, driver, axe, given.pictures, summary, given.short)
    if given.docs:
        first_screens(page, driver, Path(given.docs))
    print(
        f"{name}: {page.stat().st_size} bytes, {pages} pages, {took:.1f} s of a processor for {len(summary['arms'])} arms, {time.monotonic() - began:.0f} s",
        flush=True,
    )


def look_in_millimoles(islet, folder, driver, axe, temporary, given):
    name, page = folder.name + "-mmol", temporary / f"{folder.name}-mmol.html"
    ran = subprocess.run([islet, "report", folder, "--units", "mmol/L", "--out", page], capture_output=True, text=True)
    check(ran.returncode == 0, f"{name}: report", ran.stderr)
    if ran.returncode == 0:
        html = page.read_text()
        check_numbers(name, html, json.loads((folder / "summary.json").read_text()))
        check_unit(name, html)
        if not given.short:
            check_browser(
                name, page, driver, axe, given.pictures, json.loads((folder / "summary.json").read_text())
            )


def check_kind(name, html, summary):
    """A study of a kind has to be of it, or nothing was looked at."""
    figures = re.findall(r'<figure id="figure-([^"]*)"', html)
    if name == "ends-early":
        check(summary["failures"], f"{name}: sessions end early")
        check('id="early"' in html, f"{name}: the page lists them")
    if name == "hundred-policies":
        for wanted in (
            "pareto-day-shadow", "pareto-night-shadow", "silent-minutes-0", "sweep-alerts-notifications-per-day",
        ):
            check(wanted in figures, f"{name}: {wanted} is drawn", figures)
    if name == "heard":
        for wanted in (
            "trade", "ranges", "profile", "plane", "difference-tbr-54-percent", "pareto-day", "silent-minutes-2", "example-3-2",
        ):
            check(wanted in figures, f"{name}: {wanted} is drawn", figures)
    visible = re.sub(r"<[^>]*>", " ", html[html.index("<main>") :])
    if name == "rooms":
        check("mg/dL" not in visible and "people" not in visible, f"{name}: no word of people", re.findall(r".{30}(?:mg/dL|people).{20}", visible)[:3])
        check("°F" in visible and "24 rooms" in visible, f"{name}: rooms, in their units")
    if name == "equal-arms":
        check("identical" in visible and "each of 0" not in visible, f"{name}: equal arms are called identical")
    if name == "thousand":
        check(summary["sessions"] == 1000, f"{name}: sessions", summary["sessions"])
    if name == "one-arm-summary":
        check('id="comparisons"' not in html and "trade" not in figures, f"{name}: nothing is compared", figures)
    if name == "no-lows":
        check(not any(figure.startswith("pareto") for figure in figures), f"{name}: no front of nothing", figures)


main()
