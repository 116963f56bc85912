from gapline.cli.verify import print_verification
from gapline.package.checks.rows import Mismatch, Verification, compared, not_compared

WHY = "made by other versions (altair 5.0 there, 6.0 here; numpy 2.1 there, 2.2 here)"


def printed(capsys, *rows):
    print_verification(Verification("a\x1b.zip", "package", rows))
    return capsys.readouterr().out.splitlines()


def test_rows_fit_the_terminal_and_no_word_is_cut(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    sums = compared("sums", 1234, "members", how="sha256, sha256sums.txt")
    lines = printed(capsys, sums, not_compared("figures", 1, "files", WHY))
    assert lines[:2] == ["package a\\u001b.zip: nothing differs; 1 row not shown", ""]
    assert max(map(len, lines)) <= 80
    assert lines[2] == "sums     1,234 members  shown      sha256, sha256sums.txt"
    assert " ".join(lines[3:]).split() == f"figures 1 file not shown {WHY}".split()


def test_the_first_difference_is_named_and_the_others_are_counted(capsys):
    sums = compared("sums", 2, "members", [Mismatch("a", "x", 3), Mismatch("b", "y")])
    assert printed(capsys, sums)[:3] == [
        "package a\\u001b.zip: it differs",
        "first difference: a:3: x",
        "and 1 more; --json names them",
    ]


def test_everything_may_be_shown(capsys):
    assert (
        printed(capsys, compared("sums", 2, "members"))[0]
        == "package a\\u001b.zip: nothing differs; everything is shown"
    )
