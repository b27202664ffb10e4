"""Shards in a bucket: a server that fails in every way has each object once, or the call says what is missing."""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import PROGRAM, ROOT, SEED, call, digest
from faults import Proxy

import islet.cluster
from islet.objects import ObjectStore, StoreError

boto3 = pytest.importorskip("boto3")
moto = pytest.importorskip("moto.server")

SHARDS = 4


@pytest.fixture(scope="module")
def server():
    os.environ.update(AWS_ACCESS_KEY_ID="AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY="a-secret-of-the-store", AWS_DEFAULT_REGION="us-east-1")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield server._server.port
    server.stop()


@pytest.fixture
def bucket(server, request):
    name = "b" + "".join(letter for letter in request.node.name.lower() if letter.isalnum())[:40]
    boto3.client("s3", endpoint_url=f"http://127.0.0.1:{server}").create_bucket(Bucket=name)
    return name


def objects(server, bucket):
    listed = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{server}").list_objects_v2(Bucket=bucket)
    return sorted(item["Key"] for item in listed.get("Contents", []))


def run_all(call_, place, workers=2):
    place.begin(call_, SHARDS)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for task in [pool.submit(islet.cluster.run_shard, call_, shard, SHARDS) for shard in place.missing(SHARDS)]:
            task.result()


def call_for(study, bucket, endpoint):
    return islet.cluster.Call(str(study), f"s3://{bucket}/a prefix", (), PROGRAM, False, (("endpoint", endpoint),))


def test_a_bucket_holds_what_a_plain_run_comes_to(study, plain, server, bucket, tmp_path):
    endpoint = f"http://127.0.0.1:{server}"
    run_all(call_for(study, bucket, endpoint), ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint))
    islet.cluster.merge(f"s3://{bucket}/a prefix", tmp_path / "whole", program=PROGRAM, arguments=["--quiet"], endpoint=endpoint)
    assert digest(tmp_path / "whole") == plain
    # The other side reads what was written, and what it writes is read.
    s3fs = pytest.importorskip("s3fs")
    files = s3fs.S3FileSystem(client_kwargs={"endpoint_url": endpoint})
    mark = json.loads(files.cat(f"{bucket}/a prefix/done/1"))
    manifest = json.loads(files.cat(f"{bucket}/a prefix/tries/1/{mark['try']}/manifest.json"))
    assert manifest["shard"] == f"1/{SHARDS}"
    with files.open(f"{bucket}/a prefix/tries/1/{mark['try']}/sessions.csv", "wb") as file:
        file.write(b"another")
    with pytest.raises(StoreError, match="sessions.csv: found SHA-256"):
        islet.cluster.fetch(f"s3://{bucket}/a prefix", tmp_path / "copy", endpoint=endpoint)
    assert not (tmp_path / "copy").exists()


def test_faults_of_every_kind_leave_each_object_once(study, plain, server, bucket, tmp_path):
    proxy = Proxy(server, SEED, share=0.15)
    try:
        waited = []
        call_ = call_for(study, bucket, proxy.url)
        for _ in range(20):
            try:
                place = ObjectStore(f"s3://{bucket}/a prefix", endpoint=proxy.url, wait=waited.append)
                run_all(call_, place)
                break
            except StoreError as error:
                assert error.status == 75, error
        assert proxy.done and place.missing(SHARDS) == []
    finally:
        proxy.close()
    direct = f"http://127.0.0.1:{server}"
    islet.cluster.merge(f"s3://{bucket}/a prefix", tmp_path / "whole", program=PROGRAM, arguments=["--quiet"], endpoint=direct)
    assert digest(tmp_path / "whole") == plain
    print(proxy.done)


def test_two_writers_leave_one_mark_and_one_try(study, server, bucket):
    endpoint = f"http://127.0.0.1:{server}"
    call_, place = call_for(study, bucket, endpoint), ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint)
    place.begin(call_, SHARDS)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        tasks = [pool.submit(islet.cluster.run_shard, call_, 1, SHARDS) for _ in range(2)]
        assert [task.result() for task in tasks] == ["done/1", "done/1"]
    marks = [name for name in objects(server, bucket) if "/done/" in name]
    tries = {name.split("/")[3] for name in objects(server, bucket) if "/tries/1/" in name}
    assert len(marks) == 1 and len(tries) == 1


def test_the_answer_of_a_put_that_was_lost_is_known_as_ones_own(server, bucket):
    place = ObjectStore(f"s3://{bucket}", endpoint=f"http://127.0.0.1:{server}")
    assert place._put("done/1", b"mine", alone=True)
    assert place._put("done/1", b"mine", alone=True)
    assert not place._put("done/1", b"another's", alone=True)
    assert place._get("done/1") == b"mine"


