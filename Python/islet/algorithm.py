"""Dosing algorithms for Islet, in Python.

    import islet.algorithm as ia

    class Mine(ia.Algorithm):
        name, version, basal_source = "mine", 1, "algorithm"
        gain = ia.Parameter(0.3, 0, 5, "1/h", "share of a correction an hour")

        def step(self, s):
            rate = s.therapy.basal
            if s.cgm:
                rate += self.gain * (s.cgm - s.target) / s.therapy.cf
            return ia.Dose(basal=max(0, rate) / 12, meal=s.meal_grams / s.therapy.cr)

    ia.serve(Mine)

Guarantees: where Islet starts it, standard output belongs to the protocol (`islet-step/1`, docs/algorithms.md) from the import of this module on: what anybody
prints goes to standard error. Each person has an object of its own; in `alone` a process of its own, too. A step that raises fails,
gives nothing, and the object goes back to what it was before it. Needs the standard library alone; NumPy only for `Vector`.
"""

import copy
import gc
import json
import math
import os
import random
import struct
import sys
import traceback
import zlib

__all__ = [
    "Algorithm", "Dose", "Listener", "Number", "Parameter", "Vector", "VectorListener", "from_simglucose", "serve"]

_IN, _OUT = 0, 1
if "ISLET_PLUGIN" in os.environ:
    # Standard output is the protocol's: a copy of it is kept, and whoever prints is led to standard error. Where Islet hasn't started this, it is
    # somebody's own program, and stays theirs.
    _OUT = os.dup(1)
    os.set_inheritable(_OUT, False)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

_HEAD = struct.Struct("<4sIII")
_BEGIN, _HISTORY, _STEP, _DOSE, _FAIL, _END, _BYE, _OWN = 1, 2, 3, 4, 5, 6, 7, 8
_ABSENT = -(2**63)
# A group's steps are less than a hundredth of it.
_MOST_BYTES = 1 << 25
_NAN = float("nan")
_ROW = struct.Struct("<qqddddqd")
_NUMBERS = 8
_OWN_ROW = struct.Struct("<qq%dd" % _NUMBERS)


class Parameter:
    """A number that a study may set: default value, least, most, unit, meaning."""

    def __init__(self, default, least, most, unit="", meaning=""):
        self.default, self.least, self.most = float(default), float(least), float(most)
        self.unit, self.meaning = unit, meaning


class Number:
    """A number of one's own, which alert rules compare as `own.NAME`: its unit and its meaning."""

    def __init__(self, unit="", meaning=""):
        self.unit, self.meaning = unit, meaning


class Dose:
    """What a step asks for, U: `basal` of these five minutes, `correction`, `meal`; `forecast` in mg/dL.

    `own` has numbers of the algorithm's own, by name; one that is left out, or None, is absent.
    """

    __slots__ = ("basal", "correction", "meal", "glucagon", "gives_up", "forecast", "own")

    def __init__(self, basal=0.0, correction=0.0, meal=0.0, glucagon=0.0, gives_up=False, forecast=None, own=None):
        self.basal, self.correction, self.meal, self.glucagon = basal, correction, meal, glucagon
        self.gives_up, self.forecast, self.own = gives_up, forecast, own


class Therapy:
    """A person's settings: `weight` kg, `basal` U/h, `cr` g/U, `cf` mg/dL per U, `tdi` U, `maximum_bolus` U."""

    __slots__ = ("weight", "basal", "cr", "cf", "tdi", "maximum_bolus")


class Person:
    """Whom it is about: `subject`, `therapy`, `target` mg/dL, and `random`, a generator that is this person's own."""

    def __init__(self, row, names):
        self._take(row, names)
        self._random = None

    @property
    def random(self):
        # Made where it is asked for: its state is 625 numbers, kept for each step that may be undone.
        if self._random is None:
            self._random = random.Random(self.seed)
        return self._random

    def _drawn(self):
        """How far `random` is, for `_rewind`."""
        return self._random and self._random.getstate()

    def _rewind(self, drawn):
        if drawn is None:
            self._random = None
        else:
            self.random.setstate(drawn)

    def _take(self, row, names):
        cells = dict(zip(names, row))
        self.seed = cells["seed"] & (2**64 - 1)
        self.target = cells["target"]
        self.therapy = Therapy()
        for name in Therapy.__slots__:
            setattr(self.therapy, name, cells[name])
        text = b"".join(struct.pack("<q", cells["subject%d" % part]) for part in range(8))
        self.subject = text.rstrip(b"\0").decode("utf-8", "replace")


