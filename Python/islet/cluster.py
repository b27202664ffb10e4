"""Many machines: the shards of a study, by Dask or by hand, into one store.

    from dask.distributed import Client
    import islet.cluster

    client = Client("scheduler:8786")              # or Client() on a laptop
    done = islet.cluster.run("study.yaml", client, store="/shared/store", shards=500)
    islet.cluster.merge(done.store, "results/whole")

A shard is done when its mark is in the store, and only then: not when a scheduler says so. So a task may run twice, workers may
die, and `run` may be called again after anything at all: it asks the store what is missing, and runs that. Tasks carry paths and
numbers, and answer with names; results never pass through the scheduler.

A store is a folder that all workers see, or `s3://bucket/prefix` (`islet.objects`, which needs boto3). With a folder the study has
to be there for all workers under its path; into a bucket it is put beside the results.

From a shell: `python3 -m islet.cluster status|fetch|merge STORE`. Exit codes are those of `islet`.
"""

import argparse
import errno
import functools
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

BAD = (64, 65, 66)  # nothing helps but another study, store or call


class ShardError(RuntimeError):
    """A shard that came to nothing. `status` is the exit code, `line` what was said."""

    def __init__(self, shard, status, line):
        super().__init__(shard, status, line)
        self.shard, self.status, self.line = shard, status, line

    def __str__(self):
        return f"shard {self.shard}: exit {self.status}: {self.line}"


@dataclass
class Done:
    """What a call of `run` came to: every shard is done."""

    store: str
    shards: int
    #: Shards that this call ran; the others were done before.
    ran: list = field(default_factory=list)
    #: How often a task was lost with its worker and given out again.
    resubmitted: int = 0


def run(study, client, *, store, shards=None, minutes=1.0, set=(), program="islet", allow_algorithm=False, rounds=5, **options):
    """Runs the shards that the store lacks on the client's workers; returns when all are done.

    `shards` is the store's number, or what `islet plan` says for `minutes` each. `options` go to the object store. Raises `ShardError`
    for the first shard that nothing helps (the others are cancelled), or that failed `rounds` times; `ConnectionError` where the
    scheduler is gone: another call runs what is missing then.
    """
    # Here, so that whoever only looks at a store needs no Dask.
    from distributed.scheduler import KilledWorker

    # A worker may stand in another folder.
    study, store = os.path.abspath(study), os.fspath(store)
    store = store if store.startswith("s3://") else os.path.abspath(store)
    call = Call(study, store, tuple(set), program, allow_algorithm, tuple(sorted(options.items())))
    place = call.open()
    count = shards or place.shards() or planned_shards(call, minutes)
    place.begin(call, count)
    missing, done, failures, unseen = place.missing(count), Done(store, count), {}, {}
    while missing:
        # Not pure: a task that is asked for again is another one, whatever became of the first.
        tasks = {client.submit(run_shard, call, shard, count, pure=False, retries=rounds): shard for shard in missing}
        try:
            for task in _completed(client, tasks):
                shard, error = tasks[task], task.exception()
                if error is None:
                    done.ran.append(shard)
                elif isinstance(error, KilledWorker):
                    done.resubmitted += 1
                elif getattr(error, "status", None) in BAD:
                    raise error
                failures[shard] = failures.get(shard, 0) + (error is not None)
                if failures[shard] >= rounds:
                    raise error
        finally:
            client.cancel(list(tasks))
        before, missing = frozenset(missing), place.missing(count)
        # Done, a worker says, and not here.
        for shard in before.intersection(missing):
            unseen[shard] = unseen.get(shard, 0) + 1
            if unseen[shard] >= rounds:
                raise ShardError(shard, 70, "done by a worker, and not in the store %s here: do all see one folder under that path?" % store)
    return done


def _completed(client, tasks):
    """The tasks as they are finished. Dask's own waits for ever for a task that was on its way to a scheduler when that died."""
    from distributed import as_completed

    waiting = as_completed(tasks)
    while not waiting.is_empty():
        if waiting.has_ready():
            task = next(waiting)
            if task.cancelled():
                raise ConnectionError("the scheduler is gone, or somebody has cancelled the shards: call run again, which runs what is missing")
            yield task
        elif client.status == "closed":
            raise ConnectionError("the scheduler is gone: call run again, which runs what is missing")
        else:
            time.sleep(0.005)


@dataclass(frozen=True)
class Call:
    """What a shard's task has to know: where, not what."""

    study: str
    store: str
    set: tuple = ()
    program: str = "islet"
    allow_algorithm: bool = False
    options: tuple = ()

    def words(self, study=None):
        # What stands in a bucket has its changes in it.
        words = [self.program, "run", study or self.study]
        for value in () if study else self.set:
            words += ["--set", value]
        return words + (["--allow-algorithm"] if self.allow_algorithm else [])

    def open(self):
        if self.store.startswith("s3://"):
            from .objects import ObjectStore

            return ObjectStore(self.store, **dict(self.options))
        return Folder(self.store, self.program)


def run_shard(call, shard, shards):
    """One shard, on a worker. Returns its name, nothing of what it holds."""
    return call.open().run(call, shard, shards)


