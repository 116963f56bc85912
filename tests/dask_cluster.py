"""A real Dask scheduler and workers on the loopback, as fixtures."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from patience import PATIENCE

HERE = Path(__file__).parent


@contextlib.contextmanager
def running(*arguments: str, **environment: str):
    """A process of Dask, killed at the end."""
    told = os.environ | {"PYTHONWARNINGS": "ignore"} | environment
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=told
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def scheduler(tmp_path, eventually):
    file = tmp_path / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    with running("distributed.cli.dask_scheduler", *options):
        eventually(lambda: file.exists() and bool(file.read_text().strip()))
        yield json.loads(file.read_text())["address"]


@pytest.fixture
def start_worker(tmp_path):
    """Start workers, which find the modules of the tests; each has one thread, and slots for solvers if told so."""
    with contextlib.ExitStack() as stack:

        def start(scheduler: str, *options: str, path: Path | None = None):
            base = ["--no-nanny", "--no-dashboard", "--nthreads", "1", "--local-directory", str(tmp_path / "dask")]
            found = os.pathsep.join(map(str, filter(None, (path, HERE))))
            return stack.enter_context(
                running("distributed.cli.dask_worker", scheduler, *base, *options, PYTHONPATH=found)
            )

        yield start


def wait_for_workers(address: str, count: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=PATIENCE)
