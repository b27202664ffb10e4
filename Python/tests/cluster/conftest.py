"""The program, a small study and what a plain run of it comes to."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "Python"))
# Workers are processes of their own.
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "Python"), *filter(None, [os.environ.get("PYTHONPATH")])])
PROGRAM = os.environ.get("ISLET") or str(ROOT / ".build/release/islet")
# Drawn moments: SEED=n repeats them.
SEED = int(os.environ.get("SEED", "1"))

STUDY = """\
study: cluster
seed: 11
duration: 1d
cohort: { generate: { model: uva-padova-2008, count: 40 } }
arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]
"""


def digest(folder):
    return json.loads((pathlib.Path(folder) / "summary.json").read_text())["digest"]


def call(*words, status=0):
    said = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert said.returncode == status, (words, said.returncode, said.stdout, said.stderr)
    return said.stdout


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "study.yaml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="session")
def plain(study, tmp_path_factory):
    """The plain run's digest."""
    out = tmp_path_factory.mktemp("plain") / "out"
    call("run", study, "--quiet", "--no-report", "--out", out)
    return digest(out)
