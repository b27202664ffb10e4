"""What check_page.py looks at of alerts: the story's acceptance criteria 2, 5, 6, 7, 8, 9, 10 and 12, and the alert flow's surfaces, each under its number or anchor.

Each function gets a `Visit`: a session of its own, its page open in the browser, and its API.
"""

import re
import time

from page_server import PATIENCE, STUDY, until

LOW, HIGH = "THRESHOLD-GLUCOSE-LOW", "THRESHOLD-GLUCOSE-HIGH"
FAULT, LOGIN, SUSPENDED = "ALERT-PUMP-FAULT", "ALERT-AUTH-LOGIN-REQUIRED", "ALERT-PUMP-SUSPEND-IN-PROGRESS"
# A pod that fails in the session's first hour.
BROKEN = "faults: { scheduled: [{ at: 40m, kind: pod-fault }] }\n"
# Inside of a day's readings, so that every reading is a violation, or none is.
ALL_BELOW, NONE_BELOW = {"low": 390, "high": None}, {"low": 41, "high": None}
ROWS = "return document.querySelectorAll(`[data-surface='${arguments[0]}'] li.alert`).length"


def threshold(visit, low=None, high=None, sensitivity=0):
    status, answer = visit.say("threshold", metric="glucose", low=low, high=high, sensitivity_minutes=sensitivity, enabled=True)
    visit.check(f"{visit.name}: threshold is taken", status == 202, (status, answer))


def raise_low(visit):
    threshold(visit, **ALL_BELOW)
    return visit.check(f"{visit.name}: a low is raised", until(lambda: LOW in visit.codes()), visit.codes())


def clear_low(visit):
    threshold(visit, **NONE_BELOW)
    return visit.check(f"{visit.name}: the low is over", until(lambda: LOW not in visit.codes()), visit.codes())


def allow(visit):
    """Notifications are asked for by a press, never by themselves."""
    visit.go("home")
    browser = visit.browser
    if browser.js("return Notification.permission") == "granted":
        return
    asked = "return Number(sessionStorage.getItem('islet-test-asked') || 0)"
    visit.check("alert-flow.permission-not-asked-unbidden", browser.js(asked) == 0, browser.js(asked))
    browser.js("document.querySelector('button[data-notify]')?.click()")
    visit.check("alert-flow.permission-asked-by-a-press", until(lambda: browser.js(asked) == 1, 20), browser.js(asked))
    visit.check("alert-flow.page-stays-when-allowed", browser.js("return !document.body.hidden && document.body.getBoundingClientRect().height > 100"))


def first_visit(visit):
    """A first visit looks; being the phone is chosen, kept by the browser, and said in the header."""
    browser = visit.browser
    front = lambda: visit.view()["is_in_foreground"]
    visit.go("home")
    header = lambda: browser.text("phone") or ""
    visit.check("live.first-visit-says-that-no-phone-is-there", until(lambda: re.search("no phone", header(), re.I), 20), header())
    time.sleep(4)
    visit.check("live.first-visit-looks", not front() and not visit.view()["has_phone"], visit.view())
    raise_low(visit)
    visit.check("live.rang-no-phone-in-the-header", until(lambda: re.search("rang, no phone", header(), re.I), 30), header())
    visit.go("alerts")
    story = "return document.querySelector(\"[data-surface='active-alerts']\")?.textContent || ''"
    visit.check("live.rang-no-phone-in-the-story", browser.wait(f"return /rang, no phone/i.test((() => {{ {story} }})())", seconds=20))
    visit.open("/")
    visit.check("live.rang-no-phone-in-the-ward", until(lambda: re.search("rang, no phone", browser.text("ward") or "", re.I), 20))
    visit.go("home")
    visit.check("live.phone-is-chosen-by-a-press", browser.choose_phone())
    visit.check("live.phone-is-in-front", until(front, 20), visit.view())
    visit.check("live.phone-is-said-in-the-header", until(lambda: re.search("this browser is the phone", header(), re.I), 20), header())
    visit.go("alerts")
    visit.check("live.phone-is-kept", browser.is_phone())
    time.sleep(12)
    visit.check("live.phone-stays-in-front", front(), "the phone is looked at, and the app is in the background")
    # The tab is gone: the session is told, and every other page says so.
    browser.open("about:blank")
    visit.check("live.phone-gone-leaves-the-front", until(lambda: not front(), 30))
    visit.check("live.phone-gone", until(lambda: not visit.view()["has_phone"], 30))
    browser.was_chosen = True
    clear_low(visit)


