"""`package.json` is laid out in one way, and says by which digests a package is known."""

import json

import pytest

from gapline.campaign.store import file_digest
from gapline.journal.register import last_digest
from gapline.package.documents import write_document
from package.planted_machine import read_document


def test_the_layout_is_one(tmp_path):
    write_document(tmp_path, {"b": ["é"], "a": {}})
    assert (tmp_path / "package.json").read_bytes() == '{\n "a": {},\n "b": [\n  "é"\n ]\n}\n'.encode()


@pytest.mark.slow
def test_digests_are_those_of_the_packed_files(made):
    document = read_document(made.folder)
    assert document["contract"] == file_digest(made.folder / "study.toml")
    lines = (made.folder / "journal" / "register.jsonl").read_text().splitlines()
    assert document["register"] == json.loads(lines[-1])["digest"] == last_digest(made.folder)


def test_a_study_without_a_register_has_no_digest_of_one(tmp_path):
    assert last_digest(tmp_path) is None
