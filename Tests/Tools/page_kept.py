"""What the page says of a session that another engine lived, and where its button leads.

`kept` makes such a session: a server lives one, and is stopped; then its journal and its record are rewritten as those of engine 99, checksums and all, and a server
is started over them.
"""

import hashlib
import json
import re
import time

from page_server import Server, until

OTHER = 99


def rewrite(journal):
    """The same journal, as engine 99 would have written it: each line's check stands on the line before."""
    last, lines = "", []
    for line in journal.read_text().splitlines():
        text = line[17:]
        if not lines:
            word, opening = text.split(" ", 1)
            text = word + " " + re.sub(r'"engine":\d+,', f'"engine":{OTHER},', opening, count=1)
        last = hashlib.sha256(f"{last} {text}".encode()).hexdigest()[:16]
        lines.append(f"{last} {text}\n")
    journal.write_text("".join(lines))


def another_engines(server):
    """Lives a session, and leaves it as another engine's; its id."""
    client = server.client()
    id = client.create(pace="600", name="Ada of before")
    until(lambda: (client.snapshot(id)["loop"] or {}).get("glucose"), 60)
    client.command(id, "preview", alert="ALERT-CGM-URGENT-LOW")
    client.command(id, "target", mgdl=135)
    time.sleep(1)
    server.stop()
    folder = server.data / "sessions" / id
    rewrite(folder / "live.journal")
    record = json.loads((folder / "kept.json").read_text())
    record["engine"] = OTHER
    (folder / "kept.json").write_text(json.dumps(record))
    return id


def kept(binary, browser, check, axe):
    with Server(binary) as server:
        id = another_engines(server)
        server.start()
        client = server.client()
        check("kept.phase", client.snapshot(id)["phase"] == "failed")
        for width, scheme in ((1280, "light"), (380, "dark")):
            browser.size(width, scheme)
            browser.open(f"{server.address}/sessions/{id}")
            notice = browser.text("frozen", 30) or ""
            check(f"kept.notice-{width}", "Lived by another engine" in notice and f"engine {OTHER}" in notice and notice.count("engine ") == 2, notice)
            check(f"kept.no-study-{width}", "Watching only" not in notice, notice)
            # A stream that ends is asked for again within a second.
            lost = until(lambda: browser.js("return !document.getElementById('lost').hidden"), 3)
            check(f"kept.connection-is-there-{width}", not lost, browser.js("return document.getElementById('lost').innerText"))
            check(f"kept.button-{width}", browser.js("return [...document.querySelectorAll('form.go-on button')].some(b => b.innerText === 'Begin it anew' && b.offsetHeight > 20)"))
            result = browser.axe(axe)
            check(f"kept.axe-core-{width}", result["rules"] > 10 and not result["violations"], result["violations"][:2])
            wide = browser.js("return document.documentElement.scrollWidth")
            check(f"kept.no-horizontal-scroll-{width}", wide <= width, wide)
        # Nothing can be told to it.
        off = "return [...document.querySelectorAll('form[data-command] button, button[data-command]')].filter(b => !b.disabled && b.offsetHeight).map(b => b.innerText)"
        check("kept.controls-are-off", not browser.js(off), browser.js(off))
        browser.open(f"{server.address}/")
        check("kept.in-the-list", "Lived by another engine" in (browser.text("card", 30) or ""))
        browser.open(f"{server.address}/sessions/{id}")
        browser.wait("return !!document.querySelector('form.go-on button')")
        browser.js("document.querySelector('form.go-on button').click()")
        check("kept.leads-to-the-new-one", browser.wait("return location.pathname.startsWith('/sessions/') && !location.pathname.endsWith(arguments[0])", id))
        new = browser.path().rsplit("/", 1)[-1]
        view = client.snapshot(new)
        check("kept.begun-anew", view["phase"] == "running" and view["settings"]["target_mgdl"] == 135, (view["phase"], view["settings"]))
        browser.open(f"{server.address}/sessions/{id}")
        link = "return document.querySelector(\"[data-surface='frozen'] a\")?.getAttribute('href') || ''"
        check("kept.link", browser.js(link) == f"/sessions/{new}", browser.js(link))
        check("kept.no-second-button", not browser.js("return !!document.querySelector('form.go-on button')"))
        status, again = client.json("POST", f"/api/sessions/{id}/anew")
        check("kept.second-press", status == 200 and again["id"] == new, again)
        said = [m for m in browser.console() if "favicon.ico" not in m]
        check("kept.console", not said, said[:3])