def zones_and_live_preview(visit):
    """Criterion 2: recommended ranges with visual guides, sliders with a live preview."""
    visit.go("settings")
    browser = visit.browser
    found = browser.js(
        """const t = document.querySelector("[data-surface='threshold'][data-metric='glucose']");
        return t && {sliders: [...t.querySelectorAll('input[type=range]')].map(i => ({name: i.id, min: i.min, max: i.max, value: i.value, label: i.labels?.[0]?.innerText || i.getAttribute('aria-label')})),
          toggle: t.querySelectorAll('input[type=checkbox], [role=switch]').length, zones: t.querySelectorAll('[data-zone], [class*=zone]').length, text: t.innerText}"""
    )
    if not visit.check("story-2.threshold-is-there", bool(found)):
        return
    visit.check("story-2.two-sliders-with-labels", len(found["sliders"]) == 2 and all(s["label"] for s in found["sliders"]), found["sliders"])
    visit.check("story-2.toggle-a-metric", found["toggle"] >= 1)
    visit.check("story-2.zones-of-recommended-ranges", found["zones"] >= 2, found)
    visit.check("story-2.recommended-range-in-words", re.search(r"recommend|target", found["text"], re.I), found["text"][:300])
    before = len(visit.timeline())
    settings = visit.client.json("GET", f"/api/sessions/{visit.id}/settings")[1]
    drag = """const i = [...document.querySelectorAll("[data-surface='threshold'][data-metric='glucose'] input[type=range]")].find(i => i.id === arguments[0]);
        i.value = arguments[1]; i.dispatchEvent(new Event('input', {bubbles: true})); return i.value;"""
    shown = "return document.querySelector(\"[data-surface='threshold'][data-metric='glucose']\").innerText"
    low = next((s["name"] for s in found["sliders"] if "low" in s["name"]), found["sliders"][0]["name"])
    texts = []
    for value in (found["sliders"][0]["min"], 340):
        browser.js(drag, low, value)
        # The first need say nothing new; the second rings on other readings than the first.
        until(lambda: browser.js(shown) != texts[-1] if texts else False, 30 if texts else 3)
        texts.append(browser.js(shown))
    visit.check("story-2.live-preview-follows-the-slider", texts[0] != texts[1] and re.search(r"\d", texts[1]), texts)
    after = visit.client.json("GET", f"/api/sessions/{visit.id}/settings")[1]
    visit.check("story-2.preview-changes-no-setting", settings == after, (settings, after))
    status, answer = visit.client.json(
        "POST", f"/api/sessions/{visit.id}/preview", {"metric": "glucose", "low": 390, "high": None, "sensitivity_minutes": 0}
    )
    visit.check("story-2.preview-says-what-would-have-rung", status == 200 and answer["would_ring"] >= 1 and answer["episodes"], (status, answer))
    visit.check("story-2.sensitivity-has-three-choices", browser.js(
        "const s = document.querySelector(\"[data-surface='sensitivity']\"); return s ? s.querySelectorAll('option, input[type=radio]').length : 0") >= 3)


