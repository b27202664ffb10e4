#!/usr/bin/env python3
"""Feeds every reader of SQLite, JSON, YAML, recordings, forms, requests and journals with broken inputs, in one process each.

Usage: python3 fuzz_readers.py --bench PATH [--kind K ...] [--inputs N] [--seed N] [--only K] [--jobs N]

Guarantees: input K of a seed is the same one every time (`--kind K --only N` repeats it), but for study-store, which holds how long its making took. None may end the process by a signal, take longer than
LIMIT_SECONDS, or be refused with anything but one line. What ends the process is told and stepped over: the others are read all the same. `fuzz.py` asks whole programs; this asks
their readers, a thousand times as often.
Prints one line a failure, with what repeats it, what each kind came to, and, last, `N passed, N failed`; leaves with 1 on a failure, 2 if it could not run.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_SECONDS = 60
PROJECT = Path(__file__).resolve().parents[2]
KINDS = ["yaml", "json", "recordings", "requests", "journal", "owner-store", "study-store", "cursors"]


def number_in(path):
    data = path.read_bytes()
    return int.from_bytes(data, "little") if len(data) == 8 else None


def stretch(bench, kind, seed, first, last, folder):
    """Inputs from `first` up to, and without, `last`; failures as text, and how many were refused."""
    failures, refused = [], 0
    progress = folder / f"{kind}-{first}"
    while first < last:
        progress.write_bytes(b"")
        said = tempfile.TemporaryFile(dir=folder)
        process = subprocess.Popen(
            [bench, "fuzz", kind, str(seed), str(first), str(last), str(progress)],
            stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, cwd=PROJECT,
            env={"PATH": "/usr/bin:/bin", "TMPDIR": str(folder), "SWIFT_BACKTRACE": "enable=no"},
        )
        at, since = None, time.monotonic()
        while True:
            try:
                process.wait(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                now = number_in(progress)
                if now != at:
                    at, since = now, time.monotonic()
                elif time.monotonic() - since > (LIMIT_SECONDS if at is not None else 10 * LIMIT_SECONDS):
                    process.kill()
                    process.wait()
                    break
        said.seek(0)
        text = said.read().decode(errors="replace")
        at = number_in(progress)
        failures += [f"--kind {kind} --only {row[7:]}" for row in text.splitlines() if row.startswith("FAILED ")]
        found = re.search(r"^(\d+) read, (\d+) refused$", text, re.M)
        if found:
            refused += int(found.group(2))
            break
        if at is None:
            failures.append(f"--kind {kind}: it could not begin ({process.returncode}): {text[-300:]}")
            break
        how = f"longer than {LIMIT_SECONDS} s" if process.returncode == -9 else f"ended with {process.returncode}"
        failures.append(f"--kind {kind} --only {at}: {how}: {text[-300:]!r}")
        first = at + 1
    progress.unlink(missing_ok=True)
    return failures, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the islet-bench binary")
    parser.add_argument("--kind", action="append", choices=KINDS, help="this kind alone; may be repeated")
    parser.add_argument("--inputs", type=int, default=100_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=20261123)
    parser.add_argument("--only", type=int, help="this input alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    bench = str(Path(options.bench).resolve())
    if not os.access(bench, os.X_OK):
        print(f"fuzz_readers: no program {bench}")
        return 2
    first, last = (options.only, options.only + 1) if options.only is not None else (0, options.inputs)
    failed, read = 0, 0
    # Stores and journals are written as often as they are read: in memory where that is to be had.
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="islet-fuzz-", dir=place) as folder:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            kinds = options.kind or KINDS
            works = [pool.submit(stretch, bench, kind, options.seed, first, last, Path(folder)) for kind in kinds]
            for kind, work in zip(kinds, works):
                failures, refused = work.result()
                for failure in failures:
                    print(f"FAILED --seed {options.seed} {failure}", flush=True)
                print(f"{kind}: {last - first} read, {refused} refused, {len(failures)} failed", flush=True)
                failed, read = failed + len(failures), read + last - first
    print(f"{max(0, read - failed)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
