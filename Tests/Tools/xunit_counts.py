#!/usr/bin/env python3
"""Prints `PASSED FAILED` of xUnit files: a test case that is skipped counts as neither. Exit code 1 where no file has a
test case."""
import sys
import xml.etree.ElementTree as ElementTree

passed = failed = 0
for path in sys.argv[1:]:
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is None:
            passed += 1
print(passed, failed)
sys.exit(passed + failed == 0)