def notified_when_exceeded(visit):
    """Criteria 5, 6 and 7: notified while hidden, with all five facts, and a tap leads to the environment."""
    clear_low(visit)
    allow(visit)
    browser = visit.browser
    browser.forget()
    raise_low(visit)
    time.sleep(2)
    visit.check("alert-flow.not-notified-while-shown", not [n for n in browser.notified() if LOW in str(n)], browser.notified())
    clear_low(visit)
    visit.until_background(browser.hide)
    raise_low(visit)
    heard = until(lambda: [e for e in visit.timeline() if "notify" in str(e) and LOW in str(e)], 30)
    visit.check("story-5.session-notifies", bool(heard), visit.timeline()[-5:])
    time.sleep(2)
    browser.show()
    told = [n for n in browser.notified() if LOW in (n["tag"] or "") or "lucose" in n["title"] + n["body"]]
    if not visit.check("story-5.notified-while-hidden", bool(told), browser.notified()):
        return
    visit.check("alert-flow.notified-only-while-hidden", all(n["visible"] == "hidden" for n in told), told)
    visit.check("alert-flow.notified-once", len(told) == 1, told)
    text = told[0]["title"] + "\n" + told[0]["body"]
    view = visit.view()
    visit.check("story-6.names-the-subject", visit.title in text or str(view.get("name")) in text, text)
    visit.check("story-6.names-the-metric", re.search("glucose", text, re.I), text)
    visit.check("story-6.names-value-and-threshold", len(re.findall(r"\d+(?:\.\d+)?", text)) >= 2 and "390" in text, text)
    visit.check("story-6.names-the-time", re.search(r"\d{1,2}:\d\d", text), text)
    clear_low(visit)
    visit.check("alert-flow.withdrawn", browser.wait("return window.notified.length > 0 && window.notified.every(n => n.closed)", seconds=20), "a notification of what is over stays")
    raise_low(visit)
    browser.tap()
    came = until(lambda: browser.path() == f"/subjects/{visit.id}/environment", 20)
    visit.check("story-7.tap-opens-environment", came, browser.path())
    visit.check("story-7.environment-shows-the-subject", browser.text("environment", 20))
    visit.check("story-7.tap-is-told", until(lambda: any("route" in str(e) for e in visit.timeline()), 20), visit.timeline()[-4:])
    clear_low(visit)


def threshold_banner(visit):
    """Criterion 8: ten seconds of the viewer, a dismissal, a count, a tap."""
    browser = visit.browser
    shown = "const e = document.querySelector(\"[data-surface='threshold-banner'] [data-toast]\"); return !!e && e.getBoundingClientRect().height > 0"
    clear_low(visit)
    visit.go("home")
    raise_low(visit)
    visit.check("story-8.banner-comes", browser.wait(shown, seconds=30))
    began = time.monotonic()
    said = browser.wait("return [...document.querySelectorAll('[role=alert]')].some(e => /glucose/i.test(e.innerText))", seconds=9)
    visit.check("story-8.banner-is-spoken", said, "no role=alert says it")
    visit.check("story-8.banner-names-the-subject", visit.title in (browser.text("threshold-banner") or ""), browser.text("threshold-banner"))
    gone = browser.wait(f"return !(() => {{ {shown} }})()", seconds=60)
    took = time.monotonic() - began
    visit.check("story-8.banner-goes-after-ten-seconds", gone and 5 < took, f"gone: {gone}, after {took:.1f} s")
    visit.check("story-8.alert-stays-active", LOW in visit.codes(), visit.codes())
    time.sleep(5.5)
    visit.check("story-8.banner-stays-gone", not browser.js(shown))
    clear_low(visit)
    raise_low(visit)
    if visit.check("story-8.banner-comes-again-with-a-new-episode", browser.wait(shown, seconds=30)):
        pressed = browser.js(
            "const e = document.querySelector(\"[data-surface='threshold-banner']\"); const b = e.querySelector('[data-command=dismiss], [data-dismiss], button'); if (!b) return 'no button'; b.click(); return ''"
        )
        visit.check("story-8.dismiss-button", pressed == "", pressed)
        visit.check("story-8.dismissed", browser.wait(f"return !(() => {{ {shown} }})()", seconds=5))
        time.sleep(7)
        visit.check("story-8.dismissed-stays-gone", not browser.js(shown))
        visit.check("story-8.dismissed-leaves-nothing", not (browser.text("threshold-banner") or "").strip(), browser.text("threshold-banner"))
    clear_low(visit)
    threshold(visit, 390, 395)
    # Two sides of two metrics where there are two; of one metric the count is of episodes.
    raise_low(visit)
    if browser.wait(shown, seconds=30):
        clicked = browser.js(
            "const e = document.querySelector(\"[data-surface='threshold-banner']\"); const a = e.querySelector('a[href]') || e.querySelector('[data-route]'); if (a) a.click(); return a ? (a.getAttribute('href') || a.dataset.route) : null"
        )
        came = until(lambda: browser.path() == f"/subjects/{visit.id}/environment", 15)
        visit.check("story-8.tap-leads-to-environment", came, (clicked, browser.path()))
    else:
        visit.check("story-8.tap-leads-to-environment", False, "no banner")
    clear_low(visit)


