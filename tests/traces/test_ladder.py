"""Ladders: runs that share arm, instance and seed stay apart, and columns of candidates make no runs."""

import json

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.errors import TraceError

SLICES = (5, 24, 96)


def ladder_rows():
    """3 instances x 4 seeds x 3 settings = 36 runs of two candidates, and an arm at one setting (12 runs)."""
    rows = []
    for instance in "ijk":
        for seed in range(4):
            for slices in SLICES:
                common = {"arm": "hexaly", "instance": instance, "seed": seed, "slices": slices, "horizon": 30.0}
                rows += [common | {"time": 1.0, "objective": 200.0}, common | {"time": 9.0, "objective": 10.0 + slices}]
            rows.append(
                {"arm": "pyvrp", "instance": instance, "seed": seed, "slices": 24, "horizon": 30.0}
                | {"time": 2.0, "objective": 15.0}
            )
    return rows


def as_csv(folder):
    pl.DataFrame(ladder_rows()).write_csv(folder / "t.csv")
    return folder / "t.csv"


def as_jsonl(folder):
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ladder_rows()))
    return folder / "t.jsonl"


def as_parquet(folder):
    pl.DataFrame(ladder_rows()).write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def as_frame(_):
    return pl.DataFrame(ladder_rows())


def as_records(_):
    return ladder_rows()


def as_one_file_after_the_other(_):
    return pl.DataFrame(ladder_rows()).sort("slices", maintain_order=True)


@pytest.mark.parametrize("carrier", [as_csv, as_jsonl, as_parquet, as_frame, as_records, as_one_file_after_the_other])
def test_thirty_six_runs_stay_thirty_six(carrier, tmp_path):
    campaign = gl.read(carrier(tmp_path))
    assert len(campaign) == 36 + 12
    arms = ["hexaly slices=24", "hexaly slices=5", "hexaly slices=96", "pyvrp"]
    assert sorted(campaign.runs["arm"].unique()) == arms
    assert campaign.runs.filter(pl.col("arm") == "hexaly slices=96")["slices"].unique().to_list() == [96]
    assert campaign.runs["count"].to_list() == [2] * 36 + [1] * 12
    (note,) = (note for note in campaign.notes() if "slices" in note)
    assert note == (
        "several runs of 'hexaly' share an instance and a seed, told apart by slices: now 3 arms, "
        "'hexaly slices=5', 'hexaly slices=24', 'hexaly slices=96' (36 of 48 runs)"
    )
    scores = gl.score(gl.build_envelopes(campaign), gl.Snapshot.from_values(dict.fromkeys("ijk", 10.0), name="r"))
    assert scores.frame.height == 48


