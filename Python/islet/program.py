"""The program `islet`: where it is, what it says of itself, and what goes wrong with it.

Guarantees: the program is `ISLET` of the environment, else `islet` on the path, else `.build/release/islet` of the repository that this package stands in or that
one works in. One of another minor version is refused by name. What it refuses comes back as an exception with file, line, found and expected.
"""

import os
import re
import shutil
import subprocess

VERSION = "0.1.0"

_known = {}


class IsletError(Exception):
    """What the program says is wrong. `status` is its exit code, `lines` what it wrote last."""

    def __init__(self, message, status=None, lines=()):
        super().__init__(message)
        self.status, self.lines = status, tuple(lines)


class InputError(IsletError):
    """Bad input: `file`, `line` (None for a file as a whole), `found`, `expected`."""

    def __init__(self, file, line, found, expected, status=65, lines=()):
        place = "%s:%d" % (file, line) if line else file
        super().__init__("%s: found %s, expected %s" % (place, found, expected), status, lines)
        self.file, self.line, self.found, self.expected = file, line, found, expected


class Interrupted(IsletError):
    """The run was stopped; what is stored is good, and `resume=True` goes on with it."""


_PLACE = re.compile(r"^(?:error: |Error: )?(.*?)(?::(\d+))?: found (.*), expected (.*)$", re.S)


def problem(text, status):
    """The exception for what the program wrote to standard error before it left."""
    lines = [line for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        match = _PLACE.match(line)
        if match:
            file, number, found, expected = match.groups()
            return InputError(file, int(number) if number else None, found, expected, status, lines[-20:])
    last = lines[-1] if lines else "islet left with exit code %s" % status
    return (Interrupted if status == 75 else IsletError)(last, status, lines[-20:])


def _places():
    own = os.environ.get("ISLET")
    if own:
        yield own, "ISLET"
        return
    found = shutil.which("islet")
    if found:
        yield found, "the path"
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for folder in (here, os.getcwd()):
        yield os.path.join(folder, ".build", "release", "islet"), ".build/release"


def program():
    """The path of the program that is used."""
    for path, origin in _places():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            _check(path, origin)
            return path
        if origin == "ISLET":
            raise IsletError("ISLET names %s, which is no program that can be run" % path, 66)
    raise IsletError(
        "no program `islet`: build it (`make trial` in the repository), put it on the path, or name it in ISLET", 66)


def _check(path, origin):
    stat = os.stat(path)
    key = (path, stat.st_mtime_ns, stat.st_size)
    if key not in _known:
        done = subprocess.run([path, "--version"], capture_output=True, text=True)
        _known[key] = done.stdout.strip() or "none"
    told = _known[key]
    if told.split(".")[:2] != VERSION.split(".")[:2]:
        raise IsletError(
            "%s (%s) is islet %s; this package is for %s.x" % (path, origin, told, ".".join(VERSION.split(".")[:2])))


def run(arguments, input=None):
    """Standard output of one call, as text.

    Raises `IsletError` where it leaves with another exit code than 0.
    """
    done = subprocess.run([program()] + [str(word) for word in arguments], capture_output=True, text=True, input=input)
    if done.returncode != 0:
        raise problem(done.stderr, done.returncode)
    return done.stdout
