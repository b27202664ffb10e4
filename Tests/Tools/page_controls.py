"""What check_page.py looks at of controls: each action by its form, a meal, a bolus, an acknowledgement and a threshold by the keyboard alone, and pairs of events."""

import re
import signal
import time

from page_alerts import FAULT, LOW, clear_low, raise_low, threshold
from page_server import until
from page_ward import with_stub


def delivered(visit):
    return [e for e in visit.timeline() if re.search("bolus", str(e), re.I)]


def sends(visit, command, fields, name=None):
    """A form is filled and sent, and the API's timeline has what was sent; its status says so."""
    browser = visit.browser
    wrong = browser.fill(command, **fields) if fields else ""
    wrong = wrong or browser.press(command)
    if not visit.check(f"home.{name or command}-by-its-form", wrong == "", wrong):
        return False
    return visit.check(f"home.{name or command}-is-answered", browser.status(command, 30), "the status stays empty")


def actions(visit):
    """Each action of home by its form."""
    browser = visit.browser
    visit.go("home")
    began = visit.last()
    sends(visit, "meal", {"grams": 31})
    visit.check("home.meal-reaches-the-session", until(lambda: "31" in str(visit.timeline(began)), 30), visit.timeline(began)[-3:])
    sends(visit, "bloodGlucose", {"mgdl": 112})
    sends(visit, "calibration", {"mgdl": 111})
    sends(visit, "target", {"mgdl": 115})
    visit.check("home.target-shows", until(lambda: "115" in (browser.text("target") or "") or browser.js("return document.querySelector(\"[data-surface='target'] input\")?.value") == "115", 30), browser.text("target"))
    sends(visit, "subject", {"id": "S <b>&amp; \"42\"", "kilograms": 71})
    visit.check("names.are-text", until(lambda: 'S <b>&amp; "42"' in browser.js("return document.body.innerText + [...document.querySelectorAll('input')].map(i => i.value).join(' ')"), 30))


def temporary_basal(visit):
    browser = visit.browser
    visit.go("home")
    if not sends(visit, "temporaryBasal", {"percent": 50, "minutes": 60}):
        return
    visit.check("temporary-basal.shows", until(lambda: "50" in (browser.text("temporary-basal") or ""), 30), browser.text("temporary-basal"))
    minutes = lambda: next((int(m) for m in re.findall(r"(\d+)\s*min", browser.text("temporary-basal") or "")), None) or (lambda t: int(t[0][0]) * 60 + int(t[0][1]) if t else None)(re.findall(r"\b(\d+):(\d\d)\b", browser.text("temporary-basal") or ""))
    first = until(minutes, 20)
    visit.check("temporary-basal.countdown-goes-down", first and until(lambda: (minutes() or 0) < first, 60), (first, browser.text("temporary-basal")))
    wrong = browser.press("cancelTemporaryBasal")
    visit.check("temporary-basal.cancel", wrong == "", wrong)


def pump_and_loop(visit):
    """Suspend and resume, open and closed loop, end and start, pod and sensor: each is seen on the page afterwards."""
    browser = visit.browser
    visit.go("home")
    for command, fields, back, surface, shows in (
        ("suspend", {"minutes": 30}, "resume", "pump", "suspend"),
        ("openLoop", {}, "closedLoop", "loop", "open"),
        ("endSession", {}, "startSession", "loop", "stop|end|no session|not running"),
    ):
        page = "home" if browser.js(f"return !!document.querySelector(\"[data-command='{command}']\")") else "pump"
        visit.go(page)
        wrong = (browser.fill(command, **fields) if fields and browser.js(f"return !!document.querySelector(\"form[data-command='{command}'] [name]\")") else "") or browser.press(command)
        if not visit.check(f"home.{command}", wrong == "", wrong):
            continue
        visit.go("home")
        visit.check(f"home.{command}-shows", until(lambda: re.search(shows, browser.text(surface) or "", re.I), 60), browser.text(surface))
        visit.go(page)
        wrong = until(lambda: browser.press(back) == "", 30)
        visit.check(f"home.{back}", wrong, browser.press(back) if not wrong else "")
        visit.go("home")
        visit.check(f"home.{back}-shows", until(lambda: not re.search(shows, browser.text(surface) or "", re.I), 60), browser.text(surface))
    for command, pages in (("changePod", ("home", "pump")), ("changeSensor", ("home", "cgm"))):
        for page in pages:
            visit.go(page)
            if browser.js(f"return !!document.querySelector(\"[data-command='{command}']\")"):
                break
        began = visit.last()
        wrong = browser.press(command)
        visit.check(f"home.{command}", wrong == "" and until(lambda: visit.last() > began, 30), wrong)


