#!/usr/bin/env python3
"""Draws the targets of Package.swift: docs/images/floors.svg, and the table of targets in ARCHITECTURE.md.

Usage: draw_floors.py [--check]
Floors and targets come from Package.swift, lines from the code's own imports (a line that others imply is left out), groups from what each program
reaches. What a target is for stands in the table's last column: it is kept, and asked for where it lacks. With --check nothing is written; the last
line is `N passed, N failed`.
"""

import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
PICTURE = ROOT / "docs" / "images" / "floors.svg"
BEGIN, END = "<!-- targets: written by `Tests/Tools/draw_floors.py` -->", "<!-- end -->"
# Groups from left to right: the name, the colour of its boxes, and what reaches its targets.
GROUPS = {
    "core": ("#dbeafe", ["islet"]),
    "thresholds": ("#ede9fe", ["islet-thresholds"]),
    "links": ("#dcfce7", ["DriverContract", "DeviceLinks"]),
    "live": ("#ffedd5", ["islet-live"]),
    "workshop": ("#f1f5f9", []),
}
ENTRY = re.compile(r"// Floor (\d+)|(?<!\w)(module|tests|\.target|\.executableTarget|\.systemLibrary)\(")
IMPORT = re.compile(r"^(?:@\w+ )*(?:(?:public|package|internal|private|fileprivate) )?import (?:\w+ )?(\w+)", re.MULTILINE)


class Target:
    def __init__(self, name, floor, dependencies, folder):
        self.name, self.floor, self.dependencies, self.folder = name, floor, dependencies, folder


