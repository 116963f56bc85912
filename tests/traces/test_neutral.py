"""Neutral traces: every carrier gives the same campaign, and every bad cell is rejected, counted and located."""

import numpy as np
import polars as pl
import pytest
from torture.traces import fuzzed

import gapline as gl
from gapline.errors import TraceError
from gapline.traces import blocks, json_lines, neutral
from gapline.traces.neutral import neutral_format
from traces.neutral_traces import table, write

NOT_NUMBERS = ["abc", "1_000", '"1,5"', "٣", "0x1p3", "1e", "--5", "1 000", "12,", "½", "1d5", "1.2.3"]


def quoted(cell):
    return f'"{cell}"' if "," in cell and not cell.startswith('"') else cell


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        *((cell, "objective not a number") for cell in NOT_NUMBERS),
        *((cell, "objective not finite") for cell in ("nan", "NaN", "inf", "-inf", "+Infinity", "1e400", "-1e999")),
        ("", "objective missing"),
    ],
)
def test_a_bad_objective_is_rejected_counted_located_and_the_run_goes_on(cell, reason, tmp_path):
    path = write(tmp_path, ["a,i,1,0.5,30,true,30", f"a,i,1,1.5,{quoted(cell)},true,30", "a,i,1,2.5,20,true,30"])
    campaign = gl.read(path)
    found = campaign.diagnostics
    assert found.rejected == {reason: 1}
    assert found.candidates == 3
    assert found.problem_count == 1
    shown = cell.strip('"')
    assert found.problems[0].startswith(f"{path}:3: expected ")
    assert (f"got {shown!r}" if shown else "got nothing") in found.problems[0]
    assert found.problems[0].endswith("(run a/i/1)")
    envelopes = gl.build_envelopes(campaign)
    assert envelopes.objective.tolist() == [30.0, 20.0]
    assert envelopes.runs["rejected"].to_list() == [1]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        *((cell, "time not a number") for cell in NOT_NUMBERS),
        *((cell, "time not finite") for cell in ("nan", "inf", "1e400")),
        ("-1", "time negative"),
        ("-5e-324", "time negative"),
        ("", "time missing"),
    ],
)
def test_a_bad_time_is_rejected_counted_and_located(cell, reason, tmp_path):
    path = write(tmp_path, ["a,i,1,0.5,30,true,30", f"a,i,1,{quoted(cell)},5,true,30", "a,i,1,2.5,20,true,30"])
    campaign = gl.read(path)
    assert campaign.diagnostics.rejected == {reason: 1}
    assert campaign.diagnostics.problems[0].startswith(f"{path}:3: expected ")
    assert gl.build_envelopes(campaign).objective.tolist() == [30.0, 20.0]


def test_numbers_in_every_plain_spelling_are_read(tmp_path):
    cells = ["5", "+5", " 5 ", "5.", "5.0", ".5e1", "50E-1", "5e+0"]
    path = write(tmp_path, [f"a,i,{seed},1,{cell},true,30" for seed, cell in enumerate(cells)])
    assert gl.read(path).objective.tolist() == [5.0] * len(cells)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, "abc", "1,5", None])
def test_a_bad_number_in_lists_is_rejected_and_the_run_goes_on(number):
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 30, "trace": [(0.5, 30.0), (1.5, number), (2.5, 20)]}
    campaign = gl.Campaign.from_runs([run])
    assert campaign.diagnostics.rejected_count == 1
    assert gl.build_envelopes(campaign).objective.tolist() == [30.0, 20.0]


def test_numpy_scalars_in_lists_are_numbers():
    run = {"arm": "a", "instance": "i", "seed": np.int64(1), "horizon": np.float64(30),
           "trace": [(np.float64(0.1), np.float64(1 / 3)), (np.int64(2), 0.25)]}  # fmt: skip
    campaign = gl.Campaign.from_runs([run])
    assert campaign.time.tolist() == [0.1, 2.0]
    assert campaign.objective.tolist() == [1 / 3, 0.25]


@pytest.mark.parametrize(
    ("name", "cells"), [("horizon", ("30", "60")), ("panel", ("p", "q")), ("status", ("finished", "crashed"))]
)
def test_a_run_with_two_horizons_panels_or_ends_is_refused(name, cells, tmp_path):
    path = write(
        tmp_path,
        [f"a,i,1,1,20,{cells[0]}", f"a,i,1,2,10,{cells[1]}"],
        header=f"arm,instance,seed,time,objective,{name}",
    )
    with pytest.raises(TraceError, match=f"expected one {name} in run a/i/1, got {cells[0]}, {cells[1]}"):
        gl.read(path)


@pytest.mark.parametrize("cell", ["0", "-5", "inf", "1e400", "nan", "soon", "1_0", "1,5"])
def test_a_bad_horizon_is_refused_with_its_value(cell, tmp_path):
    path = write(tmp_path, [f'a,i,1,1,20,true,"{cell}"'])
    with pytest.raises(TraceError, match="horizon") as caught:
        gl.read(path)
    assert str(path) in str(caught.value)


