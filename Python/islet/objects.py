"""A store of shards in a bucket (Amazon's S3, or a server that speaks it), by boto3.

What holds: a shard is done when `done/I` is there. That object is put on the condition that there is none (`If-None-Match: *`), after
every file of the try was put with its SHA-256 and the server has said the same SHA-256 and length back. A put whose answer is lost is
asked for again, and where the mark is there by then, it is compared: it is ours, or another's who was first. What a server answers for a
while (500, 503, a cut connection) is tried again, after as long as it says; in the end it is `StoreError` 75, and nothing is marked.

Keys come from where the vendor's own tools read them (environment, profile, instance); nothing here reads, writes or says one.
"""

import base64
import contextlib
import hashlib
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from urllib.parse import urlsplit

TRIES = 6
LONGEST_WAIT = 60.0
# The table that people are rows of, once for all shards, as a store that is a folder has it.
TABLE = "people.csv"
TABLE_SHA256 = "inputs/people.csv.sha256"
# How many shards the store has, from its beginning on; store.json has it too, once a shard is done.
SHARDS = "inputs/shards"


class StoreError(RuntimeError):
    """What a store said. `status` as the program's exit codes: 75 may pass by itself."""

    def __init__(self, status, line):
        super().__init__(status, line)
        self.status, self.line = status, line

    def __str__(self):
        return self.line


