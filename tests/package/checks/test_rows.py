import pytest

from gapline.package.checks.rows import MOST_DIFFERENCES, Difference, Findings, Outcome, Row, Verification


@pytest.mark.parametrize(
    ("message", "member", "line", "said"),
    [
        ("a/b.jsonl:3: expected x, got y", "a/b.jsonl", 3, "expected x, got y"),
        ("a/b.json: expected x: 1, got y", "a/b.json", None, "expected x: 1, got y"),
        ("nothing that names a file", ".", None, "nothing that names a file"),
    ],
)
def test_a_message_is_taken_apart_and_says_the_same_again(message, member, line, said):
    found = Difference.of(message)
    assert (found.member, found.line, found.said) == (member, line, said)
    assert str(found).endswith(message)


def test_many_differences_are_counted_and_the_first_are_kept():
    findings, apart = Findings(), Findings()
    many = [Difference(f"m{number}", "x") for number in range(MOST_DIFFERENCES)]
    assert not findings.judge("sums", 3, "members", many[:60], how="bytes")
    apart.judge("results", 3, "files", many[60:], how="bytes")
    apart.judge("results", 3, "files", many, how="bytes")
    findings.join(apart)
    assert (len(findings.differences), findings.total) == (MOST_DIFFERENCES, 2 * MOST_DIFFERENCES)
    assert findings.differences == many


def test_a_verification_passes_where_nothing_differs_also_if_something_is_not_shown():
    findings = Findings()
    assert findings.judge("sums", 3, "members", [], how="bytes", why="one is empty")
    findings.leave("results", 0, "files", "none")
    found = Verification("x", "study", tuple(findings.rows), tuple(findings.differences))
    assert (found.passed, found.first, [row.what for row in found.left]) == (True, None, ["results"])
    assert found.document()["rows"][0]["outcome"] == "shown"


def test_one_is_counted_as_one():
    assert Row("page", 1, "files", Outcome.SHOWN).counted == "1 file"
    assert Row("page", 0, "files", Outcome.SHOWN).counted == "0 files"
    assert Row("page", 0, "files", Outcome.NOT_SHOWN).counted == ""
