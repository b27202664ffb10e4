"""Studies and results: everything equal to the program's own tables, errors as exceptions, nothing left half done."""

import csv
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import islet

LONG = "ISLET_LONG" in os.environ
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STUDY = {
    "study": "small", "duration": "2d", "cohort": {"generate": {"count": 4}}, "scenario": {"preset": "life"}, "person": "typical",
    "record": "full", "faults": {"signal-loss": True},
    "arms": [
        {"name": "at-once", "algorithm": "basal-bolus", "alerts": "dexcom-g7"},
        {"name": "pid", "algorithm": "pid-insulin-feedback", "alerts": "bionicloop"},
    ],
    "primary": ["tir_70_180_percent"],
}


def library(name):
    try:
        return __import__(name)
    except ImportError:
        raise unittest.SkipTest("%s is not installed" % name) from None


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="islet prüft ")
        cls.path = os.path.join(cls.folder, "ergebnis 1")
        cls.results = islet.Study(STUDY).run(cls.path)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def store(self):
        return sqlite3.connect(os.path.join(self.path, "study.sqlite"))

    def test_a_folder_that_is_made_again_is_refused_and_one_that_is_left_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            short = dict(STUDY, duration="1d", record="summary", cohort={"generate": {"count": 2}})
            path = os.path.join(folder, "r")
            islet.Study(short).run(path)
            here = os.getcwd()
            try:
                os.chdir(folder)
                results = islet.open("r")
                os.chdir(here)
                self.assertEqual(len(results.using("rows").sessions), 4)
            finally:
                os.chdir(here)
            # A report that is made anew changes no result.
            os.utime(os.path.join(path, "manifest.json"))
            self.assertEqual(len(results.using("rows").sessions), 4)
            self.assertEqual(results.summary["sessions"], 4)
            shutil.rmtree(path)
            islet.Study(dict(short, seed=8)).run(path)
            for look in (lambda: results._rows("SELECT count(*) FROM sessions"), lambda: results.summary):
                with self.assertRaises(islet.InputError):
                    look()
            self.assertEqual(islet.open(path).manifest["seed"], 8)

    def test_rows_are_the_stores(self):
        rows = self.results.using("rows")
        for name, got in (("sessions", rows.sessions), ("truth_iso", rows.truth()), ("readings_iso", rows.readings()),
                          ("steps_iso", rows.steps()), ("deliveries_iso", rows.deliveries()), ("faults_iso", rows.faults()),
                          ("person_events_iso", rows.person_events()), ("alert_effects_iso", rows.alert_effects())):
            store = self.store()
            store.row_factory = sqlite3.Row
            own = [dict(row) for row in store.execute("SELECT * FROM %s" % name)]
            store.close()
            self.assertEqual(len(got), len(own), name)
            key = lambda row: (row["session"], row.get("seq", 0))
            self.assertEqual(sorted(got, key=key), sorted(own, key=key), name)
            self.assertTrue(got, name)

    def test_sessions_and_alerts_are_those_of_the_csv_files(self):
        rows = self.results.using("rows")
        for name, got in (("sessions.csv", rows.sessions), ("alerts.csv", rows.alerts)):
            with open(os.path.join(self.path, name), newline="", encoding="utf-8") as file:
                own = list(csv.DictReader(file))
            self.assertEqual(len(got), len(own))
            for mine, theirs in zip(got, own):
                for column, text in theirs.items():
                    value = mine[column]
                    if value is None:
                        self.assertEqual(text, "", column)
                    elif isinstance(value, float):
                        self.assertEqual(float(text), value, column)
                    else:
                        self.assertEqual(text, str(value), column)

    def test_pandas_is_sqlite_and_pandas(self):
        pandas = library("pandas")
        store = self.store()
        for table, got in (("sessions", self.results.sessions), ("truth_iso", self.results.truth())):
            own = pandas.read_sql("SELECT * FROM %s" % table, store)
            for column in own:
                if column in ("time", "start"):
                    continue
                self.assertEqual(list(own[column].isna()), list(got[column].isna()), column)
                self.assertTrue((own[column].dropna() == got[column].dropna()).all(), column)
        store.close()
        frame = self.results.truth(arm="pid", subject="adult#002")
        self.assertEqual(set(frame["session"]), {3})
        self.assertEqual(str(frame["time"].dtype)[:10], "datetime64")
        self.assertEqual(frame.attrs["units"]["plasma_mgdl"], "mg/dL")
        self.assertIn("true plasma glucose", frame.attrs["meanings"]["plasma_mgdl"])
        self.assertEqual(self.results.sessions.attrs["units"]["tir_70_180_percent"], "%")

    def test_libraries_answer_the_same(self):
        library("pandas")
        polars, pyarrow = library("polars"), library("pyarrow")
        frame = self.results.truth()
        other, table = self.results.using("polars").truth(), self.results.using("pyarrow").truth()
        self.assertIsInstance(other, polars.DataFrame)
        self.assertIsInstance(table, pyarrow.Table)
        self.assertEqual(frame["plasma_mgdl"].tolist(), other["plasma_mgdl"].to_list())
        self.assertEqual(frame["plasma_mgdl"].tolist(), table["plasma_mgdl"].to_pylist())
        self.assertEqual(table.schema.field("plasma_mgdl").metadata[b"unit"], b"mg/dL")
        means = frame.groupby("session")["plasma_mgdl"].mean()
        for row in other.group_by("session").agg(polars.col("plasma_mgdl").mean()).iter_rows():
            self.assertAlmostEqual(means[row[0]], row[1], places=9)
        summary = {row["session"]: row["mean_mgdl"] for row in self.results.using("rows").sessions}
        for session, mean in means.items():
            self.assertLess(abs(summary[session] - mean), 0.2)  # the program's leaves out the end itself

    def test_parquet_is_read_back(self):
        library("pandas")
        pyarrow = library("pyarrow")
        import pyarrow.parquet
        with tempfile.TemporaryDirectory() as folder:
            written = self.results.to_parquet(folder)
            self.assertEqual(len(written), 10)
            table = pyarrow.parquet.read_table(os.path.join(folder, "truth.parquet"))
            self.assertEqual(table["plasma_mgdl"].to_pylist(), self.results.truth()["plasma_mgdl"].tolist())
            self.assertFalse(glob.glob(os.path.join(folder, "*.part")))
            try:
                import duckdb
            except ImportError:
                return
            asked = duckdb.sql(
                "SELECT arm, avg(plasma_mgdl) FROM '%s/truth.parquet' GROUP BY arm ORDER BY arm" % folder).fetchall()
            for arm, mean in asked:
                self.assertAlmostEqual(mean, self.results.truth(arm=arm)["plasma_mgdl"].mean(), places=9)

    def test_xarray(self):
        xarray, numpy = library("xarray"), library("numpy")
        data = self.results.to_xarray()
        self.assertEqual(dict(data.sizes), {"subject": 4, "arm": 2, "time": 577})
        frame = self.results.truth(arm="pid", subject="adult#003")
        self.assertEqual(
            data["plasma_mgdl"].sel(subject="adult#003", arm="pid").values.tolist(), frame["plasma_mgdl"].tolist())
        decoded = xarray.decode_cf(data)
        self.assertEqual(decoded["time"].values[1] - decoded["time"].values[0], numpy.timedelta64(5, "m"))

    def test_one_session_at_a_time(self):
        sessions = [session for session, _ in self.results.using("rows").each("truth", arm="pid")]
        self.assertEqual(sessions, [1, 3, 5, 7])

    def test_truth_of_many_is_summed_within_two_gib(self):
        """Session by session, whatever their number: the sum of all true values is the store's, of a process that may have 2 GiB."""
        library("pandas")
        count, days = (1000, 28) if LONG else (5, 2)
        out = os.path.join(self.folder, "many")
        islet.Study(dict(STUDY, arms=STUDY["arms"][:1], duration="%dd" % days, cohort={"generate": {"count": count}})).run(out, report=False)
        script = (
            "import islet, resource, sys\n"
            "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
            "sums = [float(table['plasma_mgdl'].sum()) for _, table in islet.open(sys.argv[1]).each('truth')]\n"
            "print(len(sums), sum(sums), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n")
        told = subprocess.run(
            [sys.executable, "-c", script, out], capture_output=True, text=True, env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
        self.assertEqual(told.returncode, 0, told.stderr[-2000:])
        sessions, total, most = told.stdout.split()
        self.assertEqual(int(sessions), count)
        store = sqlite3.connect(os.path.join(out, "study.sqlite"))
        rows, own = store.execute("SELECT count(*), sum(plasma_mgdl) FROM truth").fetchone()
        store.close()
        self.assertEqual(rows, count * (days * 288 + 1))
        self.assertAlmostEqual(float(total) / own, 1, places=12)
        if LONG:
            print("truth of %d sessions, %d rows: %.0f MB" % (count, rows, int(most) / 1024))

    def test_summary_comparisons_and_verify(self):
        with open(os.path.join(self.path, "summary.json"), encoding="utf-8") as file:
            self.assertEqual(self.results.summary, json.load(file))
        rows = self.results.using("rows").comparisons
        self.assertEqual(len(rows), len(self.results.summary["comparisons"]))
        self.assertIsNone(self.results.claims)
        self.assertTrue(self.results.verify())

    def test_what_is_no_result(self):
        for break_it, text in (
                (lambda path: os.remove(os.path.join(path, "study.sqlite")), "no study.sqlite"),
                (lambda path: os.remove(os.path.join(path, "manifest.json")), "not finished"),
                (lambda path: open(os.path.join(path, "study.sqlite"), "wb").write(b"no store" * 100), "no store"),
                (lambda path: sqlite3.connect(os.path.join(path, "study.sqlite")).executescript(
                    "UPDATE study SET version = '9.9.0'; "), "results of islet 9.9.0")):
            with tempfile.TemporaryDirectory() as folder:
                copy = os.path.join(folder, "copy")
                shutil.copytree(self.path, copy)
                break_it(copy)
                with self.assertRaises(islet.InputError) as caught:
                    islet.open(copy)
                self.assertIn(text, str(caught.exception))
        with self.assertRaises(islet.InputError) as caught:
            islet.open("/nowhere/at/all")
        self.assertIn("no folder", str(caught.exception))

    def test_a_folder_that_may_not_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "copy")
            shutil.copytree(self.path, copy)
            os.chmod(copy, 0o500)
            try:
                self.assertEqual(len(islet.open(copy).using("rows").sessions), 8)
            finally:
                os.chmod(copy, 0o700)
            self.assertEqual(sorted(os.listdir(copy)), sorted(os.listdir(self.path)))

    def test_nearest_names(self):
        for call, text in ((lambda: self.results.truth(arm="pidd"), "nearest: pid"), (lambda: self.results.truth(subject="adult#02"), "nearest: adult#002")):
            with self.assertRaises(islet.InputError) as caught:
                call()
            self.assertIn(text, str(caught.exception))


