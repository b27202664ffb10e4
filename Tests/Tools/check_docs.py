#!/usr/bin/env python3
"""Checks the pages that people write: their lines, the index of decisions, and that each decision names tests that exist.

Usage: check_docs.py [--write]
A decision has a context, a decision, what was rejected and what holds it; each name in backticks of its last part is a test, a suite, a scenario, a
script or an invariant of the swarm that is there. docs/decisions/README.md lists all of them; --write writes that page. The last line is
`N passed, N failed`.
"""

import re
import subprocess
import sys
from pathlib import Path

from wrap_prose import WIDTH, wrapped

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = ROOT / "docs" / "decisions"
# Written by `make docs`, `make findings`, .ci/test.sh or trace_requirements.py from what they describe; templates hold expressions. CHANGELOG.md is
# filled when a version is made: until then everybody adds to the same lines of it.
MADE = re.compile(
    r"docs/(data|person|study-files|policy-files|scenario-files|test-all|validation)\.md|docs/(findings|algorithms)/templates/|Tests/|CHANGELOG\.md"
)
AREAS = [
    (10, "Insulin, and what the person typed"),
    (20, "Insulin that is missing"),
    (30, "When an alert is raised and notified"),
    (40, "Banners, the phone, words"),
    (50, "The ward and its commands"),
    (60, "Strangers and load"),
    (70, "Files, stores and programs"),
    (100, "The house"),
    (110, "The kernel, bodies and luck"),
    (120, "The loop and the pump"),
    (130, "Alerts"),
    (140, "Statistics"),
    (150, "The simulated person"),
    (160, "Results"),
    (170, "Sessions in real time"),
    (180, "Other subjects and recorded glucose"),
    (190, "The code"),
    (193, "Bodies and people, once more"),
    (204, "Programs of one's own"),
    (210, "Many machines"),
    (220, "Python"),
    (230, "Algorithms of the field"),
]


def known_names():
    """All that a decision may name: suites, tests, scenarios, invariants."""
    names = set()
    for path in (ROOT / "Tests").glob("**/*.swift"):
        text = path.read_text()
        names.add(path.stem)
        names.add(f"{path.relative_to(ROOT / 'Tests').parts[0]}/{path.stem}")
        names |= set(re.findall(r"\b(?:struct|class|enum) (\w+)", text))
        names |= set(re.findall(r"\bfunc `([^`]+)`", text)) | set(re.findall(r"\bfunc (\w+)", text))
    names |= {path.name for path in (ROOT / "Tests").glob("**/*.yaml")}
    names |= set(re.findall(r"^\| `([\w-]+)` \|", (ROOT / "SWARM.md").read_text(), re.MULTILINE))
    for path in (ROOT / "Tests" / "Tools").glob("*.py"):
        text = path.read_text()
        names |= {path.name} | set(re.findall(r"^\s*(?:async )?def (\w+)", text, re.MULTILINE)) | set(re.findall(r'check\("([^"]+)"', text))
    for path in (ROOT / "Python" / "tests").glob("**/test_*.py"):
        names |= {path.name} | set(re.findall(r"^\s*(?:def|class) (\w+)", path.read_text(), re.MULTILINE))
    return names


def is_there(name, known):
    suite, _, test = name.rpartition(".")
    last = name.split("/")[-1]
    return (
        name in known
        or (suite and suite.split("/")[-1] in known and test in known)
        or last in known and "/" in name and not name.startswith("Tests/")
        or (ROOT / name.split(" ")[0].rstrip("/")).exists()
        or re.fullmatch(r"(make [\w-]+|islet(-bench)? \w.*)", name) is not None
    )


def held_by(text):
    """The last part: from `Held by` on to the end of its paragraph or the next part."""
    found = re.search(r"\*\*(?:Held by|Tests)\.?\*\*(.*?)(?=\n\*\*|\Z)", text, re.S)
    return found.group(1) if found else None


def title(path):
    head = path.read_text().split("\n", 1)[0]
    return re.sub(r"^# \d{4}:? ", "", head)


def index():
    lines = [
        "# Decisions",
        "",
        "What binds today, and why: each page has the context, the decision, what was rejected, and the tests that hold it."
        " A page is changed when the decision changes; what was before stands in git. A new one takes a free number of its area."
        " `python3 Tests/Tools/check_docs.py --write` writes this list.",
    ]
    pages = sorted(DECISIONS.glob("[0-9]*.md"))
    for place, (first, words) in enumerate(AREAS):
        end = AREAS[place + 1][0] if place + 1 < len(AREAS) else 10_000
        mine = [path for path in pages if first <= int(path.name[:4]) < end]
        if mine:
            lines += ["", f"## {words}", ""] + [f"- [{path.name[:4]}]({path.name}) {title(path)}" for path in mine]
    return wrapped("\n".join(lines) + "\n")


def main():
    passed, failures = 0, []

    def check(is_so, words):
        nonlocal passed
        if is_so:
            passed += 1
        else:
            failures.append(words)

    page = DECISIONS / "README.md"
    if "--write" in sys.argv[1:]:
        page.write_text(index())
    check(page.exists() and page.read_text() == index(), "docs/decisions/README.md: check_docs.py --write")
    known = known_names()
    for path in sorted(DECISIONS.glob("[0-9]*.md")):
        text, name = path.read_text(), path.relative_to(ROOT)
        check(re.match(rf"# {path.name[:4]}:? \S", text), f"{name}: its first line is `# {path.name[:4]}: ...`")
        held = held_by(text)
        check(held and "`" in held, f"{name}: nothing holds it: **Held by** and a test's name")
        for test in re.findall(r"`([^`]+)`", held or ""):
            check(is_there(" ".join(test.split()), known), f"{name}: there is no `{test}`")
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in sorted(listed.stdout.split()):
        path = ROOT / name
        if not path.exists() or MADE.match(name):
            continue
        text = path.read_text()
        check(wrapped(text) == text, f"{name}: python3 Tests/Tools/wrap_prose.py {name} (lines of at most {WIDTH})")
    for words in failures:
        print(f"FAILED {words}")
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