def in_the_timeline(visit):
    """Criterion 9: metric, threshold, value and time in the subject's timeline, with warning styling."""
    clear_low(visit)
    raise_low(visit)
    clear_low(visit)
    visit.go("timeline")
    text = visit.browser.text("timeline", 20) or ""
    visit.check("story-9.timeline-has-the-alert", re.search("glucose", text, re.I), text[:400])
    visit.check("story-9.timeline-has-value-threshold-time", "390" in text and re.search(r"\d{1,2}:\d\d", text), text[:400])
    visit.go("environment")
    text = visit.browser.js("return document.body.innerText")
    visit.check("story-9.history-on-the-environment-page", "390" in text, text[:600])


def quiet_hours(visit):
    """Criteria 10 and 11: nothing rings, something says so, the critical rings all the same."""
    browser = visit.browser
    visit.go("settings")
    said = browser.fill("quietHours", **{"from": "00:00", "to": "23:59"}) or browser.press("quietHours")
    visit.check("story-10.quiet-hours-by-the-form", said == "", said)
    visit.check("story-10.indicator", until(lambda: re.search("quiet", browser.text("quiet-indicator") or "", re.I), 30), browser.text("quiet-indicator"))
    visit.go("home")
    visit.check("story-10.indicator-on-home", until(lambda: re.search("quiet", browser.text("quiet-indicator") or "", re.I), 20), browser.text("quiet-indicator"))
    clear_low(visit)
    browser.forget()
    allow(visit)
    visit.until_background(browser.hide)
    raise_low(visit)
    time.sleep(3)
    browser.show()
    visit.check("story-10.held-back-while-quiet", not browser.notified(), browser.notified())
    story = [e for e in visit.timeline() if "quietHours" in str(e) or "quiet" in str(e).lower()]
    visit.check("story-10.held-back-is-told", bool(story), visit.timeline()[-5:])
    clear_low(visit)
    visit.say("quietHours", from_=None, to=None)
    visit.check("story-10.indicator-goes", until(lambda: not re.search("active", browser.text("quiet-indicator") or "", re.I), 20), browser.text("quiet-indicator"))


def settings_meet(visit):
    """Criterion 12's counterpart: what one page sets, another page of the same session shows, without a reload."""
    browser = visit.browser
    visit.go("settings")
    first = browser.driver.current_window_handle
    second = browser.tab(visit.url("settings"))
    value = "return document.querySelector(\"[data-surface='threshold'][data-metric='glucose'] #threshold-glucose-low-slider\")?.value"
    threshold(visit, 77, 301)
    visit.check("story-12.shown-in-front", browser.wait(f"return (() => {{ {value} }})() === '77'", seconds=30), browser.js(value))
    browser.driver.close()
    browser.turn(first)
    visit.check("story-12.shown-on-the-other-page", browser.wait(f"return (() => {{ {value} }})() === '77'", seconds=30), browser.js(value))
    # A hand on the slider while another page changes the threshold: what is sent must be what is seen.
    browser.js("const i = document.querySelector(\"[data-surface='threshold'][data-metric='glucose'] #threshold-glucose-low-slider\"); i.focus(); i.value = 91; i.dispatchEvent(new Event('input', {bubbles: true}));")
    threshold(visit, 66, 302)
    time.sleep(4)
    seen = browser.js(value)
    visit.check("pair.drag-and-other-page-keeps-the-hand", seen == "91", seen)
    del second


