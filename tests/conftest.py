"""Fixtures of every folder, and which tests `make test` leaves to `make test-all`.

A test marked `slow` kills, waits, browses, installs or takes more than about half a second. `make test` runs the
others; `make test-all` runs the slow ones, and every property test once more with all its examples (`profiles.py`).
What needs a browser, a cluster or an object store is slow by its fixture; `smoke` marks the one test of each that stays
in `make test`.
"""

import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest

import profiles  # noqa: F401 (loads the profile of this run)
from browsers import browser  # noqa: F401
from dask_cluster import scheduler, start_worker  # noqa: F401
from object_store import bucket, s3_server  # noqa: F401
from scripted_studies import eventually, make_study, quiet_machine, supervise  # noqa: F401 (fixtures of every folder)
from slurm import slurm, slurm_daemons  # noqa: F401

SLOW_FIXTURES = {"browser", "scheduler", "bucket", "s3_server", "slurm", "slurm_daemons"}
FAST_ONLY = "not slow"
WHOLE_FILE = re.compile(r"^pytestmark = (?:\[)?pytest\.mark\.slow\b", re.MULTILINE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what its fixtures make slow."""
    for item in items:
        if SLOW_FIXTURES & set(getattr(item, "fixturenames", ())) and item.get_closest_marker("smoke") is None:
            item.add_marker("slow")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files whose tests are all slow before they are imported: what they import may not be installed."""
    if config.option.markexpr != FAST_ONLY or collection_path.suffix != ".py" or not collection_path.is_file():
        return None
    return True if WHOLE_FILE.search(collection_path.read_text(encoding="utf-8")) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a fast test that lacks a library or the validators: `make test-all` would not run it either."""
    report = yield
    lacks = report.skipped and any(reason in str(report.longrepr) for reason in ("could not import", "validators"))
    if lacks and item.config.option.markexpr == FAST_ONLY:
        report.outcome = "failed"
        report.longrepr = f"{report.longrepr}: mark the test slow, or add the library to [test] in pyproject.toml"
    return report


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Tests of words look at them unbroken; the tests of the layout (`cli/test_layout.py`) set widths of their own."""
    monkeypatch.setenv("COLUMNS", "1000")


@pytest.fixture(autouse=True)
def own_priority(monkeypatch):
    """`watch` and `serve` lower the priority of their process, which is this one where a test calls them in it."""
    monkeypatch.setattr(os, "nice", lambda _increment: 0)
    # Set and removed, so that what a command sets is removed after the test.
    before = os.environ.get("POLARS_MAX_THREADS")
    monkeypatch.setenv("POLARS_MAX_THREADS", before or "1")
    if before is None:
        monkeypatch.delenv("POLARS_MAX_THREADS")


@pytest.fixture(autouse=True)
def own_leases(tmp_path_factory, monkeypatch):
    """Cores are leased for the whole machine: runs of two tests at once would wait for each other."""
    monkeypatch.setenv("GAPLINE_LEASES", str(tmp_path_factory.getbasetemp() / "leases"))