class Given:
    """Insulin of the hours before: `amount` U between `since` and `until` (ns), of it `user` asked for by the person, of that `manual`."""

    __slots__ = ("since", "until", "amount", "user", "manual")

    def __init__(self, *cells):
        self.since, self.until, self.amount, self.user, self.manual = cells


class History:
    """What the pump gave before this state began: from `complete` (ns) on, a list of `given`."""

    def __init__(self, complete, given):
        self.complete, self.given = complete, given


class Step:
    """What a step may know. A field that is absent is None; `meal_grams` and `manual_units` are 0 where there is nothing."""

    __slots__ = ("_row", "person", "therapy", "earlier")

    def __init__(self, row, person, earlier):
        self._row, self.person, self.therapy, self.earlier = row, person, person.therapy, earlier

    @property
    def subject(self):
        return self.person.subject

    @property
    def minutes(self):
        """Since the session's start."""
        return self.now / 6e10

    @property
    def is_pump_available(self):
        return bool(self.flags & 1)

    @property
    def is_open_loop(self):
        return bool(self.flags & 2)


# By the name that a step has it by: the field, where 0 is what an absent one is.
_OR_NOTHING = {"meal": "meal_grams", "manual_bolus": "manual_units"}


def _field(place, kind, name):
    if name in _OR_NOTHING.values():
        def read(self):
            value = self._row[place]
            return value if value == value else 0.0
    elif kind == "<f8":
        def read(self):
            value = self._row[place]
            return value if value == value else None
    elif name in ("bolus_id", "shortfall_step", "dropped_step"):
        def read(self):
            value = self._row[place]
            return value if value >= 0 else None
    else:
        def read(self):
            value = self._row[place]
            return value if value != _ABSENT else None
    read.__name__ = name
    return property(read)


class Algorithm:
    """Subclass it, say `name`, and write `step(self, s)`, which returns a `Dose`; `begin(self, person)` comes before the first."""

    name = ""
    version = 1
    #: "algorithm": it gives all basal itself; "programmed": the pump's programmed basal runs, and it adds to that.
    basal_source = "algorithm"
    #: How far the forecasts of its doses look ahead, min.
    forecast_minutes = None
    #: "alone": a process a person; "together": a process a group, an object a person.
    runs = "alone"
    role = "algorithm"

    def begin(self, person):
        pass

    def step(self, s):
        raise NotImplementedError("step")

    def snapshot(self):
        """What `restore` goes back to: by default a copy of the attributes, in which what was one object still is."""
        # Nothing but the person. It is a dict of its own: whoever overrides this may add to it.
        if len(self.__dict__) == 1 and "person" in self.__dict__:
            return {}
        kept = self.__dict__.copy()
        del kept["person"]
        deep = {name: value for name, value in kept.items() if type(value) not in _PLAIN}
        if deep:
            # All at once: two attributes may share an object. The person and this object are the same before and after.
            kept.update(copy.deepcopy(deep, {id(self.person): self.person, id(self): self}))
        return kept

    def restore(self, saved):
        person = self.person
        self.__dict__.clear()
        self.__dict__.update(saved)
        self.person = person


class Listener(Algorithm):
    """Hears each step beside any algorithm, and doses nothing: `step(self, s)` returns a dict of its numbers, or None.

    Each `Number` of the class is one: `low_soon = ia.Number("1", "how likely a low is")` is `own.low_soon` to alert rules.
    """

    role = "listener"


_PLAIN = frozenset((int, float, bool, str, bytes, type(None)))


