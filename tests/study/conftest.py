"""The planted campaign and its slow recomputation, made once for every test of this folder."""

import json

import pytest

import gapline as gl
import planted
from gapline.study.analyse import analyse
from slow_tables import Tables


@pytest.fixture(scope="session")
def made():
    return planted.plant(tier=True)


@pytest.fixture(scope="session")
def analysis(made):
    study = gl.open_study(made.campaign, snapshots=[made.snapshot], contrasts=[("alpha", "beta")], draws=500)
    return analyse(study)


@pytest.fixture(scope="session")
def document(analysis):
    return json.loads(json.dumps(analysis.document(), allow_nan=False))


@pytest.fixture(scope="session")
def slow():
    return Tables()
