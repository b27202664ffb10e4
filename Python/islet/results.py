"""Results: a run's folder as tables.

    r = islet.open("results/quickstart")
    r.sessions; r.alerts; r.summary                     # a table each, a nested mapping
    r.truth(arm="at-once"), r.readings(), r.steps()     # what happened, session by session, where `record` kept it

Guarantees: every number is one that the program wrote, to the last digit: nothing is computed anew. Units and meanings are the data dictionary's (docs/data.md), and stand in
`attrs` of pandas frames. The store is opened for reading alone. What `record` didn't keep is refused, with the level that has it.
"""

import builtins
import json
import os
import re
import sqlite3

from .program import InputError, IsletError, VERSION, run

_FULL = ("steps", "readings", "deliveries", "truth")
_EVENTS = ("person_events", "alert_effects", "faults", "shadow_effects")
_UNITS = {
    "mgdl": "mg/dL", "u": "U", "s": "s", "ns": "ns", "percent": "%", "min": "min", "days": "d", "kg": "kg", "g": "g",
    "minutes": "min", "hours": "h",
}
_BATCH = 100_000


def open(path):
    """The results in a folder that `islet run` wrote."""
    return Results(path)


class Results:
    """A folder of results. `library` says what tables come as: `pandas` (default), `polars`, `pyarrow`, or `rows` (dictionaries)."""

    def __init__(self, path, library="pandas"):
        # A notebook may change its folder.
        self.path, self.library = os.path.abspath(os.fspath(path)), library
        if not os.path.isdir(self.path):
            raise InputError(self.path, None, "no folder", "a folder that `islet run` wrote", 66)
        self.store_path = os.path.join(self.path, "study.sqlite")
        if not os.path.isfile(self.store_path):
            raise InputError(self.path, None, "no study.sqlite", "a folder that `islet run` wrote", 66)
        manifest = os.path.join(self.path, "manifest.json")
        if not os.path.isfile(manifest):
            raise InputError(
                self.path, None, "no manifest.json: a run that is not finished", "one that is: `islet run ... --resume`")
        self._seen = None
        self.manifest = self._json("manifest.json")
        self._seen = self._stat()
        if self.manifest.get("state") != "complete":
            raise InputError(
                self.path, None, "a run that is not finished (%s)" % self.manifest.get("state", "no state"),
                "one that is: `islet run ... --resume` goes on with it")
        try:
            self._version, self._study = self._rows("SELECT version, text FROM study")[0]
        except sqlite3.DatabaseError as error:
            raise InputError(self.store_path, None, "no store that can be read (%s)" % error, "study.sqlite of a run") from None
        if self._version.split(".")[:2] != VERSION.split(".")[:2]:
            raise InputError(
                self.path, None, "results of islet %s" % self._version,
                "those of %s.x, for which this package is" % ".".join(VERSION.split(".")[:2]))
        self.record = self._level()

    def using(self, library):
        """The same results, whose tables come as another library's."""
        if library not in ("pandas", "polars", "pyarrow", "rows"):
            raise ValueError("library %r: pandas, polars, pyarrow or rows" % (library,))
        return Results(self.path, library)

    # Reading

    def _stat(self):
        try:
            found = os.stat(os.path.join(self.path, "manifest.json"))
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _check(self):
        """Refuses a folder that was run again since it was opened: its tables would be of another study than `study` and `manifest` are."""
        if self._seen is None or self._stat() == self._seen:
            return
        # A report that is written anew changes the manifest, and none of the results.
        now, self._seen = self._seen, None
        manifest = self._json("manifest.json")
        same = all(manifest.get(key) == self.manifest.get(key) for key in ("state", "study", "seed")) and (
            manifest.get("files", {}).get("study.sqlite") == self.manifest.get("files", {}).get("study.sqlite"))
        if not same:
            self._seen = now
            raise InputError(
                self.path, None, "results that have been made again since they were opened", "islet.open of this folder, once more")
        self.manifest, self._seen = manifest, self._stat()

    def _connect(self):
        self._check()
        uri = "file:%s?mode=ro" % os.path.abspath(self.store_path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        return sqlite3.connect(uri, uri=True)

    def _rows(self, query, values=()):
        connection = self._connect()
        try:
            return connection.execute(query, values).fetchall()
        except sqlite3.OperationalError as error:
            # A folder that may not be written: the journal of a store in WAL mode can't be made.
            if "readonly" not in str(error) and "unable to open" not in str(error):
                raise
            connection.close()
            uri = "file:%s?immutable=1" % os.path.abspath(self.store_path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
            connection = sqlite3.connect(uri, uri=True)
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()

    def _json(self, name):
        self._check()
        path = os.path.join(self.path, name)
        try:
            with builtins.open(path, encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            raise InputError(path, None, "no file", "a folder that `islet run` wrote whole", 66) from None
        except ValueError as error:
            raise InputError(path, getattr(error, "lineno", None), "no JSON (%s)" % error, "a file of the run") from None

    def _level(self):
        match = re.search(r"^record: *\"?(\w+)", self._study, re.M) or re.search(r'"record": *"(\w+)"', self._study)
        return match.group(1) if match else "events"

    # Tables

    @property
    def study(self):
        """The resolved study, as text (YAML)."""
        return self._study

    @property
    def sessions(self):
        """One row a session; its outcomes are columns."""
        return self.table("sessions")

    @property
    def alerts(self):
        """One row a session, policy and code."""
        return self.table("alerts_iso")

    @property
    def summary(self):
        """summary.json: arms, comparisons, claims."""
        return self._json("summary.json")

    @property
    def claims(self):
        """What the study may claim; None where it has no margin."""
        return self.summary["claims"]

    @property
    def comparisons(self):
        """Each outcome of each arm against the reference, a row each."""
        rows = []
        for one in self.summary["comparisons"]:
            row = dict(one)
            interval = row.pop("ci95") or (None, None)
            row["ci95_low"], row["ci95_high"] = interval
            rows.append(row)
        names = list(rows[0]) if rows else ["metric", "arm", "reference"]
        return self._made([[row.get(name) for name in names] for row in rows], names, "comparisons")

    def truth(self, arm=None, subject=None):
        """What was true, every five minutes, and what the sensor made of it. Needs `record: full`."""
        return self._happened("truth", arm, subject)

    def readings(self, arm=None, subject=None):
        return self._happened("readings", arm, subject)

    def steps(self, arm=None, subject=None):
        return self._happened("steps", arm, subject)

    def deliveries(self, arm=None, subject=None):
        return self._happened("deliveries", arm, subject)

    def person_events(self, arm=None, subject=None):
        return self._happened("person_events", arm, subject)

    def alert_effects(self, arm=None, subject=None):
        return self._happened("alert_effects", arm, subject)

    def faults(self, arm=None, subject=None):
        return self._happened("faults", arm, subject)

    def each(self, table, arm=None, subject=None):
        """One table a session, lazily: (session, table). Nothing but one session is in memory."""
        self._kept(table)
        for (session,) in self._rows(*self._chosen("SELECT session FROM sessions", arm, subject, " ORDER BY session")):
            names, rows = self._select("SELECT * FROM %s_iso WHERE session = ? ORDER BY seq" % table, (session,))
            yield session, self._made(rows, names, table)

    def _happened(self, table, arm, subject):
        self._kept(table)
        query, values = self._chosen("SELECT * FROM %s_iso" % table, arm, subject, " ORDER BY session, seq")
        names, rows = self._select(query, values)
        return self._made(rows, names, table)

    def _kept(self, table):
        if table not in _FULL + _EVENTS:
            raise ValueError("table %r: one of %s" % (table, ", ".join(_FULL + _EVENTS)))
        levels = {"summary": 0, "events": 1, "full": 2}
        needs = "full" if table in _FULL else "events"
        if levels.get(self.record, 2) < levels[needs]:
            raise IsletError(
                "%s: `%s` is kept from `record: %s` on, and this run kept `record: %s`; run it with --set record=%s, or `islet export "
                "%s --what %s` runs its sessions again" % (
                    self.path, table, needs, self.record, needs, self.path, table.replace("_", "-")))

    def _chosen(self, query, arm, subject, order):
        tests, values = [], []
        for column, wanted in (("arm", arm), ("subject", subject)):
            if wanted is None:
                continue
            known = [row[0] for row in self._rows("SELECT DISTINCT %s FROM sessions" % column)]
            if wanted not in known:
                from difflib import get_close_matches
                near = get_close_matches(str(wanted), known, 1)
                raise InputError(
                    self.path, None, "the %s %r" % (column, wanted),
                    "one of %s%s" % (", ".join(known[:20]), " (nearest: %s)" % near[0] if near else ""))
            tests.append("%s = ?" % column)
            values.append(wanted)
        return query + (" WHERE " + " AND ".join(tests) if tests else "") + order, values

    def table(self, name):
        """A table or view of the store, whole."""
        known = [row[0] for row in self._rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        if name not in known:
            raise ValueError("table %r: one of %s" % (name, ", ".join(sorted(known))))
        order = " ORDER BY session" if name == "sessions" else ""
        names, rows = self._select('SELECT * FROM "%s"%s' % (name, order))
        return self._made(rows, names, name)

    def _select(self, query, values=()):
        connection = self._connect()
        try:
            cursor = connection.execute(query, values)
            return [column[0] for column in cursor.description], cursor.fetchall()
        finally:
            connection.close()

    # Libraries

    def _made(self, rows, names, table):
        if self.library == "rows":
            return [dict(zip(names, row)) for row in rows]
        columns = list(zip(*rows)) if rows else [()] * len(names)
        if self.library == "polars":
            import polars
            return polars.DataFrame({name: list(column) for name, column in zip(names, columns)}, strict=False, infer_schema_length=None)
        if self.library == "pyarrow":
            import pyarrow
            meta = {name: self._meaning(table, name) for name in names}
            fields, arrays = [], []
            for name, column in zip(names, columns):
                array = pyarrow.array(list(column))
                arrays.append(array)
                told = {k: v for k, v in zip(("unit", "meaning"), meta[name]) if v}
                fields.append(pyarrow.field(name, array.type, metadata=told))
            return pyarrow.table(arrays, schema=pyarrow.schema(fields))
        import pandas
        frame = pandas.DataFrame.from_records(rows, columns=names)
        for name in names:
            # A column without a value: numbers, not objects.
            if frame[name].dtype == object and frame[name].isna().all() and name not in ("ended_early", "not_finite"):
                frame[name] = frame[name].astype("float64")
            if name in ("time", "start", "end", "backfilled"):
                frame[name] = pandas.to_datetime(frame[name])
        frame.attrs["units"] = {name: unit for name in names for unit in [self._meaning(table, name)[0]] if unit}
        frame.attrs["meanings"] = {name: text for name in names for text in [self._meaning(table, name)[1]] if text}
        return frame

    def _meaning(self, table, name):
        unit, text = dictionary().get((table.replace("_iso", ""), name)) or dictionary().get(("", name)) or ("", "")
        if not unit:
            unit = _UNITS.get(name.rsplit("_", 1)[-1], "") if "_" in name else ""
        return unit, text

    def to_xarray(self, table="truth"):
        """subject × arm × time, with CF time. Needs xarray, and `record: full`."""
        import numpy
        import xarray
        if table != "truth":
            raise ValueError("table %r: truth" % (table,))
        self._kept(table)
        sessions = self._rows("SELECT session, subject, arm FROM sessions ORDER BY session")
        subjects = list(dict.fromkeys(row[1] for row in sessions))
        arms = list(dict.fromkeys(row[2] for row in sessions))
        rows = {}
        length = 0
        for session, subject, arm in sessions:
            names, values = self._select(
                "SELECT plasma_mgdl, sensor_mgdl FROM truth WHERE session = ? ORDER BY seq", (session,))
            rows[subject, arm] = values
            length = max(length, len(values))
        data = {name: numpy.full((len(subjects), len(arms), length), numpy.nan) for name in ("plasma_mgdl", "sensor_mgdl")}
        for (subject, arm), values in rows.items():
            a, b = subjects.index(subject), arms.index(arm)
            for column, name in enumerate(("plasma_mgdl", "sensor_mgdl")):
                data[name][a, b, :len(values)] = [numpy.nan if row[column] is None else row[column] for row in values]
        start = self._rows("SELECT start FROM study")[0][0]
        made = xarray.Dataset(
            {name: (("subject", "arm", "time"), values, {
                "units": "mg/dL", "long_name": self._meaning("truth", name)[1]}) for name, values in data.items()},
            coords={"subject": subjects, "arm": arms, "time": ("time", numpy.arange(length) * 5, {
                "standard_name": "time", "units": "minutes since %s" % start})},
            attrs={"Conventions": "CF-1.10", "source": "islet %s" % self._version})
        return made

    def to_parquet(self, folder, tables=None):
        """A file each: sessions, alerts, and what `record` kept. Needs pyarrow. Read back by DuckDB, polars and pandas as they stand."""
        import pyarrow.parquet
        os.makedirs(folder, exist_ok=True)
        if tables is None:
            kept = {"summary": (), "events": _EVENTS, "full": _EVENTS + _FULL}[self.record]
            tables = ("sessions", "alerts") + kept
        own, written = self.using("pyarrow"), []
        for name in tables:
            path = os.path.join(folder, name + ".parquet")
            part = path + ".part"
            if name == "sessions":
                pyarrow.parquet.write_table(own.sessions, part)
            elif name == "alerts":
                pyarrow.parquet.write_table(own.alerts, part)
            else:
                self._spool(name, part)
            os.replace(part, path)
            written.append(path)
        return written

    def _spool(self, name, path):
        """A table in batches: no more of it than that is in memory."""
        import pyarrow
        import pyarrow.parquet
        self._kept(name)
        connection, writer = self._connect(), None
        types = {"integer": pyarrow.int64(), "real": pyarrow.float64(), "text": pyarrow.string()}
        try:
            cursor = connection.execute('SELECT * FROM "%s_iso" ORDER BY session' % name)
            names = [column[0] for column in cursor.description]
            kinds = [types.get(dictionary_types().get((name, column)), None) for column in names]
            schema = None
            while True:
                rows = cursor.fetchmany(_BATCH)
                if not rows and writer is not None:
                    return
                columns = list(zip(*rows)) if rows else [()] * len(names)
                if schema is None:
                    fields = []
                    for place, column in enumerate(names):
                        kind = kinds[place] or _kind_of(column, columns[place])
                        unit, meaning = self._meaning(name, column)
                        fields.append(pyarrow.field(
                            column, kind, metadata={k: v for k, v in (("unit", unit), ("meaning", meaning)) if v}))
                    schema = pyarrow.schema(fields)
                    writer = pyarrow.parquet.ParquetWriter(path, schema)
                writer.write_table(pyarrow.table(
                    [pyarrow.array(list(column), type=field.type) for column, field in zip(columns, schema)], schema=schema))
                if not rows:
                    return
        finally:
            if writer is not None:
                writer.close()
            connection.close()

    def verify(self, allow_algorithm=False):
        """Runs all sessions again, as `islet verify` does. Raises `IsletError` where anything differs."""
        return run(["verify", self.path] + (["--allow-algorithm"] if allow_algorithm else []))

    def __repr__(self):
        return "islet.open(%r): %s, record: %s" % (self.path, self.summary["study"], self.record)


def _kind_of(name, values):
    import pyarrow
    if name.endswith("_s") or any(isinstance(value, float) for value in values):
        return pyarrow.float64()
    if any(isinstance(value, int) for value in values):
        return pyarrow.int64()
    return pyarrow.string()


_dictionary = None


def dictionary():
    """The data dictionary, as the program prints it: (table, column) to unit and meaning; ("", outcome) for outcomes."""
    _read()
    return _dictionary[0]


def dictionary_types():
    """(table, column) to `integer`, `real` or `text`."""
    _read()
    return _dictionary[1]


def _read():
    global _dictionary
    if _dictionary is not None:
        return
    meanings, types, table, kind = {}, {}, "", ""
    for line in run(["metrics", "--columns"]).splitlines():
        if line.startswith("#"):
            title = line.lstrip("# ").strip()
            table = title.removesuffix(".csv") if hasattr(title, "removesuffix") else title
            continue
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) < 3 or cells[0].startswith("--"):
            continue
        if cells[0] in ("column", "outcome", "key"):
            kind = cells[0]
            continue
        name = cells[0].strip("`")
        if kind == "column" and len(cells) == 3:
            meanings[table, name] = ("", cells[2])
            types[table, name] = cells[1].split(",")[0]
        elif kind == "outcome":
            meanings.setdefault(("", name), (cells[1], cells[-1]))
    _dictionary = meanings, types