def bell_opens(visit):
    """testUI007: the bell counts and opens the alert center."""
    browser = visit.browser
    raise_low(visit)
    visit.go("home")
    count = len(visit.codes())
    visit.check("ui007.bell-counts-active", until(lambda: str(len(visit.codes())) in (browser.text("bell") or ""), 30), (count, browser.text("bell")))
    browser.js("const b = document.querySelector(\"[data-surface='bell']\"); (b.matches('a,button') ? b : b.querySelector('a,button')).click()")
    visit.check("ui007.bell-opens-alert-center", until(lambda: "alert-center" in browser.seen() and browser.seen()["alert-center"] > 0, 20), browser.path())
    visit.check("ui007.active-is-listed", browser.wait(f"return (() => {{ {ROWS} }})() >= 1", "active-alerts", seconds=20))
    text = browser.text("story") or ""
    visit.check("alert-center.story-of-an-alert", re.search(r"began|raised|condition", browser.js("return document.querySelector(\"[data-surface='active-alerts']\")?.textContent || ''"), re.I), text)


def acknowledge_moves(visit):
    """testUI008: acknowledged, an alert moves to the recently cleared: a real one, as a preview is no history."""
    browser = visit.browser
    other, visit.id = visit.id, visit.client.create(STUDY.replace("scenario:", BROKEN + "scenario:"), 0, "600", visit.title)
    visit.client.call("DELETE", f"/api/sessions/{other}")
    if not visit.check("ui008.fault-raised", until(lambda: FAULT in visit.codes(), 60), visit.codes()):
        return
    visit.say("pace", pace="60")
    visit.go("home")
    banner = browser.text("banner", 20) or ""
    visit.check("alert-flow.banner-is-the-top-alert", re.search("fault|pod|pump", banner, re.I), banner)
    visit.check("alert-flow.banner-has-its-action", browser.wait("return !!document.querySelector(\"[data-surface='banner'] [data-command='acknowledge']\")", seconds=20), banner)
    visit.go("alerts")
    pressed = until(lambda: browser.press("acknowledge", {"alert": FAULT}) == "", 20)
    visit.check("ui008.acknowledge-button", pressed, browser.press("acknowledge", {"alert": FAULT}) if not pressed else "")
    visit.check("ui008.gone-from-active", until(lambda: FAULT not in visit.codes(), 30), visit.codes())
    moved = browser.wait(
        "const c = document.querySelector(\"[data-surface='cleared-alerts']\"), a = document.querySelector(\"[data-surface='active-alerts']\"); return c && a && /pod (has failed|is broken)/i.test(c.innerText) && !/pod (has failed|is broken)/i.test(a.innerText)",
        seconds=30,
    )
    visit.check("ui008.acknowledge-moves-to-recently-cleared", moved, browser.text("cleared-alerts"))
    # Acknowledged twice: the second is answered with a reason, and nothing breaks.
    status, answer = visit.say("acknowledge", alert=FAULT)
    visit.check("pair.acknowledged-twice-has-an-answer", status in (202, 409), (status, answer))


def carousel_steps(visit):
    """Several alerts: a count, next and previous, top first; log out with a fault up, and both actions are in reach."""
    browser = visit.browser
    visit.say("preview", alert=FAULT)
    status, answer = visit.say("signOut")
    visit.check("pair.sign-out-with-fault: signed out", status == 202, (status, answer))
    both = until(lambda: FAULT in visit.codes() and LOGIN in visit.codes(), 60)
    if not visit.check("pair.sign-out-with-fault: both are active", both, visit.codes()):
        return
    visit.go("home")
    until(lambda: browser.js("return !!document.querySelector(\"[data-surface='carousel']\")"), 20)
    count = len(visit.codes())
    visit.check("alert-flow.carousel-counts", str(count) in (browser.text("carousel") or ""), (count, browser.text("carousel")))
    first = browser.text("banner")
    actions = set()
    step = "const c = document.querySelector(\"[data-surface='carousel']\"); const b = c && [...c.querySelectorAll('button, a')].find(b => /next/i.test(b.innerText + (b.getAttribute('aria-label') || '') + b.className + (b.dataset.step || ''))); if (b) b.click(); return !!b"
    command = "return [...document.querySelectorAll(\"[data-surface='banner'] [data-command]\")].filter(e => e.getBoundingClientRect().height > 0).map(e => e.dataset.command)"
    seen = [first]
    actions.update(browser.js(command))
    for _ in range(count - 1):
        visit.check("alert-flow.carousel-next", browser.js(step))
        until(lambda: browser.text("banner") != seen[-1], 10)
        seen.append(browser.text("banner"))
        actions.update(browser.js(command))
    visit.check("alert-flow.carousel-steps-through-all", len(set(seen)) >= count, seen)
    visit.check("pair.sign-out-with-fault: both actions in reach", {"acknowledge", "signIn"} <= actions, actions)
    browser.press("signIn") and visit.say("signIn")
    visit.check("alert-flow.login-clears", until(lambda: LOGIN not in visit.codes(), 30), visit.codes())
    visit.check("pair.sign-out-with-fault: the fault stays", FAULT in visit.codes(), visit.codes())
    visit.say("acknowledge", alert=FAULT)


