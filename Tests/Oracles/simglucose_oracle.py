"""simglucose's BBController through Islet's adapter against simglucose itself: one person, one day, ideal readings, equal insulin.

simglucose simulates the day with its own controller; the readings and meals that it saw are then told to the adapter, by frames as
docs/algorithms.md has them, and what it answers is held against what simglucose's controller did. Needs `pip install simglucose`.

    python3 Tests/Oracles/simglucose_oracle.py --python Python
"""

import argparse
import datetime
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

ADAPTER = """
import islet.algorithm as ia
from simglucose.controller.basal_bolus_ctrller import BBController
ia.serve(ia.from_simglucose(lambda person: BBController(), name="bb", announces_meals=True))
"""


def day_of_simglucose(name):
    """(reading mg/dL, meal g/min, basal U/min, bolus U/min) of each five minutes."""
    from simglucose.actuator.pump import InsulinPump
    from simglucose.controller.basal_bolus_ctrller import BBController
    from simglucose.patient.t1dpatient import T1DPatient
    from simglucose.sensor.cgm import CGMSensor
    from simglucose.simulation.env import Observation, T1DSimEnv
    from simglucose.simulation.scenario import CustomScenario

    start = datetime.datetime(2026, 3, 2)
    sensor = CGMSensor.withName("GuardianRT", seed=1)
    sensor._noise_generator = iter(lambda: 0.0, None)
    env = T1DSimEnv(
        T1DPatient.withName(name), sensor, InsulinPump.withName("Insulet"),
        CustomScenario(start_time=start, scenario=[(7, 45), (12, 70), (16, 15), (18, 80), (23, 10)]))
    env._reset()
    assert env.sample_time == 5
    controller, rows = BBController(), []
    observation = Observation(CGM=env.CGM_hist[0])
    info = {"sample_time": 5, "patient_name": name, "meal": 0, "time": start}
    while env.time < start + datetime.timedelta(days=1):
        action = controller.policy(observation, 0, False, **info)
        rows.append((observation.CGM, info["meal"], action.basal, action.bolus))
        step = env.step(action)
        observation, info = step.observation, step.info
    return rows


def frame(kind, rows, body):
    text = struct.pack("<4sIII", b"ISL1", kind, rows, len(body)) + body
    return text + struct.pack("<I", zlib.crc32(text))


def row(layout, values):
    return b"".join(
        struct.pack("<d", values.get(name, float("nan"))) if cell == "<f8"
        else struct.pack("<q", values.get(name, -(2**63))) for name, cell, _ in layout)


def answers_of_islet(python, islet, name, day):
    """(basal U, correction U, meal U) of each step."""
    fields = json.loads(subprocess.run([islet, "algorithm", "fields", "--json"], check=True, capture_output=True).stdout)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bb.py")
        with open(path, "w") as file:
            file.write(ADAPTER)
        child = subprocess.Popen(
            [sys.executable, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=dict(os.environ, ISLET_PLUGIN="islet-step/1", PYTHONPATH=python))
        hello = dict(fields, protocol="islet-step/1", parameters={}, group=1)
        child.stdin.write(json.dumps(hello).encode() + b"\n")
        child.stdin.flush()
        ready = json.loads(child.stdout.readline())
        assert ready["protocol"] == "islet-step/1" and ready["encoding"] == "packed", ready
        person = {"handle": 0, "seed": 1, "flags": 0, "weight": 70.0, "basal": 1.0, "cr": 10.0, "cf": 50.0, "tdi": 40.0,
                  "maximum_bolus": 30.0, "target": 120.0}
        for part in range(8):
            person["subject%d" % part] = int.from_bytes(name.encode()[8 * part:8 * part + 8].ljust(8, b"\0"), "little")
        child.stdin.write(frame(1, 1, row(fields["begin"], person)))
        found = []
        for number, (cgm, meal, _, _) in enumerate(day):
            now = number * 300 * 10**9
            told = {"handle": 0, "step": number, "flags": 1, "now": now, "cgm": float(cgm), "cgm_time": now, "target": 120.0,
                    "basal_multiplier": 1.0, "bolus_id": -1, "shortfall_step": -1, "dropped_step": -1, "multiplier_steps": 0,
                    "bolus_cut_by": 0}
            if meal > 0:
                told.update(meal=float(meal) * 5, meal_at=now)
            child.stdin.write(frame(3, 1, row(fields["step"], told)))
            child.stdin.flush()
            head = child.stdout.read(16)
            magic, kind, rows, length = struct.unpack("<4sIII", head)
            body = child.stdout.read(length)
            crc, = struct.unpack("<I", child.stdout.read(4))
            assert magic == b"ISL1" and kind == 4 and rows == 1 and crc == zlib.crc32(head + body), (kind, rows)
            cells = struct.unpack("<qqddddqd", body)
            assert cells[:2] == (0, number)
            found.append(cells[2:5])
        child.stdin.close()
        child.wait()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default="Python", help="the folder of the package islet")
    parser.add_argument("--islet", required=True, help="the program islet")
    parser.add_argument("--person", default="adult#001")
    options = parser.parse_args()
    day = day_of_simglucose(options.person)
    found = answers_of_islet(os.path.abspath(options.python), options.islet, options.person, day)
    boluses = sum(1 for *_, bolus in day if bolus > 0)
    wrong = 0
    for number, ((cgm, meal, basal, bolus), (own_basal, correction, own_meal)) in enumerate(zip(day, found)):
        if own_basal != basal * 5 or correction + own_meal != bolus * 5:
            wrong += 1
            print("step %d, reading %r, meal %r g/min: simglucose %r and %r U/min, the adapter %r and %r U" % (
                number, cgm, meal, basal, bolus, own_basal, correction + own_meal))
    print("%d steps, %d boluses, %d differ" % (len(day), boluses, wrong))
    print("%d passed, %d failed" % (len(day) - wrong, wrong))
    sys.exit(1 if wrong or boluses < 4 else 0)


if __name__ == "__main__":
    main()
