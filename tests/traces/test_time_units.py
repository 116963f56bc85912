"""Times in other units: the same run from every carrier, and what says when a run began."""

import datetime as dt
import json

import polars as pl
import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.errors import TraceError, UsageError
from gapline.traces.columns import Dialect

START = dt.datetime(2026, 1, 1, 10, tzinfo=dt.UTC)
EPOCH = int(START.timestamp())
# A run with candidates at 0.25, 70 and 3,661.5 s, written in each unit.
SECONDS = (0.25, 70.0, 3661.5)
STAMPS = {
    "s": (0.25, 70, 3661.5),
    "ms": (250, 70_000, 3_661_500),
    "us": (250_000, 70_000_000, 3_661_500_000),
    "ns": (250_000_000, 70_000_000_000, 3_661_500_000_000),
    "min": (0.25 / 60, 70 / 60, 3661.5 / 60),
    "h": (0.25 / 3600, 70 / 3600, 3661.5 / 3600),
    "clock": ("0:00.25", "0:01:10", "1:01:01.5"),
    "epoch": (EPOCH + 0.25, EPOCH + 70, EPOCH + 3661.5),
    "iso": ("2026-01-01T10:00:00.25Z", "2026-01-01 11:01:10+01:00", "2026-01-01T11:01:01.5Z"),
}
FORMS = ("csv", "jsonl", "parquet", "arrow", "frame", "records")


def table(stamps, **columns):
    cells = {"arm": "a", "instance": "i", "seed": 1, "horizon": 4000.0} | {
        "time": stamps,
        "objective": [30.0, 20.0, 10.0],
    }
    return pl.DataFrame([
        pl.Series(name, values if isinstance(values, list | tuple) else [values] * 3, strict=False)
        for name, values in (cells | columns).items()
    ])  # fmt: skip


def carried(frame, form, folder):
    """Return the same rows as a file of a form, as a frame or as records."""
    path = folder / f"t.{form}"
    if form == "csv":
        frame.write_csv(path)
    elif form == "jsonl":
        frame.write_ndjson(path)
    elif form == "parquet":
        frame.write_parquet(path)
    elif form == "arrow":
        frame.write_ipc(path)
    else:
        return frame if form == "frame" else frame.to_dicts()
    return path


@pytest.mark.parametrize("form", FORMS)
def test_a_run_is_the_same_in_every_unit_and_from_every_carrier(form, tmp_path):
    for unit, stamps in STAMPS.items():
        started = {"started": [START.isoformat()] * 3} if unit in ("epoch", "iso") else {}
        frame = table(stamps, **started)
        campaign = gl.read(carried(frame, form, tmp_path), time_unit=unit)
        assert campaign.time.tolist() == pytest.approx(SECONDS, abs=1e-6), unit
        assert campaign.runs["horizon"].to_list() == [4000.0]
        # The same unit inside a column mapping, and of the horizon its own.
        renamed = frame.rename({"time": "t", "horizon": "limit"}).with_columns(pl.col("limit") / 60)
        columns = {"time": f"{unit}:t", "horizon": "min:limit"}
        mapped = gl.read(carried(renamed, form, tmp_path), columns=columns)
        assert mapped.time.tobytes() == campaign.time.tobytes(), unit
        assert mapped.runs["horizon"].to_list() == pytest.approx([4000.0])
        if unit not in ("s", "epoch", "iso"):
            assert any("times are read as" in note for note in campaign.notes())


def test_runs_with_their_traces_are_read_in_the_stated_unit_too():
    run = {
        "arm": "a",
        "instance": "i",
        "seed": 1,
        "limit": 4000,
        "trace": list(zip(STAMPS["ms"], (3, 2, 1), strict=True)),
    }
    read = gl.read([run], time_unit="ms", columns={"horizon": "limit"})
    assert read.time.tolist() == list(SECONDS)
    assert read.runs["horizon"].to_list() == [4000]


def test_numbers_with_their_unit_behind_them_are_read_where_it_is_stated(tmp_path):
    for unit, stamps in (
        ("s", ("0.5s", "2 sec")),
        ("ms", ("500ms", "2000")),
        ("min", ("0.5 min", "2m")),
        ("h", ("1h", "2")),
    ):
        path = tmp_path / "t.csv"
        path.write_text(f"arm,instance,seed,time,objective\na,i,1,{stamps[0]},5\na,i,1,{stamps[1]},4\n")
        factor = {"s": 1.0, "ms": 1.0, "min": 60.0, "h": 3600.0}[unit]
        first = 1.0 if unit == "h" else 0.5
        assert gl.read(path, time_unit=unit).time.tolist() == [first * factor, 2 * factor]


def test_columns_named_by_a_time_are_in_the_stated_unit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("arm,instance,seed,100,500ms\na,i,1,9,8\n")
    campaign = gl.read(path, time_unit="ms")
    assert campaign.time.tolist() == [0.1, 0.5]
    assert campaign.runs["resolution"].to_list() == pytest.approx([0.4])