def bolus(visit):
    """Two steps; nothing before the second; a double click gives one; "Not now" none."""
    browser = visit.browser
    visit.say("pace", pace="1")
    visit.go("home")
    if not sends(visit, "requestBolus", {"units": 0.7}):
        return
    confirm = "return [...document.querySelectorAll(\"[data-command='confirmBolus']\")].some(e => e.getBoundingClientRect().height > 0)"
    visit.check("bolus.confirm-panel", browser.wait(confirm, seconds=30))
    visit.check("bolus.confirm-names-the-amount", "0.7" in (browser.text("bolus") or ""), browser.text("bolus"))
    request = visit.view()
    waiting = (request.get("loop") or {}).get("requested_bolus") or {}
    visit.check("bolus.waits-for-the-second-step", waiting.get("units") == 0.7, waiting)
    wrong = browser.js(
        """const e = [...document.querySelectorAll("[data-command='confirmBolus']")][0]; if (!e) return 'none';
        const b = e.tagName === 'FORM' ? e.querySelector('button:not([type=button])') : e; b.click(); b.click(); return ''"""
    )
    visit.check("bolus.confirm", wrong == "", wrong)
    visit.check("bolus.panel-goes", browser.wait(f"return !(() => {{ {confirm} }})()", seconds=30))
    time.sleep(1.5)
    again = [e for e in visit.timeline() if re.search("confirmBolus|confirmed", str(e)) and not re.search("refus", str(e), re.I)]
    visit.check("bolus.double-click-gives-one", len(again) <= 1, again)
    if sends(visit, "requestBolus", {"units": 0.4}, name="second-request") and browser.wait(confirm, seconds=30):
        dropped = browser.js("const b = [...document.querySelectorAll(\"[data-surface='bolus'] button\")].find(b => /not now/i.test(b.innerText)); if (b) b.click(); return !!b")
        visit.check("bolus.not-now", dropped and browser.wait(f"return !(() => {{ {confirm} }})()", seconds=20))
        time.sleep(6)
        visit.check("bolus.not-now-stays", not browser.js(confirm), "the panel is back")
    # More than the most that a bolus may be: refused at the request, or at the latest at the confirmation, with the reason on the page.
    browser.fill("requestBolus", units=99)
    form = "document.querySelector('form[data-command=\"requestBolus\"]')"
    # The field says itself how far it goes; who gets past it (another client, a page of a minute ago) is refused by the loop.
    visit.check("bolus.field-ends-where-the-loop-does", browser.js(f"return {form}.elements.units.validity.rangeOverflow"))
    browser.js(f"{form}.noValidate = true")
    browser.press("requestBolus")
    if browser.wait(confirm, seconds=5):
        browser.press("confirmBolus")
    reasons = "return [...document.querySelectorAll(\"[data-surface='bolus'] [role=status]\")].map(e => e.innerText).join(' ')"
    visit.check("bolus.refused-with-a-reason", browser.wait(f"return /maxim|expected|at most|largest/i.test((() => {{ {reasons} }})())", seconds=20), browser.js(reasons))
    visit.check("bolus.refused-says-so", "Refused:" in browser.js(reasons), browser.js(reasons))
    time.sleep(6)
    visit.check("bolus.reason-stays", re.search("maxim|expected|at most|largest", browser.js(reasons), re.I), browser.js(reasons))
    visit.say("pace", pace="60")


