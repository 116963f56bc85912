"""Whatever stands in a trace file, a command ends with an answer or with one clear error."""

import polars as pl
import pytest
from torture.traces import flipped, fuzzed, score, trial

import gapline as gl
from gapline.errors import TraceError

# Seeds that once ended in an internal error, in a trace of Rust or in the end of the process.
ONCE = {fuzzed: (511, 672, 716, 873, 900, 1309, 1357, 1387), flipped: (377, 447, 851, 901, 985, 1015, 3342)}


@pytest.mark.slow
def test_fuzzed_files_are_scored_or_refused_with_one_clear_error(tmp_path):
    outcomes = trial(450, 0, tmp_path)
    assert sum(outcomes.values()) == 450
    assert outcomes["scored"] > 50
    assert outcomes["refused"] > 50


@pytest.mark.slow
@pytest.mark.parametrize(("make", "seed"), [(make, seed) for make, seeds in ONCE.items() for seed in seeds])
def test_files_that_once_failed_do_not_any_more(make, seed, tmp_path):
    (tmp_path / "refs.csv").write_text("instance,value\ni,1\nj,1\n")
    score(make, seed, tmp_path)


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
