"""One answer: `judge_pair` is what the command and the fixture call; patterns and lent references are read by both."""

from pathlib import Path

import polars as pl
import pytest

import gapline as gl
from cli.two_arms import write_traces
from gapline.errors import MixedScoresError, TraceError, UsageError
from gapline.statistics.power import power_table
from gapline.study.comparison import compare, judge_pair


@pytest.fixture(autouse=True)
def sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_traces(tmp_path / "old.csv", arms=("mine",))
    write_traces(tmp_path / "new.csv", slower=1.5, arms=("mine",))
    names = gl.read("old.csv").runs["instance"].unique().to_list()
    snapshot = gl.Snapshot.from_values(dict.fromkeys(names, 100.0), name="known")
    snapshot.save("known.json")
    gl.read("old.csv").save("old")
    snapshot.save("old/references.json")


def test_the_gate_is_the_one_of_the_comparison():
    judged = judge_pair("old.csv", "new.csv", snapshots=["known.json"], fail_if_worse=0.002, gate_error=0.1)
    plain = compare("old.csv", "new.csv", snapshots=["known.json"])
    assert judged.comparison.document() == plain.document()
    assert judged.gate == plain.gate(0.002, error=0.1)
    assert judged.failed
    assert judged.document()["failed_because"] == "worse by more than 0.002"
    assert judged.document()["fail_if_worse"] == 0.002
    assert (judged.suggested, judged.detectable) == (None, None)


def test_other_questions_are_not_taken_for_a_limit_of_worse():
    judged = judge_pair("old.csv", "new.csv", snapshots=["known.json"], fail_unless_non_inferior=0.5)
    assert not judged.failed
    assert judged.document()["fail_if_worse"] is None
    with pytest.raises(UsageError, match="expected one gate, got 2"):
        judge_pair("old.csv", "new.csv", fail_if_worse=0, fail_unless_superior=0)


def test_what_the_runs_can_show_is_that_of_the_power_table():
    """The smallest difference, by `power_table` on both arms in one table."""
    judged = judge_pair("old.csv", "new.csv", snapshots=["known.json"], suggest=True)
    new = gl.read("new.csv")
    renamed = gl.Campaign.from_arrays(runs=new.runs.with_columns(arm=pl.lit("new")), **new.columns)
    study = gl.open_study(gl.merge([gl.read("old.csv"), renamed]), snapshots=["known.json"])
    table = power_table(study.scores[0], pairs=[("new", "mine")], deltas=(0.01,), seeds=(2,), power=0.8)
    assert judged.detectable == pytest.approx(table.pilot["detectable"][0], rel=1e-12)
    assert judged.document()["detectable"] == judged.detectable


def test_the_reference_of_one_source_is_read_for_both_and_noted():
    judged = judge_pair("old", "new.csv", fail_if_worse=0.5)
    given = judge_pair("old", "new.csv", fail_if_worse=0.5, snapshots=["known.json"])
    assert judged.comparison.difference == given.comparison.difference
    assert judged.comparison.reading.reference == given.comparison.reading.reference
    lent = "new.csv has no reference of its own: read against that of old"
    assert lent in judged.comparison.notes
    assert lent not in given.comparison.notes
    with pytest.raises(UsageError, match="expected a reference"):
        judge_pair("old.csv", "new.csv")


def test_references_that_differ_are_refused_and_never_lent():
    names = gl.read("old.csv").runs["instance"].unique().to_list()
    gl.read("new.csv").save("new")
    gl.Snapshot.from_values(dict.fromkeys(names, 99.0), name="other").save("new/references.json")
    with pytest.raises(MixedScoresError, match="snapshots differ: old:mine is judged against known"):
        judge_pair("old", "new")


def test_a_pattern_is_one_source():
    whole = Path("new.csv").read_text().splitlines()
    Path("traces").mkdir()
    for panel in ("small", "large"):
        rows = [whole[0], *(row for row in whole[1:] if f",{panel}-" in row)]
        Path(f"traces/{panel}:1.csv").write_text("\n".join(rows) + "\n")
    plain = judge_pair("old", "new.csv").comparison
    for pattern in ("traces/*.csv", "traces/*.csv:mine", "**/*:1.csv", "**/*:1.csv:mine"):
        found = judge_pair("old", pattern).comparison
        assert found.second == f"{pattern.removesuffix(':mine')}:mine"
        assert (found.difference, found.low, found.high) == (plain.difference, plain.low, plain.high)
    with pytest.raises(TraceError, match=r"^traces/\*\.jsonl: expected files that match, got none"):
        judge_pair("old", "traces/*.jsonl")
    assert gl.read("traces/*.csv").digest() == gl.read("new.csv").digest()


def test_a_name_with_brackets_is_no_pattern():
    Path("new.csv").rename("new[1].csv")
    assert judge_pair("old", "new[1].csv").comparison.second == "new[1].csv:mine"


def test_an_alarm_fails_without_a_gate():
    """A certified value that a run beats: no number against it can be trusted."""
    names = gl.read("old.csv").runs["instance"].unique().to_list()
    snapshot = gl.Snapshot.from_values(dict.fromkeys(names, 120.0), name="wrong", certified=names)
    judged = judge_pair("old.csv", "new.csv", snapshots=[snapshot])
    assert judged.failed
    assert judged.gate is None
    assert not judged.document()["failed"]
