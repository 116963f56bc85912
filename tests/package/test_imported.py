"""An imported study is packed as it is, but for what its campaign says of machines."""

import json
import zipfile
from dataclasses import replace

import polars as pl
import pytest

import gapline as gl
from gapline.campaign.store import open_campaign, save_campaign
from gapline.errors import IntegrityError
from study.ruled_study import campaign_of, write_study


def imported(folder, *, host=None, note=None):
    folder.mkdir()
    write_study(folder, ran=False, reference='policy = "retrospective"')
    campaign = campaign_of()
    if host is not None:
        campaign = replace(campaign, runs=campaign.runs.with_columns(host=pl.lit(host), import_notes=pl.lit(note)))
    if note is not None:
        told = replace(campaign.diagnostics, sources=(note,), notes=(note,), problems=(note,))
        campaign = replace(campaign, diagnostics=told)
    save_campaign(campaign, folder / "campaign", overwrite=True)
    (folder / "campaign" / "mine.txt").write_text("x")
    return folder


def unpack(packed, folder):
    with zipfile.ZipFile(packed.path) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.slow
def test_a_campaign_that_names_no_machine_is_packed_byte_for_byte(tmp_path):
    study = imported(tmp_path / "s")
    folder = unpack(gl.pack(study, tmp_path / "a.zip"), tmp_path / "u")
    names = sorted(path.name for path in (study / "campaign").iterdir() if path.name != "mine.txt")
    assert sorted(path.name for path in (folder / "campaign").iterdir()) == names
    assert all((study / "campaign" / name).read_bytes() == (folder / "campaign" / name).read_bytes() for name in names)


@pytest.mark.slow
def test_host_columns_and_import_notes_lose_their_machine(tmp_path):
    study = imported(tmp_path / "s", host="node77", note="read /home/jane/logs/a.log on node77")
    packed = gl.pack(study, tmp_path / "a.zip")
    folder = unpack(packed, tmp_path / "u")
    campaign = open_campaign(folder / "campaign")
    assert campaign.runs["host"].unique().to_list() == ["host-1"]
    assert campaign.runs["import_notes"].unique().to_list() == ["read …/a.log on host-1"]
    assert campaign.diagnostics.notes == ("read …/a.log on host-1",)
    assert {(one.what, one.where) for one in packed.taken_out} == {
        (what, f"campaign/{name}") for what in ("host name", "path") for name in ("manifest.json", "runs.parquet")
    }
    for path in folder.rglob("*"):
        assert not path.is_file() or b"node77" not in path.read_bytes()
    assert json.loads((folder / "package.json").read_text())["campaign"] == campaign.digest()


@pytest.mark.slow
def test_hosts_are_kept_where_that_is_asked_for(tmp_path):
    study = imported(tmp_path / "s", host="node77", note="x")
    folder = unpack(gl.pack(study, tmp_path / "a.zip", keep_hosts=True), tmp_path / "u")
    assert open_campaign(folder / "campaign").runs["host"].unique().to_list() == ["node77"]


def test_a_broken_campaign_is_refused(tmp_path):
    study = imported(tmp_path / "s")
    (study / "campaign" / "time.npy").write_bytes(b"x")
    with pytest.raises(IntegrityError, match=r"time.npy: expected sha256"):
        gl.pack(study, tmp_path / "a.zip")