def keyboard(visit):
    """Tab, Enter, Space and arrows through a meal, a bolus, an acknowledgement and a threshold."""
    from selenium.webdriver.common.keys import Keys

    browser = visit.browser
    visit.say("pace", pace="1")

    def to(name, selector):
        steps = browser.tab_to(selector)
        return visit.check(f"keyboard.reaches-{name}", steps is not None, selector) and visit.check(f"keyboard.focus-is-seen-at-{name}", browser.has_focus_ring(), selector)

    visit.go("home")
    began = visit.last()
    if to("meal", "form[data-command=meal] [name=grams]"):
        browser.keys(Keys.CONTROL + "a", "23", Keys.ENTER)
        visit.check("keyboard.meal", until(lambda: "23" in str(visit.timeline(began)), 30), visit.timeline(began)[-2:])
    visit.go("home")
    if to("bolus", "form[data-command=requestBolus] [name=units]"):
        browser.keys(Keys.CONTROL + "a", "0.3", Keys.ENTER)
        until(lambda: browser.js("return !!document.querySelector(\"[data-command='confirmBolus']\")"), 30)
        time.sleep(0.5)
        began = visit.last()
        focus = "[data-command=confirmBolus] button, button[data-command=confirmBolus]"
        if to("confirm-bolus", focus):
            browser.keys(Keys.SPACE)
            visit.check("keyboard.bolus", until(lambda: visit.last() > began and "confirmBolus" in str(visit.timeline(began)) or "bolus" in str(visit.timeline(began)).lower(), 30), visit.timeline(began)[-3:])
    visit.say("preview", alert=FAULT)
    until(lambda: FAULT in visit.codes(), 20)
    visit.go("alerts")
    if to("acknowledge", f"[data-command=acknowledge][data-alert='{FAULT}'], [data-command=acknowledge] button"):
        browser.keys(Keys.ENTER)
        visit.check("keyboard.acknowledge", until(lambda: FAULT not in visit.codes(), 30), visit.codes())
        time.sleep(1)
        visit.check("keyboard.focus-after-acknowledge", browser.js("return document.activeElement !== document.body"), "the focus fell to the body")
    visit.go("settings")
    slider = "[data-surface=threshold][data-metric=glucose] input[type=range]"
    if to("threshold", slider):
        was = browser.js("return document.activeElement.value")
        browser.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        now = browser.js("return document.activeElement.value")
        visit.check("keyboard.slider-moves", was != now, (was, now))
        before = visit.client.json("GET", f"/api/sessions/{visit.id}/settings")[1]
        if to("save-threshold", "[data-surface=threshold][data-metric=glucose] button:not([type=button]), form[data-command=threshold] button:not([type=button])"):
            browser.keys(Keys.ENTER)
        visit.check("keyboard.threshold", until(lambda: visit.client.json("GET", f"/api/sessions/{visit.id}/settings")[1] != before, 30), (before,))
    visit.go("home")
    if to("bell", "[data-surface=bell] a, [data-surface=bell] button, a[data-surface=bell], button[data-surface=bell]"):
        browser.keys(Keys.ENTER)
        visit.check("keyboard.bell", until(lambda: browser.seen().get("alert-center"), 20), browser.path())
    visit.say("pace", pace="60")


def half_filled(visit):
    """An event comes while a form is half filled: text and focus stay."""
    browser = visit.browser
    visit.go("home")
    field = "document.querySelector('form[data-command=meal] [name=grams]')"
    browser.js(f"for (let e = {field}; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true; {field}.focus(); {field}.value = '45'; {field}.dispatchEvent(new Event('input', {{bubbles: true}}))")
    number = visit.last()
    until(lambda: visit.last() > number + 2, 60)
    time.sleep(1)
    visit.check("pair.form-half-filled-keeps-text", browser.js(f"return {field}.value") == "45", browser.js(f"return {field}?.value"))
    visit.check("pair.form-half-filled-keeps-focus", browser.js(f"return document.activeElement === {field}"))