def test_an_unknown_status_is_refused_with_those_known(tmp_path):
    path = write(tmp_path, ["a,i,1,1,20,done"], header="arm,instance,seed,time,objective,status")
    with pytest.raises(TraceError, match=r"expected one of finished, time-limit.*got 'done'"):
        gl.read(path)


@pytest.mark.parametrize("cell", ["maybe", "2", "valid", "-"])
def test_a_strange_verdict_is_refused_with_its_line(cell, tmp_path):
    path = write(tmp_path, ["a,i,1,1,20,true,30", f"a,i,1,2,10,{cell},30"])
    with pytest.raises(TraceError, match=f":3: expected true, false or nothing in valid, got '{cell}'"):
        gl.read(path)


@pytest.mark.parametrize(
    ("cell", "code"), [("true", 1), ("TRUE", 1), ("1", 1), ("yes", 1), ("F", 0), ("No", 0), ("0", 0), ("", 2)]
)
def test_verdicts_in_every_spelling(cell, code, tmp_path):
    assert gl.read(write(tmp_path, [f"a,i,1,1,20,{cell},30"]), allow_empty=True).verdict.tolist() == [code]


@pytest.mark.parametrize(
    "key", [",i,1", "a,,1", "a,i,", "a,i,one", "a,i,1.5", "a,i,99999999999999999999", "a,i,٣", None]
)  # fmt: skip
def test_a_row_that_belongs_to_no_run_is_refused_with_its_line(key, tmp_path):
    path = write(tmp_path, ["a,i,1,1,20,true,30", f"{key},1,20,true,30" if key else "a,i"])
    with pytest.raises(TraceError, match="expected a ") as caught:
        gl.read(path)
    assert f"{path}:3" in str(caught.value)


def test_a_row_with_too_many_fields_is_refused_and_one_with_too_few_is_counted(tmp_path):
    with pytest.raises(TraceError, match=r"bad\.csv"):
        gl.read(write(tmp_path, ["a,i,1,1,20,true,30", "a,i,1,2,1,5,true,30"]))
    campaign = gl.read(write(tmp_path, ["a,i,1,1,20,true,30", "a,i,1,2"]))
    assert campaign.diagnostics.rejected_count + campaign.diagnostics.unchecked == 1
    assert campaign.diagnostics.candidates == 2


def test_missing_columns_are_named_with_the_nearest(tmp_path):
    path = write(tmp_path, ["a,i,1,1,20"], header="arm,instance,seed,times,objectiv")
    with pytest.raises(TraceError, match="expected columns arm, instance, seed, time, objective, got arm") as caught:
        gl.read(path)
    assert caught.value.hint == f"gapline score {path} --columns time=times,objective=objectiv"


HOSTILE_NAMES = [
    "../../x", "/etc/passwd", "x" * 300, "a\u202eb", "tab\there", "<img src=x onerror=alert(1)>", "</script>", "=cmd()",
    "$(rm)", "naïve İı", "case", "CASE", "quote\"d", "comma,name", "new\nline", "nul\x00l", "{a}", "%s",
    "[brackets]", "*",
]  # fmt: skip


