"""Neutral traces: every carrier gives the same campaign, and every bad cell is rejected, counted and located."""

import gzip
import json

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.capture.neutral import neutral_format, read_neutral
from gapline.errors import TraceError, UsageError

HEADER = "arm,instance,seed,time,objective,valid,panel,horizon"
ROWS = [
    ("a", "i", 1, 0.5, 30.0, True, "p", 30.0),
    ("a", "i", 1, 2.0, 25.5, True, "p", 30.0),
    ("a", "i", 1, 3.0, 20.0, False, "p", 30.0),
    ("a", "j", 1, None, None, None, "q", 60.0),
    ("b", "i", 7, 1.0, 12.0, None, "p", 30.0),
]
NAMES = HEADER.split(",")


def table():
    return pl.DataFrame(ROWS, schema=NAMES, orient="row")


def records():
    return [dict(zip(NAMES, row, strict=True)) for row in ROWS]


def as_csv(folder):
    def cell(value):
        return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

    path = folder / "t.csv"
    path.write_text("\n".join([HEADER, *(",".join(map(cell, row)) for row in ROWS)]) + "\n", encoding="utf-8")
    return path


def as_jsonl(folder):
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records()), encoding="utf-8")
    return path


def as_parquet(folder):
    table().write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def as_arrow(folder):
    table().write_ipc(folder / "t.arrow")
    return folder / "t.arrow"


def as_arrow_stream(folder):
    table().write_ipc_stream(folder / "s.arrow")
    return folder / "s.arrow"


def as_gzip(folder):
    path = folder / "t.csv.gz"
    path.write_bytes(gzip.compress(as_csv(folder).read_bytes()))
    return path


def as_zstd(folder):
    zstandard = pytest.importorskip("zstandard")
    path = folder / "t.jsonl.zst"
    lines = as_jsonl(folder).read_bytes().splitlines(keepends=True)
    # Two frames, as appending to a compressed file leaves them.
    pack = zstandard.ZstdCompressor().compress
    path.write_bytes(pack(b"".join(lines[:2])) + pack(b"".join(lines[2:])))
    return path


def as_windows_csv(folder):
    path = folder / "w.csv"
    path.write_bytes(b"\xef\xbb\xbf" + as_csv(folder).read_bytes().replace(b"\n", b"\r\n"))
    return path


def as_pandas(_):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(records())


def as_pyarrow(_):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.Table.from_pylist(records())


def as_duckdb(_):
    duckdb = pytest.importorskip("duckdb")
    frame = table()  # noqa: F841
    return duckdb.connect().sql("select * from frame")


def as_lists(_):
    keys = list(dict.fromkeys((r["arm"], r["instance"], r["seed"], r["panel"], r["horizon"]) for r in records()))
    return [
        {
            "arm": arm, "instance": instance, "seed": seed, "panel": panel, "horizon": horizon,
            "trace": [
                (r["time"], r["objective"], r["valid"]) for r in records()
                if (r["arm"], r["instance"], r["seed"]) == (arm, instance, seed) and r["time"] is not None
            ],
        }
        for arm, instance, seed, panel, horizon in keys
    ]  # fmt: skip


CARRIERS = [
    as_csv, as_jsonl, as_parquet, as_arrow, as_arrow_stream, as_gzip, as_zstd, as_windows_csv, as_pandas, as_pyarrow,
    as_duckdb, as_lists,
]  # fmt: skip


@pytest.mark.parametrize("carrier", CARRIERS)
def test_every_carrier_gives_the_same_campaign(carrier, tmp_path):
    campaign = gl.read(carrier(tmp_path))
    assert list(map(str, campaign.keys())) == ["a/i/1", "a/j/1", "b/i/7"]
    assert campaign.runs["count"].to_list() == [3, 0, 1]
    assert campaign.runs["panel"].to_list() == ["p", "q", "p"]
    assert campaign.runs["horizon"].to_list() == [30.0, 60.0, 30.0]
    assert campaign.time.tolist() == [0.5, 2.0, 3.0, 1.0]
    assert campaign.objective.tolist() == [30.0, 25.5, 20.0, 12.0]
    assert campaign.verdict.tolist() == [1, 1, 0, 2]
    assert campaign.digest() == gl.read(table()).digest()
    found = campaign.diagnostics
    assert (found.runs, found.empty, found.candidates, found.unchecked) == (3, 1, 4, 1)
    assert found.rejected == {"declared invalid": 1}
    assert found.problem_count == 0


def test_lazy_frames_and_lists_of_sources_are_read(tmp_path):
    assert gl.read(table().lazy()).digest() == gl.read(table()).digest()
    parts = [table().filter(pl.col("arm") == arm) for arm in ("a", "b")]
    parts[1].write_parquet(tmp_path / "b.parquet")
    assert gl.read([parts[0], str(tmp_path / "b.parquet")]).digest() == gl.read(table()).digest()


def test_duckdb_relations_speak_arrow_too():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().sql(
        "select 'a' as arm, 'i' as instance, 1 as seed, 0.5::double as time, 9.0::double as objective"
    )
    assert gl.read(relation).objective.tolist() == [9.0]


