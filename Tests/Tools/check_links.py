#!/usr/bin/env python3
"""Checks that links of the project's pages, and files named in them, are there: files, folders and headings. Addresses on the net are left alone.

Usage: check_links.py [FILE ...]
Without files: every Markdown page and notebook that git knows, but what findings are written from. A link into a page needs its heading, by the names
that GitHub gives them. The last line is `N passed, N failed`.
"""

import json
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def pages():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md", "*.ipynb"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    return [ROOT / name for name in listed if name and "/templates/" not in name and (ROOT / name).exists()]


def text_of(path):
    text = path.read_text()
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return text


def without_code(text):
    """Fences and spans blanked, so that nothing in them is a link; lines stay where they are."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence is None and mark:
            fence = mark.group(1)
            lines.append("")
        elif fence is not None:
            if mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
                fence = None
            lines.append("")
        else:
            lines.append(line)
    return "\n".join(lines)


def anchors(text):
    """Headings as GitHub names them; the second of a name has `-1` at its end. And what names itself by `id`."""
    found, seen = set(re.findall(r'<[^>]*\b(?:id|name)="([^"]+)"', text)), {}
    for heading in re.findall(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$", without_code(text), re.MULTILINE):
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = seen.get(name, 0)
        seen[name] = number + 1
        found.add(f"{name}-{number}" if number else name)
    return found


def links(text):
    text = re.sub(r"`[^`\n]*`", lambda span: " " * len(span.group()), without_code(text))
    for match in re.finditer(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)
    for match in re.finditer(r"^ {0,3}\[[^\]]+\]:\s+(\S+)|<(?:a|img)\b[^>]*\b(?:href|src)=\"([^\"]+)\"", text, re.MULTILINE):
        yield text.count("\n", 0, match.start()) + 1, match.group(1) or match.group(2)


def paths(text):
    """Files of the project that are named in code spans, from the project's folder on."""
    for match in re.finditer(r"`((?:docs|Benchmarks|Cohorts|Notebooks|Sources|Tests|\.ci)/[\w./+-]+)`", without_code(text)):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def names(text):
    """Pages that are named without a link, as `life.md` is in docs/life.md."""
    for match in re.finditer(r"(?<![\w./-])([A-Za-z][\w-]*\.md)\b", without_code(text)):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def problem(page, link):
    if re.match(r"[a-z][a-z0-9+.-]*:|//", link):
        return None
    path, _, anchor = link.partition("#")
    target = (page.parent / urllib.parse.unquote(path)) if path else page
    if not target.exists():
        return "no such file"
    if ROOT not in target.resolve().parents and target.resolve() != ROOT:
        return "outside of the project"
    if anchor and target.suffix in (".md", ".ipynb") and urllib.parse.unquote(anchor) not in anchors(text_of(target)):
        return "no such heading"
    return None


def main():
    passed = failed = 0
    known = {page.name for page in pages()}
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        text = text_of(page)
        named = [(line, path, None if (ROOT / path).exists() else "no such file") for line, path in paths(text)]
        # The table of requirements names the documents that they come from, which are not ours.
        if page.name != "TRACEABILITY.md":
            named += [(line, name, None if name in known else "no page has that name") for line, name in names(text)]
        for line, link, why in [(line, link, problem(page, link)) for line, link in links(text)] + named:
            if why:
                failed += 1
                name = page.relative_to(ROOT) if ROOT in page.parents else page
                print(f"FAILED {name}:{line}: {link}: {why}")
            else:
                passed += 1
    if passed + failed == 0:
        failed = 1
        print("FAILED no link was found, so nothing was checked")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
