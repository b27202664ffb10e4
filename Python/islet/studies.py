"""Studies: read, changed by the same paths as `--set`, checked and run by the program.

Guarantees: the program reads, checks and runs; nothing of a study is judged here. What it refuses is an exception with file, line, found and expected. Ctrl-C
stops a run as in a terminal: what is stored is good, and `run(..., resume=True)` goes on.
"""

import copy
import json
import os
import signal
import subprocess
import tempfile

from .program import InputError, Interrupted, IsletError, problem, program


def _value(value):
    """A value as `--set` takes it: JSON is YAML."""
    return json.dumps(value, ensure_ascii=False)


class Study:
    """One study: `Study.read(path)`, or `Study({...})` with the keys of docs/study-files.md.

        study = islet.Study.read("Cohorts/quickstart.yaml").with_(duration="14d", **{"arms[0].algorithm": "basal-bolus"})
        results = study.run("results/mine")
    """

    def __init__(self, document, path=None):
        self.document, self.path, self._changes = document, path, []

    @classmethod
    def read(cls, path):
        """The study in a file. Nothing is looked at before `check` or `run`, but that it is there."""
        path = os.fspath(path)
        if not os.path.isfile(path):
            raise InputError(path, None, "no file", "a study file", 66)
        return cls(None, os.path.abspath(path))

    def with_(self, **changes):
        """A study with these keys changed: `duration="14d"`, `**{"arms[0].alerts": "none"}`, `**{"cohort.generate.count": 10}`.

        An arm's algorithm may be a subclass of `islet.algorithm.Algorithm` that stands in a file, or that file.
        """
        study = Study(copy.deepcopy(self.document), self.path)
        study._changes = list(self._changes)
        for path, value in changes.items():
            study._changes.append((path, _algorithm(value)))
        return study

    @property
    def text(self):
        """What a file of it says, without what `with_` changed."""
        if self.document is None:
            with open(self.path, encoding="utf-8") as file:
                return file.read()
        return json.dumps(self.document, ensure_ascii=False, indent=1) + "\n"

    def write(self, path):
        """Writes the study as a file, where nothing has been changed since it was read."""
        if self._changes:
            raise IsletError("a study that was changed is run, not written: `check()` says what it resolves to")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    def _called(self, words, folder):
        """The arguments of a call: words, the study's file, and its changes."""
        if self.document is None:
            path = self.path
        else:
            path = os.path.join(folder, "study.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps(self.document, ensure_ascii=False))
        arguments = list(words) + [path]
        for key, value in self._changes:
            arguments += ["--set", "%s=%s" % (key, _value(value))]
        return arguments

    def check(self):
        """What `islet study check` says: the resolved study as text. Raises `InputError` where it is refused."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [program()] + self._called(["study", "check"], folder) + ["--resolved"], capture_output=True, text=True)
        if done.returncode:
            raise problem(done.stderr, done.returncode)
        return done.stdout

    def run(self, out, jobs=None, on_progress=None, resume=False, allow_algorithm=False, report=True):
        """Runs it, and opens what came of it.

        - `jobs`: threads; as many as there are cores where it is left out.
        - `on_progress(text)`: each line of progress of the program.
        - `allow_algorithm`: lets programs run that it names as algorithms.

        Raises `InputError` for what is refused, `Interrupted` where it was stopped (`resume=True` goes on).
        """
        from .results import open as open_results
        with tempfile.TemporaryDirectory() as folder:
            words = [program()] + self._called(["run"], folder) + ["--out", os.fspath(out)]
            if jobs is not None:
                words += ["--jobs", str(jobs)]
            if resume:
                words.append("--resume")
            if allow_algorithm:
                words.append("--allow-algorithm")
            if not report:
                words.append("--no-report")
            # The table goes nowhere; progress is told by standard error.
            with tempfile.TemporaryFile() as table:
                process = subprocess.Popen(
                    words if on_progress else words + ["--quiet"], stdout=table, stderr=subprocess.PIPE, text=True,
                    bufsize=1, start_new_session=True)
                lines = []
                try:
                    for line in process.stderr:
                        lines.append(line.rstrip("\n"))
                        del lines[:-200]
                        if on_progress and line.strip():
                            on_progress(line.strip())
                    status = process.wait()
                except BaseException:
                    # As a terminal does: one signal, and it stops between two sessions.
                    process.send_signal(signal.SIGINT)
                    try:
                        process.wait(60)
                    except BaseException:
                        process.kill()
                        process.wait()
                    raise
        if status:
            raise problem("\n".join(lines), status)
        return open_results(out)

    def __repr__(self):
        name = self.path or (self.document or {}).get("study", "study")
        return "islet.Study(%s%s)" % (name, ", %d changes" % len(self._changes) if self._changes else "")


def _algorithm(value):
    """A class of `islet.algorithm` as a study names it: its file."""
    if isinstance(value, type):
        import inspect
        try:
            path = inspect.getsourcefile(value)
        except TypeError:
            path = None
        if not path or not os.path.isfile(path):
            raise IsletError("%s stands in no file: an algorithm is a file that ends with `ia.serve(...)`" % value.__name__)
        return {"python": os.path.abspath(path)}
    if isinstance(value, os.PathLike):
        return {"python": os.path.abspath(os.fspath(value))}
    return value


__all__ = ["Study", "InputError", "Interrupted", "IsletError"]
