"""Shards on Dask: workers, children and the scheduler die, and the results are the plain run's."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import PROGRAM, SEED, call, digest

import islet.cluster

distributed = pytest.importorskip("distributed")


@pytest.fixture
def client():
    # A worker may die as often as it likes: that is what is tried here.
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": 10}):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                yield client


def merged(store, tmp_path, plain):
    assert call("status", store, "--check").splitlines()[1] == "done       40 of 40"
    islet.cluster.merge(str(store), tmp_path / "whole", program=PROGRAM, arguments=["--quiet"])
    assert digest(tmp_path / "whole") == plain


def test_runs_what_is_missing_and_nothing_else(study, plain, client, tmp_path):
    store = tmp_path / "a store"
    call("run", study, "--shard", "3/40", "--into", store, "--quiet")
    done = islet.cluster.run(study, client, store=store, shards=40, program=PROGRAM)
    assert sorted(done.ran) == [shard for shard in range(1, 41) if shard != 3]
    merged(store, tmp_path, plain)
    # The store knows its number of shards, and that there is nothing to do.
    again = islet.cluster.run(study, client, store=store, program=PROGRAM)
    assert again.ran == [] and again.shards == 40


def test_workers_and_children_are_killed_at_drawn_moments(study, plain, client, tmp_path):
    moments, store, killed, over = random.Random(SEED), tmp_path / "store", [], threading.Event()

    def kill():
        for what in ("worker", "child", "worker"):
            time.sleep(moments.uniform(0.2, 1.5))
            if over.is_set():
                return
            try:
                if what == "worker":
                    pids = list(client.run(os.getpid).values())
                else:
                    pids = [pid for pid in _children_of_workers(client) if pid]
                if pids:
                    os.kill(moments.choice(pids), signal.SIGKILL)
                    killed.append(what)
            except (OSError, ProcessLookupError, distributed.comm.CommClosedError):
                pass

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        done = islet.cluster.run(study, client, store=store, shards=40, program=PROGRAM)
    finally:
        over.set()
        thread.join()
    assert killed and done.shards == 40
    merged(store, tmp_path, plain)
    # What was cut off has a name and nothing more, and goes away; what may still be at work is named, and left alone.
    call("status", store, "--tidy")
    said = call("status", store)
    assert "left over" not in said
    marks = {json.loads((store / "done" / str(shard)).read_text())["try"] for shard in range(1, 41)}
    others = {f"tries/{shard}/{name}" for shard in range(1, 41) for name in os.listdir(store / "tries" / str(shard)) if name not in marks}
    assert len(marks) == 40 and all(other in said for other in others), (others, said)


def _children_of_workers(client):
    def children():
        me = os.getpid()
        found = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and int(open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()[1]) == me:
                    if "islet" in open(f"/proc/{name}/cmdline").read().split("\0")[0]:
                        found.append(int(name))
            except OSError:
                continue
        return found

    return [pid for pids in client.run(children).values() for pid in pids]


def test_a_scheduler_that_dies_costs_what_was_under_way(study, plain, tmp_path):
    store, moments = tmp_path / "store", random.Random(SEED + 1)
    for is_killed in (True, False):
        file = tmp_path / f"scheduler-{is_killed}.json"
        scheduler = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file], stderr=subprocess.DEVNULL)
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", file, "--nthreads", "2", "--no-dashboard", "--death-timeout", "20", "--local-directory", tmp_path],
            stderr=subprocess.DEVNULL)
        try:
            with distributed.Client(scheduler_file=str(file), timeout=60) as client:
                client.wait_for_workers(1, timeout=60)
                if is_killed:
                    threading.Timer(moments.uniform(0.5, 2), scheduler.kill).start()
                    with pytest.raises(ConnectionError, match="call run again"):
                        islet.cluster.run(study, client, store=store, shards=40, program=PROGRAM)
                        raise RuntimeError("the scheduler was killed after the last shard")
                else:
                    islet.cluster.run(study, client, store=store, program=PROGRAM)
        finally:
            for process in (worker, scheduler):
                process.kill()
                process.wait()
    merged(store, tmp_path, plain)


def test_what_nothing_helps_ends_the_call_with_the_programs_line(study, client, tmp_path):
    store = tmp_path / "store"
    call("run", study, "--shard", "1/2", "--into", store, "--quiet")
    with pytest.raises(islet.cluster.ShardError, match="a store of 2 shards"):
        islet.cluster.run(study, client, store=store, shards=3, program=PROGRAM)
    # What is done there is of another study: no result of this call.
    call("run", study, "--shard", "2/2", "--into", store, "--quiet")
    for change in ("seed=12", "duration=2d"):
        with pytest.raises(islet.cluster.ShardError, match="another study|seed|study"):
            islet.cluster.run(study, client, store=store, set=(change,), program=PROGRAM)
    assert islet.cluster.run(study, client, store=store, program=PROGRAM).ran == []
    bad = tmp_path / "bad.yaml"
    bad.write_text("study: x\n")
    with pytest.raises(islet.cluster.ShardError, match="bad.yaml"):
        islet.cluster.run(bad, client, store=tmp_path / "other", shards=2, program=PROGRAM)


def test_shards_that_workers_have_done_elsewhere_end_the_call(study, client, tmp_path, monkeypatch):
    # As where a path is another disk on each machine.
    monkeypatch.setattr(islet.cluster.Folder, "missing", lambda self, shards: [1])
    with pytest.raises(islet.cluster.ShardError, match="do all see one folder"):
        islet.cluster.run(study, client, store=tmp_path / "store", shards=2, rounds=2, program=PROGRAM)


def test_dask_costs_milliseconds_a_shard(client):
    """How much is measured and told; the bar is loose, since a test's machine may be busy."""
    began = time.monotonic()
    for task in distributed.as_completed([client.submit(abs, shard, pure=False) for shard in range(200)]):
        task.result()
    each = (time.monotonic() - began) / 200
    print(f"{1e3 * each:.1f} ms a task")
    assert each < 0.2
