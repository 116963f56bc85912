"""Hypothesis profiles: the same examples on every machine by default, many fresh ones on request.

`HYPOTHESIS_PROFILE=thorough python -m pytest` looks for new counterexamples; the default is the same everywhere.
"""

import os

import pytest
from hypothesis import settings

from browsers import browser  # noqa: F401
from dask_cluster import scheduler, start_worker  # noqa: F401
from object_store import bucket, s3_server  # noqa: F401
from scripted_studies import eventually, make_study, quiet_machine, supervise  # noqa: F401 (fixtures of every folder)
from slurm import slurm, slurm_daemons  # noqa: F401

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=20, database=None)
settings.register_profile("thorough", derandomize=False, deadline=None, max_examples=1000, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Tests of words look at them unbroken; the tests of the layout (`cli/test_layout.py`) set widths of their own."""
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture(autouse=True)
def own_leases(tmp_path_factory, monkeypatch):
    """Cores are leased for the whole machine: runs of two tests at once would wait for each other."""
    monkeypatch.setenv("GAPLINE_LEASES", str(tmp_path_factory.getbasetemp() / "leases"))