def balanced(text, start):
    """Where the parenthesis is closed that was opened before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def targets(root):
    """Libraries and programs with their floors, as tests of the floors read them."""
    text = (root / "Package.swift").read_text()
    text = text[text.index("    targets: [\n"):]
    found, floor, at = {}, 0, 0
    # Within a target's entry stands another `.target(` only as a dependency, so its end is looked for.
    while match := ENTRY.search(text, at):
        at = match.end()
        if match.group(1):
            floor = int(match.group(1))
            continue
        end = balanced(text, at)
        body, at = text[match.end():end], end
        name = re.search(r'"([^"]+)"', body).group(1)
        path = re.search(r'\bpath: "([^"]+)"', body)
        if match.group(2) == "tests" or path and path.group(1).startswith("Tests/"):
            continue
        found[name] = Target(name, floor, set(re.findall(r'"([^"]+)"', body)) - {name}, root / (path.group(1) if path else f"Sources/{name}"))
    for target in found.values():
        target.dependencies &= set(found)
    return found


def imported(target, known):
    """What the target's own files import, and a system library from its neighbours' wrappers."""
    names = set()
    for path in target.folder.glob("**/*.swift"):
        names |= set(IMPORT.findall(path.read_text()))
    return (names & set(known)) - {target.name}


def reach(name, edges):
    found, rest = set(), [name]
    while rest:
        one = rest.pop()
        if one in edges and one not in found:
            found.add(one)
            rest += edges[one]
    return found


def groups(found):
    edges = {target.name: target.dependencies for target in found.values()}
    taken = {}
    for group, (_, roots) in GROUPS.items():
        for root in roots:
            for name in reach(root, edges):
                taken.setdefault(name, group)
    return {name: taken.get(name, "workshop") for name in found}


def lines_between(found):
    """Imports, without those that others imply."""
    edges = {target.name: imported(target, found) for target in found.values()}
    for name, below in edges.items():
        for other in below:
            if found[other].floor >= found[name].floor:
                sys.exit(f"{name} (floor {found[name].floor}) imports {other} (floor {found[other].floor})")
    return sorted(
        (name, other) for name, below in edges.items() for other in below
        if not any(other in reach(between, edges) for between in below - {other})
    )


def picture(found):
    mine = groups(found)
    width, height, gap, pitch, left, top = 132, 34, 16, 66, 70, 56
    floors = sorted({target.floor for target in found.values()}, reverse=True)
    lines = lines_between(found)
    at, x = {}, left
    headings = []
    for group, (colour, _) in GROUPS.items():
        rows = {floor: sorted(n for n, t in found.items() if t.floor == floor and mine[n] == group) for floor in floors}
        columns = max(map(len, rows.values()))
        if not columns:
            continue
        span = columns * width + (columns - 1) * gap
        headings.append((x, span, group))
        for floor, names in rows.items():
            # A target stands below those that import it, as far as there is room.
            def middle(name):
                above = [at[user][0] for user, used in lines if used == name and user in at]
                return sum(above) / len(above) if above else x + span / 2

            start = x + (span - len(names) * width - (len(names) - 1) * gap) / 2
            for place, name in enumerate(sorted(names, key=middle)):
                at[name] = (start + place * (width + gap), top + floors.index(floor) * pitch, colour)
        x += span + 2 * gap
    whole = (x - gap, top + len(floors) * pitch)
    said = "; ".join(f"floor {floor}: " + ", ".join(sorted(n for n, t in found.items() if t.floor == floor)) for floor in reversed(floors))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole[0]} {whole[1]}" width="{whole[0]}" height="{whole[1]}" role="img"'
        ' font-family="system-ui, sans-serif" font-size="13">',
        "<title>The targets of Islet on their floors</title>",
        f"<desc>{escape(said)}. A line leads from a target down to one that it imports.</desc>",
        f'<rect width="{whole[0]}" height="{whole[1]}" fill="#ffffff"/>',
    ]
    for start, span, group in headings:
        out.append(f'<rect x="{start - gap / 2:g}" y="8" width="{span + gap}" height="{whole[1] - 16}" rx="8" fill="#ffffff" stroke="#cbd5e1"/>')
        out.append(f'<text x="{start + span / 2:g}" y="32" text-anchor="middle" font-weight="600" fill="#334155">{group}</text>')
    for floor in floors:
        out.append(f'<text x="12" y="{top + floors.index(floor) * pitch + 22}" fill="#64748b">floor {floor}</text>')
    for name, other in lines:
        (x1, y1, _), (x2, y2, _) = at[name], at[other]
        x1, x2, y1 = x1 + width / 2, x2 + width / 2, y1 + height
        # A line that would run straight behind other boxes goes around them.
        bow = width if y2 - y1 > pitch and abs(x1 - x2) < width / 2 and any(
            abs(x + width / 2 - x1) < width / 2 and y1 < y < y2 for x, y, _ in at.values()) else 0
        out.append(
            f'<path d="M{x1:g} {y1} C{x1 + bow:g} {y1 + 26} {x2 + bow:g} {y2 - 26} {x2:g} {y2}" fill="none" stroke="#94a3b8" stroke-width="1.2"/>')
    for name, (x1, y1, colour) in sorted(at.items()):
        out.append(f'<rect x="{x1:g}" y="{y1}" width="{width}" height="{height}" rx="6" fill="{colour}" stroke="#475569"/>')
        out.append(f'<text x="{x1 + width / 2:g}" y="{y1 + 22}" text-anchor="middle" fill="#0f172a">{escape(name)}</text>')
    return "\n".join([*out, "</svg>", ""])


def table(found, page):
    """The table's lines, and the targets that it says nothing of."""
    block = page[page.index(BEGIN):page.index(END)]
    words = dict(re.findall(r"^\| \d+ \| `([\w-]+)` \| [\w-]+ \| (.+) \|$", block, re.MULTILINE))
    mine = groups(found)
    order = sorted(found.values(), key=lambda t: (-t.floor, list(GROUPS).index(mine[t.name]), t.name))
    rows = [f"| {t.floor} | `{t.name}` | {mine[t.name]} | {words.get(t.name, '')} |" for t in order]
    return "\n".join([BEGIN, "| floor | target | group | what stands there |", "|---|---|---|---|", *rows, ""]), [t.name for t in order if not words.get(t.name)]


def main():
    is_check = "--check" in sys.argv[1:]
    found, page = targets(ROOT), PAGE.read_text()
    block, silent = table(found, page)
    made = {PAGE: page[:page.index(BEGIN)] + block + page[page.index(END):], PICTURE: picture(found)}
    passed, failures = 0, [f"ARCHITECTURE.md: what is {name} for? Its row says nothing." for name in silent]
    for path, text in made.items():
        if not is_check:
            path.write_text(text)
        if path.exists() and path.read_text() == text:
            passed += 1
        else:
            failures.append(f"{path.relative_to(ROOT)}: python3 Tests/Tools/draw_floors.py")
    for words in failures:
        print(f"FAILED {words}")
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
