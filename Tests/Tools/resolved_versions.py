#!/usr/bin/env python3
"""Compares what SwiftPM resolved with what is recorded; with `--table` it prints the record.

Usage: resolved_versions.py Package.resolved [--count N]
Leaves with 1 where a package was resolved that Tests/resolved.json does not have so, or where there are not N of them.
"""
import argparse, json, os, sys

RECORD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "resolved.json")


def pins(path):
    with open(path, encoding="utf-8") as file:
        return {one["identity"]: (one["state"].get("version"), one["state"]["revision"]) for one in json.load(file)["pins"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("resolved", nargs="?", default=RECORD)
    parser.add_argument("--count", type=int)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    recorded, found = pins(RECORD), pins(options.resolved)
    if options.table:
        for name, (version, _) in sorted(recorded.items()):
            print(f"{name:32} {version}")
        return 0
    problems = [
        f"{name}: resolved {version} ({revision[:12]}), recorded {' '.join(recorded[name][:1]) if name in recorded else 'nothing'}"
        for name, (version, revision) in sorted(found.items()) if recorded.get(name) != (version, revision)]
    if options.count is not None and len(found) != options.count:
        problems.append(f"{len(found)} packages resolved, not {options.count}: {', '.join(sorted(found))}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
