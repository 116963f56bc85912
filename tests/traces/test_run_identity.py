"""Rows of one arm, instance and seed in which time goes back: sorted, split, or refused."""

import json
from pathlib import Path

import polars as pl
import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.errors import TraceError, UsageError
from gapline.traces import blocks, json_lines

REFUSED = "several runs seem to share one arm, instance and seed"
FIRST = [(1, 90), (4, 80), (9, 71)]
SECOND = [(1, 95), (5, 85), (9, 70)]
# What two threads of one solver wrote: their lines are a little out of order, and report no incumbents.
PARALLEL = [(1.0, 90), (3.0, 80), (2.5, 85), (6.0, 84), (5.5, 70), (10, 75)]


def rows(*events, **more):
    keys = {"arm": "a", "instance": "i", "seed": 1, "horizon": 20.0} | more
    return [keys | {"time": float(time), "objective": float(z)} for time, z in events]


def as_csv(table, folder):
    pl.DataFrame(table).write_csv(folder / "t.csv")
    return folder / "t.csv"


def as_text_csv(table, folder):
    # A cell that is no number: the block is read as text.
    table = [*table, *rows((1, 5), arm="other")]
    text = pl.DataFrame(table).write_csv()
    (folder / "t.csv").write_text(text.rpartition("5.0\n")[0] + "five\n")
    return folder / "t.csv"


def as_jsonl(table, folder):
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table))
    return folder / "t.jsonl"


def as_parquet(table, folder):
    pl.DataFrame(table).write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def as_frame(table, _):
    return pl.DataFrame(table)


def as_records(table, _):
    return table


def in_turns(table, _):
    """Rows of another run between each two: no two rows of the run stand beside each other."""
    return [row for one in table for row in (one, one | {"arm": "b", "time": 1.0, "objective": 9.0})][: 2 * len(table)]


CARRIERS = [as_csv, as_text_csv, as_jsonl, as_parquet, as_frame, as_records, in_turns]


@pytest.mark.parametrize("carrier", CARRIERS)
def test_repetitions_under_one_seed_are_refused_and_numbered_where_that_is_asked_for(carrier, tmp_path):
    source = carrier(rows(*FIRST, *SECOND), tmp_path)
    with pytest.raises(TraceError, match=REFUSED) as refused:
        gl.read(source)
    assert "a/i/1" in str(refused.value)
    options = ("--number-runs", "--sort-rows") if isinstance(source, Path) else ("number_runs=True", "sort_rows=True")
    assert [name in refused.value.hint for name in options] == [True, True]
    numbered = gl.read(source, number_runs=True)
    kept = numbered.runs.filter(pl.col("arm") == "a")
    assert kept.select("seed", "count").rows() == [(1, 3), (2, 3)]
    assert [numbered.objective[first] for first in kept["first"]] == [90, 95]
    assert any("--number-runs: " in note and "because time goes back in 1 of them" in note for note in numbered.notes())
    sorted_ = gl.read(source, sort_rows=True)
    assert sorted_.runs.filter(pl.col("arm") == "a")["count"].to_list() == [6]
    assert any("(--sort-rows)" in note for note in sorted_.notes())


