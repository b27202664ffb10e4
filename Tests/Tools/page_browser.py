"""Chromium with what the page's tests need of it: surfaces by name, the keyboard, what was notified, what the console said and whom it asked.

A second tab hides the first one as it would for a person; what would be notified is kept in `window.notified`. Elements are looked up anew for each act, as the page swaps them.
"""

import base64
import json
import shutil
import socket
import time
from pathlib import Path

from page_server import PATIENCE, until

BROWSERS = ["chromium", "chromium-browser", "google-chrome"]

# Stands in for the browser's own notifications, and keeps them across the pages of a tab. `asked` counts how often permission was asked for.
RECORDER = """
(() => {
  const key = 'islet-test-notified', asked = 'islet-test-asked';
  if (!/^https?:/.test(location.protocol)) return;
  window.notified = [];
  class Recorder extends EventTarget {
    constructor(title, options = {}) {
      super();
      Object.assign(this, options, {title, onclick: null, closed: false});
      const entry = {title, body: options.body || '', tag: options.tag || '', data: options.data || null, visible: document.visibilityState, at: Date.now()};
      window.notified.push(this);
      sessionStorage.setItem(key, JSON.stringify([...JSON.parse(sessionStorage.getItem(key) || '[]'), entry]));
    }
    close() { this.closed = true; }
    static get permission() { return sessionStorage.getItem('islet-test-permission') || 'PERMISSION'; }
    static requestPermission(then) {
      sessionStorage.setItem(asked, 1 + Number(sessionStorage.getItem(asked) || 0));
      sessionStorage.setItem('islet-test-permission', 'granted');
      if (then) then('granted');
      return Promise.resolve('granted');
    }
  }
  window.Notification = Recorder;
})();
"""

AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations']}).then(
  found => done({
    rules: found.passes.length + found.violations.length,
    violations: found.violations.map(v => ({id: v.id, impact: v.impact, html: v.nodes[0].html, count: v.nodes.length, why: v.nodes[0].failureSummary})),
  }),
  problem => done({rules: 0, violations: [{id: String(problem), impact: 'critical', html: '', count: 0, why: ''}]}));