class Studies(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def test_a_refusal_has_file_line_found_and_expected(self):
        path = os.path.join(self.folder, "bad one.yaml")
        with open(path, "w") as file:
            file.write("duration: 1d\ncohort: { generate: { count: 2 } }\nsensr: ideal\narms: [{ algorithm: basal-bolus }]\n")
        with self.assertRaises(islet.InputError) as caught:
            islet.Study.read(path).check()
        error = caught.exception
        self.assertEqual((os.path.basename(error.file), error.line, error.status), ("bad one.yaml", 3, 65))
        self.assertIn("sensr", error.found)
        self.assertIn("sensor", error.expected)
        with self.assertRaises(islet.InputError) as caught:
            islet.Study.read(path + "x")
        self.assertEqual(caught.exception.status, 66)
        out = os.path.join(self.folder, "out")
        with self.assertRaises(islet.InputError):
            islet.Study.read(path).run(out)
        self.assertFalse(os.path.exists(out))

    def test_changes_by_the_paths_of_set(self):
        study = islet.Study(dict(STUDY, record="summary"))
        text = study.with_(duration="1d", **{"arms[0].algorithm": "pid-insulin-feedback", "cohort.generate.count": 1}).check()
        self.assertIn("1d", text)
        self.assertEqual(study._changes, [])
        with self.assertRaises(islet.InputError) as caught:
            study.with_(**{"arms[0].algorithm": "pidd"}).check()
        self.assertIn("--set arms[0].algorithm", caught.exception.file)

    def test_what_record_did_not_keep_is_refused_with_the_level_that_has_it(self):
        results = islet.Study(STUDY).with_(record="summary", duration="6h", **{"cohort.generate.count": 1}).run(
            os.path.join(self.folder, "out"), report=False)
        for call, level in ((results.truth, "record: full"), (results.person_events, "record: events"), (results.to_xarray, "record: full")):
            with self.assertRaises(islet.IsletError) as caught:
                call()
            self.assertIn(level, str(caught.exception))

    def test_ctrl_c_stops_and_resume_goes_on(self):
        script = (
            "import islet, sys, json\n"
            "study = islet.Study(json.loads(sys.argv[1])).with_(duration='30d', record='summary', **{'cohort.generate.count': 40})\n"
            "print('go', flush=True)\n"
            "try: study.run(sys.argv[2], report=False)\n"
            "except KeyboardInterrupt: print('stopped', flush=True)\n")
        out = os.path.join(self.folder, "out")
        process = subprocess.Popen(
            [sys.executable, "-c", script, json.dumps(STUDY), out], stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "go\n")
        for _ in range(200):
            if os.path.exists(os.path.join(out, "study.sqlite")):
                break
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(process.pid, 2)
        self.assertEqual(process.stdout.read(), "stopped\n")
        process.stdout.close()
        process.wait(20)
        with self.assertRaises(islet.InputError):
            islet.open(out)
        results = islet.Study(STUDY).with_(duration="30d", record="summary", **{"cohort.generate.count": 40}).run(
            out, resume=True, report=False)
        self.assertEqual(len(results.using("rows").sessions), 80)

    def test_an_algorithm_in_python_stands_in_an_arm(self):
        mine = os.path.join(ROOT, "Python", "examples", "mine.py")
        study = islet.Study(dict(STUDY, arms=[{"name": "mine", "algorithm": "basal-bolus"}]))
        study = study.with_(duration="6h", record="summary", **{"arms[0].algorithm": {"python": mine, "gain": 0.4}})
        # The class itself says its file; importing it takes nothing from this program.
        sys.path.insert(0, os.path.dirname(mine))
        try:
            from mine import Mine
        finally:
            sys.path.pop(0)
        self.assertEqual(study.with_(**{"arms[0].algorithm": Mine})._changes[-1][1], {"python": mine})
        self.assertIn(mine, study.with_(**{"arms[0].algorithm": Mine}).check())
        with self.assertRaises(islet.InputError) as caught:
            study.run(os.path.join(self.folder, "out"))
        self.assertIn("--allow-algorithm", caught.exception.expected)
        results = study.run(os.path.join(self.folder, "out"), allow_algorithm=True, report=False)
        self.assertEqual(len(results.using("rows").sessions), 4)


class Package(unittest.TestCase):
    def test_a_wheel_in_an_empty_environment(self):
        """Imports need the standard library alone; what is missing is said by its name when it is asked for."""
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "source")
            shutil.copytree(os.path.join(ROOT, "Python"), source, ignore=shutil.ignore_patterns("tests", "__pycache__", "*.egg-info", "build"))
            target = os.path.join(folder, "target")
            done = subprocess.run(
                [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", target, source],
                capture_output=True, text=True)
            if done.returncode:
                done = subprocess.run(
                    [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", target, source], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(os.path.exists(os.path.join(target, "islet", "py.typed")))
            script = (
                "import sys; sys.path.insert(0, %r); import islet, islet.program, islet.studies, islet.results; assert %r in islet.__file__\n"
                "assert not [n for n in sys.modules if n.split('.')[0] in ('numpy', 'pandas', 'gymnasium')]\n"
                "import os; r = islet.Study(%r).with_(duration='6h', record='full').run(%r, report=False)\n"
                "assert len(r.using('rows').sessions) == 8\n"
                "try: r.sessions\nexcept ImportError as e: print('says', e.name)\n" % (target, target, STUDY, os.path.join(folder, "out")))
            told = subprocess.run([sys.executable, "-S", "-E", "-c", script], capture_output=True, text=True,
                                  env=dict(os.environ, PYTHONPATH=""))
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertEqual(told.stdout.strip(), "says pandas")

    def test_one_version(self):
        with open(os.path.join(ROOT, "Python", "pyproject.toml"), encoding="utf-8") as file:
            self.assertIn('version = "%s"' % islet.program.VERSION, file.read())
        self.assertEqual(islet.program.run(["--version"]).strip(), islet.program.VERSION)

    def test_another_minor_version_is_refused_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "islet")
            with open(path, "w") as file:
                file.write("#!/bin/sh\necho 7.3.1\n")
            os.chmod(path, 0o700)
            told = subprocess.run(
                [sys.executable, "-c", "import islet; islet.program.program()"], capture_output=True, text=True, env=dict(os.environ, ISLET=path))
            self.assertIn("is islet 7.3.1; this package is for 0.1.x", told.stderr)


if __name__ == "__main__":
    unittest.main()