class Vector:
    """Subclass it for NumPy: `step(self, rows, state, asked)` gets arrays of the group's full size and a mask of who is asked.

    `rows` is a record array with the fields of `step` and of `begin`, `state` one of `state_dtype`, zero where a state begins; a field that
    is absent is NaN. Return a record array made by `self.doses()`. Rows of people who are not asked hold their last values.
    """

    name = ""
    version = 1
    basal_source = "algorithm"
    forecast_minutes = None
    runs = "together"
    role = "algorithm"
    state_dtype = []

    def step(self, rows, state, asked):
        raise NotImplementedError("step")

    def doses(self):
        """An empty answer: zeros, and no forecast."""
        return self._new_doses()

    def own(self):
        """Numbers of one's own, all absent; return them beside the doses, as `return doses, own`."""
        return self._new_numbers()


class VectorListener(Vector):
    """A `Listener` for NumPy: its `step` returns the record array that `self.own()` makes."""

    role = "listener"


class _Ended(Exception):
    pass


class _Pipe:
    def __init__(self):
        self.bytes = b""
        # More would have the system map and unmap memory at each read.
        self.most = 1 << 13

    def more(self):
        part = os.read(_IN, self.most)
        if not part:
            raise _Ended
        self.bytes = self.bytes + part if self.bytes else part

    def line(self):
        while b"\n" not in self.bytes:
            self.more()
        line, _, self.bytes = self.bytes.partition(b"\n")
        return line

    def frame(self):
        """The kind, the number of rows, and the bytes of the next frame's rows."""
        while len(self.bytes) < 16:
            self.more()
        magic, kind, rows, length = _HEAD.unpack_from(self.bytes)
        if magic != b"ISL1":
            raise ValueError("a frame that does not begin with ISL1")
        if length > _MOST_BYTES:
            raise ValueError("a frame of %d bytes" % length)
        end = 16 + length
        while len(self.bytes) < end + 4:
            self.more()
        whole = self.bytes
        # The CRC-32 of all bytes and their own CRC behind them is the same for any of them.
        if zlib.crc32(whole if len(whole) == end + 4 else whole[:end + 4]) != 0x2144DF1C:
            raise ValueError("a frame whose CRC is wrong")
        self.bytes = whole[end + 4:]
        return kind, rows, memoryview(whole)[16:end]


def _write(text):
    while text:
        text = text[os.write(_OUT, text):]


def _frame(kind, rows, body):
    text = _HEAD.pack(b"ISL1", kind, rows, len(body)) + body
    return text + struct.pack("<I", zlib.crc32(text))


def _fail(handle, step, text):
    return _frame(_FAIL, 1, struct.pack("<qq", handle, step) + text.encode("utf-8", "replace")[:4000])


_whole_errors = 20


def _why(error):
    """The error in one line, and where it was raised; the whole of the first ones goes to standard error."""
    global _whole_errors
    # Each step's answer has its line: who fails at every step fails at its steps, and not for having said too much.
    if _whole_errors:
        _whole_errors -= 1
        traceback.print_exc()
    last = traceback.extract_tb(error.__traceback__)
    place = " (%s:%d)" % (os.path.basename(last[-1].filename), last[-1].lineno) if last else ""
    return "%s: %s%s" % (type(error).__name__, " ".join(str(error).split()), place)


def _runtime(uses_numpy):
    text = "%s %s" % (sys.implementation.name, sys.version.split()[0])
    if uses_numpy or "numpy" in sys.modules:
        import numpy
        text += ", numpy %s" % numpy.__version__
    return text


