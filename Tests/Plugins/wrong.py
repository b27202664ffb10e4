"""Ways to be wrong: speaks `islet-step/1` by lines without the module, and errs as its first argument says, at its tenth step."""

import json
import os
import signal
import subprocess
import sys
import time
import zlib

how = sys.argv[1]


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def ready(**other):
    said = {"protocol": "islet-step/1", "encoding": "lines", "name": "wrong", "version": 1, "basalSource": "algorithm",
            "runs": "alone", "runtime": "python", "parameters": [
                {"name": "gain", "unit": "1/h", "least": 0, "most": 5, "default": 0.3, "meaning": "none"}]}
    said.update(other)
    return said


def packed_frame(kind, rows, body, magic=b"ISL1", crc=0):
    head = magic + kind.to_bytes(4, "little") + rows.to_bytes(4, "little") + len(body).to_bytes(4, "little")
    return head + body + (zlib.crc32(head + body) ^ crc).to_bytes(4, "little")


hello = sys.stdin.buffer.readline()
if how == "import-error":
    import nothing_of_this_name  # noqa: F401
elif how == "exit-before-ready":
    sys.stderr.write("I am not ready\n")
    sys.exit(3)
elif how == "sleeps-before-ready":
    time.sleep(1000)
elif how == "other-protocol":
    say(ready(protocol="islet-step/2"))
elif how == "no-json":
    print("hello, world")
    sys.stdout.flush()
elif how == "runs-somehow":
    say(ready(runs="sometimes"))
elif how == "default-out-of-range":
    say(ready(parameters=[{"name": "gain", "unit": "", "least": 1, "most": 2, "default": 3, "meaning": ""}]))
elif how == "other-encoding":
    say(ready(encoding="morse"))
elif how == "endless-line":
    while True:
        os.write(1, b"{" + b"a" * 65536)
elif how.startswith("frame-"):
    say(ready(encoding="packed"))
else:
    say(ready())

count = 0


def wrong(step, dose):
    """The answer's line, or nothing where it has been said."""
    handle, number = step["handle"], step["step"]
    if how == "nan":
        return '{"dose":[{"handle":%d,"step":%d,"basal":null}]}' % (handle, number)
    if how == "infinity":
        return '{"dose":[{"handle":%d,"step":%d,"basal":1e999}]}' % (handle, number)
    if how == "negative":
        dose["correction"] = -1
    elif how == "huge":
        dose["meal"] = 1e9
    elif how == "other-step":
        dose["step"] += 1
    elif how == "other-handle":
        dose["handle"] = 7
    elif how == "unknown-flags":
        dose["flags"] = 64
    elif how == "negative-forecast":
        dose["forecast"] = -3
    elif how == "fail":
        return '{"fail":{"handle":%d,"step":%d,"text":"I don\'t know"}}\n{"dose":[]}' % (handle, number)
    elif how == "twice":
        return json.dumps({"dose": [dose, dose]})
    elif how == "none":
        return '{"dose":[]}'
    elif how == "two-answers":
        return json.dumps({"dose": [dose]}) + "\n" + json.dumps({"dose": [dose]})
    elif how == "unknown-key":
        dose["basall"] = 1
    elif how == "no-handle":
        del dose["handle"]
    elif how == "text-dose":
        dose["basal"] = "0.1"
    elif how == "half-json":
        return '{"dose":[{"handle":0,'
    elif how == "print":
        return "DEBUG: glucose is " + str(step.get("cgm")) + "\n" + json.dumps({"dose": [dose]})
    elif how == "deep":
        return '{"dose":' + "[" * 500
    elif how == "exit-0":
        sys.exit(0)
    elif how == "exit-3":
        sys.stderr.write("giving up\n")
        sys.exit(3)
    elif how == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "in-the-middle":
        os.write(1, b'{"dose":[{"han')
        os._exit(0)
    elif how == "closes-stdout":
        os.close(1)
        time.sleep(1000)
    elif how == "leaves-a-child":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        sys.exit(4)
    elif how == "raises":
        raise ValueError("a step that I can't do")
    elif how == "stderr":
        for _ in range(64):
            sys.stderr.write("x" * 65536 + "\n")
    elif how == "memory":
        globals()["kept"] = bytearray(400 << 20)
        kept[::4096] = b"x" * len(kept[::4096])
        time.sleep(1)
    elif how == "sleeps":
        time.sleep(1000)
    elif how == "drips":
        for byte in json.dumps({"dose": [dose]}):
            os.write(1, byte.encode())
            time.sleep(1)
    return json.dumps({"dose": [dose]})


def wrong_frame():
    rows = bytes(64)
    return {
        "frame-crc": lambda: packed_frame(4, 1, rows, crc=1),
        "frame-magic": lambda: packed_frame(4, 1, rows, magic=b"ISL2"),
        "frame-4-gib": lambda: b"ISL1" + (4).to_bytes(4, "little") + (1).to_bytes(4, "little") + b"\xff\xff\xff\xff",
        "frame-kind": lambda: packed_frame(99, 1, rows),
        "frame-rows": lambda: packed_frame(4, 3, rows * 3),
        "frame-step": lambda: packed_frame(3, 1, rows),
        "frame-text": lambda: b"glucose is 120\n",
    }[how]()


if how.startswith("frame-"):
    while True:
        os.read(0, 1 << 16)
        os.write(1, wrong_frame())
while True:
    line = sys.stdin.buffer.readline()
    if not line:
        break
    said = json.loads(line)
    if "begin" in said:
        person = said["begin"][0]
    elif "step" in said:
        step = said["step"][0]
        count += 1
        dose = {"handle": step["handle"], "step": step["step"], "basal": person["basal"] / 12}
        sys.stdout.write((wrong(step, dose) if count == 10 else json.dumps({"dose": [dose]})) + "\n")
        sys.stdout.flush()
