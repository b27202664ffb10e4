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
_CRC = struct.Struct("<I")
_TRUTH, _STEP, _DOSE, _BEGIN = 2, 3, 4, 1

#: How often this process has come out of a fork.
_forks = 0


def _forked():
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_forked)


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


class _Turn:
    """The time in which a wire whose lock is held waits for its answer. Made anew each time: a wire that held one would outlive its last owner.

    Where something comes in between (Ctrl-C), the program is ended: what is on its way can't be told from the next answer.
    """

    __slots__ = ("wire",)

    def __init__(self, wire):
        self.wire = wire

    def __enter__(self):
        pass

    def __exit__(self, kind, problem, trace):
        try:
            if kind is not None and not issubclass(kind, IsletError):
                self.wire._give_up()
        finally:
            self.wire._lock.release()


class Wire:
    """One program. Not for two threads at once, nor for a fork of the process that made it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._process = None
        self._studies = {}
        self._owner = _forks
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
        self._into = (self._buffer,)
        self._studies = {}
        self.ready = ready = self._answer(False).line
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
        # The usual answer of one environment, whole: a frame of one true value, and one of its row.
        cells = "".join("d" if field[1] == "<f8" else "q" for field in ready["step"] + ready["beside"])
        self._usual = struct.Struct("<4sIIIqqdI4sIII%sI" % cells)
        truth, step = 16 + self.truth_type.itemsize, 16 + self.step_type.itemsize
        self._usual_heads = (b"ISL1", _TRUTH, 1, truth - 16), (b"ISL1", _STEP, 1, step - 16)
        self._usual_bytes = self._buffer[:truth], self._buffer[truth + 4:truth + 4 + step]

    @property
    def pid(self):
        return self._process.pid if self._process else None

    def close(self):
        if self._process is not None:
            self._process = None
            self._finalizer()

    # Bytes

    def _more(self):
        count = os.readv(self._out, self._into)
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
            if self._owner != _forks:
                raise IsletError("an environment belongs to the process that made it: make it after the fork")
            # The program reads a message whole before it answers: neither waits for the other.
            sent = os.write(self._in, message)
            while sent < len(message):
                sent += os.write(self._in, memoryview(message)[sent:])
        except BrokenPipeError:
            self._lock.release()
            raise self._dead() from None
        except BaseException as problem:
            self._lock.release()
            if not isinstance(problem, IsletError):
                self._give_up()
            raise

    def take(self, is_of_steps=True):
        with _Turn(self):
            return self._answer(is_of_steps)

    def _give_up(self):
        if self._process is not None:
            self._process.kill()
            self.close()

    def _answer(self, is_of_steps):
        # What was read stays whole until the answer ends, and is looked at from `start` on: an answer of many rows is not copied again.
        answer, start = Answer(), 0
        data = self._rest or self._more()
        while True:
            if len(data) == start:
                data = self._more()
            if data[start:start + 1] == b"{":
                end = data.find(b"\n", start)
                while end < 0:
                    searched, data = len(data), self._more()
                    end = data.find(b"\n", searched)
                line, start = json.loads(data[start:end]), end + 1
                if "events" in line:
                    answer.events = line["events"]
                elif "ends" in line:
                    answer.ends = line["ends"]
                elif "error" in line or not is_of_steps:
                    self._rest = data[start:]
                    if "error" in line:
                        error = line["error"]
                        raise InputError(error["file"], error["line"], error["found"], error["expected"])
                    answer.line = line
                    return answer
                continue
            while len(data) < start + 16:
                data = self._more()
            magic, kind, rows, length = _HEAD.unpack_from(data, start)
            if magic != b"ISL1":
                raise IsletError("islet gym sent bytes that are no frame: %r" % data[start:start + 40])
            body, end = start + 16, start + 16 + length
            while len(data) < end + 4:
                data = self._more()
            if zlib.crc32(memoryview(data)[start:end]) != _CRC.unpack_from(data, end)[0]:
                raise IsletError("islet gym sent a frame whose CRC is wrong")
            if kind == _STEP:
                answer.steps = np.frombuffer(data, self.step_type, rows, body)
                self._rest = data[end + 4:]
                return answer
            if kind == _TRUTH:
                answer.truth = np.frombuffer(data, self.truth_type, rows, body)
            elif kind == _BEGIN:
                answer.begun = np.frombuffer(data, self.begin_type, rows, body)
            start = end + 4

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
        self.post(frame + _CRC.pack(zlib.crc32(frame)))

    def step_one(self, step, basal, correction, meal, forecast):
        """`post_step` and `take` of environment 0 alone.

        Returns its row in plain numbers and the true value that has become known; or None and the answer, where it is of another form.
        """
        frame = _ONE.pack(b"ISL1", _DOSE, 1, 64, 0, step, basal, correction, meal, 0.0, 0, forecast)
        self.post(frame + _CRC.pack(zlib.crc32(frame)))
        with _Turn(self):
            if self._rest:
                return None, self._answer(True)
            count = os.readv(self._out, self._into)
            if count == self._usual.size:
                cells = self._usual.unpack_from(self._buffer)
                truth, row = self._usual_bytes
                if (cells[:4], cells[8:12]) == self._usual_heads and cells[7] == zlib.crc32(truth) and cells[-1] == zlib.crc32(row):
                    return cells[12:-1], cells[6]
            if not count:
                raise self._dead()
            self._rest = bytes(self._buffer[:count])
            return None, self._answer(True)

    def episode(self, handle):
        """The study that an environment's episode is a session of, with what was answered so far, and how it ended (or None)."""
        line = self.ask(b'{"episode":%d}\n' % handle, is_of_steps=False).line
        return line["episode"], line["end"]
