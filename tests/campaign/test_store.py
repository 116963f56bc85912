"""A campaign on disk: what was saved is what is opened, whole or not at all."""

import json
import mmap
import os
from dataclasses import replace
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given

import gapline as gl
import strategies
from gapline.campaign import store
from gapline.campaign.store import open_campaign, read_manifest
from gapline.contract.tables import RunKey
from gapline.errors import IntegrityError, TraceError
from gapline.files.atomic_write import write_atomically

# What `campaign` below is saved as.
COLUMNS = ["bound", "objective", "reason", "time", "verdict"]
FILES = ["manifest.json", "runs.parquet", *(f"{name}.npy" for name in COLUMNS)]


def campaign(seed=1):
    records = [
        {"arm": "a", "instance": "i", "seed": seed, "horizon": 9.0, "time": t, "objective": z, "valid": v, "reason": r,
         "bound": 1.0, "threads": 4}
        for t, z, v, r in ((1.0, 9.0, True, ""), (2.0, 8.0, False, "late"), (3.0, float("nan"), True, ""))
    ]  # fmt: skip
    return gl.read(records)


def memory_of(array):
    """Return what an array is a view of, in the end."""
    return memory_of(array.base) if isinstance(getattr(array, "base", None), np.ndarray | mmap.mmap) else array


@given(strategies.campaigns(objectives=strategies.positives, verdicts=(True, False, None)))
def test_what_was_saved_is_what_is_opened(tmp_path_factory, drawn):
    before = gl.Campaign.from_runs(drawn[0])
    folder = tmp_path_factory.mktemp("store") / "c"
    before.save(folder)
    after = gl.open(folder)
    assert after.digest() == before.digest() == read_manifest(folder)["digest"]
    assert after.runs.equals(before.runs)
    assert all(np.array_equal(after.columns[name], column, equal_nan=True) for name, column in before.columns.items())
    assert after.diagnostics == before.diagnostics


def test_everything_optional_survives(tmp_path):
    before = campaign()
    before.save(tmp_path / "c")
    after = gl.open(tmp_path / "c")
    assert isinstance(memory_of(after.time), mmap.mmap)
    assert after.reasons == before.reasons
    assert after.diagnostics.rejected == {"late": 1, "objective not finite": 1}
    assert after.diagnostics.problems == before.diagnostics.problems
    assert after.runs["threads"].to_list() == [4]
    assert gl.read(tmp_path / "c").digest() == before.digest()


def test_interrupted_cells_are_saved_and_opened(tmp_path):
    before = replace(campaign(), interrupted=(RunKey("b", "i", 1),))
    before.save(tmp_path / "c")
    after = gl.open(tmp_path / "c")
    assert after.interrupted == (RunKey("b", "i", 1),)
    assert isinstance(after.interrupted[0], RunKey)
    assert after.digest() == before.digest() != campaign().digest()


@pytest.mark.parametrize("name", ["[2026] runs", "all*", "a?b"])
def test_the_name_of_a_folder_is_no_pattern(tmp_path, name):
    campaign().save(tmp_path / name)
    assert gl.open(tmp_path / name).digest() == campaign().digest()


def test_a_part_of_a_campaign_is_saved_alone(tmp_path):
    whole = gl.merge([campaign(1), campaign(2)])
    part = replace(whole, runs=whole.runs.tail(1))
    part.save(tmp_path / "c")
    assert len(gl.open(tmp_path / "c").time) == 3
    assert gl.open(tmp_path / "c").digest() == campaign(2).digest()


def test_a_directory_with_files_is_not_overwritten_unasked(tmp_path):
    campaign(1).save(tmp_path / "c")
    with pytest.raises(TraceError, match="expected a new or empty directory"):
        campaign(2).save(tmp_path / "c")
    (tmp_path / "c" / "references.json").write_text("{}", encoding="utf-8")
    campaign(2).save(tmp_path / "c", overwrite=True)
    assert gl.open(tmp_path / "c").digest() == campaign(2).digest()
    assert (tmp_path / "c" / "references.json").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["c"]
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(TraceError, match=r"expected a campaign to overwrite, got a directory without manifest\.json"):
        campaign(2).save(tmp_path / "thesis", overwrite=True)


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_in_any_file_is_refused_on_opening(name, tmp_path):
    campaign().save(tmp_path / "c")
    path = tmp_path / "c" / name
    data = path.read_bytes()
    # The last letter of a manifest's text is in a digest; the last byte of a column is in a number.
    place = data.rindex(b"a") if name == "manifest.json" else len(data) - 3
    path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    with pytest.raises(IntegrityError, match=rf"{name}: expected sha256:\S+, got sha256:\w+"):
        gl.open(tmp_path / "c")