def serve(kind):
    """Answers Islet's questions until it asks no more. The last line of a file that defines an algorithm."""
    if "ISLET_PLUGIN" not in os.environ:
        if kind.__module__ != "__main__":
            return  # Imported, as by who names the class in a study.
        sys.stderr.write("%s is an algorithm for Islet: name it in a study, as `algorithm: { python: %s }`\n" % (
            kind.__name__, os.path.basename(sys.argv[0])))
        raise SystemExit(64)
    pipe = _Pipe()
    try:
        hello = json.loads(pipe.line())
        if kind.runs != "alone":
            pipe.most = 1 << 16
        parameters, numbers = {}, {}
        for base in reversed(kind.__mro__):
            parameters.update({k: v for k, v in vars(base).items() if isinstance(v, Parameter)})
            numbers.update({k: v for k, v in vars(base).items() if isinstance(v, Number)})
        kind._numbers = list(numbers)
        for name, parameter in parameters.items():
            setattr(kind, name, float(hello["parameters"].get(name, parameter.default)))
        is_vector = issubclass(kind, Vector)
        isolates = kind.runs == "alone" and hasattr(os, "fork")
        ready = {
            "protocol": "islet-step/1", "encoding": "packed", "name": kind.name or kind.__name__.lower(),
            "version": kind.version, "basalSource": kind.basal_source, "forecastMinutes": kind.forecast_minutes,
            "runs": kind.runs, "isolates": isolates, "runtime": _runtime(is_vector), "role": kind.role,
            "numbers": [{"name": k, "unit": n.unit, "meaning": n.meaning} for k, n in numbers.items()],
            "parameters": [
                {"name": k, "unit": p.unit, "least": p.least, "most": p.most, "default": p.default, "meaning": p.meaning}
                for k, p in parameters.items()],
        }
        for place, (name, cell, _) in enumerate(hello["step"]):
            for name in (name, _OR_NOTHING.get(name)):
                if name:
                    setattr(Step, name, _field(place, cell, name))
        _write(json.dumps(ready).encode() + b"\n")
        if isolates:
            _serve_apart(kind, hello, pipe)
        elif is_vector:
            _serve_vector(kind, hello, pipe)
        else:
            _serve_each(kind, hello, pipe)
    except _Ended:
        pass
    sys.stderr.flush()
    os._exit(0)


#: How a child leaves whose session is over; nobody else's exit code is likely to be it.
_OVER = 211


def _serve_apart(kind, hello, pipe):
    """A child for each session: whatever it does to its modules, generators and caches ends with it.

    Only `_OVER` says that its session is over: an algorithm may leave, also with 0, in the middle of a step.
    """
    # What is there already is no child's garbage: looking through it would copy its memory.
    gc.freeze()
    while True:
        if not pipe.bytes:
            pipe.more()
        child = os.fork()
        if child == 0:
            try:
                _serve_each(kind, hello, pipe)
            except _Ended:
                pass
            sys.stderr.flush()
            os._exit(_OVER)
        pipe.bytes = b""
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            os.kill(os.getpid(), os.WTERMSIG(status))
        if os.WEXITSTATUS(status) != _OVER:
            os._exit(os.WEXITSTATUS(status))


class _Seat:
    __slots__ = ("algorithm", "person", "saved", "drawn", "step", "snapshot")


def _own_row(handle, step, said, names):
    """A row of `own`; raises where a number is none that the class has."""
    cells = [_NAN] * _NUMBERS
    for name, value in said.items():
        if name not in names:
            raise KeyError("%s is no number of this class" % name)
        if value is not None:
            cells[names.index(name)] = float(value)
    return _OWN_ROW.pack(handle, step, *cells)


