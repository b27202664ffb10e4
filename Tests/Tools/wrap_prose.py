#!/usr/bin/env python3
"""Fills the prose of Markdown pages to lines of at most 100 characters.

Usage: wrap_prose.py [--check] FILE ...
Fences, tables, headings, comments and HTML stay as they are. A code span is never broken, and no line begins with what Markdown would read as a
list, a heading, a quotation or a table. What this writes it leaves alone the next time. With --check nothing is written; the last line is
`N passed, N failed`.
"""

import re
import sys
from pathlib import Path

WIDTH = 100
# What begins a line of its own kind, so that no paragraph may put it first.
MARK = re.compile(r"(?:[-+*>|]|#{1,6}|\d+[.)]|={1,}|-{2,}|~{3,}|`{3,}.*|<.*|:?-+:?\|.*)$")
ITEM = re.compile(r"(\s*)([-*+]|\d+[.)])(\s+)(?=\S)")
# Of a line that is its own: heading, table, HTML, rule, definition of a link.
ALONE = re.compile(r"\s{0,3}(#{1,6}\s|\||<|-{3,}\s*$|\[[^\]]+\]:\s)")


def words(text):
    """Words, with a code span whole: what stands between backticks may hold spaces."""
    return re.findall(r"(?:`+[^`]*`+|[^\s`])+|`", text)


def filled(text, first, rest):
    """Lines of one paragraph; `first` and `rest` are what its lines begin with."""
    lines, line = [], first
    for word in words(text):
        if line == (rest if lines else first):
            line += word
        elif len(line) + 1 + len(word) > WIDTH and not MARK.match(word):
            lines.append(line)
            line = rest + word
        else:
            line += " " + word
    return lines + [line]


def wrapped(page):
    """The page, filled."""
    out, paragraph, first, rest, fence = [], [], "", "", None

    def flush():
        nonlocal paragraph
        if paragraph:
            out.extend(filled(" ".join(paragraph), first, rest))
        paragraph = []

    is_comment = False
    for line in page.split("\n"):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence is not None:
            out.append(line)
            if mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
                fence = None
        elif mark:
            flush()
            out.append(line)
            fence = mark.group(1)
        elif is_comment or line.lstrip().startswith("<!--"):
            flush()
            out.append(line)
            is_comment = "-->" not in line
        elif not line.strip() or ALONE.match(line) or line.startswith("    ") and not paragraph:
            flush()
            out.append(line)
        elif line.startswith(">"):
            flush()
            out.append(line)
        elif item := ITEM.match(line):
            flush()
            first = item.group(0)
            rest = " " * len(first)
            paragraph = [line[len(first):].strip()]
        elif paragraph:
            paragraph.append(line.strip())
        else:
            # A paragraph, maybe of a list's item: its indent stays.
            first = rest = line[: len(line) - len(line.lstrip())]
            paragraph = [line.strip()]
        if line.endswith("  ") and paragraph:
            # Two spaces at the end break a line.
            paragraph[-1] += "  "
            flush()
    flush()
    return "\n".join(out)


def main():
    is_check = "--check" in sys.argv[1:]
    passed = failed = 0
    for name in [name for name in sys.argv[1:] if name != "--check"]:
        text = Path(name).read_text()
        made = wrapped(text)
        if made == text:
            passed += 1
        elif is_check:
            failed += 1
            at = next(n for n, (a, b) in enumerate(zip(text.split("\n"), made.split("\n")), 1) if a != b)
            print(f"FAILED {name}:{at}: python3 Tests/Tools/wrap_prose.py {name}")
        else:
            Path(name).write_text(made)
    if is_check:
        print(f"{passed} passed, {failed} failed")
        sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
