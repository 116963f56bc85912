"""Columns that were edited are in `tests/package/test_verify.py`."""

import json
import shlex
import shutil
from dataclasses import replace

import polars as pl
import pytest

import gapline as gl
from gapline.campaign.diagnostics import Diagnostics
from gapline.campaign.store import save_campaign
from gapline.package.checks.journals import check_rebuilt, check_stored, rename_source
from gapline.package.checks.rows import CheckOutcome
from gapline.package.checks.subject import Subject
from package import forging
from package.checks.found import look_at


def look(folder, scratch, *, package=True, versions=()):
    scratch.mkdir(exist_ok=True)
    shutil.rmtree(scratch / "campaign", ignore_errors=True)
    subject = Subject(folder, "x", package, scratch=scratch)
    subject.versions = dict(versions)
    return look_at(check_rebuilt, subject)


def edit_runs(folder, edit):
    path = folder / "campaign" / "runs.parquet"
    edit(pl.read_parquet(path)).write_parquet(path, compression="uncompressed")
    forging.reseal_campaign(folder)


@pytest.mark.slow
def test_a_run_that_says_something_else_is_named_with_its_column(copied, tmp_path):
    edit_runs(copied, lambda runs: runs.with_columns(elapsed=pl.col("elapsed") + pl.when(pl.col("seed") == 2).then(1)))
    (one, *_) = look(copied, tmp_path / "s").differences
    assert one.member == "campaign/runs.parquet"
    assert one.said.startswith("elapsed of few/small-n30-1/1: expected ")


@pytest.mark.slow
def test_other_bytes_of_the_same_table_count_only_under_another_version_of_polars(copied, tmp_path):
    edit_runs(copied, lambda runs: runs)
    assert look(copied, tmp_path / "s").differences[0].said.startswith("byte ")
    findings = look(copied, tmp_path / "s", versions={"polars": "0.1"})
    assert findings.differences == ()
    assert "runs.parquet by content (polars 0.1 there" in findings.rows[0].how
    edit_runs(copied, lambda runs: runs.drop("elapsed"))
    assert look(copied, tmp_path / "s", versions={"polars": "0.1"}).differences != ()


def test_columns_of_an_earlier_version_are_no_difference_and_said_to_be_not_shown(copied, tmp_path):
    old = [pl.lit(1.5).alias("calibration"), pl.lit("w").alias("calibration_work")]
    campaign = gl.open(copied / "campaign").compact()
    runs = campaign.runs.select(*campaign.runs.columns[:9], *old, *campaign.runs.columns[9:])
    save_campaign(replace(campaign, runs=runs), copied / "campaign", overwrite=True)
    findings = look(copied, tmp_path / "s")
    assert findings.differences == ()
    row = findings.rows[0]
    assert (row.outcome, row.number) == (CheckOutcome.NOT_SHOWN, 2)
    assert row.why == "written by an earlier version: calibration, calibration_work"
    # Beside them, everything is compared.
    edit_runs(copied, lambda runs: runs.with_columns(elapsed=pl.col("elapsed") + 1))
    assert look(copied, tmp_path / "s").differences[0].said.startswith("elapsed of ")
    (copied / "campaign" / "runs.parquet").write_bytes(b"PAR1")
    assert look(copied, tmp_path / "s").differences != ()


def test_a_column_too_much_or_too_few_is_named(copied, tmp_path):
    shutil.copy(copied / "campaign" / "time.npy", copied / "campaign" / "bound.npy")
    (copied / "campaign" / "claimed.npy").unlink()
    said = {one.member: one.said for one in look(copied, tmp_path / "s").differences}
    assert said["campaign/bound.npy"] == "expected none, got a file"
    assert said["campaign/claimed.npy"] == "expected a file, got none"


def test_the_manifest_is_compared_by_what_it_says(copied, tmp_path):
    path = copied / "campaign" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["facts"]["checker"] = "another 1"
    path.write_text(json.dumps(manifest))
    forging.reseal_campaign(copied)
    assert str(look(copied, tmp_path / "s").differences[0]) == (
        "campaign/manifest.json: facts.checker: expected cvrp dimacs-1, got another 1"
    )


def test_a_file_of_a_desktop_in_the_journal_is_no_difference_of_a_study_and_one_of_a_package(copied, tmp_path):
    (copied / "journal" / ".DS_Store").write_text("x")
    assert look(copied, tmp_path / "s", package=False).differences == ()
    assert look(copied, tmp_path / "s").differences[0].said.startswith("diagnostics.notes: ")


@pytest.mark.parametrize("there", [".", "study", "/home/o'hara/study"])
def test_the_study_is_called_as_the_stored_campaign_calls_it(there, tmp_path):
    prefix = "" if there == "." else f"{there}/"
    here = Diagnostics(
        sources=(str(tmp_path),), problems=(f"{tmp_path}/journal/a: x",), notes=(f"gapline check {tmp_path} --again",)
    )
    found = rename_source(here, tmp_path, {"diagnostics": {"sources": [there]}})
    assert (found.sources, found.problems) == ((there,), (f"{prefix}journal/a: x",))
    assert found.notes == (f"gapline check {shlex.quote(there)} --again",)
    assert rename_source(here, tmp_path, {"diagnostics": {"sources": []}}) == here
    assert rename_source(here, tmp_path, None) == here


def test_the_digests_of_what_is_stored_are_compared(copied):
    for name, member in (("time.npy", "campaign/time.npy"), ("manifest.json", "campaign/manifest.json")):
        path = copied / "campaign" / name
        kept = path.read_bytes()
        path.write_bytes(kept.replace(b"dimacs", b"dimacz") if name == "manifest.json" else kept[:-1] + b"x")
        assert look_at(check_stored, Subject(copied, "x")).differences[0].member == member
        path.write_bytes(kept)
    shutil.rmtree(copied / "campaign")
    assert look_at(check_stored, Subject(copied, "x")).rows[0].outcome is CheckOutcome.NOT_SHOWN
