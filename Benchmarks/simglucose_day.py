"""Prints the processor seconds that simglucose needs for one patient-day of its own basal-bolus example."""

import contextlib
import io
import tempfile
import time
import warnings
from datetime import datetime, timedelta

warnings.filterwarnings("ignore")
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    from simglucose.actuator.pump import InsulinPump
    from simglucose.controller.basal_bolus_ctrller import BBController
    from simglucose.patient.t1dpatient import T1DPatient
    from simglucose.sensor.cgm import CGMSensor
    from simglucose.simulation.env import T1DSimEnv
    from simglucose.simulation.scenario_gen import RandomScenario
    from simglucose.simulation.sim_engine import SimObj

    DAYS = 2
    start = datetime(2026, 3, 2)
    environment = T1DSimEnv(
        T1DPatient.withName("adult#001"),
        CGMSensor.withName("Dexcom", seed=1),
        InsulinPump.withName("Insulet"),
        RandomScenario(start_time=start, seed=1),
    )
    with tempfile.TemporaryDirectory() as folder:
        run = SimObj(environment, BBController(), timedelta(days=DAYS), animate=False, path=folder)
        began = time.process_time()
        run.simulate()
        seconds = (time.process_time() - began) / DAYS
print(seconds)