def test_what_was_just_written_can_be_opened_without_a_look_at_every_byte(tmp_path, monkeypatch):
    campaign().save(tmp_path / "c")
    monkeypatch.setattr(store, "file_digest", lambda path: pytest.fail(f"{path} was read"))
    assert len(open_campaign(tmp_path / "c", verify=False)) == 1


@pytest.mark.parametrize("name", sorted(set(FILES) - {"manifest.json"}))
def test_a_missing_file_is_refused_on_opening(name, tmp_path):
    campaign().save(tmp_path / "c")
    (tmp_path / "c" / name).unlink()
    with pytest.raises(IntegrityError, match=rf"{name}: expected sha256:\w+, got no such file"):
        gl.open(tmp_path / "c")


def test_a_column_that_the_manifest_does_not_list_is_refused_on_opening(tmp_path):
    campaign().save(tmp_path / "c")
    np.save(tmp_path / "c" / "primary.npy", np.zeros(3))
    with pytest.raises(IntegrityError, match=r"primary\.npy: expected no such file"):
        gl.open(tmp_path / "c")


def test_a_fact_that_was_edited_in_the_manifest_is_refused_on_opening(tmp_path):
    replace(campaign(), facts={"checker": "c 1"}).save(tmp_path / "c")
    path = tmp_path / "c" / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace("c 1", "c 2"), encoding="utf-8")
    with pytest.raises(IntegrityError, match=r"manifest\.json: expected sha256"):
        gl.open(tmp_path / "c")


def reseal(folder, **changes):
    """Change a manifest so that every digest fits: whoever does so has made another campaign."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | changes
    manifest["files"] = {name: store.file_digest(folder / name) for name in manifest["files"]} | changes.get(
        "files", {}
    )
    path.write_text(json.dumps(manifest | {"seal": store._seal(manifest)}), encoding="utf-8")


@pytest.mark.parametrize("lost", ["seal", "files"])
def test_a_manifest_without_digests_is_refused_on_opening(lost, tmp_path):
    campaign().save(tmp_path / "c")
    path = tmp_path / "c" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    del manifest[lost]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(IntegrityError, match=r"manifest\.json: expected"):
        gl.open(tmp_path / "c")


def test_a_manifest_that_lists_no_file_is_refused_although_its_seal_fits(tmp_path):
    campaign().save(tmp_path / "c")
    path = tmp_path / "c" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | {"files": {}}
    path.write_text(json.dumps(manifest | {"seal": store._seal(manifest)}), encoding="utf-8")
    with pytest.raises(IntegrityError, match=r"runs\.parquet: expected a digest in manifest\.json, got none"):
        gl.open(tmp_path / "c")


def test_a_manifest_with_nan_in_it_is_refused_and_not_read_for_ever(tmp_path):
    """NaN is not equal to itself: it looked as if the campaign were replaced again and again."""
    campaign().save(tmp_path / "c")
    path = tmp_path / "c" / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"runs": 1', '"runs": NaN'), encoding="utf-8")
    with pytest.raises(IntegrityError, match=r"manifest\.json: expected sha256"):
        gl.open(tmp_path / "c")


@pytest.mark.parametrize(
    "changes",
    [{"files": {"time.npy": 3}}, {"reasons": "late"}, {"facts": []}, {"diagnostics": {"runs": "many"}},
     {"interrupted": [["a", "i"]]}, {"diagnostics": None}],
)  # fmt: skip
def test_a_sealed_manifest_of_wrong_types_is_one_error(changes, tmp_path):
    campaign().save(tmp_path / "c")
    reseal(tmp_path / "c", **changes)
    with pytest.raises(TraceError, match=r"manifest\.json: expected the manifest of a campaign, got Expected"):
        gl.open(tmp_path / "c")


@pytest.mark.parametrize("column", [np.ones(3, "f4"), np.ones(3, "V8"), np.ones((3, 1)), np.ones(3, "U2")])
def test_a_sealed_column_of_another_type_is_refused_and_never_converted(column, tmp_path):
    campaign().save(tmp_path / "c")
    np.save(tmp_path / "c" / "time.npy", column)
    reseal(tmp_path / "c")
    with pytest.raises(TraceError, match=r"time\.npy: expected float64 in one dimension"):
        gl.open(tmp_path / "c")


def test_a_sealed_code_without_a_name_is_refused(tmp_path):
    campaign().save(tmp_path / "c")
    reseal(tmp_path / "c", reasons=[""])
    with pytest.raises(TraceError, match=r"c: reason: expected codes below 1, got 2"):
        gl.open(tmp_path / "c")


def test_a_sealed_verdict_that_there_is_not_is_refused(tmp_path):
    campaign().save(tmp_path / "c")
    codes = np.load(tmp_path / "c" / "verdict.npy")
    codes[0] = 9
    np.save(tmp_path / "c" / "verdict.npy", codes)
    reseal(tmp_path / "c")
    with pytest.raises(TraceError, match="verdict: expected codes below 4, got 9"):
        gl.open(tmp_path / "c")


def test_a_sealed_column_whose_header_is_no_python_is_refused(tmp_path):
    """NumPy reads the header with Python's tokenizer, whose error is no ValueError."""
    campaign().save(tmp_path / "c")
    path = tmp_path / "c" / "time.npy"
    path.write_bytes(path.read_bytes().replace(b"}", b"(", 1))
    reseal(tmp_path / "c")
    with pytest.raises(TraceError, match=r"time\.npy: expected a NumPy column"):
        gl.open(tmp_path / "c")


