"""Which files of a study go into its package."""

import pytest

from gapline.campaign.store import file_digest
from gapline.contract.layout import PackedInstance
from gapline.contract.study_file import load_contract
from gapline.errors import IntegrityError, UsageError
from gapline.package.contents import find_contents, refuse_changed
from gapline.references.snapshot import Snapshot
from package.planted_machine import write_study


def contents(study, **choices):
    return find_contents(study, load_contract(study), **choices)


@pytest.fixture
def fresh(tmp_path):
    return write_study(tmp_path / "s")


def replace(study, old, new):
    text = (study / "study.toml").read_text()
    assert old in text
    (study / "study.toml").write_text(text.replace(old, new))


def test_what_the_contract_names_is_in(fresh):
    """Programs, the modules that they import, checkers, snapshots and instances."""
    expected = {"study.toml", "solve.py", "words.py", "rules.py", "references/known.json"}
    assert set(contents(fresh).files) == expected | {"instances/one.txt", "instances/two.txt"}


def test_a_list_of_instances_and_a_checker_that_is_a_program_are_in(fresh):
    (fresh / "list.csv").write_text("path,panel\ninstances/one.txt,p\n")
    (fresh / "judge.sh").write_text("#!/bin/sh\n")
    replace(fresh, 'path = "instances/*.txt"', 'csv = "list.csv"')
    replace(fresh, "python:rules:check", "command:./judge.sh --strict")
    assert {"list.csv", "judge.sh", "instances/one.txt"} <= set(contents(fresh).files)
    assert "rules.py" not in contents(fresh).files


def test_parents_of_a_snapshot_that_lie_beside_it_are_in(fresh):
    old = Snapshot.load(fresh / "references" / "known.json")
    new = Snapshot.from_entries({"one": {"value": 18.0}}, name="new", store={"name": "x"}, parent=old.digest)
    (fresh / "kept").mkdir()
    new.save(fresh / "kept" / "new.json")
    (fresh / "references" / "known.json").rename(fresh / "kept" / "old.json")
    (fresh / "kept" / "other.json").write_text("{}")
    replace(fresh, "references/known.json", "kept/new.json")
    assert contents(fresh).snapshots == {"kept/new.json": new.digest, "kept/old.json": old.digest}


def test_only_the_users_own_files_can_be_executed(fresh):
    found = contents(fresh)
    assert [name for name in found.files if found.executable(name)] == ["solve.py"]
    assert not found.executable("README.md")


def test_what_an_instance_needs_beside_itself_goes_where_it_goes(fresh):
    """A checker cannot read a time-dependent instance without the travel times that lie beside it."""
    (fresh / "instances" / "net").mkdir()
    files = {"mamut-collection.json": "{}", "instances/one.atf.json": "[1]", "instances/net/roads.json": "[2]"}
    for name, text in files.items():
        (fresh / name).write_text(text)
    (fresh / "instances" / "one.txt").write_text(
        '{"td": {"atf_path": "one.atf.json", "road": {"path": "net/roads.json"}}}'
    )
    found = contents(fresh)
    assert set(found.files) > set(files)
    assert found.instances["one"].beside == {name: file_digest(fresh / name) for name in files}
    assert found.instances["two"].beside == {}
    found = contents(fresh, without_instances=True)
    assert not set(found.files) & set(files)
    assert set(files) < {one.path for one in found.left_out}
    assert found.instances["one"].beside == {name: file_digest(fresh / name) for name in files}


@pytest.mark.parametrize("without", [False, True])
def test_an_instance_elsewhere_is_refused_or_left_out(fresh, tmp_path, without):
    (tmp_path / "far.txt").write_text("far\n")
    replace(fresh, "instances/*.txt", "../far.txt")
    if without:
        assert contents(fresh, without_instances=True).instances["far"].included is False
        return
    with pytest.raises(UsageError, match=r"expected files in the study directory, got '../far.txt'"):
        contents(fresh)


def test_an_instance_that_is_not_there_is_said_to_be_absent(fresh):
    replace(fresh, "instances/*.txt", "instances/gone.txt")
    found = contents(fresh)
    gone = PackedInstance("instances/gone.txt", None, included=False, where="https://example.org/known, v3")
    assert found.instances["gone"] == gone
    assert ("instances/gone.txt", "the contract names it, and there is no such file") in found.left_out


def test_where_instances_are_is_said_by_the_entry_the_study_the_store_or_nobody(fresh):
    def where():
        return contents(fresh, without_instances=True).instances["one"].where

    assert where() == "https://example.org/known, v3"
    replace(fresh, "[objective]", 'instances_source = "of the study"\n[objective]')
    assert where() == "of the study"
    replace(fresh, 'panel = "small"', 'panel = "small"\nsource = "of the entry"')
    assert where() == "of the entry"
    replace(fresh, 'source = "of the entry"', "")
    replace(fresh, 'instances_source = "of the study"', "")
    replace(fresh, 'snapshot = "references/known.json"', "")
    assert where() == "not stated"


@pytest.mark.parametrize("name", ["instances/ONE.txt", "instances/back\\slash.txt", "instances/bell\a.txt"])
def test_names_that_no_system_unpacks_are_refused(fresh, name):
    (fresh / name).write_text("x\n")
    replace(
        fresh, '[[instances]]\npath = "instances/*.txt"', '[[instances]]\nname = "{stem}-{1}"\npath = "instances/*.txt"'
    )
    with pytest.raises(UsageError, match="expected names that any system can unpack"):
        contents(fresh)


def test_an_instance_with_the_same_problem_in_other_bytes_is_the_one_that_was_solved(fresh):
    found = contents(fresh)
    digest = found.instances["one"].digest
    refuse_changed(found, {}, {"one": {digest}})
    with pytest.raises(IntegrityError):
        refuse_changed(found, {"one": {"sha256:other"}}, {"one": {"sha256:old"}})