class ObjectStore:
    def __init__(self, url, endpoint=None, insecure=False, wait=time.sleep):
        parts = urlsplit(url)
        if parts.scheme != "s3" or not parts.netloc:
            raise StoreError(64, f"{url}: expected s3://bucket/prefix")
        self.url, self.bucket, self.prefix, self.wait = url, parts.netloc, parts.path.strip("/"), wait
        endpoint = endpoint or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if endpoint:
            host = urlsplit(endpoint)
            if host.scheme != "https" and host.hostname not in ("localhost", "127.0.0.1", "::1") and not insecure:
                raise StoreError(65, f"{endpoint}: found no TLS to another machine, expected https (or insecure)")
        try:
            import boto3
            import botocore.config
        except ImportError:
            raise StoreError(66, "boto3 is missing: pip install 'islet[objects]'") from None
        # Asking again is done here, where it is known what may be asked twice.
        config = botocore.config.Config(
            retries={"total_max_attempts": 1}, connect_timeout=10, read_timeout=60, request_checksum_calculation="when_required",
            response_checksum_validation="when_required", s3={"addressing_style": "path" if endpoint else "auto"})
        self.s3 = boto3.client("s3", endpoint_url=endpoint, config=config)

    # Asking

    def _key(self, name):
        return f"{self.prefix}/{name}" if self.prefix else name

    def _ask(self, action, name, body):
        """Calls `body` until it answers. What nothing helps is said at once."""
        import botocore.exceptions as refused

        said = ""
        for attempt in range(TRIES):
            if attempt:
                self.wait(min(LONGEST_WAIT, max(after, random.uniform(0.1, 0.2) * 2**attempt)))
            after = 0.0
            try:
                return body()
            except refused.ClientError as error:
                answer = error.response.get("ResponseMetadata", {})
                code, status = error.response.get("Error", {}).get("Code", ""), answer.get("HTTPStatusCode", 0)
                said = f"{status} {code}"
                headers = answer.get("HTTPHeaders", {})
                after = float(headers["retry-after"]) if headers.get("retry-after", "").isdigit() else 0.0
                if code in ("NoSuchBucket", "NoSuchKey", "404", "PreconditionFailed", "ConditionalRequestConflict") or status in (404, 412):
                    raise
                if code == "RequestTimeTooSkewed":
                    raise StoreError(75, f"{self.url}: this machine's clock is off by more than the server takes ({said})") from None
                if code in ("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"):
                    raise StoreError(75, f"{self.url}: the keys have expired; {action} {name} was not done") from None
                if status < 500 and code not in ("SlowDown", "RequestTimeout", "BadDigest", "IncompleteBody"):
                    raise StoreError(65, f"{self.url}: cannot {action} {name}: {said}") from None
            except (refused.NoCredentialsError, refused.PartialCredentialsError):
                raise StoreError(65, f"{self.url}: found no keys, expected them where the vendor's tools read them (AWS_ACCESS_KEY_ID)") from None
            except (refused.HTTPClientError, refused.ResponseStreamingError, refused.IncompleteReadError, OSError, Damaged) as error:
                said = type(error).__name__
            except refused.BotoCoreError as error:
                raise StoreError(65, f"{self.url}: cannot {action} {name}: {type(error).__name__}") from None
        raise StoreError(75, f"{self.url}: cannot {action} {name}: {said}, {TRIES} times")

    def _get(self, name):
        """The bytes of an object, None where there is none."""
        def body():
            answer = self.s3.get_object(Bucket=self.bucket, Key=self._key(name))
            data = answer["Body"].read()
            if len(data) != answer["ContentLength"]:
                raise Damaged
            return data

        return self._absent_is_none(lambda: self._ask("get", name, body))

    def _absent_is_none(self, body):
        import botocore.exceptions as refused

        try:
            return body()
        except refused.ClientError as error:
            if error.response.get("Error", {}).get("Code") == "NoSuchBucket":
                raise StoreError(66, f"{self.url}: found no bucket {self.bucket}") from None
            return None

    def _put(self, name, data, alone=False):
        """Puts an object, and has the server say it back. With `alone` only where there is none: returns whether it is this one."""
        import botocore.exceptions as refused

        key, digest = self._key(name), base64.b64encode(hashlib.sha256(data).digest()).decode()
        condition = {"IfNoneMatch": "*"} if alone else {}

        def put():
            try:
                self.s3.put_object(Bucket=self.bucket, Key=key, Body=data, ChecksumSHA256=digest, **condition)
            except refused.ClientError as error:
                code = error.response.get("Error", {}).get("Code")
                status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
                # An answer whose body was cut off has its status alone.
                if alone and (code in ("PreconditionFailed", "ConditionalRequestConflict") or status == 412):
                    # An answer that was lost says so of our own put, too. A conflict is another's that isn't there yet.
                    there = self._get(name)
                    if there is None:
                        raise Damaged from None
                    return there == data
                if code == "NoSuchBucket":
                    raise StoreError(66, f"{self.url}: found no bucket {self.bucket}") from None
                raise
            return True

        def check():
            head = self.s3.head_object(Bucket=self.bucket, Key=key, ChecksumMode="ENABLED")
            # A server that keeps no checksums is read back.
            same = head["ChecksumSHA256"] == digest if "ChecksumSHA256" in head else self._get(name) == data
            if head["ContentLength"] != len(data) or not same:
                raise Damaged

        if not self._ask("put", name, put):
            return False
        if not alone:
            try:
                self._ask("check", name, check)
            except refused.ClientError:
                raise StoreError(75, f"{self.url}: {name} is not there after it was put") from None
        return True

    def _names(self, folder):
        """The names under a folder, all pages of them."""
        start, token, found = self._key(folder) + "/", None, []
        while True:
            page = {"ContinuationToken": token} if token else {}
            answer = self._absent_is_none(lambda: self._ask(
                "list", folder, lambda: self.s3.list_objects_v2(Bucket=self.bucket, Prefix=start, **page)))
            found += [item["Key"][len(start):] for item in answer.get("Contents", [])]
            token = answer.get("NextContinuationToken")
            if not token:
                return found

    # What a store can do

    def shards(self):
        """How many the store has; None where nobody has begun one."""
        facts = self._get("store.json")
        if facts:
            return json.loads(facts)["shards"]
        begun = self._get(SHARDS)
        return int(begun) if begun else None

    def begin(self, call, shards):
        """Puts study and table beside the results, so that workers need no file of anybody's."""
        said = _islet([call.program, "study", "check", call.study, "--resolved", *(word for value in call.set for word in ("--set", value))])
        # After the study stand two lines that say how large it is.
        resolved = "".join(said.splitlines(keepends=True)[:-2])
        table = _table(resolved)
        folder = os.path.dirname(os.path.abspath(call.study))
        if table and (os.path.isabs(table) or ".." in table.split("/")):
            raise StoreError(65, f"{call.study}: found the table {table}, expected one beside the study: it is put into the bucket with it")
        inputs = {"inputs/study.yaml": resolved.encode()}
        if table:
            inputs[TABLE] = _read(os.path.join(folder, table))
            inputs[TABLE_SHA256] = hashlib.sha256(inputs[TABLE]).hexdigest().encode()
        for name, data in inputs.items():
            self._put_once(name, data, f"{call.study}'s")
        # The number, too, before any shard is computed: of two who begin at once with two numbers one is told so here.
        there = self.shards()
        if there is None and not self._put(SHARDS, str(shards).encode(), alone=True):
            there = self.shards()
        if there not in (None, shards):
            raise StoreError(65, f"{self.url}: found a store of {there} shards, expected {shards}")

    def missing(self, shards):
        done = {int(name) for name in self._names("done") if name.isdigit()}
        return [shard for shard in range(1, shards + 1) if shard not in done]

    def run(self, call, shard, shards):
        """Runs a shard into a folder of this machine's own, puts its files, then its mark."""
        import botocore.exceptions

        from .cluster import ShardError, islet, last_line

        if self._get(f"done/{shard}") is not None:
            return f"done/{shard}"
        with tempfile.TemporaryDirectory(prefix="islet-objects-") as folder:
            study = self._inputs(folder)
            local = os.path.join(folder, "store")
            said = islet([*call.words(study), "--shard", f"{shard}/{shards}", "--into", local, "--scratch", folder, "--jobs", "1", "--quiet"])
            if said.returncode:
                raise ShardError(shard, said.returncode, last_line(said.stderr))
            for name in ("study.yaml", "store.json"):
                self._put_once(name, _read(os.path.join(local, name)), f"that of {call.study} in {shards} shards")
            mark = _read(os.path.join(local, "done", str(shard)))
            attempt = f"tries/{shard}/{json.loads(mark)['try']}"
            files = sorted(os.listdir(os.path.join(local, attempt)))
            for name in files:
                self._put(f"{attempt}/{name}", _read(os.path.join(local, attempt, name)))
            if not self._put(f"done/{shard}", mark, alone=True):
                # Another try was first: this one's files are nobody's. The shard is done, whether or not these keys may delete.
                with contextlib.suppress(StoreError, botocore.exceptions.ClientError):
                    for name in files:
                        self._ask("delete", name, lambda name=name: self.s3.delete_object(Bucket=self.bucket, Key=self._key(f"{attempt}/{name}")))
        return f"done/{shard}"

    def _put_once(self, name, data, whose):
        """Puts what all shards share, unless it is there."""
        if not self._put(name, data, alone=True):
            raise StoreError(65, f"{self.url}: found another {name} there, expected {whose}")

    def _inputs(self, folder):
        """The study, and the table that it names, as files of this machine; returns the study's path."""
        study = self._need("inputs/study.yaml")
        self._write(folder, "inputs/study.yaml", study)
        table = _table(study.decode())
        if table:
            self._write(folder, f"inputs/{table}", self._need(TABLE, self._need(TABLE_SHA256).decode()))
        return os.path.join(folder, "inputs", "study.yaml")

    def fetch(self, out):
        """The store as a folder that `islet status` and `islet merge` take. Every file is compared with its manifest."""
        if os.path.exists(out) and os.listdir(out):
            raise StoreError(73, f"{out}: the directory is not empty; give another")
        if self._get("store.json") is None:
            raise StoreError(66, f"{self.url}: found no store.json, expected a store of shards")
        try:
            for folder in ("tries", "underway", "done"):
                os.makedirs(os.path.join(out, folder), exist_ok=True)
            for shard in sorted((name for name in self._names("done") if name.isdigit()), key=int):
                mark = self._get(f"done/{shard}")
                facts = json.loads(mark)
                attempt = f"tries/{shard}/{facts['try']}"
                manifest = self._need(f"{attempt}/manifest.json", facts["manifest_sha256"])
                self._write(out, f"{attempt}/manifest.json", manifest)
                for name, digest in json.loads(manifest)["files"].items():
                    self._write(out, f"{attempt}/{name}", self._need(f"{attempt}/{name}", digest.removeprefix("sha256:")))
                self._write(out, f"done/{shard}", mark)
            facts = self._need("store.json")
            digest = json.loads(facts)["table_sha256"]
            if digest:
                self._write(out, TABLE, self._need(TABLE, digest))
            self._write(out, "study.yaml", self._need("study.yaml"))
            self._write(out, "store.json", facts)
        except BaseException:
            shutil.rmtree(out, ignore_errors=True)
            raise
        return out

    def _need(self, name, digest=None):
        """The bytes of an object that has to be there, with this SHA-256 where one is known."""
        for _ in range(3):
            data = self._get(name)
            if data is None:
                raise StoreError(65, f"{self.url}: found no {name}, which was put there before")
            found = hashlib.sha256(data).hexdigest()
            if digest in (None, found):
                return data
        raise StoreError(65, f"{self.url}: {name}: found SHA-256 {found}, expected {digest}")

    @staticmethod
    def _write(out, name, data):
        path = os.path.join(out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)


class Damaged(Exception):
    """What came isn't what was said."""


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise StoreError(66, f"{path}: found {error.strerror}, expected a readable file") from None


def _islet(words):
    said = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if said.returncode:
        from .cluster import last_line

        raise StoreError(said.returncode, last_line(said.stderr))
    return said.stdout


def _table(resolved):
    """The path of the cohort's table in a resolved study, None where people are drawn."""
    import re

    found = re.search(r"^ {2}\"?table\"?: *(.+)$", resolved, re.MULTILINE)
    if not found:
        return None
    text = found[1].strip().rstrip(",")
    return json.loads(text) if text.startswith('"') else text.strip("'")