def test_the_command_line_scores_every_run_of_a_ladder(tmp_path, capsys):
    path = as_csv(tmp_path)
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\nj,10\nk,10\n")
    assert run(["score", str(path), "--references", str(tmp_path / "refs.csv"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {arm["arm"]: arm["runs"] for arm in answer["arms"]} == {
        "hexaly slices=5": 12, "hexaly slices=24": 12, "hexaly slices=96": 12, "pyvrp": 12,
    }  # fmt: skip


def test_an_exported_ladder_comes_back_as_it_was(tmp_path):
    campaign = gl.read(as_csv(tmp_path))
    assert run(["merge", str(tmp_path / "t.csv"), "-o", str(tmp_path / "c")]) == 0
    assert run(["export", str(tmp_path / "c"), "-o", str(tmp_path / "back.csv")]) == 0
    back = gl.read(tmp_path / "back.csv")
    assert back.runs.equals(campaign.runs.select(back.runs.columns))


def test_an_import_keeps_the_runs_apart_too(tmp_path, capsys):
    assert run(["import", str(as_csv(tmp_path)), "-o", str(tmp_path / "c")]) == 0
    assert "told apart by slices: now 3 arms" in capsys.readouterr().out
    assert len(gl.open(tmp_path / "c")) == 48


def rows(cells, *, name="slices", arm="a"):
    """Rows of one key: (setting, time, objective)."""
    return [
        {"arm": arm, "instance": "i", "seed": 1, "horizon": 30.0, name: setting, "time": time, "objective": objective}
        for setting, time, objective in cells
    ]


def arms(campaign):
    return campaign.runs["arm"].to_list()


def test_runs_of_one_candidate_and_runs_of_none_are_runs():
    cells = [(5, 8.0, 20.0), (24, None, None), (96, 3.0, 12.0)]
    twice = rows(cells) + [row | {"instance": "j"} for row in rows(cells)]
    campaign = gl.read(twice)
    assert sorted(arms(campaign)) == sorted(["a slices=5", "a slices=24", "a slices=96"] * 2)
    assert campaign.runs["count"].sum() == 4


def test_two_settings_that_both_vary_both_stand_in_the_name():
    grid = [
        row | {"threads": threads}
        for slices in (5, 24)
        for threads in (1, 2)
        for row in rows([(slices, 1.0, 20.0), (slices, 9.0, 10.0)])
    ]
    assert sorted(arms(gl.read(grid))) == [
        "a slices=24 threads=1", "a slices=24 threads=2", "a slices=5 threads=1", "a slices=5 threads=2",
    ]  # fmt: skip


def test_a_measurement_of_the_run_is_carried_and_stays_out_of_the_name():
    measured = [{"elapsed": 10.5 + row["slices"] + row["seed"]} | row for row in ladder_rows()]
    campaign = gl.read(measured)
    assert sorted(set(arms(campaign)))[0] == "hexaly slices=24"
    assert campaign.runs.filter(pl.col("arm") == "hexaly slices=5")["elapsed"].to_list() == [15.5, 16.5, 17.5, 18.5] * 3


def test_five_and_five_point_zero_are_one_setting(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("arm,instance,seed,time,objective,slices\na,i,1,1,20,5\na,i,1,2,19,5.0\n")
    campaign = gl.read(path)
    assert arms(campaign) == ["a"]
    assert campaign.runs["slices"].to_list() == [5.0]


@pytest.mark.parametrize("column", ["nodes", "digest"])
def test_a_column_that_differs_on_nearly_every_row_describes_candidates(column):
    """`nodes` and `digest` of 10 candidates in each of 3 runs: 3 runs, not 30, and a count in the note."""
    trace = [
        row | {"seed": seed}
        for seed in range(3)
        for row in rows([(f"x{k}{seed}" if column == "digest" else 7 * k, k, 50 - k) for k in range(10)], name=column)
    ]
    campaign = gl.read(trace)
    assert campaign.runs["count"].to_list() == [10, 10, 10]
    assert column not in campaign.runs.columns
    assert f"column {column!r} differs from candidate to candidate (30 values in 3 runs): left out" in (
        campaign.diagnostics.notes
    )


DOUBTFUL = {
    "a phase of one run": [("construct", 1.0, 30.0), ("construct", 2.0, 29.0), ("search", 3.0, 20.0)],
    "an operator that comes again": [("swap", 1.0, 30.0), ("move", 2.0, 29.0), ("swap", 1.5, 20.0)],
    "rows sorted by time": [(5, 1.0, 30.0), (24, 1.0, 29.0), (5, 2.0, 20.0), (24, 3.0, 19.0)],
    "a handful of rows": [(10, 1.0, 30.0), (20, 2.0, 29.0)],
    "each value once, times in no order": [(10, 1.0, 30.0), (20, 3.0, 29.0), (30, 2.0, 28.0)],
    "cells left empty": [(5, 1.0, 30.0), (None, 9.0, 29.0), (24, 1.0, 20.0), (None, 9.0, 19.0)],
}


@pytest.mark.parametrize("cells", DOUBTFUL.values(), ids=DOUBTFUL)
def test_where_the_rows_do_not_show_it_the_file_is_refused_with_both_ways_out(cells):
    with pytest.raises(TraceError, match="expected one slices in run a/i/1, got ") as caught:
        gl.read(rows(cells))
    assert f"put it into the arm ('a slices={cells[0][0]}')" in caught.value.hint
    assert "leave the column slices out" in caught.value.hint


def test_a_name_that_is_taken_is_refused():
    taken = [row | {"arm": "hexaly slices=5"} if row["arm"] == "pyvrp" else row for row in ladder_rows()]
    with pytest.raises(TraceError, match="got also hexaly slices=5"):
        gl.read(taken)


def test_runs_given_one_by_one_need_no_judgement():
    """A list of runs says where each begins: even one candidate each, in any order, is told apart."""
    runs = [
        {"arm": "a", "instance": "i", "seed": 1, "threads": threads, "trace": [(threads, 9.0)]} for threads in (1, 2)
    ]
    campaign = gl.Campaign.from_runs(runs)
    assert arms(campaign) == ["a threads=1", "a threads=2"]
    with pytest.raises(TraceError, match="expected each run once, got 1 more than once: a/i/1"):
        gl.Campaign.from_runs([{**runs[0]}, {**runs[0], "trace": [(3.0, 8.0)]}])


def test_a_large_trace_of_one_setting_is_left_alone():
    time = np.tile(np.arange(50.0), 4)
    frame = pl.DataFrame(
        {
            "arm": "a",
            "instance": "i",
            "seed": np.repeat(range(4), 50),
            "time": time,
            "objective": 99 - time,
            "threads": 4,
        }
    )
    campaign = gl.read(frame)
    assert arms(campaign) == ["a"] * 4
    assert campaign.runs["threads"].to_list() == [4] * 4