"""

# What can be seen, by a surface's name: whether it has a size and is not hidden.
SEEN = """
const seen = {};
for (const e of document.querySelectorAll('[data-surface]')) {
  const box = e.getBoundingClientRect();
  const name = e.dataset.surface;
  seen[name] = (seen[name] || 0) + (box.width > 0 && box.height > 0 && getComputedStyle(e).visibility !== 'hidden' ? 1 : 0);
}
return seen;
"""


def axe_source():
    import axe_playwright_python

    return next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text()


class Browser:
    def __init__(self, path=None, driver=None, language="en-US", permission="default", untrusted=False):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        # What the client allows its driver by default is less than a loaded machine needs.
        socket.setdefaulttimeout(600)
        options = Options()
        options.binary_location = path or next(filter(None, map(shutil.which, BROWSERS)))
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", f"--lang={language}"]
        for argument in arguments + (["--ignore-certificate-errors"] if untrusted else []):
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"intl.accept_languages": language})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver or shutil.which("chromedriver")))
        self.driver.set_script_timeout(600)
        self.driver.set_page_load_timeout(600)
        self.permission = permission
        self.prepare()
        self.first = self.driver.current_window_handle
        self.size(1280)

    def prepare(self):
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=RECORDER.replace("PERMISSION", self.permission))

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def close(self):
        self.driver.quit()

    # What is looked at

    def size(self, width, scheme="light", height=900):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        self.driver.get(url)
        until(lambda: self.js("return document.readyState") == "complete", pause=0.05)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments, seconds=PATIENCE):
        """Until a script's value is true."""

        def value():
            try:
                return self.js(script, *arguments)
            except Exception as problem:  # A page on its way to the next one.
                if "JavascriptException" in type(problem).__name__ and "undefined" not in str(problem):
                    raise
                return None

        return until(value, seconds)

    def seen(self):
        return self.js(SEEN)

    def text(self, surface, seconds=0):
        """A surface's text as it is seen; None where it isn't there."""
        read = "const e = document.querySelector(`[data-surface='${arguments[0]}']`); return e ? e.innerText : null"
        return until(lambda: self.js(read, surface), seconds) if seconds else self.js(read, surface)

    def path(self):
        return self.js("return location.pathname")

    def axe(self, source):
        """What is folded away is opened first, so that it is looked at too."""
        self.js("for (const d of document.querySelectorAll('details')) d.open = true")
        self.js(source)
        return self.driver.execute_async_script(AXE)

    def picture(self, to, height=None):
        """The whole page, or so many pixels of it."""
        size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], height or size["height"]), "scale": 1}
        shot = self.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        Path(to).write_bytes(base64.b64decode(shot["data"]))

    def console(self):
        return [f"{entry['level']} {entry['message']}" for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses asked for since the last time this was asked."""
        found = set()
        for entry in self.driver.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                found.add(event["params"]["request"]["url"])
        return found

    # The phone

    def is_phone(self):
        return self.js("return document.body.dataset.phone === '1'")

    def choose_phone(self):
        """Uses this browser as the phone, by the page's own switch; it is kept for every page of the site."""
        if not self.is_phone():
            self.js("document.querySelector(\"[data-surface='phone'] [data-cookie='phone']\")?.click()")
        return self.wait("return document.body.dataset.phone === '1'", seconds=30)

    # Hidden and shown

    def hide(self):
        """Another tab comes to the front, as it does for a person."""
        self.front = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        self.other = self.driver.current_window_handle
        self.driver.get("about:blank")

    def show(self):
        self.driver.close()
        self.driver.switch_to.window(self.front)
        self.wait("return document.visibilityState === 'visible'")

    def tab(self, url):
        """A second page beside the first, in front of it."""
        self.driver.switch_to.new_window("tab")
        self.prepare()
        self.size(1280)
        self.open(url)
        return self.driver.current_window_handle

    def turn(self, handle):
        self.driver.switch_to.window(handle)

    def notified(self):
        return json.loads(self.js("return sessionStorage.getItem('islet-test-notified') || '[]'"))

    def forget(self):
        self.js("sessionStorage.removeItem('islet-test-notified')")

    def tap(self, which=-1):
        """Clicks one of the notifications that this document made."""
        self.js(
            "const n = window.notified.at(arguments[0]); const e = new Event('click', {cancelable: true});"
            "if (n.onclick) n.onclick(e); n.dispatchEvent(e);",
            which,
        )

    # Acts

    def fill(self, command, **fields):
        """Puts values into a form's fields by their names, as typing them would."""
        return self.js(
            """const form = document.querySelector(`form[data-command="${arguments[0]}"]`);
            if (!form) return 'no form ' + arguments[0];
            for (const [name, value] of Object.entries(arguments[1])) {
              const field = form.elements[name];
              if (!field) return `no field ${name} in ${arguments[0]}`;
              const one = field.length !== undefined && !field.options ? [...field].find(f => f.value === String(value)) : field;
              if (!one) return `no choice ${value} of ${name} in ${arguments[0]}`;
              if (one.type === 'checkbox') one.checked = Boolean(value);
              else if (one.type === 'radio') one.checked = true;
              else one.value = value;
              for (const kind of ['input', 'change']) one.dispatchEvent(new Event(kind, {bubbles: true}));
            }
            return '';""",
            command,
            fields,
        )

    def press(self, command, choose=None):
        """Clicks what sends a command: a form's button, or a button of that command; `choose` picks one by its data. What is wrong with that, or ''."""
        return self.js(
            """const all = [...document.querySelectorAll(`[data-command="${arguments[0]}"]`)];
            const wanted = Object.entries(arguments[1] || {});
            const one = all.find(e => wanted.every(([k, v]) => e.dataset[k] === v || (e.elements && e.elements[k] && e.elements[k].value === v)));
            if (!one) return `no ${arguments[0]} among ${all.length}`;
            const button = one.tagName === 'FORM' ? one.querySelector('button:not([type=button]), input[type=submit]') : one;
            if (!button) return 'no button in ' + arguments[0];
            for (let e = button.parentElement; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
            if (button.disabled) return 'disabled';
            button.click();
            return '';""",
            command,
            choose,
        )

    def status(self, command, seconds=PATIENCE):
        """What a form's status says once it says something."""
        return until(
            lambda: self.js(
                "return [...document.querySelectorAll(`[data-command='${arguments[0]}']`)].map(f => f.querySelector('[role=status]')?.innerText || '').join('').trim()",
                command,
            ),
            seconds,
        )

    # The keyboard

    def keys(self, *keys):
        from selenium.webdriver import ActionChains

        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def tab_to(self, selector, most=250):
        """Presses Tab until what has the focus matches; how many that took, or None."""
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        if self.js("return document.activeElement === document.body"):
            # Tab begins at the page's top, not in the browser's own bar.
            chain = ActionChains(self.driver)
            chain.w3c_actions.pointer_action.move_to_location(2, 2)
            chain.click().perform()
        for count in range(most):
            if self.js("return document.activeElement !== document.body && document.activeElement.matches(arguments[0])", selector):
                return count
            # What is closed is opened by the keyboard, too.
            if self.js(
                "const e = document.activeElement; return e.matches('summary') && !e.parentElement.open && e.parentElement.querySelector(arguments[0]) !== null", selector
            ):
                self.keys(Keys.ENTER)
            self.keys(Keys.TAB)
        return None

    def has_focus_ring(self):
        return self.js(
            "const s = getComputedStyle(document.activeElement); return (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== 'none'"
        )