def settings_row_counts(visit):
    raise_low(visit)
    visit.go("settings")
    visit.check("alert-flow.settings-row-counts", until(lambda: str(len(visit.codes())) in (visit.browser.text("settings-row") or ""), 20), visit.browser.text("settings-row"))
    clear_low(visit)


def pages_of_ten(visit):
    """Recently cleared: newest first, ten at a time, More and Less."""
    browser = visit.browser
    visit.say("pace", pace="600")
    for _ in range(12):
        raise_low(visit)
        clear_low(visit)
    visit.say("pace", pace="60")
    visit.say("preview", alert=FAULT), until(lambda: FAULT in visit.codes(), 20, 0.05)
    visit.say("acknowledge", alert=FAULT), until(lambda: FAULT not in visit.codes(), 20, 0.05)
    cleared = visit.client.json("GET", f"/api/sessions/{visit.id}/alerts/cleared?page=0")[1]
    visit.check("alert-flow.api-cleared-in-pages-of-ten", len(next((v for v in cleared.values() if isinstance(v, list)), [])) == 10, str(cleared)[:300])
    visit.check("alert-flow.a-preview-is-no-history", FAULT not in str(cleared["alerts"]), str(cleared)[:300])
    visit.go("alerts")
    rows = lambda: browser.js(ROWS, "cleared-alerts")
    click = "const b = [...document.querySelectorAll(\"[data-surface='cleared-alerts'] a, [data-surface='cleared-alerts'] button, [data-surface='alert-center'] a, [data-surface='alert-center'] button\")].find(b => b.innerText.trim().startsWith(arguments[0])); if (b) b.click(); return !!b"
    visit.check("alert-flow.ten-at-first", until(lambda: rows() == 10, 20), rows())
    visit.check("alert-flow.more", browser.js(click, "More") and until(lambda: rows() > 10, 20), rows())
    more = rows()
    clear_low(visit), raise_low(visit), clear_low(visit)
    time.sleep(2)
    visit.check("alert-flow.more-survives-an-event", rows() > 10, (more, rows()))
    visit.check("alert-flow.less", browser.js(click, "Less") and until(lambda: rows() == 10, 20), rows())


def routes(visit):
    """A tap leads where the code routes to: pump, cgm, home, of this session."""
    browser = visit.browser
    allow(visit)
    status, answer = visit.say("testAlert", alert="ALERT-CGM-FAILED-OR-EXPIRED")
    visit.check("alert-flow.test-of-what-never-notifies", status == 202 and "never notifies" in (answer["said"] or ""), answer)
    for code, wanted in ((SUSPENDED, "/pump"), (LOGIN, "")):
        visit.go("home")
        browser.forget()
        visit.until_background(browser.hide)
        visit.say("testAlert", alert=code)
        time.sleep(3)
        browser.show()
        told = browser.notified()
        name = f"alert-flow.route.{wanted.strip('/') or 'home'}"
        if not told:
            visit.check(name, False, f"no notification of a test alert {code}")
            continue
        visit.check(f"{name}: says that it is a test", told[-1]["title"].startswith("Test") and "Test" in told[-1]["body"], told)
        visit.check(f"{name}: is confirmed", until(lambda: any('"told"' in str(e) for e in visit.timeline()), 20))
        visit.check(f"{name}: of its session", told[-1]["tag"].startswith(visit.id), told)
        browser.tap()
        came = until(lambda: browser.path() == f"/sessions/{visit.id}{wanted}", 20)
        visit.check(name, came, browser.path())