def _serve_each(kind, hello, pipe):
    begin_names = [f[0] for f in hello["begin"]]
    begin_row = struct.Struct("<" + "".join("d" if f[1] == "<f8" else "q" for f in hello["begin"]))
    step_row = struct.Struct("<" + "".join("d" if f[1] == "<f8" else "q" for f in hello["step"]))
    past_row = struct.Struct("<" + "".join("d" if f[1] == "<f8" else "q" for f in hello["history"]))
    seats, histories = {}, {}
    isolates = kind.runs == "alone" and hasattr(os, "fork")
    names, listens = kind._numbers, kind.role == "listener"
    pack, crc, head = _ROW.pack, zlib.crc32, _HEAD.pack
    while True:
        what, count, body = pipe.frame()
        if what == _STEP:
            failed, doses, own = [], [], []
            for row in step_row.iter_unpack(body):
                handle, number, flags = row[:3]
                seat = seats[handle]
                earlier = None
                # Both are rare.
                if flags & 24:
                    if flags & 16 and seat.saved is not None:
                        seat.algorithm.restore(seat.saved)
                        seat.person._rewind(seat.drawn)
                    if flags & 8:
                        earlier = histories.pop(handle, None)
                seat.saved, seat.drawn = seat.snapshot(), seat.person._drawn()
                try:
                    said = seat.step(Step(row, seat.person, earlier))
                    if listens:
                        own.append(_own_row(handle, number, said or {}, names))
                        continue
                    forecast = said.forecast
                    dose = pack(
                        handle, number, said.basal, said.correction, said.meal, said.glucagon,
                        1 if said.gives_up else 0, _NAN if forecast is None else forecast)
                    if names:
                        own.append(_own_row(handle, number, said.own or {}, names))
                    doses.append(dose)
                except Exception as error:  # noqa: BLE001: whatever a step raises is its failure
                    failed.append(_fail(handle, number, _why(error)))
            text = b"".join(failed)
            if names:
                text += _frame(_OWN, len(own), b"".join(own))
            if not listens:
                rows = b"".join(doses)
                rows = head(b"ISL1", _DOSE, len(doses), len(rows)) + rows
                rows += crc(rows).to_bytes(4, "little")
                text = text + rows if text else rows
            _write(text)
        elif what == _BEGIN:
            for row in begin_row.iter_unpack(body):
                seat = seats.get(row[0])
                if row[2] & 1 and seat is not None:
                    seat.person._take(row, begin_names)
                    continue
                seat = seats[row[0]] = _Seat()
                seat.person, seat.saved, seat.drawn = Person(row, begin_names), None, None
                algorithm = seat.algorithm = kind()
                algorithm.person = seat.person
                seat.step, seat.snapshot = algorithm.step, algorithm.snapshot
                algorithm.begin(seat.person)
        elif what == _HISTORY:
            for row in past_row.iter_unpack(body):
                history = histories.setdefault(row[0], History(row[1], []))
                history.given.append(Given(*row[2:]))
        elif what == _END:
            for place in range(count):
                seats.pop(struct.unpack_from("<q", body, 8 * place)[0], None)
            _write(_frame(_END, count, body))
            if isolates:
                return
        elif what == _BYE:
            raise _Ended


