"""`gapline export` and `gapline merge` say what they wrote and what they left out."""

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.contract.tables import RunKey, VerdictCode

TRACE = (
    "arm,instance,seed,time,objective,valid,horizon,note\n"
    "a,i,1,1,12,true,30,x\na,i,1,2,oops,true,30,y\nb,i,1,1,11,true,30,z\nb,j,1,,,,30,\n"
)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TRACE)
    return tmp_path


@pytest.mark.parametrize("command", [["export", "-o", "out.jsonl"], ["merge", "-o", "out"]])
def test_what_is_left_out_is_said(command, capsys):
    """Of 3 runs the filter takes 1 away; 1 cell is no number; the notes of the candidates are not kept."""
    assert run([command[0], "t.csv", "--arm", "b", *command[1:]]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"wrote {command[-1]}: 2 runs, 1 candidate")
    assert "left out by the filters: 1 run of 3" in said
    assert "1 problem while reading:\n  t.csv:3: expected an objective, got 'oops' (run a/i/1)" in said
    assert "column 'note' differs from candidate to candidate (2 values in 1 run): left out" in said
    assert len(gl.read(command[-1])) == 2


@pytest.mark.parametrize("command", [["export", "-o", "out.csv"], ["merge", "-o", "out"]])
def test_a_bound_alone_is_no_candidate(command, place, capsys):
    """As it is none in what an import says, and in every table of what was captured."""
    columns = {
        "runs": pl.DataFrame(
            {"arm": ["a"], "instance": ["i"], "seed": [1], "horizon": [9.0], "first": [0], "count": [3]}
        ),
        "time": np.array([1.0, 2.0, 3.0]),
        "objective": np.array([12.0, np.nan, 11.0]),
        "verdict": np.array([1, VerdictCode.BOUND, 1], np.uint8),
        "bound": np.array([np.nan, 9.0, np.nan]),
    }
    gl.Campaign.from_arrays(**columns).save(place / "bounded")
    assert run([command[0], "bounded", *command[1:]]) == 0
    assert capsys.readouterr().out.startswith(f"wrote {command[-1]}: 1 run, 2 candidates, 1 dual bound alone")


def test_the_least_memory_writes_the_same_bytes(place, monkeypatch):
    """Runs that take turns are put in order: columns beyond a sixteenth of 16 MiB in scratch files."""
    rows = (f"{'ab'[k % 2]},i,1,{k * 0.125},{9e5 - k}\n" for k in range(140_000))
    (place / "long.csv").write_text("arm,instance,seed,time,objective\n" + "".join(rows))
    made = []
    from gapline.files import scratch_arrays

    open_scratch = scratch_arrays._open_scratch
    monkeypatch.setattr(scratch_arrays, "_open_scratch", lambda: made.append("file") or open_scratch())
    for memory, name in ((["--memory", "16MiB"], "little"), ([], "much")):
        assert run(["export", "long.csv", "-o", f"{name}.arrow", *memory]) == 0
        assert run(["merge", "long.csv", "--flat", "-o", name, *memory]) == 0
        assert bool(made) == bool(memory)
        made.clear()
    assert (place / "little.arrow").read_bytes() == (place / "much.arrow").read_bytes()
    for path in (place / "much").iterdir():
        assert (place / "little" / path.name).read_bytes() == path.read_bytes(), path.name


def test_what_a_trace_file_cannot_hold_is_named(capsys):
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 5.0, True)]}]
    campaign = gl.Campaign.from_runs(runs)
    gl.Campaign.from_arrays(runs=campaign.runs, facts={"checker": "cvrp 1"}, **campaign.columns).save("c")
    assert run(["export", "c", "-o", "out.csv"]) == 0
    said = capsys.readouterr().out
    assert "not in the file, because a trace has no place for it: checker cvrp 1" in said


def test_cells_that_were_cut_short_are_named_beside_the_file(capsys):
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 5.0, True)]}]
    whole = gl.Campaign.from_runs(runs)
    cut = (RunKey("a", "i", 2), RunKey("a", "j", 1))
    gl.Campaign.from_arrays(runs=whole.runs, interrupted=cut, **whole.columns).save("c")
    assert run(["export", "c", "-o", "out.csv"]) == 0
    said = capsys.readouterr().out
    assert "not in the file, because an attempt that was cut short is no run: a/i/2, a/j/1" in said
    assert len(gl.read("out.csv")) == 1


def test_an_export_that_cannot_be_written_is_one_sentence(capsys):
    assert run(["export", "t.csv", "-o", "t.csv/inside/out.csv"]) == 2
    assert capsys.readouterr().err == "error: t.csv: expected a directory, got a file\n"
