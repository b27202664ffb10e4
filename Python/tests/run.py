#!/usr/bin/env python3
"""Runs the tests of the Python package: short, or `--long`. The last line is `N passed, N failed`.

Usage: run.py [--long] [--islet PROGRAM] [NAME ...]
"""

import argparse
import os
import signal
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class Counting(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.stream.writeln("NOT RUN: %s: %s" % (test.id(), reason))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--islet")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    if given.islet:
        os.environ["ISLET"] = os.path.abspath(given.islet)
    if given.long:
        os.environ["ISLET_LONG"] = "1"
    # A shell's background job is born deaf to it, and so is what such a job starts: tests of Ctrl-C would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path.insert(0, HERE)
    loader = unittest.TestLoader()
    if given.names:
        tests = loader.loadTestsFromNames(given.names)
    else:
        tests = loader.discover(HERE, pattern="test_*.py", top_level_dir=HERE)
    result = unittest.TextTestRunner(verbosity=1, resultclass=Counting, stream=sys.stdout).run(tests)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print("%d passed, %d failed" % (result.passed, failed))
    return 1 if failed or not result.passed else 0


if __name__ == "__main__":
    sys.exit(main())