def test_large_parts_and_whole_tables_are_read_alike(tmp_path, monkeypatch):
    from gapline.traces import blocks

    rows = [f"a,i{k // 50},1,{100 * (k % 50)},{1000 - k % 50},9" for k in range(1000)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["arm,instance,seed,time,objective,horizon", *rows]) + "\n")
    whole = gl.read(path, time_unit="ms")
    assert whole.time.max() == 4.9
    monkeypatch.setattr(blocks, "BLOCK", 500)
    assert gl.read(path, time_unit="ms").digest() == whole.digest()


@pytest.mark.parametrize("unit", ["epoch", "iso"])
def test_dates_need_the_moment_at_which_a_run_began(unit):
    with pytest.raises(TraceError, match="do not say when a run began") as refused:
        gl.read(table(STAMPS[unit]), time_unit=unit)
    assert f"time_unit='{unit}-first'" in refused.value.hint
    with pytest.raises(TraceError) as refused:
        gl.read(table(STAMPS[unit], start_time=[START.isoformat()] * 3), time_unit=unit)
    assert "columns={'started': 'start_time'}" in refused.value.hint
    named = gl.read(table(STAMPS[unit], begin=[EPOCH] * 3 if unit == "epoch" else [START] * 3), time_unit=unit,
                    columns="started=begin")  # fmt: skip
    assert named.time.tolist() == pytest.approx(SECONDS, abs=1e-6)
    assert named.runs["started"].to_list() == ["2026-01-01T10:00:00.000000Z"]
    # From the first row only where the user says so: its first candidate then costs nothing.
    first = gl.read(table(STAMPS[unit]), time_unit=f"{unit}-first")
    assert first.time.tolist() == pytest.approx([0.0, 69.75, 3661.25], abs=1e-6)
    assert any("what a solver took before it is not counted" in note for note in first.notes())
    assert "started" not in first.runs.columns


def test_dates_that_do_not_fit_each_other_are_refused():
    odd = table(STAMPS["iso"], started=["2026-01-01T10:00:00"] * 3)
    with pytest.raises(TraceError, match="expected a time zone in time and started, or in neither"):
        gl.read(odd, time_unit="iso")
    with pytest.raises(TraceError, match="moment at which the run began in every `started`, got 'soon'"):
        gl.read(table(STAMPS["epoch"], started=["soon"] * 3), time_unit="epoch")
    with pytest.raises(TraceError, match="expected a column `seed`, got none: dates do not say where a run begins"):
        gl.read(table(STAMPS["epoch"]).drop("seed"), time_unit="epoch-first")


def test_epoch_times_are_told_apart_by_their_size():
    for factor in (1, 10**3, 10**6, 10**9):
        stamps = [int((EPOCH + seconds) * factor) for seconds in (1, 2, 3)]
        found = gl.read(table(stamps, started=[EPOCH * factor] * 3), time_unit="epoch")
        assert found.time.tolist() == pytest.approx([1.0, 2.0, 3.0], abs=1e-6)


def test_types_that_state_their_unit_need_no_option():
    durations = [dt.timedelta(seconds=seconds) for seconds in SECONDS]
    assert gl.read(table(durations)).time.tolist() == list(SECONDS)
    dates = [START + duration for duration in durations]
    assert gl.read(table(dates, started=[START] * 3), time_unit="iso").time.tolist() == pytest.approx(SECONDS)


def test_a_unit_is_stated_once():
    with pytest.raises(UsageError, match="--time-unit s and --columns time=ms:… contradict each other"):
        Dialect.parse("time=ms:t", time_unit="s")
    with pytest.raises(UsageError, match=r"expected a horizon in s, min, .* got 'epoch'"):
        Dialect.parse("horizon=epoch:limit")
    assert Dialect.parse("time=t:ms").columns == {"time": "t:ms"}


def test_a_horizon_that_may_be_in_the_unit_of_the_times_is_asked_for():
    frame = table(STAMPS["ms"]).with_columns(horizon=pl.lit(4_000_000.0))
    note = next(note for note in gl.read(frame, time_unit="ms").notes() if "horizons are read as seconds" in note)
    assert note.endswith("columns={'horizon': 'ms:horizon'} reads them")
    settled = gl.read(frame, time_unit="ms", columns={"horizon": "ms:horizon"})
    assert settled.runs["horizon"].to_list() == [4000.0]
    assert not any("horizons are read" in note for note in settled.notes())


def test_every_command_reads_the_stated_unit(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table(STAMPS["s"]).write_csv("s.csv")
    table(STAMPS["clock"]).write_csv("clock.csv")
    (tmp_path / "refs.csv").write_text("instance,value\ni,5\n")
    for command in ("score", "curve", "analyse"):
        said = []
        for words in (["s.csv"], ["clock.csv", "--time-unit", "clock"]):
            assert run([command, *words, "--references", "refs.csv", "--json"]) == 0
            document = json.loads(capsys.readouterr().out)
            said.append(document | {"notes": [note for note in document["notes"] if "times are read" not in note]})
        assert said[0] == said[1]
        assert said[0]["notes"] != document["notes"]
    assert run(["import", "clock.csv", "--time-unit", "clock", "-o", "campaign"]) == 0
    assert gl.open(tmp_path / "campaign").time.tolist() == list(SECONDS)
    assert run(["report", "clock.csv", "--columns", "time=ms:time", "--references", "refs.csv", "-o", "out"]) == 1
    assert "expected a time in milliseconds, got '0:00.25'" in capsys.readouterr().err
    capsys.readouterr()