def _serve_vector(kind, hello, pipe):
    import numpy as np
    group = hello["group"]
    begin_type = np.dtype([(f[0], f[1]) for f in hello["begin"]])
    step_type = np.dtype([(f[0], f[1]) for f in hello["step"]])
    dose_type = np.dtype([(f[0], f[1]) for f in hello["dose"]])
    settings = [f[0] for f in hello["begin"] if f[1] == "<f8" and f[0] != "target"]
    rows = np.zeros(group, np.dtype([(f[0], f[1]) for f in hello["step"]] + [(name, "<f8") for name in settings]))
    for name in rows.dtype.names:
        rows[name] = np.nan if rows.dtype[name] == np.float64 else _ABSENT
    state = np.zeros(group, np.dtype(kind.state_dtype))
    before = state.copy()
    vector = kind()

    def new_doses():
        doses = np.zeros(group, dose_type)
        doses["forecast"] = np.nan
        return doses

    names, listens = kind._numbers, kind.role == "listener"
    own_type = np.dtype([("handle", "<i8"), ("step", "<i8")] + [(name, "<f8") for name in names])
    wire_type = np.dtype([("handle", "<i8"), ("step", "<i8"), ("own", "<f8", _NUMBERS)])

    def new_numbers():
        own = np.zeros(group, own_type)
        for name in names:
            own[name] = np.nan
        return own

    def own_rows(own, slots, steps):
        rows = np.zeros(len(slots), wire_type)
        rows["own"] = np.nan
        for place, name in enumerate(names):
            rows["own"][:, place] = own[name][slots]
        rows["handle"], rows["step"] = slots, steps
        return _frame(_OWN, len(slots), rows.tobytes())

    vector._new_doses, vector._new_numbers = new_doses, new_numbers
    vector.group, vector.seeds = group, np.zeros(group, np.uint64)
    width, has_state = len(step_type.names), bool(state.dtype.names)
    cells = rows.view(np.int64).reshape(group, -1)
    asked = np.zeros(group, bool)
    np.seterr(all="ignore")
    while True:
        what, count, body = pipe.frame()
        if what == _STEP:
            # Told and kept rows are of cells of eight bytes: one copy of them all, field by field the same. A row begins with handle, step and
            # flags, an answer with the first two.
            told = np.frombuffer(body, np.int64).reshape(count, width)
            slots, is_all = told[:, 0], count == group
            if is_all:
                # In the order of slots, each of them.
                cells[:, :width] = told
            else:
                cells[slots, :width] = told
            if has_state:
                undone = slots[(told[:, 2] & 16) != 0]
                if len(undone):
                    state[undone] = before[undone]
                kept = state.copy()
            asked[:] = is_all
            if not is_all:
                asked[slots] = True
            try:
                said = vector.step(rows, state, asked)
                doses, own = (None, said) if listens else said if isinstance(said, tuple) else (said, None)
                text = b""
                if names:
                    text = own_rows(new_numbers() if own is None else own, slots, told[:, 1])
                if not listens:
                    if isinstance(doses, np.ndarray) and doses.dtype == dose_type and doses.flags.c_contiguous:
                        # To pick whole cells takes a fifth of what picking records does.
                        answer = doses.view(np.int64).reshape(len(doses), -1)
                        answer = answer.copy() if is_all and len(doses) == group else answer[slots]
                    else:
                        answer = doses[slots].astype(dose_type, copy=False).view(np.int64).reshape(count, -1)
                    answer[:, :2] = told[:, :2]
                    text += _frame(_DOSE, count, answer.tobytes())
                if has_state:
                    # Who is not asked has not stepped.
                    if count < group:
                        state[~asked] = kept[~asked]
                        before[slots] = kept[slots]
                    else:
                        before = kept
                _write(text)
            except Exception as error:  # noqa: BLE001
                if has_state:
                    state[:] = kept
                    before[slots] = kept[slots]
                why = _why(error)
                last = _frame(_OWN, 0, b"") if listens else _frame(_DOSE, 0, b"")
                _write(b"".join(_fail(int(s), int(n), why) for s, n in told[:, :2]) + last)
        elif what == _BEGIN:
            for row in np.frombuffer(body, begin_type):
                slot = row["handle"]
                if has_state and not row["flags"] & 1:
                    state[slot] = np.zeros((), state.dtype)
                    before[slot] = state[slot]
                vector.seeds[slot] = row["seed"].astype(np.uint64)
                for name in settings:
                    rows[name][slot] = row[name]
        elif what == _END:
            _write(_frame(_END, count, body))
        elif what == _BYE:
            raise _Ended


def from_simglucose(make, name=None, announces_meals=False):
    """An algorithm of a simglucose controller: `make(person)` returns an object with `policy(observation, reward, done, **info)`.

    Its basal and bolus are U/min, as simglucose has them; a step is five minutes. Meals are told (`info["meal"]`, g/min) only where
    `announces_meals` says so. Where there is no reading, the person's programmed basal is given.
    """

    class Observation:
        __slots__ = ("CGM",)

        def __init__(self, cgm):
            self.CGM = cgm

    class Wrapped(Algorithm):
        basal_source = "algorithm"

        def begin(self, person):
            self.controller = make(person)

        def step(self, s):
            if s.cgm is None:
                return Dose(basal=s.therapy.basal / 12, meal=s.manual_units)
            meal = s.meal_grams / 5 if announces_meals else 0
            action = self.controller.policy(
                Observation(s.cgm), 0, False, sample_time=5, meal=meal, patient_name=s.subject, time=s.minutes)
            bolus = max(0.0, action.bolus) * 5
            # What is given for an announced meal is what the person waits for, and is given by a later step where this one can't.
            of_meal = bolus if meal > 0 else 0.0
            return Dose(basal=max(0.0, action.basal) * 5, correction=bolus - of_meal, meal=of_meal + s.manual_units)

    Wrapped.name = name or getattr(make, "__name__", "simglucose").lower()
    return Wrapped