def persists(visit):
    """testUI009: the server dies and comes back; alerts, cleared and the open page are as before."""
    browser = visit.browser
    raise_low(visit)
    # Its ten seconds would end while the server is dead, or after.
    visit.say("dismiss", alert=LOW)
    visit.say("preview", alert=FAULT), until(lambda: FAULT in visit.codes(), 20)
    visit.say("pace", pace="paused")
    time.sleep(1)
    visit.go("alerts")
    before = visit.client.json("GET", f"/api/sessions/{visit.id}/alerts/active")[1], visit.client.json("GET", f"/api/sessions/{visit.id}/alerts/cleared?page=0")[1]
    rows = browser.js(ROWS, "active-alerts")
    visit.server.kill()
    visit.server.start()
    after = visit.client.json("GET", f"/api/sessions/{visit.id}/alerts/active")[1], visit.client.json("GET", f"/api/sessions/{visit.id}/alerts/cleared?page=0")[1]
    visit.check("ui009.persists-across-relaunch", before == after, (str(before)[:300], str(after)[:300]))
    visit.check("ui009.open-page-comes-back", browser.wait(f"return (() => {{ {ROWS} }})() === {rows}", "active-alerts", seconds=60), browser.js(ROWS, "active-alerts"))
    visit.say("pace", pace="600")
    number = visit.view()["number"]
    visit.check("ui009.session-goes-on", until(lambda: visit.view()["number"] > number, 60))
    clear_low(visit)
    visit.check("ui009.open-page-follows-again", until(lambda: browser.js(ROWS, "active-alerts") == len(visit.codes()), 60), (browser.js(ROWS, "active-alerts"), visit.codes()))
    visit.forget_console()


def test_reaches(visit):
    """A test says whether it reached somebody, and so does its page; two pages show the same banner."""
    browser = visit.browser
    allow(visit)
    visit.go("settings")
    browser.forget()
    said = browser.fill("testAlert", alert=LOW) or browser.press("testAlert")
    visit.check("alert-flow.test-by-the-form", said == "", said)
    answer = lambda: browser.status("testAlert", 1) or ""
    visit.check("alert-flow.test-reached-the-phone", until(lambda: "It reached the phone" in answer(), 30), answer())
    told = browser.notified()
    visit.check("alert-flow.test-says-so", len(told) == 1 and told[0]["title"].startswith("Test") and visit.title in told[0]["title"], told)
    spoken = browser.wait("return [...document.querySelectorAll('[role=alert]')].some(e => /^Test/.test(e.innerText))", seconds=15)
    visit.check("alert-flow.test-is-spoken-as-one", spoken)
    visit.check("alert-flow.test-is-no-history", LOW not in visit.codes() and LOW not in str(visit.client.json("GET", f"/api/sessions/{visit.id}/alerts/cleared?page=0")[1]["alerts"]))
    # Put away here, gone there.
    shown = "return !!document.querySelector(\"[data-surface='threshold-banner'] [data-toast]\")"
    raise_low(visit)
    first = browser.driver.current_window_handle
    browser.tab(visit.url("home"))
    second = browser.driver.current_window_handle
    if visit.check("alert-flow.banner-on-a-second-page", browser.wait(shown, seconds=30)):
        browser.js("document.querySelector(\"[data-surface='threshold-banner'] [data-command=dismiss]\").click()")
        visit.check("alert-flow.banner-put-away", browser.wait(f"return !(() => {{ {shown} }})()", seconds=10))
        browser.turn(first)
        browser.cdp("Page.bringToFront")
        visit.check("alert-flow.banner-put-away-on-the-other-page", browser.wait(f"return !(() => {{ {shown} }})()", seconds=20))
    browser.turn(second)
    browser.driver.close()
    browser.turn(first)
    clear_low(visit)


ALL = [
    first_visit,
    zones_and_live_preview,
    notified_when_exceeded,
    threshold_banner,
    in_the_timeline,
    quiet_hours,
    settings_meet,
    bell_opens,
    acknowledge_moves,
    carousel_steps,
    settings_row_counts,
    pages_of_ten,
    routes,
    persists,
    test_reaches,
]
# All but the slowest; PATIENCE is what each wait has.
SHORT = [f for f in ALL if f not in (routes, pages_of_ten, settings_meet)]
assert PATIENCE
