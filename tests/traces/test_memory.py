"""Reading takes a small multiple of what it makes, and a file that stands for more than the limit is refused.

Peaks are those of processes of their own; `python -m bench memory` measures larger files.
"""

import gzip
import os
import resource
import subprocess
import sys

import pytest
from bench.bench_memory import measure, write_files

from patience import PATIENCE
from traces.test_parquet_process import parquet_bomb

pytestmark = pytest.mark.slow

ROWS = 200_000
# What a process takes for the first table, whatever its size: code, threads and a block of the file.
FIXED = 120_000_000
OF_COLUMNS = 7.0
KINDS = ("csv", "parquet", "journal", "log")


def test_reading_takes_a_small_multiple_of_the_columns(tmp_path):
    """It was 20 times the columns, and for journals 8 times the file."""
    for kind, path in write_files(tmp_path, ROWS, kinds=KINDS):
        added, columns, size = measure(kind, path)
        assert added < FIXED + OF_COLUMNS * columns, kind
        if kind == "journal":
            assert added < FIXED / 2 + size, kind


def limited():
    most = 3 << 30
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def write_bomb(name, folder):
    path = folder / name
    if name.endswith(".parquet"):
        path.write_bytes(parquet_bomb(rows=100_000_000))
    else:
        with gzip.open(path, "wb", 1) as stream:
            stream.write(b"arm,instance,seed,time,objective\n")
            for _ in range(600):
                stream.write(bytes(1 << 20))
    return path


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet"])
@pytest.mark.parametrize("command", [["score"], ["import", "-o", "out"]], ids=["score", "import"])
def test_a_bomb_is_one_clear_error_that_names_the_limit(name, command, tmp_path):
    """600 MB in 3 MB of gzip, 800 MB in 400 kB of Parquet, in a process that may have 3 GB."""
    bomb = write_bomb(name, tmp_path)
    assert bomb.stat().st_size < 10_000_000
    done = run([command[0], str(bomb), *command[1:]], tmp_path, GAPLINE_MOST_BYTES=str(512 << 20))
    assert (done.returncode, "internal error" in done.stderr) == (1, False), done.stderr
    assert "536,870,912" in done.stderr
    assert "GAPLINE_MOST_BYTES raises the limit" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "/dev/zero"],
        ["import", "/dev/zero", "-o", "out"],
        ["score", "t.csv", "--references", "/dev/zero"],
        ["score", "t.csv", "--snapshot", "/dev/zero"],
        ["run", "/dev/zero"],
    ],
    ids=" ".join,
)
def test_what_never_ends_is_refused_at_once(arguments, tmp_path):
    (tmp_path / "t.csv").write_text("arm,instance,seed,time,objective,horizon\na,i,1,1,9,10\n")
    done = run(arguments, tmp_path)
    assert done.returncode in (1, 2), done.stderr
    assert done.stderr.startswith("error: "), done.stderr
    assert "expected" in done.stderr


def run(arguments, folder, **environment):
    command = [
        sys.executable,
        "-c",
        "import sys; from gapline.cli.app import run; sys.exit(run(sys.argv[1:]))",
        *arguments,
    ]
    return subprocess.run(
        command, cwd=folder, env=os.environ | environment, preexec_fn=limited, text=True, capture_output=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
