"""`islet gym`, spoken to: one program with many environments.

Guarantees: a message is answered whole or the program is given up; what it says last is told. When the object goes, when Python leaves or is
killed, the program is gone too: it ends with its standard input. Two threads at once are refused.
"""

import json
import os
import struct
import subprocess
import tempfile
import threading
import weakref
import zlib

import numpy as np

from ..program import InputError, IsletError, program

_HEAD = struct.Struct("<4sIII")
_ONE = struct.Struct("<4sIIIqqddddqd")
_TRUTH, _STEP, _DOSE, _BEGIN = 2, 3, 4, 1


class Answer:
    """What one message is answered with: rows of steps, of begun people, of truth, and lists of events and ends."""

    __slots__ = ("steps", "begun", "truth", "events", "ends", "line")

    def __init__(self):
        self.steps = self.begun = self.truth = self.line = None
        self.events = self.ends = ()


def _end(process, log):
    for pipe in (process.stdin, process.stdout):
        try:
            pipe.close()
        except OSError:
            pass
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    log.close()


class Wire:
    """One program. Not for two threads at once, nor for a fork of the process that made it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._process = None
        self._studies = {}
        self._owner = os.getpid()
        self._start()

    def _start(self):
        log = tempfile.TemporaryFile()
        # A session of its own: Ctrl-C is for Python, which ends it in an orderly way.
        process = subprocess.Popen(
            [program(), "gym"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0,
            start_new_session=True)
        self._process, self._log = process, log
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        self._finalizer = weakref.finalize(self, _end, process, log)
        self._rest = b""
        # Read into, so that a read makes no room of its own: a large `os.read` has the system map and unmap memory each time.
        self._buffer = memoryview(bytearray(1 << 18))
        self._studies = {}
        ready = self._line(self._more())
        self.ready = ready
        if ready.get("protocol") != "islet-gym/1":
            raise IsletError("islet gym says %r, not islet-gym/1" % ready.get("protocol"))
        self.step_type = np.dtype([(f[0], f[1]) for f in ready["step"] + ready["beside"]])
        self.begin_type = np.dtype([(f[0], f[1]) for f in ready["begin"]])
        self.truth_type = np.dtype([(f[0], f[1]) for f in ready["truth"]])
        self.dose_type = np.dtype([(f[0], f[1]) for f in ready["dose"]])
        #: Names of outcomes and their units.
        self.outcomes = ready["outcomes"]
        self.most_dose = ready["mostDose"]
        if [f[:2] for f in ready["dose"]] != [
                ["handle", "<i8"], ["step", "<i8"], ["basal", "<f8"], ["correction", "<f8"], ["meal", "<f8"], ["glucagon", "<f8"],
                ["flags", "<i8"], ["forecast", "<f8"]]:
            raise IsletError("islet gym has other fields of a dose than this package knows")

    @property
    def pid(self):
        return self._process.pid if self._process else None

    def close(self):
        if self._process is not None:
            self._process = None
            self._finalizer()

    # Bytes

    def _more(self):
        count = os.readv(self._out, (self._buffer,))
        if not count:
            raise self._dead()
        part = bytes(self._buffer[:count])
        self._rest = self._rest + part if self._rest else part
        return self._rest

    def _dead(self):
        process, log = self._process, self._log
        self._process = None
        try:
            status = process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        log.seek(0, os.SEEK_END)
        log.seek(max(0, log.tell() - 8000))
        lines = log.read().decode("utf-8", "replace").splitlines()[-20:]
        self._finalizer()
        how = "was ended by signal %d" % -status if status < 0 else "left with exit code %d" % status
        said = (": " + lines[-1]) if lines else ""
        return IsletError("islet gym %s in the middle of an episode%s; `reset` starts a new one" % (how, said), status, lines)

    def _line(self, data):
        while b"\n" not in data:
            data = self._more()
        line, _, self._rest = data.partition(b"\n")
        return json.loads(line)

    def ask(self, message, is_of_steps=True):
        """Sends bytes, and reads up to the frame that ends the answer; a line where `is_of_steps` is False.

        Raises `InputError` for what was refused (the program goes on), `IsletError` where it is gone.
        """
        self.post(message)
        return self.take(is_of_steps)

    def post(self, message):
        """Sends bytes; `take` reads the answer."""
        if not self._lock.acquire(blocking=False):
            raise IsletError("two threads at once on one environment: give each its own")
        try:
            if self._process is None:
                raise IsletError("the program has ended; `reset` starts a new one")
            if os.getpid() != self._owner:
                raise IsletError("an environment belongs to the process that made it: make it after the fork")
            view = memoryview(message)
            while view:
                # The program reads a message whole before it answers: neither waits for the other.
                view = view[os.write(self._in, view):]
        except BrokenPipeError:
            self._lock.release()
            raise self._dead() from None
        except BaseException as problem:
            self._lock.release()
            if not isinstance(problem, IsletError):
                self._give_up()
            raise

    def take(self, is_of_steps=True):
        try:
            return self._answer(is_of_steps)
        except IsletError:
            raise
        except BaseException:
            # Something came in between (Ctrl-C): what is on its way can't be told from the next answer.
            self._give_up()
            raise
        finally:
            self._lock.release()

    def _give_up(self):
        if self._process is not None:
            self._process.kill()
            self.close()

    def _answer(self, is_of_steps):
        answer = Answer()
        data = self._rest or self._more()
        while True:
            if data[:1] == b"{":
                line = self._line(data)
                data = self._rest
                if "error" in line:
                    error = line["error"]
                    raise InputError(error["file"], error["line"], error["found"], error["expected"])
                if "events" in line:
                    answer.events = line["events"]
                elif "ends" in line:
                    answer.ends = line["ends"]
                else:
                    answer.line = line
                    if not is_of_steps:
                        return answer
                if not data:
                    data = self._more()
                continue
            while len(data) < 16:
                data = self._more()
            magic, kind, rows, length = _HEAD.unpack_from(data)
            if magic != b"ISL1":
                raise IsletError("islet gym sent bytes that are no frame: %r" % data[:40])
            end = 16 + length
            while len(data) < end + 4:
                data = self._more()
            if zlib.crc32(memoryview(data)[:end]) != int.from_bytes(data[end:end + 4], "little"):
                raise IsletError("islet gym sent a frame whose CRC is wrong")
            if kind == _STEP:
                answer.steps = np.frombuffer(data, self.step_type, rows, 16)
                self._rest = data[end + 4:]
                return answer
            if kind == _TRUTH:
                answer.truth = np.frombuffer(data, self.truth_type, rows, 16)
            elif kind == _BEGIN:
                answer.begun = np.frombuffer(data, self.begin_type, rows, 16)
            data = self._rest = data[end + 4:]
            if not data:
                data = self._more()

    # Messages

    def study(self, text):
        """The name under which the program knows a study, told once."""
        name = self._studies.get(text)
        if name is None:
            name = "s%d" % len(self._studies)
            message = '{"study":%s,"name":"%s"}\n' % (text, name)
            self.ask(message.encode(), is_of_steps=False)
            self._studies[text] = name
        return name

    def reset(self, rows):
        """Rows of handle, study's name, seed, luck and subject."""
        return self.ask(json.dumps({"reset": [
            {"handle": h, "study": name, "seed": seed, "luck": luck, "subject": subject}
            for h, name, seed, luck, subject in rows]}).encode() + b"\n")

    def post_step(self, doses):
        """Answers of `dose_type`; `take` has what came of them."""
        body = doses.tobytes()
        frame = _HEAD.pack(b"ISL1", _DOSE, len(doses), len(body)) + body
        self.post(frame + zlib.crc32(frame).to_bytes(4, "little"))

    def post_one(self, step, basal, correction, meal, forecast):
        """`post_step` of environment 0 alone."""
        frame = _ONE.pack(b"ISL1", _DOSE, 1, 64, 0, step, basal, correction, meal, 0.0, 0, forecast)
        self.post(frame + zlib.crc32(frame).to_bytes(4, "little"))

    def episode(self, handle):
        """The study that an environment's episode is a session of, with what was answered so far, and how it ended (or None)."""
        line = self.ask(b'{"episode":%d}\n' % handle, is_of_steps=False).line
        return line["episode"], line["end"]
