"""Score tables: several references, kernels and weights in one call, what they carry and what they refuse."""

import polars as pl
import pytest
from hypothesis import given

import gapline as gl
import strategies
from gapline.errors import MissingReferenceError, UsageError

RUNS = [
    {"arm": "a", "instance": "i", "seed": 1, "panel": "p", "horizon": 30, "trace": [(0, 20.0), (5, 9.0)], "threads": 4},
    {"arm": "a", "instance": "j", "seed": 1, "panel": "p", "horizon": 60, "trace": []},
]


SNAPSHOT = {"i": 10.0, "j": 5.0}


def envelopes():
    return gl.build_envelopes(gl.Campaign.from_runs(RUNS))


def test_a_grid_is_the_single_calls_side_by_side():
    snapshots = [gl.Snapshot.from_values({k: f * v for k, v in SNAPSHOT.items()}, name=f"{f}") for f in (1, 2)]
    weights = ["uniform", "early-log:0.1"]
    grid = gl.score_grid(envelopes(), snapshots, kernels=strategies.KERNELS, weights=weights)
    singles = [gl.score(envelopes(), s, kernels=strategies.KERNELS, weight=w) for s in snapshots for w in weights]
    assert [g.reading for g in grid] == [s.reading for s in singles]
    assert all(g.frame.equals(s.frame) for g, s in zip(grid, singles, strict=True))


def test_scores_say_what_made_them():
    snapshot = gl.Snapshot.from_values(SNAPSHOT, name="mine")
    scores = gl.score(envelopes(), snapshot, kernels=["squeezed", "berthold"], weight="end-log:0.1")
    assert scores.kernels == ("squeezed", "berthold")
    assert scores.reading.weight == "end-log:0.1"
    assert scores.reference.digest == snapshot.digest
    assert "mine" in scores.caption()
    assert "end-log:0.1" in repr(scores)
    assert scores.frame["threads"].to_list() == [4, None]
    assert any("1 of 2 runs beats its reference" in note for note in scores.notes)
    assert any("berthold counts beating the reference as a loss" in note for note in scores.notes)


def test_a_reference_beaten_in_the_last_bits_is_not_beaten():
    runs = [RUNS[0] | {"trace": [(1, 10.0 * (1 - 1e-10))]}]
    scores = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), gl.Snapshot.from_values(SNAPSHOT, name="mine"))
    assert scores.frame["beaten"].to_list() == [False]


@pytest.mark.slow
def test_every_library_takes_a_result_as_it_is():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    scores = gl.score(envelopes(), gl.Snapshot.from_values(SNAPSHOT, name="mine"))
    for result in (
        scores,
        gl.summarise(scores),
        gl.mean_curve(envelopes().select([0]), gl.Snapshot.from_values(SNAPSHOT, name="m")),
    ):
        assert pl.DataFrame(result).equals(result.frame)
        assert pandas.DataFrame.from_arrow(result).shape == result.frame.shape
        assert pyarrow.table(result).num_rows == result.frame.height
        assert "<table" in result._repr_html_()


def test_missing_references_are_all_listed_before_scoring():
    with pytest.raises(MissingReferenceError, match=r"got 2 without: i \(missing\), j \(0"):
        gl.score(envelopes(), gl.Snapshot.from_values({"j": 0.0}, name="mine"))


def test_a_kernel_given_twice_is_refused():
    with pytest.raises(UsageError, match="expected each once"):
        gl.score(envelopes(), gl.Snapshot.from_values(SNAPSHOT, name="mine"), kernels=["raw", "raw"])


@given(strategies.campaigns())
def test_the_order_of_the_runs_and_the_names_of_arms_change_no_score(drawn):
    runs, references = drawn
    snapshot = gl.Snapshot.from_values(references, name="mine")
    other = [run | {"arm": {"a": "z", "b": "y"}[run["arm"]]} for run in reversed(runs)]
    mine = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot, kernels=strategies.KERNELS).frame
    theirs = gl.score(gl.build_envelopes(gl.Campaign.from_runs(other)), snapshot, kernels=strategies.KERNELS).frame
    theirs = theirs.with_columns(pl.col("arm").replace({"z": "a", "y": "b"})).sort("arm", "instance", "seed")
    assert mine.sort("arm", "instance", "seed").equals(theirs.select(mine.columns))