class Folder:
    """A store that is a folder. All is the program's: this only calls it."""

    def __init__(self, path, program="islet"):
        self.path, self.program = path, program

    def exists(self):
        return os.path.isfile(os.path.join(self.path, "store.json"))

    def shards(self):
        return store_facts(os.path.join(self.path, "store.json"))["shards"] if self.exists() else None

    def begin(self, call, shards):
        """Refuses a store of another study, seed or number of shards: what is done there is no result of this call."""
        if not self.exists():
            return
        if self.shards() != shards:
            raise ShardError("store", 65, "%s: found a store of %d shards, expected one of %d" % (self.path, self.shards(), shards))
        # The program says of a shard that is done that it is, once it has checked whose it is.
        for shard in sorted(set(range(1, shards + 1)) - set(self.missing(shards)))[:1]:
            self.run(call, shard, shards)

    def missing(self, shards):
        if not self.exists():
            return list(range(1, shards + 1))
        # Also those that somebody is at who may be lost: two tries do no harm.
        done = {int(name) for name in os.listdir(os.path.join(self.path, "done")) if name.isdigit()}
        return [shard for shard in range(1, shards + 1) if shard not in done]

    def run(self, call, shard, shards):
        said = islet(call.words() + ["--shard", f"{shard}/{shards}", "--into", self.path, "--jobs", "1", "--quiet"])
        if said.returncode:
            raise ShardError(shard, said.returncode, last_line(said.stderr))
        return f"done/{shard}"


def store_facts(path):
    import json

    with open(path, encoding="utf-8") as file:
        return json.load(file)


def planned_shards(call, minutes):
    said = islet([*call.words(), "--minutes", str(minutes)], command="plan")
    found = re.search(r"^shards +(\d+)", said.stdout, re.MULTILINE)
    if said.returncode or not found:
        raise ShardError("plan", said.returncode, last_line(said.stderr))
    return int(found[1])


def islet(words, command=None):
    """Calls the program, which ends with whoever called it."""
    if command:
        words = [words[0], command, *words[2:]]
    return subprocess.run([*_with_parent(), *words], capture_output=True, text=True, errors="replace")


@functools.cache
def _with_parent():
    """Words before a program's own, so that a worker that is killed takes its shard with it in place of leaving it to nobody.

    Not a `preexec_fn`: between fork and exec Python code may wait for ever for a lock that another thread of the worker held. Where
    util-linux has no such option the shard runs to its end, which does no harm.
    """
    words = ["setpriv", "--pdeathsig", "TERM"]
    try:
        return words if subprocess.run([*words, "true"], capture_output=True).returncode == 0 else []
    except OSError:
        return []


def last_line(text):
    lines = [line for line in text.strip().splitlines() if not line.startswith("{")]
    return lines[-1] if lines else "nothing was said"


def fetch(store, out, **options):
    """Copies a bucket's store into a folder, every file checked; returns the folder."""
    from .objects import ObjectStore

    return ObjectStore(store, **options).fetch(out)


def merge(store, out, *, program="islet", arguments=(), **options):
    """Joins a store's shards into a results folder. Raises `ShardError` where some are missing or odd."""
    if store.startswith("s3://"):
        with tempfile.TemporaryDirectory(prefix="islet-store-") as folder:
            return merge(fetch(store, os.path.join(folder, "store"), **options), out, program=program, arguments=arguments)
    said = islet([program, "merge", store, "--out", os.fspath(out), *arguments])
    if said.returncode:
        raise ShardError("merge", said.returncode, last_line(said.stderr))
    return said.stdout


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m islet.cluster", description="Stores of shards, in a bucket or a folder.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("status", "which shards a bucket's store has"), ("fetch", "copy it into a folder"), ("merge", "join its shards")):
        command = commands.add_parser(name, help=text)
        command.add_argument("store", help="s3://bucket/prefix, or for merge a folder too")
        command.add_argument("--endpoint", help="another server than Amazon's")
        command.add_argument("--insecure", action="store_true", help="also without TLS to another machine")
        if name != "status":
            command.add_argument("--out", required=True)
        if name == "merge":
            command.add_argument("--program", default="islet")
        if name == "status":
            command.add_argument("--missing", action="store_true", help="the missing indices, one a line")
    given = parser.parse_args(arguments)
    options = {"endpoint": given.endpoint, "insecure": given.insecure} if given.store.startswith("s3://") else {}
    from .objects import StoreError

    try:
        if given.command == "merge":
            print(merge(given.store, given.out, program=given.program, **options), end="")
        elif not options:
            parser.error("a folder's status is `islet status`")
        elif given.command == "fetch":
            print(fetch(given.store, given.out, **options))
        else:
            from .objects import ObjectStore

            place = ObjectStore(given.store, **options)
            count = place.shards()
            if count is None:
                raise StoreError(66, f"{given.store}: found no store.json, expected a store of shards")
            missing = place.missing(count)
            print("\n".join(map(str, missing)) if given.missing else f"done {count - len(missing)} of {count}", end="\n" if missing or not given.missing else "")
    except (ShardError, StoreError) as error:
        print(error.line, file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"{error.filename or given.store}: cannot write: {error.strerror}", file=sys.stderr)
        return 75 if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE) else 73
    return 0


if __name__ == "__main__":
    sys.exit(main())