def test_hostile_names_are_data_and_nothing_else(tmp_path):
    runs = [
        {"arm": name, "instance": name, "seed": 1, "panel": name, "horizon": 9, "trace": [(1, 5.0)]}
        for name in HOSTILE_NAMES
    ]
    campaign = gl.Campaign.from_runs(runs)
    assert sorted(campaign.runs["arm"]) == sorted(HOSTILE_NAMES)
    for suffix in ("csv", "parquet", "jsonl"):
        frame = pl.DataFrame(
            {"arm": HOSTILE_NAMES, "instance": HOSTILE_NAMES, "seed": 1, "panel": HOSTILE_NAMES, "horizon": 9.0,
             "time": 1.0, "objective": 5.0}
        )  # fmt: skip
        path = tmp_path / f"t.{suffix}"
        {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[suffix](path)
        assert sorted(gl.read(path).runs["arm"]) == sorted(HOSTILE_NAMES)
    for name in HOSTILE_NAMES:
        assert name in campaign.filter(arm=name).runs["arm"].to_list()
    campaign.save(tmp_path / "saved")
    assert gl.open(tmp_path / "saved").runs["arm"].to_list() == campaign.runs["arm"].to_list()
    assert {p.name for p in tmp_path.iterdir()} == {"saved", "t.csv", "t.parquet", "t.jsonl"}


def test_without_a_valid_column_the_solvers_word_counts_and_is_said(tmp_path):
    campaign = gl.read(write(tmp_path, ["a,i,1,1,20,30"], header="arm,instance,seed,time,objective,horizon"))
    assert campaign.verdict.tolist() == [1]
    assert gl.build_envelopes(campaign).validation == "solver"
    assert "because the solver said so" in str(campaign.diagnostics)


def test_an_invalid_candidate_needs_no_objective(tmp_path):
    campaign = gl.read(write(tmp_path, ["a,i,1,1,,false,30", "a,i,1,2,abc,false,30", "a,i,1,3,20,true,30"]))
    assert campaign.diagnostics.rejected == {"declared invalid": 2}
    assert campaign.diagnostics.problem_count == 0


def test_reasons_bounds_and_carried_columns_come_along(tmp_path):
    header = "arm,instance,seed,time,objective,valid,reason,bound,threads,size"
    rows = ["a,i,1,1,20,false,over capacity,5,4,100", "a,i,1,2,,,,6,4,100", "a,i,1,3,19,true,,7.5,4,100"]
    campaign = gl.read(write(tmp_path, rows, header=header))
    assert campaign.diagnostics.rejected == {"over capacity": 1}
    assert campaign.verdict.tolist() == [0, 3, 1]
    assert campaign.bound.tolist() == [5.0, 6.0, 7.5]
    assert campaign.diagnostics.candidates == 2
    assert campaign.runs.select("threads", "size").row(0) == (4, 100.0)


def test_only_the_first_hundred_problems_are_spelt_out_and_all_are_counted(tmp_path):
    campaign = gl.read(write(tmp_path, ["b,i,1,1,5,true,30", *(f"a,i,1,{k},bad,true,30" for k in range(250))]))
    assert len(campaign.diagnostics.problems) == 100
    assert campaign.diagnostics.problem_count == 250


def test_a_file_with_a_header_alone_holds_no_runs(tmp_path):
    with pytest.raises(TraceError, match="expected runs, got a header without rows"):
        gl.read(write(tmp_path, []))


@pytest.mark.slow
def test_a_frame_without_rows_is_a_campaign_without_runs():
    campaign = gl.read(table().clear())
    assert (len(campaign), campaign.candidates) == (0, 0)
    assert len(gl.build_envelopes(campaign)) == 0


@pytest.mark.parametrize(
    ("name", "form"),
    [("T.CSV", "csv"), ("t.ndjson.gz", "jsonl"), ("t.pq", "parquet"), ("t.feather", "arrow"), ("t.log", None)],
)
def test_formats_are_known_by_their_suffix(name, form, tmp_path):
    assert neutral_format(tmp_path / name) == form


def outcome(source):
    try:
        campaign = gl.read(source)
    except TraceError as error:
        return str(error)
    found = campaign.diagnostics
    return campaign.digest(), found.rejected, found.problem_count, sorted(found.problems), found.notes, found.unordered


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 60, 200])
def test_a_file_read_in_pieces_gives_what_it_gives_as_a_whole(size, tmp_path, monkeypatch):
    """Files with every kind of damage, cut into pieces of some rows; what is said of them may come in another order."""
    scored = 0
    for seed in range(250):
        name, data = fuzzed(seed)
        path = tmp_path / name
        path.write_bytes(data)
        if path.suffix in (".parquet", ".arrow"):
            continue
        with monkeypatch.context() as whole:
            whole.setattr(json_lines, "BLOCK", 1 << 30)
            whole.setattr(blocks, "BLOCK", 1 << 30)
            expected = outcome(path)
        with monkeypatch.context() as small:
            small.setattr(json_lines, "BLOCK", size)
            small.setattr(blocks, "BLOCK", size)
            got = outcome(path)
        if isinstance(expected, str):
            # Which of several faults is met first depends on the pieces; that every row is short, on having all rows.
            assert isinstance(got, str) or "in every row" in expected, f"fuzzed({seed}): {expected}"
        else:
            scored += 1
            assert got == expected, f"fuzzed({seed})"
    assert scored > 10


@pytest.mark.parametrize("height", [1, 2, 3, 7])
def test_a_frame_read_in_slices_gives_what_it_gives_as_a_whole(height, monkeypatch):
    """Runs that are interleaved, settings that tell them apart, seeds that are missing: what only all rows tell."""
    times, values = range(1, 13), range(12, 0, -1)
    frames = [
        table(),
        pl.DataFrame({"arm": ["a", "b"] * 6, "instance": ["i"] * 12, "seed": [1] * 12, "time": times,
                      "objective": values}),
        pl.DataFrame({"arm": ["a"] * 6, "instance": ["i"] * 6, "time": [1.0, 2, 3, 1, 2, 1],
                      "objective": [5.0, 4, 3, 9, 8, 7]}),
        pl.DataFrame({"arm": ["a"] * 8, "instance": ["i"] * 8, "seed": [1] * 8, "slices": [5] * 4 + [24] * 4,
                      "time": [1.0, 2, 3, 9] * 2, "objective": [9.0, 8, 7, 6] * 2}),
        pl.DataFrame({"instance": ["i", "j", "k"], "arm": ["a"] * 3, "10": [5.0, None, 7.0], "20": [4.0, None, 7.0]}),
    ]  # fmt: skip
    expected = [outcome(frame) for frame in frames]
    assert all(isinstance(one, tuple) for one in expected)
    monkeypatch.setattr(neutral, "SLICE", height)
    assert [outcome(frame) for frame in frames] == expected
