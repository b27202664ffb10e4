"""What `islet plan --for` writes, read by the programs that it is for. Slurm's runs in a real controller: Tests/Tools/slurm_checks.sh."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import PROGRAM, call, digest

SHARDS = 5
# As people name folders.
NAME = "a 'study' {1} $x & more"


@pytest.fixture
def place(study, tmp_path):
    folder = tmp_path / NAME
    folder.mkdir()
    shutil.copy(study, folder / "study.yaml")
    return folder


def script(place, scheduler, shards=SHARDS, *more):
    text = call("plan", place / "study.yaml", "--shards", shards, "--for", scheduler, "--store", place / "store", *more)
    assert len(text.splitlines()) <= 40
    return text


def on_path():
    """An environment in which the program is `islet`, as on a node."""
    return os.environ | {"PATH": os.pathsep.join([str(pathlib.Path(PROGRAM).resolve().parent), os.environ["PATH"]])}


def words(place, shard, shards=SHARDS):
    return ["run", str(place / "study.yaml"), "--shard", f"{shard}/{shards}", "--into", str(place / "store"), "--jobs", "1", "--quiet"]


def test_kubernetes_takes_the_job_by_its_own_schema(place, plain):
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    import yaml

    job = yaml.safe_load(script(place, "kubernetes"))
    # From the version on that docs/clusters.md names, and the newest that is known; no field that these don't have.
    for version in ("1.33", kubernetes_validate.latest_version()):
        kubernetes_validate.validate(job, version, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job | {"spec": job["spec"] | {"backoffLimitPerIndx": 3}}, "1.33", strict=True)
    # What a container of each index does.
    container = job["spec"]["template"]["spec"]["containers"][0]
    assert job["spec"]["completions"] == SHARDS and job["spec"]["completionMode"] == "Indexed"
    for index in range(SHARDS):
        said = subprocess.run(container["command"], env=on_path() | {"JOB_COMPLETION_INDEX": str(index)}, capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
    assert call("status", place / "store", "--check").splitlines()[1] == f"done       {SHARDS} of {SHARDS}"
    call("merge", place / "store", "--quiet", "--out", place / "whole")
    assert digest(place / "whole") == plain


def split(arguments):
    """The words of a job's `Arguments`: apart by spaces, but for what single quotes enclose, in which two are one."""
    found, word = [], None
    for quoted, plain, space in re.findall(r"'((?:[^']|'')*)'|([^' ]+)|( +)", arguments):
        if space:
            found, word = found + [word], None
        else:
            word = (word or "") + (plain or quoted.replace("''", "'"))
    return found + [word]


def test_condor_makes_the_jobs_that_are_meant(place):
    os.environ.setdefault("CONDOR_CONFIG", "ONLY_ENV")
    htcondor = pytest.importorskip("htcondor")
    import classad

    text = script(place, "condor")
    jobs = list(htcondor.Submit(text).jobs(clusterid=3))
    assert len(jobs) == SHARDS
    for shard, job in enumerate(jobs, 1):
        assert split(job["Arguments"]) == words(place, shard)
        assert job["Out"] == f"islet-3-{shard}.out" and job["ShouldTransferFiles"] == "NO" and not job["TransferExecutable"]
        assert job["RequestMemory"] == 500 and job["RequestCpus"] == 1
    # What leaves the queue: all but what may pass by itself, which is begun three times at most.
    for ended, stays in (
        ({"ExitBySignal": False, "ExitCode": 0, "NumJobStarts": 1}, False), ({"ExitBySignal": False, "ExitCode": 65, "NumJobStarts": 1}, False),
        ({"ExitBySignal": False, "ExitCode": 75, "NumJobStarts": 2}, True), ({"ExitBySignal": True, "ExitSignal": 9, "NumJobStarts": 1}, True),
        ({"ExitBySignal": False, "ExitCode": 75, "NumJobStarts": 3}, False),
    ):
        job = classad.ClassAd(dict(ended, OnExitRemove=jobs[0]["OnExitRemove"]))
        assert job.eval("OnExitRemove") is not stays, ended


def test_snakemake_runs_it_goes_on_and_then_has_nothing_to_do(place, plain, tmp_path):
    snakemake = shutil.which("snakemake", path=os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]))
    if snakemake is None:
        pytest.skip("no snakemake")
    file = tmp_path / "Snakefile"
    file.write_text(script(place, "snakemake"))

    def made(*more):
        said = subprocess.run([snakemake, "--snakefile", file, "--cores", "2", *more], cwd=tmp_path, env=on_path(), capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        return said.stderr + said.stdout

    call("run", place / "study.yaml", "--shard", f"2/{SHARDS}", "--into", place / "store", "--quiet")
    made()
    assert call("status", place / "store", "--check").splitlines()[1] == f"done       {SHARDS} of {SHARDS}"
    call("merge", place / "store", "--quiet", "--out", place / "whole")
    assert digest(place / "whole") == plain
    assert "Nothing to be done" in made()


def test_slurms_script_is_one_that_bash_and_its_options_take(place, plain, tmp_path):
    path = tmp_path / "run.sbatch"
    path.write_text(script(place, "slurm"))
    assert "#SBATCH --array=1-5\n" in path.read_text()
    requeued = tmp_path / "bin"
    requeued.mkdir()
    (requeued / "scontrol").write_text(f'#!/bin/sh\necho "$@" >>"{tmp_path}/requeued"\n')
    (requeued / "scontrol").chmod(0o755)
    env = on_path() | {"SLURM_ARRAY_JOB_ID": "7"}
    env["PATH"] = f"{requeued}:{env['PATH']}"

    def task(index, **more):
        return subprocess.run(["bash", path], cwd=tmp_path, env=env | {"SLURM_ARRAY_TASK_ID": str(index)} | more, capture_output=True, text=True)

    for index in range(1, SHARDS + 1):
        said = task(index)
        assert said.returncode == 0, said.stderr
    call("merge", place / "store", "--quiet", "--out", place / "whole")
    assert digest(place / "whole") == plain
    # 75 is put back, twice at most: here no file may have more than 16 KiB.
    os.unlink(place / "store/done/1")
    path.write_text("ulimit -f 16\n" + path.read_text())
    assert task(1).returncode == 75 and (tmp_path / "requeued").read_text() == "requeue 7_1\n"
    assert task(1, SLURM_RESTART_COUNT="2").returncode == 75 and (tmp_path / "requeued").read_text() == "requeue 7_1\n"


def test_more_shards_than_slurms_arrays_have_go_by_turns(study, tmp_path):
    text = call("plan", study, "--set", "cohort.generate.count=2500", "--shards", "2500", "--for", "slurm", "--store", tmp_path / "store")
    assert "#SBATCH --array=1-1000\n" in text
    path = tmp_path / "run.sbatch"
    path.write_text(text)
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "islet").write_text(f'#!/bin/sh\nwhile [ "$1" != --shard ]; do shift; done\necho "$2" >>"{tmp_path}/ran"\n')
    (fake / "islet").chmod(0o755)
    for index in (1, 500, 501, 1000):
        env = os.environ | {"SLURM_ARRAY_TASK_ID": str(index), "PATH": f"{fake}:{os.environ['PATH']}"}
        assert subprocess.run(["bash", path], env=env).returncode == 0
    ran = [int(line.split("/")[0]) for line in (tmp_path / "ran").read_text().split()]
    assert ran == [1, 1001, 2001, 500, 1500, 2500, 501, 1501, 1000, 2000]
