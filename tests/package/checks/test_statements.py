"""What package, register, snapshots and instances state; edited registers are in `tests/package/test_verify.py`."""

import json

import pytest

from gapline.package.checks.rows import CheckOutcome
from gapline.package.checks.statements import check_instances, check_package, check_register, check_snapshots
from gapline.package.checks.subject import Subject
from package import forging
from package.checks.found import look_at

INSTANCE = "instances/small-n30-1.vrp"


def look(folder, check, *, package=True):
    return look_at(check, Subject(folder, "x", package))


def test_an_instance_that_was_changed_is_found_by_the_register(copied):
    (copied / INSTANCE).write_bytes((copied / INSTANCE).read_bytes() + b"\n")
    findings = look(copied, check_instances, package=False)
    assert [one.member for one in findings.differences] == [INSTANCE]
    # Also where the package states the new digest.
    findings = look(forging.hide(copied), check_instances)
    assert [one.member for one in findings.differences] == ["package.json"]


def test_instances_that_are_not_included_are_said_to_be_where_they_are(copied):
    stated = json.loads((copied / "package.json").read_text())["instances"]
    stated["small-n30-1"] |= {"included": False, "where": "https://example.org/set"}
    document = json.loads((copied / "package.json").read_text()) | {"instances": stated}
    (copied / "package.json").write_text(json.dumps(document))
    # A file that is there was changed, or the statement is wrong: nothing of it may pass as absent.
    (one,) = look(copied, check_instances).differences
    assert (one.member, one.said[:16]) == (INSTANCE, "expected no file")
    (copied / INSTANCE).unlink()
    shown, left = look(copied, check_instances).rows
    assert (shown.number, shown.outcome) == (1, CheckOutcome.SHOWN)
    assert (left.number, left.why) == (1, "not included; where to get them: https://example.org/set")
    assert look(copied, check_package).differences == ()


def test_an_instance_that_a_study_has_no_more_is_not_shown_and_one_of_a_package_differs(copied):
    (copied / INSTANCE).unlink()
    findings = look(copied, check_instances, package=False)
    assert (findings.differences, findings.rows[-1].why) == ((), "not here: small-n30-1")
    assert look(copied, check_instances).differences[0].said.endswith("got no such file")


CHANGES = [
    {"instances": {}}, {"snapshots": {}}, {"snapshots": {"references/no.json": "x"}}, {"name": "another"},
    {"title": "another"}, {"alarms": 7}, {"gapline": "9.9.9"}, {"versions": {"gapline": "9.9.9"}}, {"versions": {}},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_document_that_states_less_or_more_is_found(copied, change):
    document = json.loads((copied / "package.json").read_text()) | change
    (copied / "package.json").write_text(json.dumps(document))
    assert {one.member for one in look(copied, check_package).differences} == {"package.json"}


def test_a_snapshot_that_was_changed_is_found(copied):
    path = copied / "references" / "known.json"
    path.write_text(path.read_text().replace("100.0", "101.0", 1))
    findings = look(copied, check_snapshots)
    assert [one.member for one in findings.differences] == ["references/known.json"]


def test_a_study_without_a_register_says_that_nothing_is_known_of_before(copied):
    (copied / "journal" / "register.jsonl").unlink()
    findings = look(copied, check_register)
    assert findings.rows[0].outcome is CheckOutcome.NOT_SHOWN


def test_a_contract_that_was_changed_after_the_runs_is_said_and_no_difference(copied):
    path = copied / "study.toml"
    path.write_text(path.read_text().replace("draws = 200", "draws = 300"))
    findings = look(copied, check_register)
    (row,) = findings.rows
    assert row.outcome is CheckOutcome.SHOWN
    assert row.why == "1 change after the first run, which every output names"
