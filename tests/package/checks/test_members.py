"""That any change of a member is found is shown by `tests/package/test_verify.py`."""

import pytest

from gapline.contract.layout import SUMS
from gapline.package.checks.journals import check_sums
from gapline.package.checks.subject import Subject
from gapline.package.container import list_members
from package.checks.found import look_at


def test_members_are_counted_while_they_are_read(staged):
    told = []
    findings = look_at(check_sums, Subject(staged, "x", progress=lambda *facts: told.append(facts)))
    assert findings.passed
    number = len(list_members(staged))
    assert findings.rows[0].number == number
    assert told[0] == ("members", 0, number - 1)
    assert told[-1] == ("members", number - 1, number - 1)


@pytest.mark.parametrize("content", [None, b"", b"\xff\n", b"x  y\n"])
def test_a_list_that_is_none_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / SUMS).write_bytes(content)
    findings = look_at(check_sums, Subject(tmp_path, "x"))
    assert findings.rows[-1].what == "the rest"
    assert findings.differences[0].member == SUMS
