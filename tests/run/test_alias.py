"""A study in a folder whose name is not UTF-8 is run, and goes on, like any other."""

import os
import re
import sys

import pytest

from gapline.errors import UsageError
from gapline.run.campaign import is_utf8, run_study, utf8_alias
from scripted_studies import ZOO


@pytest.fixture
def odd(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    folder = tmp_path / os.fsdecode(b"st\xffdy")
    folder.mkdir()
    return folder


def test_the_other_way_is_text_the_same_each_time_and_leads_there(odd):
    (odd / "f").touch()
    alias = utf8_alias(odd)
    assert not is_utf8(odd)
    assert is_utf8(alias)
    assert (alias / "f").exists()
    assert utf8_alias(odd, on="local:2") == alias


def test_other_machines_do_not_have_it(odd):
    with pytest.raises(UsageError, match="expected a path in UTF-8 for runs on other machines"):
        utf8_alias(odd, on="slurm")


def test_a_folder_that_others_can_write_to_is_refused(odd):
    utf8_alias(odd).parent.chmod(0o777)
    with pytest.raises(UsageError, match="only its owner"):
        utf8_alias(odd)


def test_a_study_there_is_run_and_goes_on_as_if_nothing_were(odd, make_study):
    made = make_study({"mine": ["scripted", "{seed}", "5", "0"]}, seeds=(1,)).path
    # A program of the study's own is named by its whole path, which is part of the conditions of a run.
    own = made / "mine"
    own.write_text(f"#!{sys.executable} -SE\n" + (ZOO / "scripted.py").read_text())
    own.chmod(0o755)
    contract = made / "study.toml"
    text = contract.read_text(encoding="utf-8")
    contract.write_text(re.sub(r"command = .*", 'command = ["./mine", "{seed}", "5", "0"]', text), encoding="utf-8")
    study = odd / "s"
    made.rename(study)
    report = run_study(study, check=False)
    assert (report.left, report.study, len(report.campaign)) == (0, study, 2)
    assert report.campaign.diagnostics.sources[0].endswith("st\\udcffdy/s")
    again = run_study(study, check=False)
    assert (again.before, again.results) == (2, [])