@pytest.mark.parametrize("block", [64, 1 << 20])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_what_lies_in_several_blocks_is_seen_too(suffix, block, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", block)
    monkeypatch.setattr(json_lines, "BLOCK", block)
    table = rows(*((t, 900 - t) for t in range(1, 200)), *((t, 950 - t) for t in range(1, 200)))
    source = {"csv": as_csv, "jsonl": as_jsonl, "parquet": as_parquet}[suffix](table, tmp_path)
    with pytest.raises(TraceError, match="time goes back by up to 100 % of the run"):
        gl.read(source)
    assert gl.read(source, number_runs=True).runs["count"].to_list() == [199, 199]


LEGITIMATE = {
    "parallel logs": PARALLEL,
    "an unsorted export of incumbents": [(9, 70), (1, 90), (5, 80)],
    "rows that are there twice": [*FIRST, *FIRST],
    "one moment": [(3, 90), (3, 80), (3, 85)],
}


@pytest.mark.parametrize(("name", "events"), LEGITIMATE.items(), ids=LEGITIMATE)
def test_one_run_out_of_order_is_sorted_and_noted(name, events):
    campaign = gl.read(rows(*events))
    assert campaign.runs["count"].to_list() == [len(events)]
    assert campaign.time.tolist() == sorted(time for time, _ in events)
    noted = name not in ("rows that are there twice", "one moment")
    assert any("out of order by up to" in note for note in campaign.notes()) == noted


def test_the_largest_step_counts_against_the_span_of_the_run():
    at_limit = rows((0, 90), (10, 70), (8.5, 65), (10, 60))
    assert any("by up to 15 % of the run" in note for note in gl.read(at_limit).notes())
    with pytest.raises(TraceError, match="by up to 16 % of the run"):
        gl.read(rows((0, 90), (10, 70), (8.4, 65), (10, 60)))


def test_values_of_one_moment_that_get_worse_again_are_those_of_several_runs():
    with pytest.raises(TraceError, match=REFUSED):
        gl.read(rows((1, 200), (2, 190), (1, 203), (2, 193)))


def test_only_candidates_are_looked_at():
    bounds = [row | {"bound": 50.0, "objective": None} for row in rows((8, 0), (1, 0))]
    table = [row | {"bound": None} for row in rows(*FIRST)] + bounds
    assert len(gl.read(table)) == 1
    assert gl.read(table, number_runs=True).runs["seed"].to_list() == [1]
    blank = [{**row, "time": None, "objective": None} for row in rows((0, 0))]
    assert gl.read([*rows(*FIRST), *blank]).runs["count"].to_list() == [3]


def test_the_direction_is_settled_first():
    maximised = rows((1, 10), (4, 20), (9, 30), (2, 15), (6, 25))
    with pytest.raises(TraceError, match="seems to be maximised"):
        gl.read(maximised)
    assert gl.read(maximised, sense="max").runs["count"].to_list() == [5]
    assert gl.read([row | {"sense": "max"} for row in maximised]).runs["count"].to_list() == [5]
    with pytest.raises(TraceError, match=REFUSED):
        gl.read(maximised, sense="min")


def test_runs_that_are_known_one_by_one_are_never_judged():
    runs = [{"arm": "a", "instance": "i", "seed": 1, "trace": [*FIRST, *SECOND]}]
    assert gl.Campaign.from_runs(runs).runs["count"].to_list() == [6]


def test_added_seeds_pass_over_those_that_are_taken_and_other_runs_keep_theirs():
    table = [*rows(*FIRST, *SECOND, *FIRST), *rows(*FIRST, seed=7), *rows(*FIRST, instance="j"), *rows(*FIRST, arm="b")]
    numbered = gl.read(table, number_runs=True)
    assert numbered.runs.select("arm", "instance", "seed").rows() == [
        ("a", "i", 1), ("a", "i", 7), ("a", "i", 8), ("a", "i", 9), ("a", "j", 1), ("b", "i", 1),
    ]  # fmt: skip
    assert "--number-runs: 4 runs became 6, because time goes back in 1 of them" in numbered.notes()
    assert "--number-runs: time goes back in none of 1 run" in gl.read(rows(*FIRST), number_runs=True).notes()


def test_a_ladder_is_split_by_its_settings_before_its_runs_are_numbered():
    table = [row | {"threads": threads} for threads in (1, 4) for row in rows(*FIRST, *SECOND)]
    assert gl.read(table, number_runs=True).runs.select("arm", "seed").rows() == [
        ("a threads=1", 1), ("a threads=1", 2), ("a threads=4", 1), ("a threads=4", 2),
    ]  # fmt: skip


def test_rows_without_seeds_are_split_unless_they_are_to_be_sorted():
    table = [{name: value for name, value in row.items() if name != "seed"} for row in rows(*FIRST, *SECOND)]
    assert gl.read(table).runs["seed"].to_list() == [0, 1]
    assert gl.read(table, sort_rows=True).runs["count"].to_list() == [6]


def test_both_at_once_contradict_each_other():
    with pytest.raises(UsageError, match="--number-runs and --sort-rows contradict each other"):
        gl.read(rows(*FIRST), number_runs=True, sort_rows=True)


@pytest.mark.parametrize(
    "command",
    [
        ["score", "t.csv", "--policy", "analysis"],
        ["import", "t.csv", "-o", "campaign"],
        ["export", "t.csv", "-o", "copy.csv"],
        ["merge", "t.csv", "-o", "both"],
    ],
    ids=lambda command: command[0],
)
def test_the_commands_name_both_options_take_them_and_say_how_many_runs_result(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    as_csv(rows(*FIRST, *SECOND), tmp_path)
    assert run(command) == 1
    said = capsys.readouterr().err.replace("\n  ", " ")
    assert REFUSED in said
    assert "--number-runs begins a new run wherever time goes back; --sort-rows confirms" in said
    assert run([*command, "--number-runs"]) == 0
    assert "--number-runs: 1 run became 2" in capsys.readouterr().out
    assert run([*(part.replace("campaign", "c2").replace("both", "b2") for part in command), "--sort-rows"]) == 0