def two_pages(visit):
    """Two pages of one session, one hidden: the app is in front as long as one of them is looked at."""
    browser = visit.browser
    clear_low(visit)
    visit.go("home")
    first = browser.driver.current_window_handle
    browser.tab(visit.url("home"))
    second = browser.driver.current_window_handle
    time.sleep(2)
    front = lambda: visit.view()["is_in_foreground"]
    visit.check("pair.two-pages-one-hidden: in front", until(front, 10), visit.view())
    browser.driver.close()
    browser.turn(first)
    time.sleep(3)
    visit.check("pair.two-pages-one-hidden: still in front after the other was closed", until(front, 15), "the app is told to be in the background")
    browser.hide()
    visit.check("pair.two-pages-one-hidden: in the background once none is looked at", until(lambda: not front(), 15))
    browser.show()
    visit.check("pair.two-pages-one-hidden: in front again", until(front, 15))
    # Hidden while the server is dead, closed while it is dead: nobody looks, and the session must not think so.
    visit.server.kill()
    browser.open("about:blank")
    visit.server.start()
    visit.check("triple.closed-while-the-server-is-dead", until(lambda: not front(), 30), "the session thinks that somebody looks")
    visit.forget_console()
    del second


def offline(visit):
    """The network is gone and comes back: the page says so, and shows the truth without a reload."""
    browser = visit.browser
    visit.go("home")
    browser.cdp("Network.enable")
    browser.cdp("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    # Offline cuts new requests only; the server's end cuts the open one.
    visit.server.kill()
    visit.server.start()
    said = browser.wait("return /connection lost/i.test(document.body.innerText)", seconds=40)
    visit.check("pair.offline-says-so", said)
    browser.cdp("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    gone = browser.wait("return !/connection lost/i.test(document.body.innerText)", seconds=60)
    visit.check("pair.offline-then-on", gone)
    raise_low(visit)
    visit.check("pair.offline-then-follows", until(lambda: str(len(visit.codes())) in (browser.text("bell") or ""), 30), browser.text("bell"))
    clear_low(visit)
    visit.forget_console()


# What looks as if it were known: a number, a tick, an arrow, an age that goes on.
SURE = """const seen = e => e.getBoundingClientRect().height > 0;
const struck = e => { for (let n = e; n; n = n.parentElement) if (getComputedStyle(n).textDecorationLine.includes('line-through')) return true; return false; };
return [...document.querySelectorAll('.big strong, .middle strong, .values strong, .badge')].filter(e => seen(e) && !struck(e)).map(e => e.textContent)
  .concat([...document.querySelectorAll('.calm .icon, .state.good .icon, .arrow')].filter(seen).map(e => e.parentElement.className))
  .concat([...document.querySelectorAll('[data-age]')].filter(e => seen(e) && /\\d/.test(e.textContent)).map(e => e.textContent))"""


def stopped(visit):
    """The server stands still and answers nobody (`kill -STOP`): within 6 s every page says so, and nothing on it looks live; afterwards it follows again."""
    browser, process = visit.browser, visit.server.process
    other = next(card["id"] for card in visit.client.sessions() if card["id"] != visit.id)
    pages = {"home": f"/sessions/{visit.id}", "environment": f"/subjects/{visit.id}/environment", "ward": "/", "beside": f"/sessions/{visit.id}/beside/{other}"}
    pages |= {name: f"/sessions/{visit.id}/{name}" for name in ("alerts", "settings", "pump", "cgm", "timeline")}
    lost = "return document.body.classList.contains('is-lost') && /connection lost/i.test(document.getElementById('lost').innerText)"
    for name, path in pages.items():
        visit.open(path)
        time.sleep(3)
        visit.check(f"stopped.{name}: live before", not browser.js(lost))
        process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            said = browser.wait(lost, seconds=10)
            visit.check(f"stopped.{name}: lost within 6 s", said and time.monotonic() - began <= 6, f"{time.monotonic() - began:.1f} s")
            time.sleep(1)
            sure = browser.js(SURE)
            visit.check(f"stopped.{name}: nothing looks live", not sure, sure)
        finally:
            process.send_signal(signal.SIGCONT)
        visit.check(f"stopped.{name}: found again", browser.wait("return !document.body.classList.contains('is-lost')", seconds=30))
    visit.forget_console()


# In the server's place for meals: `null` breaks the connection, the last answer stands for all that come after it.
ANSWERS = """const answers = arguments[0], real = window.fetch;
window.keys = [];
window.fetch = (path, options) => {
  if (!String(options?.body).includes('"meal"')) return real(path, options);
  window.keys.push(JSON.parse(options.body).key);
  const [status, body] = answers[Math.min(window.keys.length, answers.length) - 1] ?? [];
  if (!status) return Promise.reject(new TypeError('no connection'));
  return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } }));
};"""


def unsure(visit):
    """What may have been done is never called refused, whatever comes after it; it is said again under its key alone, and what nothing has reached is refused at once."""
    browser = visit.browser
    late = [503, {"error": "no answer in time: it may be done, or not", "code": "unanswered"}]
    frozen = [423, {"error": "the session is frozen: nothing reaches it; it may be said again", "code": "frozen"}]
    back = [503, {"error": "the session is being lived again from its journal: it may be said again in a moment", "code": "returning"}]
    less = [409, {"error": "grams: expected less", "code": "out-of-range"}]
    taken = [202, {"number": 1, "repeated": True, "said": None}]
    for name, answers, begins in (
        ("late, frozen, refused", [late, frozen, less], "Not sure whether it was done"),
        ("broken, coming back, gone", [None, back, [404, {"error": "there is no such session"}]], "Not sure whether it was done"),
        ("broken, coming back for long, taken", [None, back, back, back, back, taken], "Saved"),
        ("a proxy's word, taken", [[502, {}], taken], "Saved"),
        ("frozen", [frozen], "Refused: the session is frozen"),
        ("refused", [less], "Refused: grams"),
    ):
        visit.go("home")
        browser.js(ANSWERS, answers)
        wrong = browser.fill("meal", grams=31) or browser.press("meal")
        said = until(lambda: (text := browser.status("meal", 1)) and not text.startswith("Sending") and text, 30)
        visit.check(f"unsure.{name}: says so", wrong == "" and str(said).startswith(begins), (wrong, said))
        visit.check(f"unsure.{name}: nothing else is offered", not str(said).startswith("Not sure") or "may be said again" not in said, said)
        keys = browser.js("return window.keys")
        visit.check(f"unsure.{name}: under one key", len(keys) == len(answers) and len(set(keys)) == 1, keys)


def asks_again(visit):
    """A bolus soon after a large one: the reason and what is on board stand before the button, and the button behind one press more."""
    browser = visit.browser
    # Two, as what was eaten before may need one of them.
    for units, minutes in ((9, 15), (9, 45), (4, 0)):
        status, answer = visit.say("requestBolus", units=units)
        visit.check(f"bolus-{units}: asked for", status == 202, (status, answer))
        if minutes == 0:
            break
        visit.say("confirmBolus", request=answer["number"], units=units, anyway=True)
        visit.say("pace", pace="600")
        began = visit.view()["t"]
        until(lambda: visit.view()["t"] > began + 60 * minutes, 60)
        visit.say("pace", pace="1")
    asked = visit.view()["loop"]["requested_bolus"]
    visit.check("bolus.asks-again: the API says why", asked["asks_again"] and asked["insulin_on_board_units"] > 1, asked)
    visit.go("home")
    shown = "return document.querySelector('[data-asks-again]')?.innerText ?? ''"
    visit.check("bolus.asks-again: the page says why", "still act" in (browser.js(shown) or ""), browser.js(shown))
    in_sight = "return [...document.querySelectorAll(\"[data-command='confirmBolus']\")].some(e => e.getBoundingClientRect().height > 0)"
    visit.check("bolus.asks-again: not by one press", not browser.js(in_sight))
    browser.js("document.querySelector('[data-asks-again] summary').click()")
    visit.check("bolus.asks-again: by two", browser.wait(in_sight, seconds=10))
    before = visit.last()
    browser.js("document.querySelector(\"[data-command='confirmBolus']\").click()")
    visit.check("bolus.asks-again: given", until(lambda: "confirmBolus" in str(visit.timeline(before)) and "REFUSED" not in str(visit.timeline(before)), 20), visit.timeline(before)[-3:])


def back_button(visit):
    browser = visit.browser
    visit.go("home")
    visit.go("alerts")
    raise_low(visit)
    browser.driver.back()
    until(lambda: browser.path() == f"/sessions/{visit.id}", 20)
    visit.check("pair.back-button-shows-now", until(lambda: str(len(visit.codes())) in (browser.text("bell") or ""), 30), browser.text("bell"))
    clear_low(visit)


def millimoles(visit):
    """Units are a setting: numbers of the page, its inputs, and what they send."""
    browser = visit.browser
    visit.go("settings")
    wrong = browser.js(
        """const e = document.querySelector("[data-surface='units']"); if (!e) return 'no units';
        const b = [...e.querySelectorAll('button, a, input, option')].find(b => /mmol/.test(b.innerText + (b.value || '')));
        if (!b) return 'no choice';
        if (b.tagName === 'OPTION') { b.parentElement.value = b.value; b.parentElement.dispatchEvent(new Event('change', {bubbles: true})); } else b.click(); return ''"""
    )
    visit.check("units.choice", wrong == "", wrong)
    time.sleep(2)
    visit.go("home")
    text = browser.js("return [...document.querySelectorAll('main *')].filter(e => !e.closest('[data-surface=units]') && e.children.length === 0).map(e => e.textContent).join('\\n')")
    visit.check("units.millimoles", "mmol/L" in text, text[:300])
    visit.check("units.no-mg-per-dl-left", "mg/dL" not in text, re.findall(r".*mg/dL.*", text)[:5])
    shown = re.search(r"\d+(?:[.,]\d+)?", browser.text("glucose") or "")
    visit.check("units.glucose-in-millimoles", shown and 1 < float(shown.group().replace(",", ".")) < 35, browser.text("glucose"))
    sends(visit, "target", {next((n for n in ("mgdl", "mmol", "target") if browser.js(f"return !!document.querySelector('form[data-command=target] [name={n}]')")), "mgdl"): 6.5}, name="target-in-millimoles")
    visit.check("units.posted-in-mgdl", until(lambda: abs((visit.view()["settings"]["target_mgdl"] or 0) - 117.1) < 0.3, 20), visit.view()["settings"]["target_mgdl"])
    visit.go("settings")
    value = browser.js("return document.querySelector(\"[data-surface='threshold'][data-metric='glucose'] input[type=range]\")?.max")
    visit.check("units.sliders-in-millimoles", value and float(value) < 40, value)
    browser.driver.delete_all_cookies()


def deleted(visit):
    """A session is deleted while its page is open: the page says so, and doesn't go on asking."""
    browser = visit.browser
    visit.go("home")
    status, _, _ = visit.client.call("DELETE", f"/api/sessions/{visit.id}")
    visit.check("pair.session-deleted: 204", status == 204, status)
    visit.check("pair.session-deleted-is-said", browser.wait("return location.pathname === '/' || /deleted|no longer|gone|not found|removed/i.test(document.body.innerText)", seconds=40), browser.js("return document.body.innerText.slice(0, 200)"))
    browser.requests()
    time.sleep(6)
    asked = len([r for r in browser.requests() if visit.id in r])
    visit.check("pair.session-deleted-asks-no-more", asked <= 3, asked)
    visit.check("pair.session-deleted: 404", visit.client.json("GET", f"/api/sessions/{visit.id}")[0] == 404)
    visit.forget_console()


def past_and_fork(visit):
    """Time machine: a past instant is opened, shows no control, and is forked; both stand side by side."""
    browser = visit.browser
    visit.say("pace", pace="600")
    until(lambda: visit.view()["t"] > 3600, 60)
    visit.say("pace", pace="60")
    visit.open(f"/sessions/{visit.id}/past?t=1800")
    seen = browser.seen()
    visit.check("past.opens", seen.get("past"), seen)
    live = browser.js("return [...document.querySelectorAll('[data-command]')].filter(e => !e.disabled && e.getBoundingClientRect().height > 0 && ![...(e.elements || [])].every(f => f.disabled)).map(e => e.dataset.command)")
    visit.check("past.no-controls", not live, live)
    status, answer = visit.client.json("POST", f"/api/sessions/{visit.id}/forks", {"t": 1800, "policy": "dexcom-g7", "name": "fork"})
    if not visit.check("past.fork", status == 201, (status, answer)):
        return
    with_stub(browser)
    visit.open(f"/sessions/{visit.id}/beside/{answer['id']}")
    visit.check("beside.both", browser.seen().get("beside"), browser.seen())
    status, rows = visit.client.json("GET", f"/api/sessions/{visit.id}/compare/{answer['id']}")
    visit.check("beside.compared", status == 200 and rows.get("rows"), (status, str(rows)[:200]))
    rings_beside(visit)
    # Nobody is left to ask about the fork.
    browser.open("about:blank")
    visit.client.call("DELETE", f"/api/sessions/{answer['id']}")


def rings_beside(visit):
    """Who has two sessions open beside each other hears both of them."""
    browser = visit.browser
    muted = browser.wait("return document.querySelector('[data-muted]')?.checkVisibility() && document.querySelector('[data-sound]')?.getAttribute('aria-pressed') === 'false'", seconds=10)
    visit.check("beside.says-that-it-is-muted", muted)
    browser.js("document.querySelector('[data-sound]').click()")
    on = browser.wait("return document.querySelector('[data-sound]').getAttribute('aria-pressed') === 'true' && document.querySelector('[data-live].now') !== null", seconds=20)
    visit.check("beside.sound-is-on", on)
    tones = browser.js("return window.tones.length")
    visit.say("testAlert", alert=FAULT)
    visit.check("beside.rings", until(lambda: browser.js("return window.tones.length") > tones, 20))
    browser.js("document.querySelector('[data-sound]').click()")


def foreground_and_max(visit):
    """Pace max: a month in seconds; the page stays usable and ends with the truth."""
    browser = visit.browser
    visit.go("home")
    visit.say("pace", pace="max")
    ended = until(lambda: visit.view()["phase"] == "ended", 120)
    visit.check("pair.pace-max-reaches-the-end", ended, visit.view().get("phase"))
    visit.check("pair.session-ends-while-open", browser.wait("return /ended|\\bover\\b|finished/i.test(document.body.innerText)", seconds=60), browser.js("return document.body.innerText.slice(0, 300)"))
    live = browser.js("return [...document.querySelectorAll('form[data-command] button:not(:disabled)')].filter(e => e.getBoundingClientRect().height > 0).map(e => e.closest('form').dataset.command)")
    visit.check("ended.no-controls", not set(live) & {"meal", "requestBolus", "temporaryBasal"}, live)
    status, answer = visit.say("meal", grams=20)
    visit.check("ended.commands-are-refused", status in (409, 423), (status, answer))


ALL = [actions, temporary_basal, pump_and_loop, bolus, keyboard, half_filled, two_pages, offline, unsure, stopped, asks_again, back_button, millimoles, past_and_fork, foreground_and_max, deleted]
SHORT = [actions, bolus, keyboard, half_filled, offline, unsure, stopped, asks_again]
assert LOW and threshold
