"""A campaign as a trace file: what `read` takes back as it was."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gapline as gl
from gapline.campaign.assembly import RunTrace, campaign_from_traces
from gapline.contract.tables import RUN_KEY
from gapline.errors import IntegrityError, UsageError
from gapline.traces import export
from gapline.traces.export import FORMATS, not_in_a_trace, trace_blocks, with_senses, write_trace
from profiles import examples
from strategies import whole_traces

ROWS = [
    {"arm": "a", "instance": "i", "seed": 1, "time": 1.0, "objective": 9.0, "valid": True, "bound": 5.0},
    {"arm": "a", "instance": "i", "seed": 1, "time": 2.0, "objective": 8.0, "valid": False, "reason": "too heavy"},
    {"arm": "a", "instance": "i", "seed": 1, "time": 3.0, "objective": 7.0, "valid": None},
    {"arm": "b", "instance": "=1+1", "seed": 1, "time": None, "objective": None},
]


KERNELS = ["squeezed", "berthold", "dimacs:1.1"]
TRANSFORMS = [(), ("shift:7.5",), ("reciprocal:3",), ("hierarchical:1000",), ("hierarchical:10n",)]


def test_every_event_is_a_row_and_an_empty_run_is_one_too():
    table = pl.concat(trace_blocks(gl.read(ROWS)))
    assert table.columns[:5] == ["arm", "instance", "seed", "time", "objective"]
    assert table["arm"].to_list() == ["a", "a", "a", "b"]
    assert table["time"].to_list() == [1.0, 2.0, 3.0, None]
    assert table["valid"].to_list() == [True, False, None, None]
    assert table["reason"].to_list() == [None, "too heavy", None, None]
    assert table["bound"].to_list() == [5.0, None, None, None]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.ndjson", "t.parquet", "t.pq", "t.arrow", "t.feather"])
def test_what_is_written_is_read_back_as_it_was(name, tmp_path):
    campaign = gl.read(ROWS)
    write_trace(campaign, tmp_path / name)
    assert gl.read(tmp_path / name).digest() == campaign.digest()


def same_bits(written, read):
    """Compare two campaigns: every run, every number to the last bit, every reason."""
    assert read.runs.select(written.runs.columns).equals(written.runs)
    for name, column in written.columns.items():
        other = getattr(read, name)
        if name == "reason":
            assert [written.reasons[code] or "declared invalid" for code in column[written.verdict == 0]] == [
                read.reasons[code] or "declared invalid" for code in other[read.verdict == 0]
            ]
        elif other is None:
            assert np.isnan(column).all()
        else:
            assert other.tobytes() == column.tobytes(), name


def scored(source, references, transform):
    """Score as a user would; the repr of a float is exact. What is refused is refused with the same words."""
    snapshot = gl.Snapshot.from_values(references, name="mine")
    choices = {"snapshots": [snapshot], "transform": transform, "weight": "early-log:0.001", "allow_unchecked": True}
    try:
        study = gl.open_study(source, kernels=KERNELS, leave_out_unscorable=True, **choices)
    except gl.GaplineError as error:
        return str(error)
    numbers = [*KERNELS, "final_gap", "first_time", "steps", "rejected", "late", "best"]
    return repr((study.scores[0].frame.select(*RUN_KEY, *numbers).rows(), study.left_out))


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.sampled_from(TRANSFORMS))
def test_an_exported_campaign_scores_again_to_the_same_bits(tmp_path, data, transform):
    """Bounds, claims, reasons, components, senses and transforms, in every format."""
    two_levels = "hierarchical" in "".join(transform)
    runs, references = data.draw(whole_traces(two_levels=two_levels))
    if transform:
        for one in runs:
            one["carried"]["sense"] = "max" if "reciprocal" in transform[0] else "min"
            one["carried"]["size"] = one["carried"]["size"] or 3.0
    written = campaign_from_traces(RunTrace(**one) for one in runs)
    expected = scored(written, references, transform)
    for form in FORMATS:
        path = tmp_path / f"t.{form}"
        write_trace(written, path)
        same_bits(written, gl.read(path, strict=True))
        assert scored(path, references, transform) == expected


def test_what_only_a_contract_or_an_import_says_is_written_to_the_runs(tmp_path):
    """A maximised objective would be read as minimised."""
    campaign = replace(gl.read(ROWS), facts={"sense": "max"})
    write_trace(campaign, tmp_path / "t.csv")
    assert gl.read(tmp_path / "t.csv").runs["sense"].to_list() == ["max", "max"]
    declared = with_senses(gl.read(ROWS), {"i": "max", "=1+1": "min"})
    assert dict(declared.runs.select("instance", "sense").iter_rows()) == {"i": "max", "=1+1": "min"}
    assert "sense" not in with_senses(gl.read(ROWS), "min").runs.columns


def test_versions_and_core_lists_stay_text(tmp_path):
    rows = [row | {"solver_version": "1.50", "cpus": "0"} for row in ROWS]
    for form in FORMATS:
        write_trace(gl.read(rows), tmp_path / f"t.{form}")
        read = gl.read(tmp_path / f"t.{form}")
        assert read.runs.select("solver_version", "cpus").unique().row(0) == ("1.50", "0")


@pytest.mark.parametrize("form", FORMATS)
def test_columns_that_a_trace_cannot_hold_are_left_out_and_named(form, tmp_path):
    campaign = gl.read(ROWS)
    more = {"routes": [[1, 2], [3]], "raw": [b"x", b"y"], "bound": [1.0, 2.0]}
    campaign = replace(campaign, runs=campaign.runs.with_columns(**{name: pl.Series(more[name]) for name in more}))
    write_trace(campaign, tmp_path / f"t.{form}")
    assert gl.read(tmp_path / f"t.{form}").digest() == gl.read(ROWS).digest()
    assert not_in_a_trace(campaign)[-1].endswith("no such columns of runs: routes, raw, bound")


def test_text_is_quoted_in_csv_and_numbers_are_not(tmp_path):
    write_trace(gl.read(ROWS), tmp_path / "t.csv")
    assert '"b","=1+1",1,' in (tmp_path / "t.csv").read_text()


def test_what_has_no_place_in_a_trace_is_named():
    campaign = gl.read(ROWS)
    assert not_in_a_trace(campaign) == []
    known = replace(campaign, facts={"sense": "max", "checker": "x 1"})
    assert not_in_a_trace(known)[-1].endswith("has no place for it: checker x 1, sense max")


def test_a_format_that_there_is_not_and_a_place_that_is_no_file_are_refused(tmp_path):
    campaign = gl.read(pl.DataFrame(ROWS))
    with pytest.raises(UsageError, match="expected a format among csv, jsonl, parquet, arrow, got xlsx"):
        write_trace(campaign, tmp_path / "t.xlsx")
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(UsageError, match="expected a file to write, got a directory"):
        write_trace(campaign, tmp_path / "t.csv")


# Each block is a join of its own.
@settings(max_examples=examples(20))
@given(st.data(), st.sampled_from([1, 2, 7]))
def test_the_table_does_not_depend_on_its_blocks(data, most):
    runs, _ = data.draw(whole_traces())
    campaign = campaign_from_traces(RunTrace(**one) for one in runs)
    whole = pl.concat(trace_blocks(campaign))
    blocks = list(trace_blocks(campaign, most))
    assert pl.concat(blocks).equals(whole)
    assert all(block.schema == whole.schema and block.height <= 2 * most for block in blocks)
    assert max(block.height for block in blocks) - min(block.height for block in blocks) <= 1
    kept = campaign.filter(arm=runs[0]["arm"])
    assert pl.concat(trace_blocks(kept, most)).equals(pl.concat(trace_blocks(kept.compact())))


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_of_many_blocks_has_the_bytes_of_one_written_whole(form, tmp_path):
    """300,000 rows in three blocks, one run across two cuts, empty runs in between."""
    counts = [100, 0, 250_000, 0, 49_897, 0]
    first = np.cumsum(counts) - counts
    runs = pl.DataFrame({"arm": "a", "instance": "i", "seed": range(6), "first": first, "count": counts})
    time = np.arange(float(sum(counts)))
    verdict = (np.arange(len(time)) % 3 > 0).astype(np.uint8)
    campaign = gl.Campaign.from_arrays(runs=runs, time=time, objective=1 / (time + 1), verdict=verdict)
    write_trace(campaign, tmp_path / f"t.{form}")
    table = pl.concat(trace_blocks(campaign))
    assert table.height == 300_000
    writers = {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet", "arrow": "write_ipc"}
    more = {"quote_style": "non_numeric"} if form == "csv" else {}
    getattr(table.rechunk(), writers[form])(tmp_path / "whole", **more)
    assert (tmp_path / f"t.{form}").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("form", FORMATS)
def test_a_campaign_without_runs_is_a_table_without_rows(form, tmp_path):
    campaign = gl.read(ROWS)
    write_trace(replace(campaign, runs=campaign.runs.clear()), tmp_path / f"t.{form}")
    if form == "csv":
        assert (tmp_path / "t.csv").read_text().startswith('"arm","instance","seed","time","objective"')


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_changes_while_it_is_exported_is_named_and_nothing_is_written(form, tmp_path, monkeypatch):
    gl.read(ROWS).save(tmp_path / "c")
    campaign = gl.open(tmp_path / "c")
    reading = export._events_of

    def cut_meanwhile(*given, **choices):
        (tmp_path / "c" / "time.npy").write_bytes(b"")
        return reading(*given, **choices)

    monkeypatch.setattr(export, "_events_of", cut_meanwhile)
    with pytest.raises(IntegrityError, match=r"time\.npy: expected 152 bytes, as when it was opened, got 0"):
        write_trace(campaign, tmp_path / f"t.{form}")
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
