"""Whatever stands in a trace file, a command ends with an answer or with one clear error.

`GAPLINE_FUZZED_FILES=10000 pytest tests/capture/test_fuzzed_traces.py` tries that many files.
"""

import os
from pathlib import Path

import polars as pl
import pytest

import gapline as gl
from capture.trace_fuzzer import flipped, fuzzed
from gapline.cli.app import run
from gapline.errors import TraceError

FILES = int(os.environ.get("GAPLINE_FUZZED_FILES", "400"))
BATCH = 50
# Seeds that once ended in an internal error, in a trace of Rust or in the end of the process.
ONCE = {fuzzed: (511, 672, 716, 873, 900, 1309, 1357, 1387), flipped: (447, 851, 901, 985, 1015, 3342)}


def check(make, seed, capfd):
    """Score one file; nothing but the errors of ours may come out, on the descriptors as on the streams."""
    name, data = make(seed)
    Path(name).write_bytes(data)
    code = run(["score", name, "--references", "refs.csv", "--horizon", "10", "--allow-unchecked"])
    out, err = capfd.readouterr()
    what = f"{make.__name__}({seed})"
    assert code in (0, 1, 2), what
    for never in ("internal error", "panicked", "backtrace", "Traceback"):
        assert never not in out + err, f"{what}: {err}"
    if code:
        assert err.startswith("error: "), what
        assert "expected" in err, f"{what}: {err}"


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.csv").write_text("instance,value\ni,1\nj,1\n")


@pytest.mark.parametrize(
    ("make", "first"),
    [
        *((fuzzed, first) for first in range(0, FILES, BATCH)),
        *((flipped, first) for first in range(0, FILES // 2, BATCH)),
    ],
)
def test_fuzzed_files_are_scored_or_refused_with_one_clear_error(make, first, capfd):
    for seed in range(first, first + BATCH):
        check(make, seed, capfd)


@pytest.mark.parametrize(("make", "seed"), [(make, seed) for make, seeds in ONCE.items() for seed in seeds])
def test_files_that_once_failed_do_not_any_more(make, seed, capfd):
    check(make, seed, capfd)


def test_columns_that_are_equal_without_their_blanks_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("arm,instance,seed,time,objective, time\na,i,1,1,20,7\n")
    with pytest.raises(TraceError, match=r"t\.csv: expected each column once, got time more than once"):
        gl.read(path)


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["a", "1", "true"])])
def test_categories_are_the_text_that_they_are(kind):
    row = {"arm": "a", "instance": "a", "seed": "1", "time": "1", "objective": "1", "valid": "true", "horizon": "1"}
    frame = pl.DataFrame([row])
    assert gl.read(frame.cast(kind)).digest() == gl.read(frame).digest()


@pytest.mark.parametrize("name", ["arm", "instance", "horizon", "size", "status", "valid"])
def test_a_list_where_a_number_or_a_name_should_be_is_refused_by_name(name):
    row = {"arm": "a", "instance": "i", "seed": 1, "time": 1.0, "objective": 9.0, name: [1]}
    with pytest.raises(TraceError, match=f"{name}: expected text, got List|expected numbers in {name}, got List"):
        gl.read(pl.DataFrame([row]))


def test_further_columns_that_no_run_can_hold_are_left_out_and_named():
    row = {"arm": "a", "instance": "i", "seed": 1, "time": 1.0, "objective": 9.0, "route": [1], "raw": b"x", "_run": 3}
    campaign = gl.read(pl.DataFrame([row]))
    assert campaign.diagnostics.notes[:2] == (
        "left out, because gapline uses the names itself: _run",
        "left out, because a run has numbers and text alone: route (List), raw (Binary)",
    )
    assert not {"route", "raw", "_run"} & set(campaign.runs.columns)
