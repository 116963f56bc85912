from pathlib import Path

import pytest

from gapline.contract.layout import DOCUMENT, SUMS, read_package_document
from gapline.errors import ContractError, IntegrityError, TraceError
from gapline.files.archives import write_zip
from gapline.package.checks.subject import Subject, open_subject


def test_a_folder_is_a_package_by_either_of_its_lists(copied):
    for gone in (DOCUMENT, SUMS):
        kept = (copied / gone).read_bytes()
        (copied / gone).unlink()
        with open_subject(copied) as source:
            assert source.is_package
        (copied / gone).write_bytes(kept)


def test_files_of_these_names_make_no_package_of_a_study(copied):
    (copied / DOCUMENT).write_text('{"name": "of a program"}')
    (copied / SUMS).write_text("0" * 64 + "  own\n")
    with open_subject(copied) as source:
        assert not source.is_package


def test_a_zip_without_a_package_is_refused(tmp_path):
    write_zip(tmp_path / "other.zip", {"a.txt": b"x"})
    with (
        pytest.raises(TraceError, match=r"expected a replication package with package\.json"),
        open_subject(tmp_path / "other.zip"),
    ):
        pass


def test_messages_name_members_wherever_they_were_unpacked(package):
    with open_subject(package) as source:
        assert source.words(f"{source.folder}/study.toml: x in {source.folder}") == "study.toml: x in small.zip"
        mistakes = ContractError(f"{source.folder}/study.toml", ["a", "b"], hint="mend it")
        assert source.words(mistakes) == "study.toml: 2 mistakes; a; b"
        folder = source.folder
    assert not folder.exists()


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 1}'])
def test_what_states_nothing_is_refused_by_name(tmp_path, text):
    (tmp_path / DOCUMENT).write_text(text)
    with pytest.raises(IntegrityError, match=r"^package\.json: expected what the package states, got "):
        read_package_document(tmp_path)


def test_a_worker_that_names_the_whole_path_of_a_relative_study_means_its_file(tmp_path, monkeypatch):
    """With `--recheck --jobs 2`, verdicts that differ were named by a path that is nowhere."""
    monkeypatch.chdir(tmp_path)
    subject = Subject(Path("study"), "study")
    assert subject.words(f"{tmp_path}/study/journal/a/verdicts.jsonl:2: x") == "journal/a/verdicts.jsonl:2: x"
