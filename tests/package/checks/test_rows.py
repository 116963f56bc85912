import pytest

from gapline.package.checks.rows import (
    MOST_DIFFERENCES,
    CheckOutcome,
    CheckRow,
    Mismatch,
    Verification,
    compared,
    not_compared,
)


@pytest.mark.parametrize(
    ("message", "member", "line", "said"),
    [
        ("a/b.jsonl:3: expected x, got y", "a/b.jsonl", 3, "expected x, got y"),
        ("a/b.json: expected x: 1, got y", "a/b.json", None, "expected x: 1, got y"),
        ("nothing that names a file", ".", None, "nothing that names a file"),
    ],
)
def test_a_message_is_taken_apart_and_says_the_same_again(message, member, line, said):
    found = Mismatch.of(message)
    assert (found.member, found.line, found.said) == (member, line, said)
    assert str(found).endswith(message)


def test_many_differences_are_counted_and_the_first_are_kept():
    many = [Mismatch(f"m{number}", "x") for number in range(MOST_DIFFERENCES)]
    rows = [compared("results", 3, "files", some, how="bytes") for some in (many[:60], many[60:], many)]
    found = Verification("x", "study", tuple(rows))
    assert (found.differences, found.more) == (tuple(many), MOST_DIFFERENCES)
    assert rows[0].why == "60 differ"


def test_a_verification_passes_where_nothing_differs_also_if_something_is_not_shown():
    rows = (
        compared("sums", 3, "members", why="one is empty"),
        not_compared("results", 0, "files", "none"),
    )
    found = Verification("x", "study", rows)
    assert (found.passed, found.first, [row.what for row in found.left]) == (True, None, ["results"])
    assert found.document()["rows"][0]["outcome"] == "shown"


def test_one_is_counted_as_one():
    assert CheckRow("page", 1, "files", CheckOutcome.SHOWN).counted == "1 file"
    assert CheckRow("page", 0, "files", CheckOutcome.SHOWN).counted == "0 files"
    assert CheckRow("page", 0, "files", CheckOutcome.NOT_SHOWN).counted == ""