def test_a_clock_that_is_off_is_said_and_not_tried_for_ever(server, bucket):
    # As a server refuses requests that were signed 20 minutes ago.
    proxy, waited = Proxy(server, SEED, share=0), []
    proxy.skewed = True
    try:
        with pytest.raises(StoreError, match="this machine's clock is off") as refused:
            ObjectStore(f"s3://{bucket}", endpoint=proxy.url, wait=waited.append)._put("x", b"1")
        assert refused.value.status == 75 and not waited
    finally:
        proxy.close()


def test_a_full_disk_of_a_worker_is_75_and_marks_nothing(study, server, bucket, monkeypatch, tmp_path):
    endpoint = f"http://127.0.0.1:{server}"
    # No file of the shard's may have more than 16 KiB.
    full = tmp_path / "islet"
    full.write_text(f'#!/bin/bash\n[ "$1" = run ] && ulimit -f 16\nexec "{PROGRAM}" "$@"\n')
    full.chmod(0o755)
    call_ = call_for(study, bucket, endpoint)
    place = ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint)
    place.begin(call_, SHARDS)
    with pytest.raises(islet.cluster.ShardError) as refused:
        place.run(dataclasses.replace(call_, program=str(full)), 1, SHARDS)
    assert refused.value.status == 75 and refused.value.line, refused.value
    assert place.missing(SHARDS) == list(range(1, SHARDS + 1))
    assert place.run(call_, 1, SHARDS) == "done/1"


def test_a_wait_is_as_long_as_the_server_says(server, bucket):
    proxy, waited = Proxy(server, SEED, share=1), []
    proxy.draw = lambda: "503"
    try:
        with pytest.raises(StoreError) as refused:
            ObjectStore(f"s3://{bucket}", endpoint=proxy.url, wait=waited.append)._get("store.json")
        assert refused.value.status == 75 and len(waited) == 5 and min(waited) >= 1
        proxy.draw, proxy.expired = (lambda: None), True
        with pytest.raises(StoreError, match="expired") as refused:
            ObjectStore(f"s3://{bucket}", endpoint=proxy.url, wait=waited.append)._put("x", b"1")
        assert refused.value.status == 75
    finally:
        proxy.close()


def test_bad_input_is_one_line_without_a_secret(server, bucket, study, tmp_path, monkeypatch):
    endpoint = f"http://127.0.0.1:{server}"
    with pytest.raises(StoreError, match="found no TLS"):
        ObjectStore("s3://b/p", endpoint="http://elsewhere.example")
    ObjectStore("s3://b/p", endpoint="http://elsewhere.example", insecure=True)
    with pytest.raises(StoreError, match="expected s3://bucket"):
        ObjectStore("s3:///p")
    with pytest.raises(StoreError, match="found no bucket"):
        ObjectStore("s3://not-there/p", endpoint=endpoint)._put("x", b"1")
    words = [sys.executable, "-m", "islet.cluster", "status", f"s3://{bucket}/none", "--endpoint", endpoint]
    said = subprocess.run(words, capture_output=True, text=True, cwd=ROOT / "Python")
    assert said.returncode == 66 and said.stderr.count("\n") == 1 and "store.json" in said.stderr
    bare = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | {"AWS_EC2_METADATA_DISABLED": "true", "HOME": str(tmp_path)}
    said = subprocess.run(words, capture_output=True, text=True, cwd=ROOT / "Python", env=bare)
    assert said.returncode == 65 and "found no keys" in said.stderr, said.stderr
    table = tmp_path / "study.yaml"
    table.write_text(study.read_text().replace("{ generate: { model: uva-padova-2008, count: 40 } }", "{ table: ../people.csv }"))
    with pytest.raises(StoreError):
        ObjectStore(f"s3://{bucket}/t", endpoint=endpoint).begin(islet.cluster.Call(str(table), "", (), PROGRAM), 2)


def test_a_bucket_of_another_study_or_number_is_refused(study, server, bucket, tmp_path):
    endpoint = f"http://127.0.0.1:{server}"
    call_ = call_for(study, bucket, endpoint)
    place = ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint)
    place.begin(call_, SHARDS)
    assert place.run(call_, 1, SHARDS) == "done/1"
    with pytest.raises(StoreError, match="found a store of 4 shards, expected 5") as refused:
        place.begin(call_, 5)
    assert refused.value.status == 65
    with pytest.raises(StoreError, match="found another inputs/study.yaml") as refused:
        place.begin(dataclasses.replace(call_, set=("seed=12",)), SHARDS)
    assert refused.value.status == 65
    assert place.missing(SHARDS) == [2, 3, 4]


