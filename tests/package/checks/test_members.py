"""That any change of a member is found is shown by `tests/package/test_verify.py`."""

import pytest

from gapline.contract.layout import SUMS
from gapline.package.checks.journals import list_members, show_sums
from gapline.package.checks.rows import Findings, Source


def test_members_are_counted_while_they_are_read(staged):
    findings, told = Findings(), []
    assert show_sums(Source(staged, "x"), findings, lambda *facts: told.append(facts))
    number = len(list_members(staged))
    assert findings.rows[0].number == number
    assert told[0] == ("members", 0, number - 1)
    assert told[-1] == ("members", number - 1, number - 1)


@pytest.mark.parametrize("content", [None, b"", b"\xff\n", b"x  y\n"])
def test_a_list_that_is_none_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / SUMS).write_bytes(content)
    findings = Findings()
    assert not show_sums(Source(tmp_path, "x"), findings, lambda *_: None)
    assert findings.differences[0].member == SUMS