@pytest.mark.parametrize(
    ("name", "cell"), [("clock", 3), ("import_notes", 1.5), ("resolution", date(2026, 1, 1)), ("sense", [1])]
)
def test_a_sealed_run_column_of_another_kind_is_refused(name, cell, tmp_path):
    """Whoever reads such a column later would end in an internal error."""
    campaign().save(tmp_path / "c")
    path = tmp_path / "c" / "runs.parquet"
    runs = pl.read_parquet(path)
    runs.with_columns(pl.Series(name, [cell] * runs.height)).write_parquet(path)
    reseal(tmp_path / "c")
    with pytest.raises(TraceError, match=f"runs table: expected (String|Float64) in {name}, got"):
        gl.open(tmp_path / "c")


@pytest.mark.parametrize("name", FILES)
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(name, tmp_path):
    campaign().save(tmp_path / "c")
    (tmp_path / "c" / name).unlink()
    os.mkfifo(tmp_path / "c" / name)
    with pytest.raises((TraceError, IntegrityError), match=rf"{name}: expected .*, got a pipe"):
        gl.open(tmp_path / "c")


def test_several_changes_are_one_error(tmp_path):
    campaign().save(tmp_path / "c")
    (tmp_path / "c" / "time.npy").write_bytes(b"")
    (tmp_path / "c" / "runs.parquet").unlink()
    with pytest.raises(IntegrityError, match=r"runs\.parquet.*time\.npy"):
        gl.open(tmp_path / "c")


def test_a_campaign_that_is_replaced_while_it_is_opened_is_opened_anew(tmp_path, monkeypatch):
    campaign(1).save(tmp_path / "c")
    read, calls = store.pl.read_parquet, []

    def replaced_meanwhile(path, **choices):
        if not calls:
            calls.append(path)
            campaign(2).save(tmp_path / "c", overwrite=True)
        return read(path, **choices)

    monkeypatch.setattr(store.pl, "read_parquet", replaced_meanwhile)
    assert gl.open(tmp_path / "c").digest() == campaign(2).digest()


@pytest.mark.parametrize("content", [None, b"", b"garbage", b"{}"])
def test_a_directory_without_a_whole_manifest_is_no_campaign(content, tmp_path):
    campaign().save(tmp_path / "c")
    path = tmp_path / "c" / "manifest.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TraceError, match=r"manifest\.json"):
        gl.open(tmp_path / "c")
    with pytest.raises(TraceError, match=r"manifest\.json"):
        campaign(2).save(tmp_path / "c", overwrite=True)


def test_a_file_named_like_a_column_that_is_not_the_campaigns_is_not_overwritten(tmp_path):
    campaign().save(tmp_path / "c")
    (tmp_path / "c" / "secondary.npy").write_bytes(b"years of work")
    with pytest.raises(TraceError, match=r"got secondary\.npy, which manifest\.json does not list"):
        campaign(2).save(tmp_path / "c", overwrite=True)
    assert (tmp_path / "c" / "secondary.npy").read_bytes() == b"years of work"


@pytest.mark.parametrize(
    ("schema", "message"),
    [("gapline.campaign/3", "upgrade gapline"), ("gapline.snapshot/1", "expected schema"), (None, "expected schema")],
)
def test_other_schemas_are_refused(schema, message, tmp_path):
    campaign().save(tmp_path / "c")
    path = tmp_path / "c" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(manifest | {"schema": schema, "unknown": 1}), encoding="utf-8")
    with pytest.raises(TraceError, match=message):
        gl.open(tmp_path / "c")


def test_unknown_fields_of_a_manifest_do_no_harm(tmp_path):
    campaign().save(tmp_path / "c")
    path = tmp_path / "c" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["diagnostics"]["weather"] = "fine"
    manifest |= {"later": 1}
    path.write_text(json.dumps(manifest | {"seal": store._seal(manifest)}), encoding="utf-8")
    assert gl.open(tmp_path / "c").digest() == campaign().digest()


def test_a_writer_that_fails_leaves_the_old_file_and_no_rubbish(tmp_path):
    path = tmp_path / "f"
    write_atomically(path, lambda stream: stream.write(b"old"))

    def fail(stream):
        stream.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]