def write(folder, rows, *, header="arm,instance,seed,time,objective,valid,horizon"):
    path = folder / "bad.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


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


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", '"abc"', "true", "[1]"])
def test_a_bad_number_in_jsonl_is_rejected_and_the_run_goes_on(number, tmp_path):
    """What json.dumps of other programs writes for NaN and infinity is no JSON, and still no reason to lose a file."""
    path = tmp_path / "t.jsonl"
    line = '{"arm": "a", "instance": "i", "seed": 1, "horizon": 30, "time": %s, "objective": %s}\n'
    path.write_text(line % (0.5, 30) + line % (1.5, number) + line % (2.5, 20), encoding="utf-8")
    campaign = gl.read(path)
    assert campaign.diagnostics.rejected_count == 1
    assert campaign.diagnostics.candidates == 3
    assert campaign.diagnostics.problems[0].startswith(f"{path}:2: expected ")
    assert gl.build_envelopes(campaign).objective.tolist() == [30.0, 20.0]


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


def test_stamps_that_go_backwards_are_sorted_and_counted(tmp_path):
    path = write(tmp_path, ["a,i,1,5,20,true,30", "a,i,1,2,30,true,30", "a,i,1,5,20,true,30", "a,i,1,31,5,true,30"])
    campaign = gl.read(path)
    assert campaign.time.tolist() == [2.0, 5.0, 5.0, 31.0]
    found = campaign.diagnostics
    assert (found.unordered, found.duplicate, found.late) == (1, 1, 1)
    assert gl.build_envelopes(campaign).objective.tolist() == [30.0, 20.0]


def test_runs_scattered_over_a_file_are_gathered(tmp_path):
    rows = ["b,i,1,1,20,true,30", "a,i,1,1,30,true,30", "b,i,1,2,10,true,30", "a,i,1,2,25,true,30"]
    campaign = gl.read(write(tmp_path, rows))
    assert campaign.runs.select("arm", "count").rows() == [("a", 2), ("b", 2)]
    assert campaign.objective.tolist() == [30.0, 25.0, 20.0, 10.0]


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
    assert gl.read(write(tmp_path, [f"a,i,1,1,20,{cell},30"])).verdict.tolist() == [code]


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
    assert "is it 'times'?" in caught.value.hint
    assert "is it 'objectiv'?" in caught.value.hint


def test_a_column_twice_is_refused(tmp_path):
    path = write(tmp_path, ["a,i,1,1,20,7"], header="arm,instance,seed,time,objective,time")
    with pytest.raises(TraceError, match=r"bad\.csv.*time"):
        gl.read(path)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "t.arrow"])
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\xfe garbage", b"PAR1", b"ARROW1\x00\x00", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd\x00"]
)
def test_a_file_that_is_no_trace_is_refused_with_its_name(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        gl.read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("carrier", [as_gzip, as_zstd, as_parquet, as_arrow])
def test_a_file_cut_anywhere_is_refused_not_read_in_part(carrier, tmp_path):
    path = carrier(tmp_path)
    whole = path.read_bytes()
    for cut in sorted({5, 20, len(whole) // 2, len(whole) - 9, len(whole) - 1}):
        path.write_bytes(whole[:cut])
        with pytest.raises(TraceError) as caught:
            gl.read(path)
        assert str(path) in str(caught.value)


def test_a_damaged_archive_is_refused(tmp_path):
    for carrier in (as_gzip, as_zstd):
        path = carrier(tmp_path)
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2 - 4 : len(damaged) // 2 + 4] = b"\xff" * 8
        path.write_bytes(bytes(damaged))
        with pytest.raises(TraceError, match=path.name):
            gl.read(path)


def test_invalid_utf8_is_refused_with_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"arm,instance,seed,time,objective\na,i,1,1,20\n\xff\xfe,i,1,2,10\n")
    with pytest.raises(TraceError, match=r"t\.csv"):
        gl.read(path)


@pytest.mark.parametrize("line", ["[1, 2]", "7", "{", '{"arm": "a"', "null", '{"arm": "a"} {"arm": "b"}'])
def test_a_line_that_is_no_object_is_refused_with_its_number(line, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(
        '{"arm": "a", "instance": "i", "seed": 1, "time": 1, "objective": 2}\n' + line + "\n", encoding="utf-8"
    )
    with pytest.raises(TraceError, match=r"t\.jsonl:2: expected one JSON object"):
        gl.read(path)


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


def test_more_reasons_than_codes_are_folded_not_lost(tmp_path):
    rows = [f"a,i,1,{k},20,false,reason {k}" for k in range(400)]
    campaign = gl.read(write(tmp_path, rows, header="arm,instance,seed,time,objective,valid,reason"))
    assert campaign.diagnostics.rejected_count == 400
    assert campaign.diagnostics.rejected["other reasons"] >= 1


def test_only_the_first_hundred_problems_are_spelt_out_and_all_are_counted(tmp_path):
    campaign = gl.read(write(tmp_path, [f"a,i,1,{k},bad,true,30" for k in range(250)]))
    assert len(campaign.diagnostics.problems) == 100
    assert campaign.diagnostics.problem_count == 250


def test_a_file_with_a_header_alone_holds_no_runs(tmp_path):
    with pytest.raises(TraceError, match="expected runs, got a header without rows"):
        gl.read(write(tmp_path, []))


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


def test_what_cannot_be_read_says_what_can(tmp_path):
    with pytest.raises(UsageError, match="expected a name ending in"):
        read_neutral(tmp_path / "solver.log")
    with pytest.raises(TraceError, match="no such file"):
        gl.read(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="expected at least one source"):
        gl.read([])
    with pytest.raises(UsageError, match="got int"):
        gl.read(7)
    with pytest.raises(TraceError, match="expected a campaign directory"):
        gl.read(tmp_path)
    with pytest.raises(TraceError, match=r"expected \(time, objective\)"):
        gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "trace": [(1,)]}])
    with pytest.raises(TraceError, match="expected a list under 'trace'"):
        gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1}])
