"""The crate of a package: what is in it, in words that others read and their validator accepts."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crate_folders import stage
from gapline.contract.layout import CRATE
from gapline.package import crate as module
from gapline.package.crate import crate_document, write_crate
from validators import crate_issues, read_by_rocrate

EVERY_LEVEL = {
    # Nobody states where the programs are found, who publishes, or the address of an organisation.
    "The Application SHOULD have a url",
    "The SoftwareApplication id SHOULD be an absolute URI",
    "The `publisher` property of a `Root Data Entity` SHOULD be an `Organization`",
    "The organization SHOULD have a URL.",
    # The exit of the scripted solver that dies comes before it could say its version.
    "The SoftwareApplication SHOULD have a version or softwareVersion",
    # A society is an author and works nowhere.
    "The author SHOULD have an organizational affiliation.",
    "The author SHOULD have a Contextual Entity which specifies the organizational `affiliation`.",
}


def entities(folder: Path) -> dict[str, dict[str, object]]:
    return {one["@id"]: one for one in crate_document(folder)["@graph"]}


@pytest.mark.slow
def test_the_validator_accepts_it_and_recommends_what_nobody_stated(described_study, tmp_path):
    folder = stage(described_study, tmp_path / "package")
    assert not crate_issues(folder, "required", tmp_path / "required.json")
    assert set(crate_issues(folder, "recommended", tmp_path / "recommended.json")) <= EVERY_LEVEL


@pytest.mark.slow
def test_the_validator_accepts_a_study_that_says_nothing_of_itself(bare_study, tmp_path):
    folder = stage(bare_study, tmp_path / "package")
    assert not crate_issues(folder, "required", tmp_path / "required.json")
    root = entities(folder)["./"]
    assert root["license"] == "not stated"
    assert "author" not in root
    last = max(one["endTime"] for name, one in entities(folder).items() if name.startswith("#run/"))
    assert root["datePublished"] == last


@pytest.mark.slow
def test_the_validator_would_refuse_a_file_that_is_not_there(described_study, tmp_path):
    """Else the tests above would show nothing."""
    folder = stage(described_study, tmp_path / "package")
    (folder / "instances" / "one.txt").unlink()
    shutil.rmtree(folder / "campaign")
    assert crate_issues(folder, "required", tmp_path / "required.json")


@pytest.mark.slow
def test_instances_that_are_not_packed_are_named_and_not_promised(described_study, tmp_path):
    (described_study / "instances" / "one.txt").unlink()
    folder = stage(described_study, tmp_path / "package")
    assert not crate_issues(folder, "required", tmp_path / "required.json")
    found = entities(folder)
    assert found["#instance/one"]["description"] == "An instance whose file is not in this package."
    assert {"@id": "#instance/one"} in [one["object"] for one in found.values() if "object" in one]
    assert "instances/one.txt" not in found


@pytest.mark.slow
def test_another_library_reads_it(described_study, tmp_path):
    folder = stage(described_study, tmp_path / "package")
    found = read_by_rocrate(folder)
    assert found["name"] == 'Scripted solvers: "any time"'
    assert found["instruments"] == ["dying", "python:judge:check", "steady"]
    assert found["objects"] == ["instances/one.txt", "instances/zw%C3%B6lf%2050%25.vrp"]
    members = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert len(found["files"]) == len(members - {CRATE})


def test_people_licence_and_other_works(described_study, tmp_path):
    found = entities(stage(described_study, tmp_path / "package"))
    root = found["./"]
    assert root["author"] == [
        {"@id": "https://orcid.org/0000-0002-1825-0097"},
        {"@id": "#author/2"},
        {"@id": "#author/3"},
    ]
    assert found["https://orcid.org/0000-0002-1825-0097"] == {
        "@id": "https://orcid.org/0000-0002-1825-0097",
        "@type": "Person",
        "name": "Ada Lovelace",
        "givenName": "Ada",
        "familyName": "Lovelace",
        "email": "a@b.org",
        "affiliation": {"@id": "#organisation/Engines"},
    }
    assert found["#author/3"] == {"@id": "#author/3", "@type": "Organization", "name": "The Analytical Society"}
    assert root["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    assert (root["datePublished"], root["version"], root["keywords"]) == ("2026-08-01", "1.2", "anytime, yes, 1.0")
    assert root["citation"] == {"@id": "https://doi.org/10.1000/182"}
    assert root["isBasedOn"] == {"@id": "https://arxiv.org/abs/2301.00001v2"}
    assert found["https://doi.org/10.1000/182"]["description"] == "This study isSupplementTo it (DataCite)"


def test_every_member_is_described_with_its_kind_and_size(described_study, tmp_path):
    folder = stage(described_study, tmp_path / "package")
    found = entities(folder)
    assert {one["encodingFormat"] for one in found.values() if one["@type"] == "File"} >= {
        "application/jsonl",
        "application/toml",
        "application/vnd.apache.parquet",
        "text/x-python",
        "application/yaml",
    }
    assert found["instances/zw%C3%B6lf%2050%25.vrp"]["encodingFormat"] == "text/plain"
    assert found["judge.py"]["contentSize"] == str((folder / "judge.py").stat().st_size)
    # The sums sum the crate too: their size is not known when it is written.
    assert "contentSize" not in found["sha256sums.txt"]


@pytest.mark.slow
def test_of_a_folder_of_thousands_only_what_runs_name_is_listed(described_study, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_FILES", 8)
    folder = stage(described_study, tmp_path / "package")
    found = entities(folder)
    listed = [name for name in found if name.startswith("journal/") and name != "journal/"]
    assert {name.rpartition("/")[2].partition("-")[0] for name in listed} == {"events.jsonl", "verdicts"}
    assert "files)" in found["journal/"]["description"]
    assert not crate_issues(folder, "required", tmp_path / "required.json")


@pytest.mark.slow
def test_the_same_folder_gives_the_same_bytes_anywhere(described_study, tmp_path):
    first = stage(described_study, tmp_path / "package")
    second = tmp_path / "elsewhere" / "other name"
    shutil.copytree(first, second)
    for path in second.rglob("*"):
        os.utime(path, (1, 1))
    (second / CRATE).unlink()
    code = "import pathlib, sys; from gapline.package.crate import write_crate; write_crate(pathlib.Path(sys.argv[1]))"
    environment = os.environ | {"TZ": "Pacific/Apia", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", code, str(second)], check=True, env=environment)
    assert (second / CRATE).read_bytes() == (first / CRATE).read_bytes()


def test_the_file_has_one_entity_a_line(described_study, tmp_path):
    folder = stage(described_study, tmp_path / "package")
    text = write_crate(folder).read_text(encoding="utf-8")
    assert json.loads(text) == crate_document(folder)
    first, *lines, last = text.splitlines()
    assert [json.loads(line.removesuffix(",")) for line in lines] == crate_document(folder)["@graph"]
    assert (first[-1], last) == ("[", "]}")
