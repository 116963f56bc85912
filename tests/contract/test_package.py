"""By what a package is known; what it names and does not hold is known from its document."""

import json

import pytest

from gapline.contract.layout import Identity, absent_instances
from gapline.contract.study_file import load_contract

CONTRACT = """
seeds = 1
[study]
name = "s"
[objective]
validation = "solver"
[time]
horizon = 1
[[instances]]
path = "i/n*.txt"
exclude = ["i/n3*"]
size = "{1}"
[[arms]]
name = "a"
solver = "command"
command = ["a"]
"""


def write(folder, *paths, schema="gapline.package/1"):
    instances = {path: {"path": path, "included": False} for path in paths}
    (folder / "package.json").write_text(json.dumps({"schema": schema, "instances": instances}))


def test_a_pattern_finds_instances_that_the_package_does_not_hold(tmp_path):
    """As if they were there: with their sizes, in their order, without those that are excluded."""
    (tmp_path / "study.toml").write_text(CONTRACT)
    (tmp_path / "i").mkdir()
    (tmp_path / "i" / "n2.txt").write_text("")
    write(tmp_path, "i/n10.txt", "i/n3.txt", "i/n2.txt", "other/n1.txt")
    found = load_contract(tmp_path).instances
    assert [(one.path, one.name, one.size) for one in found] == [("i/n2.txt", "n2", 2), ("i/n10.txt", "n10", 10)]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "other/1"}', '{"instances": 3}'])
def test_a_file_that_is_no_document_of_ours_names_nothing(tmp_path, text):
    assert absent_instances(tmp_path) == []
    (tmp_path / "package.json").write_text(text)
    assert absent_instances(tmp_path) == []
    write(tmp_path, "a", schema="gapline.package/2")
    assert absent_instances(tmp_path) == []


def test_an_identity_is_short_on_a_line_and_whole_in_a_document():
    known = Identity("demo.zip", "sha256:" + "1" * 64, "swh:1:dir:" + "2" * 40)
    assert str(known) == "demo.zip (sha256:111111111111…)"
    assert known.document() == {"name": "demo.zip", "sha256": known.sha256, "swhid": known.swhid}