def test_a_table_goes_into_the_bucket_with_its_study(study, server, bucket, tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    call("cohort", "export", study, "--set", "cohort.generate.count=4", "--out", folder / "people.csv")
    text = study.read_text().replace("{ generate: { model: uva-padova-2008, count: 40 } }", "{ table: people.csv }")
    (folder / "study.yaml").write_text(text)
    call("run", folder / "study.yaml", "--quiet", "--no-report", "--out", tmp_path / "plain")
    endpoint = f"http://127.0.0.1:{server}"
    place = ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint)
    run_all(call_for(folder / "study.yaml", bucket, endpoint), place)
    # Once, whole, and nowhere else; no worker has put it again.
    table = (folder / "people.csv").read_bytes()
    assert [name for name in objects(server, bucket) if name.endswith("people.csv")] == ["a prefix/people.csv"]
    assert place._get("people.csv") == table
    # One that comes to a worker with another byte in it is asked for again.
    proxy = Proxy(server, SEED, share=0)
    try:
        through = ObjectStore(place.url, endpoint=proxy.url, wait=lambda _: None)
        proxy.turned = {"people.csv": 2}
        assert pathlib.Path(through._inputs(tmp_path / "inputs")).with_name("people.csv").read_bytes() == table
        proxy.turned = {"people.csv": 9}
        with pytest.raises(StoreError, match="people.csv: found SHA-256"):
            through._inputs(tmp_path / "inputs")
    finally:
        proxy.close()
    islet.cluster.merge(place.url, tmp_path / "whole", program=PROGRAM, arguments=["--quiet"], endpoint=endpoint)
    assert digest(tmp_path / "whole") == digest(tmp_path / "plain")
    assert (tmp_path / "whole/people.csv").read_bytes() == table
    # Another table under the same name: of whoever calls, and of the bucket.
    (folder / "people.csv").write_bytes(table.replace(b"adult#004", b"adult#005"))
    with pytest.raises(StoreError, match="found another people.csv"):
        place.begin(call_for(folder / "study.yaml", bucket, endpoint), SHARDS)
    client = boto3.client("s3", endpoint_url=endpoint)
    client.put_object(Bucket=bucket, Key="a prefix/people.csv", Body=table.replace(b"adult#004", b"adult#005"))
    with pytest.raises(StoreError, match="people.csv: found SHA-256"):
        islet.cluster.fetch(place.url, tmp_path / "copy", endpoint=endpoint)
    client.delete_object(Bucket=bucket, Key="a prefix/people.csv")
    with pytest.raises(StoreError, match="found no people.csv"):
        islet.cluster.fetch(place.url, tmp_path / "copy", endpoint=endpoint)
    assert not (tmp_path / "copy").exists()


def test_no_secret_stands_in_what_was_written(study, server, bucket):
    endpoint = f"http://127.0.0.1:{server}"
    run_all(call_for(study, bucket, endpoint), ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint))
    client = boto3.client("s3", endpoint_url=endpoint)
    for name in objects(server, bucket):
        data = client.get_object(Bucket=bucket, Key=name)["Body"].read()
        assert b"a-secret-of-the-store" not in data and b"AKIDEXAMPLE" not in data, name


def test_a_late_try_whose_keys_may_not_delete_is_done_all_the_same(study, server, bucket, monkeypatch):
    """Harm: a task that comes to nothing new is taken for one that nothing helps, and all the others are cancelled."""
    endpoint = f"http://127.0.0.1:{server}"
    call_, place = call_for(study, bucket, endpoint), ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint)
    place.begin(call_, SHARDS)
    other = ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint)
    put = place._put

    def after_another(name, data, alone=False):
        if name == "done/1":
            assert other.run(call_, 1, SHARDS) == "done/1"
        return put(name, data, alone)

    asked = []

    def refused(**words):
        asked.append(words["Key"])
        import botocore.exceptions

        raise botocore.exceptions.ClientError({"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}}, "DeleteObject")

    monkeypatch.setattr(place, "_put", after_another)
    monkeypatch.setattr(place.s3, "delete_object", refused)
    assert place.run(call_, 1, SHARDS) == "done/1" and asked
    assert place.missing(SHARDS) == [2, 3, 4]


def test_two_who_begin_with_two_numbers_are_told_before_anything_runs(study, server, bucket):
    endpoint = f"http://127.0.0.1:{server}"
    call_ = call_for(study, bucket, endpoint)
    ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint).begin(call_, SHARDS)
    second = ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint)
    assert second.shards() == SHARDS
    with pytest.raises(StoreError, match="found a store of 4 shards, expected 5") as refused:
        second.begin(call_, 5)
    assert refused.value.status == 65


def test_a_copy_that_finds_no_room_is_one_line_and_75(study, server, bucket, tmp_path, monkeypatch, capsys):
    endpoint = f"http://127.0.0.1:{server}"
    call_, place = call_for(study, bucket, endpoint), ObjectStore(f"s3://{bucket}/a prefix", endpoint=endpoint)
    place.begin(call_, SHARDS)
    place.run(call_, 1, SHARDS)

    def full(out, name, data):
        raise OSError(28, "No space left on device", os.path.join(out, name))

    monkeypatch.setattr(ObjectStore, "_write", staticmethod(full))
    words = ["fetch", f"s3://{bucket}/a prefix", "--endpoint", endpoint, "--out", str(tmp_path / "copy")]
    assert islet.cluster.main(words) == 75
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "No space left" in said
    assert not (tmp_path / "copy").exists()
